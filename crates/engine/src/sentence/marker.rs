//! Items of a list that stand on one line: "1) this 2) that".
//!
//! Does: wait in an item for the marker that would follow its own. Does not: find first markers;
//! that is `line`'s.

use crate::limits::SENTENCE_WORD_BYTES_MAX;

use super::chars::is_bullet;
use super::prose::CharDecision;
use super::words::is_noun_before_number;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct NextMarker {
    /// The marker that would begin the next item.
    expected: String,
    /// Bytes of it that stand here.
    matched: usize,
    /// The word being read, and the one before it.
    word: String,
    before: String,
    at_word: bool,
}

impl NextMarker {
    /// Creates the state in an item that `marker` began, white space aside; `None` if no marker can
    /// follow it.
    pub(super) fn after(marker: &str) -> Option<NextMarker> {
        let first = marker.chars().next()?;
        let end = marker.find(['.', ')']).unwrap_or(marker.len());
        let (value, style) = marker.split_at(end);
        let expected = if is_bullet(first) {
            first.to_string()
        } else if let Ok(number) = value.parse::<u32>() {
            format!("{}{style}", number.checked_add(1)?)
        } else if value.len() == 1 && matches!(first, 'a'..='y') {
            format!("{}{style}", char::from_u32(u32::from(first) + 1)?)
        } else {
            return None;
        };
        Some(NextMarker {
            expected,
            matched: 0,
            word: String::new(),
            before: String::new(),
            at_word: false,
        })
    }

    /// Reads a character of the item. `Break` says that the next item began, with all that is held
    /// and, if it is a bullet, this character.
    pub(super) fn push_char(&mut self, c: char) -> CharDecision {
        let expected = self.expected.get(self.matched..).and_then(|rest| rest.chars().next());
        if (0 < self.matched || self.at_word) && expected == Some(c) {
            self.matched += c.len_utf8();
            self.at_word = false;
            if is_bullet(c) {
                return self.break_and_expect_next();
            }
            return CharDecision::Hold;
        }
        let whole = self.matched == self.expected.len();
        if whole && matches!(c, ' ' | '\t') && !self.belongs_to_word_before() {
            return self.break_and_expect_next();
        }
        self.matched = 0;
        self.at_word = c.is_whitespace();
        if self.at_word {
            self.before = std::mem::take(&mut self.word);
        } else if self.word.len() < SENTENCE_WORD_BYTES_MAX {
            self.word.push(c);
        }
        CharDecision::Pass
    }

    /// True if the marker may begin with a letter, or has begun.
    pub(super) fn may_begin_in_words(&self) -> bool {
        0 < self.matched || self.expected.starts_with(|c: char| c.is_ascii_lowercase())
    }

    /// Reads letters and spaces, which the marker cannot begin with. Only the last two words count.
    pub(super) fn push_plain_words(&mut self, text: &str) {
        let mut spaces = text.rmatch_indices(' ');
        let tail = match (spaces.next(), spaces.next()) {
            (Some(_), Some((at, _))) => {
                self.word.clear();
                self.before.clear();
                self.at_word = true;
                &text[at + 1..]
            }
            _ => text,
        };
        for c in tail.chars() {
            self.push_char(c);
        }
    }

    fn break_and_expect_next(&mut self) -> CharDecision {
        if let Some(next) = NextMarker::after(&self.expected) {
            *self = next;
        }
        CharDecision::Break
    }

    /// True if the number belongs to the word before it: "Go to step 2. Then" is no list. With a
    /// bracket it cannot be anything but a marker.
    fn belongs_to_word_before(&self) -> bool {
        self.expected.ends_with('.') && is_noun_before_number(&self.before)
    }
}
