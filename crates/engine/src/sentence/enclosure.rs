//! Brackets and quotations that are open in a sentence.
//!
//! Invariant: what never closes is forgotten after `SENTENCE_ENCLOSED_BYTES_MAX` bytes.

use crate::limits::{SENTENCE_ENCLOSED_BYTES_MAX, SENTENCE_ENCLOSED_DEPTH_MAX};

use super::chars::is_cjk;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Enclosures {
    /// The characters that opened them, outermost first.
    open: Vec<char>,
    /// Bytes since the outermost one opened.
    bytes: usize,
}

impl Enclosures {
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.bytes = 0;
    }

    /// Reads `c`; `before` is the character before it, white space where there is none.
    pub(super) fn step(&mut self, c: char, before: char) {
        if self.is_open() {
            self.bytes += c.len_utf8();
            if SENTENCE_ENCLOSED_BYTES_MAX < self.bytes {
                self.clear();
            }
        }
        if let Some(at) = self.closed_by(c) {
            self.open.truncate(at);
            if self.open.is_empty() {
                self.bytes = 0;
            }
        } else if opens(c, before) && self.open.len() < SENTENCE_ENCLOSED_DEPTH_MAX {
            self.open.push(c);
        }
    }

    /// Which of those open `c` closes; those inside it were never meant to be.
    fn closed_by(&self, c: char) -> Option<usize> {
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
        self.open.iter().rposition(|open| openers.contains(open))
    }
}

fn opens(c: char, before: char) -> bool {
    let at_word = !before.is_alphanumeric() || is_cjk(before);
    match c {
        '[' | '„' | '«' | '「' | '『' | '（' | '《' | '〈' | '【' => true,
        // Not in ":(".
        '(' => !matches!(before, ':' | ';' | '='),
        // Not in 5", and not where a quotation ends that began with two commas.
        '"' | '“' | '»' | '”' => at_word && !matches!(before, '.' | '!' | '?' | ',' | '…'),
        _ => false,
    }
}
