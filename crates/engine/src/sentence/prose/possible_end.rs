//! Possible ends: whether a stop may end a sentence, by its mark and the word before it.

use super::super::chars::{StopMark, is_greek};
use super::super::lookahead::PossibleEnd;
use super::super::stop::SentenceStop;
use super::super::words::{self, DotClass};
use super::{PreviousWord, ProseScanner};

/// Most words before a year at the start of a sentence: "W dniu 3 maja 1791 r. Sejm".
const OPENING_WORDS_MAX: usize = 5;

/// Fewest letters of a Greek word that is not an abbreviation.
const GREEK_LETTERS_MIN: usize = 4;

impl ProseScanner {
    /// Returns the possible end that `stop` is; `None` if it ends no sentence.
    pub(super) fn possible_end_of_stop(&self, stop: SentenceStop) -> Option<PossibleEnd> {
        if self.enclosures.is_open() || stop.is_in_citation() {
            return None;
        }
        let word = stop.word_end.and_then(|end| self.word.get(..end));
        let doubt = PossibleEnd {
            dot_class: DotClass::Plain,
            mark: stop.mark,
            dot_count: stop.dot_count,
            has_closing_mark: stop.has_closing_mark,
            is_after_greek_word: false,
        };
        match stop.mark {
            StopMark::Dot if stop.stands_alone => Some(possible_end_of_spaced_dots(stop.dot_count)),
            StopMark::Dot if stop.dot_count == 1 => match word {
                Some(word) => self.refine_possible_end_by_word(word, doubt),
                None => Some(doubt),
            },
            StopMark::Dot | StopMark::Ellipsis if stop.is_omission(word) => None,
            StopMark::Dot if 3 <= stop.dot_count => {
                Some(PossibleEnd { mark: StopMark::Ellipsis, ..doubt })
            }
            _ => Some(doubt),
        }
    }

    /// Refines the possible end after the word before a dot; `None` if it ends no sentence.
    fn refine_possible_end_by_word(&self, word: &str, doubt: PossibleEnd) -> Option<PossibleEnd> {
        let letters = word.chars().filter(|c| c.is_alphanumeric()).count();
        let mut class = words::classify_dot_after(word);
        let is_label = class == DotClass::Number || class == DotClass::Starter && letters == 1;
        if class == DotClass::Never || self.words_before == 0 && is_label {
            return None;
        }
        if class == DotClass::Number && self.previous_word == PreviousWord::NumberedNoun {
            return None;
        }
        class = match (class, self.previous_word) {
            // "1. 5. 2020"
            (DotClass::Number, PreviousWord::Ordinal) => DotClass::Starter,
            // "5 m"
            (DotClass::Starter, PreviousWord::Number)
                if letters == 1 && is_lowercase_word(word) =>
            {
                DotClass::Plain
            }
            (DotClass::Year, _) if OPENING_WORDS_MAX < self.words_before => DotClass::Plain,
            (class, _) => class,
        };
        let greek =
            class == DotClass::Plain && is_greek(self.last_letter) && GREEK_LETTERS_MIN <= letters;
        Some(PossibleEnd { dot_class: class, is_after_greek_word: greek, ..doubt })
    }
}

fn is_lowercase_word(word: &str) -> bool {
    word.chars().all(char::is_lowercase)
}

/// Possible end after dots with spaces around them: three of them are an omission.
pub(super) fn possible_end_of_spaced_dots(dots: usize) -> PossibleEnd {
    let class = if dots == 3 { DotClass::Never } else { DotClass::Plain };
    let mark = if 3 <= dots { StopMark::Ellipsis } else { StopMark::Dot };
    PossibleEnd {
        dot_class: class,
        mark,
        dot_count: dots,
        has_closing_mark: false,
        is_after_greek_word: false,
    }
}
