//! A stop, as long as it may still be one: its marks, quotes that close after it, citations.

use crate::limits::SENTENCE_WORD_BYTES_MAX;

use super::chars::{Mark, is_closer, mark};

/// Characters of a citation that may stand right after a stop.
const CITATION_CHARS_MAX: usize = 24;

/// A stop and what else may stand between it and white space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stop {
    pub(super) mark: Mark,
    /// How many dots, spaces between them or not.
    pub(super) dots: usize,
    /// They stand alone, not after a word.
    pub(super) spaced: bool,
    /// Where the word before it ends in what was kept of it, if all was.
    pub(super) word_end: Option<usize>,
    pub(super) closed: bool,
    /// Characters of the citation that is open after it.
    citation: usize,
}

impl Stop {
    /// The stop `mark` after `word`.
    pub(super) fn new(mark: Mark, word: &str) -> Stop {
        let known = word.len() < SENTENCE_WORD_BYTES_MAX;
        Stop {
            mark,
            dots: usize::from(mark == Mark::Dot),
            spaced: word.is_empty(),
            word_end: known.then_some(word.len()),
            closed: false,
            citation: 0,
        }
    }

    pub(super) fn is_citing(self) -> bool {
        0 < self.citation
    }

    /// "[...]" leaves out words, and ends nothing.
    pub(super) fn is_omission(self, word: Option<&str>) -> bool {
        self.closed && word.is_some_and(|word| word.ends_with(['[', '(']))
    }

    /// Whether `c` still belongs to it.
    pub(super) fn reads(&mut self, c: char, letter: char) -> bool {
        if 0 < self.citation {
            self.closed |= matches!(c, ']' | '】');
            self.citation = if matches!(c, ']' | '】') { 0 } else { self.citation + 1 };
            return self.citation <= CITATION_CHARS_MAX;
        }
        if let Some(mark) = mark(c, letter) {
            self.add(mark);
        } else if is_closer(c) {
            self.closed = true;
        } else if matches!(c, '[' | '【') {
            self.citation = 1;
        } else {
            return false;
        }
        true
    }

    fn add(&mut self, mark: Mark) {
        if self.closed {
            *self = Stop { mark, dots: 0, word_end: None, closed: false, spaced: false, ..*self };
        }
        self.dots += usize::from(mark == Mark::Dot);
        self.mark = match (self.mark, mark) {
            (Mark::Wide, _) | (_, Mark::Wide) => Mark::Wide,
            (old, Mark::Dot) => old,
            (Mark::Dot | Mark::WideDot, new) => new,
            (Mark::Question, _) | (_, Mark::Question) => Mark::Question,
            (old, _) => old,
        };
    }
}
