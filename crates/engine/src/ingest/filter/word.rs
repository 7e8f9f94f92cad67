//! Control words: words by which an agent says something to whoever runs it, not to the reader.
//!
//! Does: say what may be one, and tell from a text that begins like one whether it is.
//! Does not: know what is code, or what a word does.
//!
//! A word is compared without regard to ASCII case, and is none where a letter or digit follows.

use crate::limits::CONTROL_WORD_BYTES_MAX;

/// What an agent says with a control word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The run is to end; such as `!isfinish`.
    Finish,
    /// There is no news; such as `HEARTBEAT_OK`.
    NothingToReport,
}

/// A word that is hidden wherever it stands outside code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlWord {
    word: Box<str>,
    meaning: Meaning,
}

impl std::fmt::Display for ControlWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.word)
    }
}

/// Why a text cannot be a control word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadWord {
    Empty,
    TooLong,
    /// White space or an unprintable character.
    Space,
    /// A mark by which tags or code are told from text.
    Mark(char),
}

impl std::fmt::Display for BadWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BadWord::Empty => f.write_str("a control word cannot be empty"),
            BadWord::TooLong => {
                write!(f, "a control word has at most {CONTROL_WORD_BYTES_MAX} bytes")
            }
            BadWord::Space => f.write_str("a control word is one word, without white space"),
            BadWord::Mark(mark) => write!(f, "a control word cannot hold `{mark}`"),
        }
    }
}

impl std::error::Error for BadWord {}

impl ControlWord {
    pub fn new(word: &str, meaning: Meaning) -> Result<ControlWord, BadWord> {
        if word.is_empty() {
            return Err(BadWord::Empty);
        }
        if CONTROL_WORD_BYTES_MAX < word.len() {
            return Err(BadWord::TooLong);
        }
        for char in word.chars() {
            if char.is_whitespace() || char.is_control() {
                return Err(BadWord::Space);
            }
            if matches!(char, '<' | '>' | '`' | '\\') {
                return Err(BadWord::Mark(char));
            }
        }
        Ok(ControlWord { word: word.into(), meaning })
    }

    /// It begins with a letter or digit, so that it may also be the end of a longer word.
    pub fn looks_like_prose(&self) -> bool {
        self.word.starts_with(char::is_alphanumeric)
    }
}

/// Whether more text may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    MayCome,
    IsOver,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// It may still become a word.
    Maybe,
    Word {
        len: usize,
        meaning: Meaning,
    },
    No,
}

/// All control words of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    words: Vec<ControlWord>,
    /// By its value, whether a byte is the first of some word.
    begins: [bool; 256],
}

impl Words {
    pub(super) fn new(words: &[ControlWord]) -> Words {
        let mut begins = [false; 256];
        for first in words.iter().filter_map(|word| word.word.bytes().next()) {
            begins[usize::from(first.to_ascii_lowercase())] = true;
            begins[usize::from(first.to_ascii_uppercase())] = true;
        }
        Words { words: words.to_vec(), begins }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn may_begin(&self, byte: u8) -> bool {
        self.begins[usize::from(byte)]
    }

    /// What `text` begins with. The longest word wins, so one that may still come is waited for.
    pub(super) fn decide(&self, text: &str, rest: Rest) -> Likeness {
        let mut found = Likeness::No;
        let mut longest = 0;
        for ControlWord { word, meaning } in &self.words {
            let len = word.len().min(text.len());
            if !word.as_bytes()[..len].eq_ignore_ascii_case(&text.as_bytes()[..len]) {
                continue;
            }
            let next = text.get(len..).and_then(|after| after.chars().next());
            match (next, rest) {
                (None, Rest::MayCome) => return Likeness::Maybe,
                // It broke off.
                (None, Rest::IsOver) if len < word.len() => {}
                (Some(next), _) if next.is_alphanumeric() => {}
                _ if longest < len => {
                    longest = len;
                    found = Likeness::Word { len, meaning: *meaning };
                }
                _ => {}
            }
        }
        found
    }
}
