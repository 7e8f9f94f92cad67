//! Control words: words in a reply that signal the agent's runner and are hidden from the reader.
//!
//! Does: match the start of a text against the words.
//! Does not: detect code, or act on a word.
//!
//! Matching ignores ASCII case; a word followed by a letter or digit does not match.

use crate::limits::CONTROL_WORD_BYTES_MAX;

/// Meaning of a control word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlMeaning {
    /// End the run; such as `!isfinish`.
    Finish,
    /// Nothing to report; such as `HEARTBEAT_OK`.
    NothingToReport,
}

/// A word that is hidden everywhere except in code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlWord {
    word: Box<str>,
    meaning: ControlMeaning,
}

impl std::fmt::Display for ControlWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.word)
    }
}

/// Why a text cannot be a control word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlWordError {
    /// It is empty.
    Empty,
    /// It is longer than the limit.
    TooLong,
    /// It has white space or a control character.
    Whitespace,
    /// It has a character that delimits tags or code.
    ForbiddenChar(char),
}

impl std::fmt::Display for ControlWordError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ControlWordError::Empty => f.write_str("control word is empty"),
            ControlWordError::TooLong => {
                write!(f, "control word is longer than {CONTROL_WORD_BYTES_MAX} bytes")
            }
            ControlWordError::Whitespace => f.write_str("control word contains white space"),
            ControlWordError::ForbiddenChar(mark) => write!(f, "control word contains `{mark}`"),
        }
    }
}

impl std::error::Error for ControlWordError {}

impl ControlWord {
    /// Checks a word and creates a control word of it.
    pub fn new(word: &str, meaning: ControlMeaning) -> Result<ControlWord, ControlWordError> {
        if word.is_empty() {
            return Err(ControlWordError::Empty);
        }
        if CONTROL_WORD_BYTES_MAX < word.len() {
            return Err(ControlWordError::TooLong);
        }
        for char in word.chars() {
            if char.is_whitespace() || char.is_control() {
                return Err(ControlWordError::Whitespace);
            }
            if matches!(char, '<' | '>' | '`' | '\\') {
                return Err(ControlWordError::ForbiddenChar(char));
            }
        }
        Ok(ControlWord { word: word.into(), meaning })
    }

    /// True if it begins with a letter or digit, so that it also matches the end of a longer word.
    pub fn starts_with_alphanumeric(&self) -> bool {
        self.word.starts_with(char::is_alphanumeric)
    }
}

/// `Reached` if no more text follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndOfText {
    NotReached,
    Reached,
}

/// Result of matching the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// It may still become a control word.
    Maybe,
    Match {
        len: usize,
        meaning: ControlMeaning,
    },
    No,
}

/// All control words of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ControlWords {
    words: Vec<ControlWord>,
    /// True at each byte value that some word begins with.
    is_first_byte: [bool; 256],
}

impl ControlWords {
    pub(super) fn new(words: &[ControlWord]) -> ControlWords {
        let mut is_first_byte = [false; 256];
        for first in words.iter().filter_map(|word| word.word.bytes().next()) {
            is_first_byte[usize::from(first.to_ascii_lowercase())] = true;
            is_first_byte[usize::from(first.to_ascii_uppercase())] = true;
        }
        ControlWords { words: words.to_vec(), is_first_byte }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// True if some word begins with `byte`.
    pub(super) fn can_begin_with(&self, byte: u8) -> bool {
        self.is_first_byte[usize::from(byte)]
    }

    /// Matches the start of `text`. The longest word wins, so a partial match waits for more text.
    pub(super) fn match_start(&self, text: &str, rest: EndOfText) -> Likeness {
        let mut found = Likeness::No;
        let mut longest = 0;
        for ControlWord { word, meaning } in &self.words {
            let len = word.len().min(text.len());
            if !word.as_bytes()[..len].eq_ignore_ascii_case(&text.as_bytes()[..len]) {
                continue;
            }
            let next = text.get(len..).and_then(|after| after.chars().next());
            match (next, rest) {
                (None, EndOfText::NotReached) => return Likeness::Maybe,
                // The text ends inside the word.
                (None, EndOfText::Reached) if len < word.len() => {}
                (Some(next), _) if next.is_alphanumeric() => {}
                _ if longest < len => {
                    longest = len;
                    found = Likeness::Match { len, meaning: *meaning };
                }
                _ => {}
            }
        }
        found
    }
}
