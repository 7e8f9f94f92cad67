//! The delimiter stack of `CommonMark`, run as each delimiter is read.

use super::{Delimiter, Inline, Kind};
use crate::style::Attributes;

/// Whether a run may open and close, by the characters around it.
pub(super) fn flanking(mark: char, before: char, after: char) -> (bool, bool) {
    let space = |char: char| char.is_whitespace();
    let punctuation = |char: char| char.is_ascii_punctuation() || is_unicode_punctuation(char);
    let left = !space(after) && (!punctuation(after) || space(before) || punctuation(before));
    let right = !space(before) && (!punctuation(before) || space(after) || punctuation(after));
    match mark {
        '_' => (left && (!right || punctuation(before)), right && (!left || punctuation(after))),
        _ => (left, right),
    }
}

/// Not exact, but neither letters nor digits: quotes, dashes, CJK stops and the like.
fn is_unicode_punctuation(char: char) -> bool {
    matches!(u32::from(char),
        0xa1 | 0xa7 | 0xab | 0xb6 | 0xb7 | 0xbb | 0xbf | 0x2010..=0x2027 | 0x2030..=0x205e
        | 0x20a0..=0x20c0 | 0x2190..=0x2bff | 0x3001..=0x3003 | 0x3008..=0x3011
        | 0x3014..=0x301f | 0xff01..=0xff0f | 0xff1a..=0xff20 | 0xff3b..=0xff3d | 0xff5b..=0xff65)
}

pub(super) fn attributes(mark: char, len: usize) -> Attributes {
    match (mark, len) {
        ('~', _) => Attributes::STRIKE,
        (_, 1) => Attributes::ITALIC,
        (_, 2) => Attributes::BOLD,
        _ => Attributes::BOLD | Attributes::ITALIC,
    }
}

impl Inline {
    /// Uses up the closer at `index` with the openers after `bottom` that it closes.
    pub(super) fn close(&mut self, index: usize, bottom: usize) {
        while let Kind::Delimiter(closer) = self.held[index].kind
            && closer.closes
            && closer.len > 0
        {
            let Some((at, opener)) = self.opener_of(closer, index, bottom) else {
                self.update(index, |delimiter| delimiter.closes = false);
                return;
            };
            let used = if closer.len >= 2 && opener.len >= 2 { 2 } else { 1 };
            let attributes = attributes(closer.mark, used);
            for inside in at + 1..index {
                self.held[inside].style = self.held[inside].style.with(attributes);
                self.update(inside, |delimiter| {
                    delimiter.opens = false;
                    delimiter.closes = false;
                });
            }
            self.update(at, |delimiter| delimiter.len -= used);
            self.update(index, |delimiter| delimiter.len -= used);
        }
    }

    /// Lets every closer find its opener that stands in no bracket that may be a link.
    pub(super) fn close_outside_brackets(&mut self) {
        let bracket = self.held.iter().position(|node| matches!(node.kind, Kind::Bracket(_)));
        for index in 0..bracket.unwrap_or(self.held.len()) {
            self.close(index, 0);
        }
    }

    /// Lets every closer after `bottom` find its opener.
    pub(super) fn close_all(&mut self, bottom: usize) {
        for index in bottom..self.held.len() {
            self.close(index, bottom);
        }
    }

    pub(super) fn has_brackets(&self) -> bool {
        self.held.iter().any(|node| matches!(node.kind, Kind::Bracket(_)))
    }

    fn opener_of(
        &self,
        closer: Delimiter,
        index: usize,
        bottom: usize,
    ) -> Option<(usize, Delimiter)> {
        let closer_at = self.held[index].at;
        (bottom..index).rev().find_map(|at| match self.held[at].kind {
            Kind::Delimiter(opener)
                if opener.mark == closer.mark
                    && opener.opens
                    && opener.len > 0
                    && closer_at - self.held[at].at <= self.limit
                    && may_pair(opener, closer) =>
            {
                Some((at, opener))
            }
            _ => None,
        })
    }

    fn update(&mut self, index: usize, change: impl FnOnce(&mut Delimiter)) {
        if let Kind::Delimiter(delimiter) = &mut self.held[index].kind {
            change(delimiter);
        }
    }
}

/// The rule of three: a run that both opens and closes pairs only where lengths say so.
fn may_pair(opener: Delimiter, closer: Delimiter) -> bool {
    let both = opener.both || closer.both;
    let sum = opener.whole + closer.whole;
    !both
        || !sum.is_multiple_of(3)
        || (opener.whole.is_multiple_of(3) && closer.whole.is_multiple_of(3))
}
