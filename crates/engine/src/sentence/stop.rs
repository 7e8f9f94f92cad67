//! A sentence stop with its marks, closing quotes and citations.

use crate::limits::SENTENCE_WORD_BYTES_MAX;

use super::chars::{StopMark, is_closing_mark, stop_mark};

/// Longest citation right after a stop.
const CITATION_CHARS_MAX: usize = 24;

/// A stop and everything between it and the next white space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SentenceStop {
    pub(super) mark: StopMark,
    /// Number of dots, with or without spaces between them.
    pub(super) dot_count: usize,
    /// True if no word precedes it.
    pub(super) stands_alone: bool,
    /// Length of the word before it; `None` if that was too long to keep.
    pub(super) word_end: Option<usize>,
    /// True if a closing quote, bracket or citation follows it.
    pub(super) has_closing_mark: bool,
    /// Characters of the open citation after it; 0 if none is open.
    citation_chars: usize,
}

impl SentenceStop {
    /// Creates the stop `mark` after `word`.
    pub(super) fn new(mark: StopMark, word: &str) -> SentenceStop {
        let known = word.len() < SENTENCE_WORD_BYTES_MAX;
        SentenceStop {
            mark,
            dot_count: usize::from(mark == StopMark::Dot),
            stands_alone: word.is_empty(),
            word_end: known.then_some(word.len()),
            has_closing_mark: false,
            citation_chars: 0,
        }
    }

    /// True inside a citation after the stop.
    pub(super) fn is_in_citation(self) -> bool {
        0 < self.citation_chars
    }

    /// True for "[...]" and "(!)", which end no sentence.
    pub(super) fn is_enclosed_alone(self, word: Option<&str>) -> bool {
        self.has_closing_mark && word.is_some_and(|word| word.ends_with(['[', '(']))
    }

    /// Adds `c` to the stop. Returns false if it does not belong to it.
    pub(super) fn try_extend(&mut self, c: char, letter: char) -> bool {
        if 0 < self.citation_chars {
            self.has_closing_mark |= matches!(c, ']' | '】');
            self.citation_chars =
                if matches!(c, ']' | '】') { 0 } else { self.citation_chars + 1 };
            return self.citation_chars <= CITATION_CHARS_MAX;
        }
        if let Some(mark) = stop_mark(c, letter) {
            self.add_mark(mark);
        } else if is_closing_mark(c) && !(self.mark == StopMark::Unspaced && c == '“') {
            self.has_closing_mark = true;
        } else if matches!(c, '[' | '【') {
            self.citation_chars = 1;
        } else {
            return false;
        }
        true
    }

    /// Adds a mark; the stronger one decides the kind.
    fn add_mark(&mut self, mark: StopMark) {
        if self.has_closing_mark {
            *self = SentenceStop {
                mark,
                dot_count: 0,
                word_end: None,
                has_closing_mark: false,
                stands_alone: false,
                ..*self
            };
        }
        self.dot_count += usize::from(mark == StopMark::Dot);
        self.mark = match (self.mark, mark) {
            (StopMark::Unspaced, _) | (_, StopMark::Unspaced) => StopMark::Unspaced,
            (old, StopMark::Dot) => old,
            (StopMark::Dot | StopMark::UnspacedDot, new) => new,
            (StopMark::Question, _) | (_, StopMark::Question) => StopMark::Question,
            (old, _) => old,
        };
    }
}
