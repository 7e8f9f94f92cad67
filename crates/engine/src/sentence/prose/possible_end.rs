//! Possible ends: whether a stop may end a sentence, by its mark and the word before it.

use super::super::chars::{StopMark, is_greek, is_vowel};
use super::super::lookahead::{AfterLowerCase, PossibleEnd};
use super::super::stop::SentenceStop;
use super::super::words::{self, DotClass};
use super::ProseScanner;
use super::word_history::PreviousWord;

/// Most words before a year or a time at the start of a sentence: "W dniu 3 maja 1791 r. Sejm".
const OPENING_WORDS_MAX: usize = 5;

/// Most digits of an ordinal number.
const ORDINAL_DIGITS_MAX: usize = 3;

/// Fewest letters of a Greek word that is not an abbreviation.
const GREEK_LETTERS_MIN: usize = 4;

impl ProseScanner {
    /// Returns the possible end that `stop` is; `None` if it ends no sentence.
    pub(super) fn possible_end_of_stop(&self, stop: SentenceStop) -> Option<PossibleEnd> {
        if self.enclosures.is_bracket_open() || stop.is_in_citation() {
            return None;
        }
        let word = stop.word_end.and_then(|end| self.words.current().get(..end));
        if stop.is_enclosed_alone(word) {
            return None;
        }
        let doubt = PossibleEnd {
            dot_class: DotClass::Plain,
            mark: stop.mark,
            dot_count: stop.dot_count,
            has_closing_mark: stop.has_closing_mark,
            lower_case: lower_case_after_mark(stop, word),
        };
        match stop.mark {
            StopMark::Dot if stop.stands_alone => Some(possible_end_of_spaced_dots(stop.dot_count)),
            StopMark::Dot if stop.dot_count == 1 => match word {
                Some(word) => self.refine_possible_end_by_word_before_dot(word, doubt),
                None => Some(doubt),
            },
            StopMark::Dot if 3 <= stop.dot_count => Some(PossibleEnd {
                mark: StopMark::Ellipsis,
                lower_case: AfterLowerCase::NoEnd,
                ..doubt
            }),
            _ => Some(doubt),
        }
    }

    /// Refines the possible end after the word before a dot; `None` if it ends no sentence.
    fn refine_possible_end_by_word_before_dot(
        &self,
        word: &str,
        doubt: PossibleEnd,
    ) -> Option<PossibleEnd> {
        let letters = word.chars().filter(|c| c.is_alphanumeric()).count();
        let count_before = self.words.count_before();
        let class = words::classify_dot_after(word, self.words.dotted());
        let is_label = class == DotClass::Number || class == DotClass::Starter && letters == 1;
        if class == DotClass::Never || count_before == 0 && is_label {
            return None;
        }
        let previous = match class {
            DotClass::Number | DotClass::Starter | DotClass::Year => self.words.classify_previous(),
            _ => PreviousWord::Other,
        };
        if class == DotClass::Number && previous == PreviousWord::NumberedNoun {
            return None;
        }
        let class = match (class, previous) {
            // "1. 5. 2020"
            (DotClass::Number, PreviousWord::Ordinal) => DotClass::Starter,
            // "der 45. Präsident"
            (DotClass::Number, PreviousWord::BeforeOrdinal) if letters <= ORDINAL_DIGITS_MAX => {
                DotClass::Starter
            }
            // "Jana Pawła II"
            (DotClass::Starter, PreviousWord::Capitalised)
                if 2 <= letters && words::is_roman_numeral(word) =>
            {
                DotClass::Number
            }
            // "5 m"
            (DotClass::Starter, PreviousWord::Number) if is_unit(word) => DotClass::Digit,
            // "r. 1918"
            (DotClass::Year, PreviousWord::Other | PreviousWord::Capitalised) => DotClass::Digit,
            (DotClass::Year | DotClass::Time, _) => self.class_after_date(class),
            (class, _) => class,
        };
        let lower_case = match class {
            _ if doubt.has_closing_mark => AfterLowerCase::NoEnd,
            DotClass::Plain => self.lower_case_after_word(word, letters),
            DotClass::Word => AfterLowerCase::End,
            DotClass::Answer if count_before == 0 => AfterLowerCase::End,
            _ => AfterLowerCase::NoEnd,
        };
        Some(PossibleEnd { dot_class: class, lower_case, ..doubt })
    }

    /// Class of a dot after a year or a time: a sentence that begins with one goes on.
    fn class_after_date(&self, class: DotClass) -> DotClass {
        let is_opening =
            self.words.count_before() <= OPENING_WORDS_MAX && self.words.begins_with_date_opener();
        match class {
            _ if is_opening => DotClass::Starter,
            DotClass::Time => DotClass::Number,
            _ => DotClass::Ending,
        }
    }

    /// Decides if lower case may begin a sentence after a dot and a word of no list.
    fn lower_case_after_word(&self, word: &str, letters: usize) -> AfterLowerCase {
        if is_greek(self.last_letter) {
            return if GREEK_LETTERS_MIN <= letters {
                AfterLowerCase::EndInGreek
            } else {
                AfterLowerCase::NoEnd
            };
        }
        // One without a vowel is an abbreviation that no list has.
        let mut chars = word.chars().filter(|c| c.is_alphabetic()).peekable();
        let is_abbreviation = chars.peek().is_some() && !chars.any(is_vowel);
        if is_abbreviation || is_day_and_month(word) || is_number_with_ending(word) {
            AfterLowerCase::NoEnd
        } else {
            AfterLowerCase::End
        }
    }
}

/// Rule for lower case after a mark other than a dot.
fn lower_case_after_mark(stop: SentenceStop, word: Option<&str>) -> AfterLowerCase {
    match stop.mark {
        StopMark::Unspaced | StopMark::UnspacedDot => AfterLowerCase::End,
        // "Why?" he asked. In French: Pourquoi ? demanda-t-il.
        _ if stop.has_closing_mark || stop.stands_alone => AfterLowerCase::NoEnd,
        StopMark::Question => AfterLowerCase::End,
        StopMark::Exclamation if !word.is_some_and(words::is_exclaimed_name) => AfterLowerCase::End,
        StopMark::Exclamation | StopMark::Ellipsis | StopMark::Dot => AfterLowerCase::NoEnd,
    }
}

/// True for "24.12".
fn is_day_and_month(word: &str) -> bool {
    let is_at_most =
        |part: &str, max: u8| part.parse::<u8>().is_ok_and(|number| (1..=max).contains(&number));
    word.split_once('.').is_some_and(|(day, month)| is_at_most(day, 31) && is_at_most(month, 12))
}

/// True for the ordinal numbers of Romance languages: "5o", "2as".
fn is_number_with_ending(word: &str) -> bool {
    let ending = word.trim_start_matches(|c: char| c.is_ascii_digit());
    ending.len() < word.len()
        && matches!(
            ending,
            "o" | "a" | "os" | "as" | "er" | "ra" | "ro" | "e" | "è" | "é" | "º" | "ª"
        )
}

/// True for units of one letter, such as metres; not for "v" in "44 v. Chr.".
fn is_unit(word: &str) -> bool {
    matches!(word, "c" | "g" | "h" | "k" | "l" | "m" | "s" | "t")
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
        lower_case: AfterLowerCase::NoEnd,
    }
}
