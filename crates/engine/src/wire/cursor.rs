//! Where a reader stands, as an opaque word.
//!
//! The word is short because it is part of every frame: the kind of stream, then the event's number
//! in base 62, then what is out of the ordinary.

use std::fmt;
use std::str::FromStr;

use super::encoder::Kind;

/// So many frames of the event `seq` have been sent, and all of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Frames are only comparable within streams of one kind.
    pub kind: Kind,
    /// Changes when the log may have lost its end.
    pub epoch: u32,
    pub seq: u64,
    pub sent: u32,
}

/// A word that is no cursor of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCursor;

impl fmt::Display for NoCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a cursor: use one that came with a frame, or none")
    }
}

impl std::error::Error for NoCursor {}

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn write_number(mut number: u64, out: &mut String) {
    let mut digits = [0; 11];
    let mut at = digits.len();
    loop {
        at -= 1;
        // The remainder of a division by 62 is a digit's place.
        digits[at] = DIGITS[usize::try_from(number % 62).unwrap_or(0)];
        number /= 62;
        if number == 0 {
            break;
        }
    }
    out.push_str(str::from_utf8(&digits[at..]).unwrap_or_default());
}

fn read_number(text: &str) -> Result<u64, NoCursor> {
    if text.is_empty() {
        return Err(NoCursor);
    }
    text.bytes().try_fold(0_u64, |number, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A' + 10,
            b'a'..=b'z' => byte - b'a' + 36,
            _ => return Err(NoCursor),
        };
        number
            .checked_mul(62)
            .and_then(|number| number.checked_add(u64::from(digit)))
            .ok_or(NoCursor)
    })
}

impl Cursor {
    pub(super) fn write(&self, out: &mut String) {
        self.kind.write(out);
        write_number(self.seq, out);
        // Nearly every event makes one frame.
        if self.sent != 1 {
            out.push('.');
            write_number(self.sent.into(), out);
        }
        if self.epoch != 0 {
            out.push('~');
            write_number(self.epoch.into(), out);
        }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text);
        f.write_str(&text)
    }
}

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Cursor, NoCursor> {
        let (kind, rest) = Kind::read(text).ok_or(NoCursor)?;
        let (rest, epoch) = rest.split_once('~').unwrap_or((rest, "0"));
        let (seq, sent) = rest.split_once('.').unwrap_or((rest, "1"));
        let small = |text| read_number(text).and_then(|n| u32::try_from(n).map_err(|_| NoCursor));
        Ok(Cursor { kind, epoch: small(epoch)?, seq: read_number(seq)?, sent: small(sent)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Thinking, ViewName};
    use crate::wire::{Content, Format};

    fn kinds() -> Vec<Kind> {
        let mut kinds = Vec::new();
        for view in ViewName::ALL {
            for format in [Format::Own, Format::Patch] {
                for content in [Content::Accumulated, Content::Delta] {
                    for thinking in
                        [Thinking::AsUsual, Thinking::Hide, Thinking::Latest, Thinking::Show]
                    {
                        kinds.push(Kind { view, format, content, thinking });
                    }
                }
            }
        }
        kinds
    }

    #[test]
    fn every_cursor_is_a_word_of_its_own_and_reads_as_itself() {
        let numbers = [0, 1, 2, 9, 10, 35, 36, 61, 62, 3_843, 3_844, 1 << 40, u64::MAX];
        let mut words = std::collections::HashSet::new();
        for kind in kinds() {
            for seq in numbers {
                for (sent, epoch) in [(0, 0), (1, 0), (2, 0), (u32::MAX, 0), (1, 1), (0, u32::MAX)]
                {
                    let cursor = Cursor { kind, epoch, seq, sent };
                    let word = cursor.to_string();
                    assert_eq!(word.parse(), Ok(cursor), "{word}");
                    assert!(words.insert(word.clone()), "{word} twice");
                }
            }
        }
    }

    #[test]
    fn the_usual_is_short() {
        let kind = Kind::new(ViewName::Latest);
        let word = |seq| Cursor { kind, epoch: 0, seq, sent: 1 }.to_string();
        let words = [0, 9, 10, 35, 36, 61, 62, 124].map(word);
        assert_eq!(words, ["l0", "l9", "lA", "lZ", "la", "lz", "l10", "l20"]);
        let unusual = Kind { format: Format::Patch, content: Content::Delta, ..kind };
        let unusual = Cursor { kind: unusual, epoch: 3, seq: 5, sent: 0 };
        assert_eq!(unusual.to_string(), "L-d5.0~3");
    }

    #[test]
    fn what_is_no_cursor_says_what_to_do() {
        for word in [
            "",
            "l",
            "x1",
            "?1",
            "l-1",
            "l-_1",
            "l-h1",
            "l-",
            "l1.",
            "l1~",
            "l!",
            "l1.1.1",
            "l-d",
            "lzzzzzzzzzzzz",
            "l1.zzzzzzz",
            "l1~zzzzzzz",
            "é1",
        ] {
            let no = word.parse::<Cursor>().unwrap_err();
            assert!(no.to_string().contains("use one that came with a frame"), "{word}");
        }
    }
}
