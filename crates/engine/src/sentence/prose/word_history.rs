//! The words of a sentence, as far as the meaning of a dot depends on them.

use arrayvec::ArrayString;

use crate::limits::SENTENCE_WORD_BYTES_MAX;

use super::super::words;

/// Longest beginning of an abbreviation with spaces in it.
const DOTTED_BYTES_MAX: usize = 12;

/// A word, or the beginning of a long one. Its last character may go beyond the limit.
type Word = ArrayString<{ SENTENCE_WORD_BYTES_MAX + 3 }>;

/// The current word, and what is needed of those before it. Copied where text may have two readings.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WordHistory {
    current: Word,
    previous: Word,
    /// First word of the sentence.
    first: Word,
    /// The words with dots right before the current one, without the spaces between them.
    dotted: ArrayString<DOTTED_BYTES_MAX>,
    /// Number of words of the sentence before the current one.
    count_before: usize,
}

/// Kind of the previous word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PreviousWord {
    Number,
    /// A number with a dot.
    Ordinal,
    /// A word that an ordinal number follows, such as the German "der".
    BeforeOrdinal,
    /// A name or a noun with a capital, not the first word.
    Capitalised,
    /// First word of a piece, and a noun that takes a number, as in "Step 1".
    NumberedNoun,
    Other,
}

impl WordHistory {
    pub(super) fn current(&self) -> &str {
        &self.current
    }

    pub(super) fn count_before(&self) -> usize {
        self.count_before
    }

    /// The words with dots right before the current one: "v." before "Chr.".
    pub(super) fn dotted(&self) -> &str {
        &self.dotted
    }

    /// Appends `c` to the current word, up to its limit.
    pub(super) fn push(&mut self, c: char) {
        if self.current.len() < SENTENCE_WORD_BYTES_MAX {
            self.current.push(c);
        }
    }

    /// Appends letters to the current word, up to its limit.
    pub(super) fn push_ascii(&mut self, letters: &str) {
        let room = SENTENCE_WORD_BYTES_MAX.saturating_sub(self.current.len());
        self.current.push_str(&letters[..letters.len().min(room)]);
    }

    /// Ends the current word.
    pub(super) fn end_word(&mut self) {
        if self.current.is_empty() {
            return;
        }
        self.extend_dotted();
        if self.count_before == 0 {
            self.first = self.current;
        }
        self.count_before += 1;
        self.previous = std::mem::take(&mut self.current);
    }

    /// Adds the current word to those with dots before the next one; drops the first ones if they
    /// get too long.
    fn extend_dotted(&mut self) {
        let has_last_dot_only =
            self.current.strip_suffix('.').is_some_and(|letters| !letters.contains('.'));
        let is_number = self.current.starts_with(|c: char| c.is_ascii_digit());
        if !has_last_dot_only || is_number || DOTTED_BYTES_MAX < self.current.len() {
            self.dotted.clear();
            return;
        }
        while DOTTED_BYTES_MAX < self.dotted.len() + self.current.len() {
            let first = self.dotted.find('.').map_or(self.dotted.len(), |dot| dot + 1);
            let mut rest = ArrayString::new();
            rest.push_str(&self.dotted[first..]);
            self.dotted = rest;
        }
        self.dotted.push_str(&self.current);
    }

    /// Forgets the words: a sentence begins.
    pub(super) fn clear(&mut self) {
        self.current.clear();
        self.previous.clear();
        self.first.clear();
        self.dotted.clear();
        self.count_before = 0;
    }

    /// Classifies the previous word.
    pub(super) fn classify_previous(&self) -> PreviousWord {
        if self.count_before == 0 {
            return PreviousWord::Other;
        }
        let word = trim_opening_marks(&self.previous);
        let number = word.trim_end_matches('.');
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        match word.len() - number.len() {
            0 if is_number || 2 <= word.len() && words::is_roman_numeral(word) => {
                PreviousWord::Number
            }
            1 if is_number => PreviousWord::Ordinal,
            0 if words::is_word_before_ordinal(word) => PreviousWord::BeforeOrdinal,
            0 if self.count_before == 1 && words::is_noun_before_number(word) => {
                PreviousWord::NumberedNoun
            }
            0 if 1 < self.count_before && word.starts_with(char::is_uppercase) => {
                PreviousWord::Capitalised
            }
            _ => PreviousWord::Other,
        }
    }

    /// True if the sentence begins with a number or a word that opens dates and times: "In 1918".
    pub(super) fn begins_with_date_opener(&self) -> bool {
        let first = trim_opening_marks(&self.first);
        first.bytes().all(|byte| byte.is_ascii_digit()) || words::is_date_opener(first)
    }
}

/// The word without quotes, brackets and emphasis before it.
fn trim_opening_marks(word: &str) -> &str {
    word.trim_start_matches(|c: char| !c.is_alphanumeric())
}
