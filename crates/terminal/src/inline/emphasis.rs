//! Emphasis: the delimiter stack of `CommonMark`, run as each delimiter is read.

use super::{DelimiterRun, InlineParser, NodeKind};
use crate::style::Attributes;

/// Returns whether a delimiter run can open and can close emphasis, by its neighbours.
pub(super) fn classify_delimiter_run(mark: char, before: char, after: char) -> (bool, bool) {
    let space = |char: char| char.is_whitespace();
    let punctuation = |char: char| char.is_ascii_punctuation() || is_unicode_punctuation(char);
    let left = !space(after) && (!punctuation(after) || space(before) || punctuation(before));
    let right = !space(before) && (!punctuation(before) || space(after) || punctuation(after));
    match mark {
        '_' => (left && (!right || punctuation(before)), right && (!left || punctuation(after))),
        _ => (left, right),
    }
}

/// Returns true for common Unicode punctuation: quotes, dashes, CJK stops. Not exhaustive.
fn is_unicode_punctuation(char: char) -> bool {
    matches!(u32::from(char),
        0xa1 | 0xa7 | 0xab | 0xb6 | 0xb7 | 0xbb | 0xbf | 0x2010..=0x2027 | 0x2030..=0x205e
        | 0x20a0..=0x20c0 | 0x2190..=0x2bff | 0x3001..=0x3003 | 0x3008..=0x3011
        | 0x3014..=0x301f | 0xff01..=0xff0f | 0xff1a..=0xff20 | 0xff3b..=0xff3d | 0xff5b..=0xff65)
}

pub(super) fn emphasis_attributes(mark: char, len: usize) -> Attributes {
    match (mark, len) {
        ('~', _) => Attributes::STRIKE,
        (_, 1) => Attributes::ITALIC,
        (_, 2) => Attributes::BOLD,
        _ => Attributes::BOLD | Attributes::ITALIC,
    }
}

impl InlineParser {
    /// Matches the closer at `index` with openers from `bottom` on, and styles what is between.
    pub(super) fn match_closer(&mut self, index: usize, bottom: usize) {
        while let NodeKind::Delimiter(closer) = self.held[index].kind
            && closer.can_close
            && closer.unmatched_len > 0
        {
            let Some((at, opener)) = self.find_opener(closer, index, bottom) else {
                self.update_if_delimiter(index, |delimiter| delimiter.can_close = false);
                return;
            };
            let used = if closer.unmatched_len >= 2 && opener.unmatched_len >= 2 { 2 } else { 1 };
            let attributes = emphasis_attributes(closer.mark, used);
            for inside in at + 1..index {
                self.held[inside].style = self.held[inside].style.with_attributes(attributes);
                self.update_if_delimiter(inside, |delimiter| {
                    delimiter.can_open = false;
                    delimiter.can_close = false;
                });
            }
            self.update_if_delimiter(at, |delimiter| delimiter.unmatched_len -= used);
            self.update_if_delimiter(index, |delimiter| delimiter.unmatched_len -= used);
        }
    }

    /// Matches every closer before the first bracket that may be a link.
    pub(super) fn match_closers_before_first_bracket(&mut self) {
        let bracket = self.held.iter().position(|node| matches!(node.kind, NodeKind::Bracket(_)));
        for index in 0..bracket.unwrap_or(self.held.len()) {
            self.match_closer(index, 0);
        }
    }

    /// Matches every closer from `bottom` on.
    pub(super) fn match_closers_from(&mut self, bottom: usize) {
        for index in bottom..self.held.len() {
            self.match_closer(index, bottom);
        }
    }

    pub(super) fn has_brackets(&self) -> bool {
        self.held.iter().any(|node| matches!(node.kind, NodeKind::Bracket(_)))
    }

    fn find_opener(
        &self,
        closer: DelimiterRun,
        index: usize,
        bottom: usize,
    ) -> Option<(usize, DelimiterRun)> {
        let closer_at = self.held[index].bytes_before;
        (bottom..index).rev().find_map(|at| match self.held[at].kind {
            NodeKind::Delimiter(opener)
                if opener.mark == closer.mark
                    && opener.can_open
                    && opener.unmatched_len > 0
                    && closer_at - self.held[at].bytes_before <= self.held_bytes_max
                    && can_pair(opener, closer) =>
            {
                Some((at, opener))
            }
            _ => None,
        })
    }

    fn update_if_delimiter(&mut self, index: usize, change: impl FnOnce(&mut DelimiterRun)) {
        if let NodeKind::Delimiter(delimiter) = &mut self.held[index].kind {
            change(delimiter);
        }
    }
}

/// The rule of three: runs that can both open and close pair only if their lengths allow it.
fn can_pair(opener: DelimiterRun, closer: DelimiterRun) -> bool {
    let both = opener.can_both || closer.can_both;
    let sum = opener.original_len + closer.original_len;
    !both
        || !sum.is_multiple_of(3)
        || (opener.original_len.is_multiple_of(3) && closer.original_len.is_multiple_of(3))
}
