//! Open brackets and quotations of a paragraph.
//!
//! No sentence ends inside a bracket. Inside a quotation they end as they do outside.
//!
//! Invariant: one that never closes is dropped after `SENTENCE_ENCLOSED_BYTES_MAX` bytes.

use arrayvec::ArrayVec;

use crate::limits::{SENTENCE_ENCLOSED_BYTES_MAX, SENTENCE_ENCLOSED_DEPTH_MAX};

use super::chars::is_han_or_kana;

/// Stack of open brackets and quotations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OpenEnclosures {
    /// Opening characters, outermost first.
    openers: ArrayVec<char, SENTENCE_ENCLOSED_DEPTH_MAX>,
    /// Bytes since the outermost one opened.
    bytes_since_outermost: usize,
    /// True if a bracket was dropped because it reached the limit.
    is_limit_reached: bool,
}

impl OpenEnclosures {
    /// True if a bracket is open, in which no sentence ends.
    pub(super) fn is_bracket_open(&self) -> bool {
        self.openers.iter().any(|&open| is_opening_bracket(open))
    }

    /// True if `c` closes an open quotation.
    pub(super) fn is_quotation_closed_by(&self, c: char) -> bool {
        self.index_closed_by(c)
            .and_then(|at| self.openers.get(at))
            .is_some_and(|&c| !is_opening_bracket(c))
    }

    /// True if a bracket was dropped because it reached the limit.
    pub(super) fn is_limit_reached(&self) -> bool {
        self.is_limit_reached
    }

    /// Forgets that a limit was reached.
    pub(super) fn clear_limit_reached(&mut self) {
        self.is_limit_reached = false;
    }

    /// Drops what opened last: it never closes.
    pub(super) fn drop_innermost(&mut self) {
        self.openers.pop();
        if self.openers.is_empty() {
            self.bytes_since_outermost = 0;
        }
    }

    fn clear(&mut self) {
        self.openers.clear();
        self.bytes_since_outermost = 0;
    }

    /// Scans `len` bytes that neither open nor close anything.
    pub(super) fn push_plain_text(&mut self, len: usize) {
        if !self.openers.is_empty() {
            self.bytes_since_outermost += len;
            if SENTENCE_ENCLOSED_BYTES_MAX < self.bytes_since_outermost {
                self.is_limit_reached |= self.is_bracket_open();
                self.clear();
            }
        }
    }

    /// Scans `c`; `before` is the character before it, a space at the start.
    pub(super) fn push_char(&mut self, c: char, before: char) {
        self.push_plain_text(c.len_utf8());
        // Not in ": ( ".
        if before == '(' && c.is_whitespace() && self.openers.last() == Some(&'(') {
            self.openers.pop();
        }
        if let Some(at) = self.index_closed_by(c) {
            self.openers.truncate(at);
            if self.openers.is_empty() {
                self.bytes_since_outermost = 0;
            }
        } else if can_open_after(c, before) && self.openers.len() < SENTENCE_ENCLOSED_DEPTH_MAX {
            self.openers.push(c);
        }
    }

    /// Index of the enclosure that `c` closes; those inside it are dropped with it.
    fn index_closed_by(&self, c: char) -> Option<usize> {
        let openers: &[char] = match c {
            ')' => &['('],
            ']' => &['['],
            '"' => &['"'],
            '“' => &['„'],
            '”' => &['“', '„', '”'],
            '»' => &['«'],
            '«' => &['»'],
            '」' => &['「'],
            '』' => &['『'],
            '）' => &['（'],
            '》' => &['《'],
            '〉' => &['〈'],
            '】' => &['【'],
            _ => return None,
        };
        self.openers.iter().rposition(|open| openers.contains(open))
    }
}

/// True if no sentence ends inside of what `open` opens.
fn is_opening_bracket(open: char) -> bool {
    matches!(open, '(' | '[' | '（' | '《' | '〈' | '【')
}

/// True if `c` opens an enclosure after the character `before`.
fn can_open_after(c: char, before: char) -> bool {
    let at_word = !before.is_alphanumeric() || is_han_or_kana(before);
    match c {
        '[' | '„' | '«' | '「' | '『' | '（' | '《' | '〈' | '【' => true,
        // Not in ":(".
        '(' => !matches!(before, ':' | ';' | '='),
        // Not in 5", and not at the end of a quotation that began with two commas.
        '"' | '“' | '»' | '”' => at_word && !matches!(before, '.' | '!' | '?' | ',' | '…'),
        _ => false,
    }
}
