//! Cursors: opaque resume tokens.
//!
//! A cursor is short because it is part of every frame: the stream kind, then the event's number in
//! base 62, then what differs from the usual case. The cursor of a record in a log ends with the
//! revision of the encoder and the record's epoch.

use std::fmt;
use std::str::FromStr;

use super::stream_kind::StreamKind;

/// Position after frame `frames_sent` of event `seq`; all earlier events were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Frames are only comparable within streams of one kind.
    pub kind: StreamKind,
    /// Epoch of the record before the position: drawn anew by each writer, so that two records with
    /// the same number and epoch are the same. 0 where no log is kept.
    pub epoch: u64,
    /// Number of the event in the log.
    pub seq: u64,
    /// Number of that event's frames already sent.
    pub frames_sent: u32,
}

/// Error of parsing a [`Cursor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidCursor;

impl fmt::Display for InvalidCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid cursor: use the id of a received frame, or omit it")
    }
}

impl std::error::Error for InvalidCursor {}

/// Revision of the encoder: changes whenever the same record is cut into other frames than before.
/// Cursors of other revisions are invalid.
const ENCODER_REVISION: char = '1';

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Appends a number in base 62: at most eleven digits, of which a frame has two or three.
fn write_base62(number: u64, out: &mut String) {
    if 62 <= number {
        write_base62(number / 62, out);
    }
    // The remainder is below 62.
    out.push(char::from(DIGITS[usize::try_from(number % 62).unwrap_or(0)]));
}

/// Parses a base 62 number.
fn parse_base62(text: &str) -> Result<u64, InvalidCursor> {
    if text.is_empty() {
        return Err(InvalidCursor);
    }
    text.bytes().try_fold(0_u64, |number, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A' + 10,
            b'a'..=b'z' => byte - b'a' + 36,
            _ => return Err(InvalidCursor),
        };
        number
            .checked_mul(62)
            .and_then(|number| number.checked_add(u64::from(digit)))
            .ok_or(InvalidCursor)
    })
}

impl Cursor {
    /// Appends the cursor's text.
    pub(super) fn write(&self, out: &mut String) {
        self.kind.write_cursor_prefix(out);
        write_base62(self.seq, out);
        // Nearly every event makes exactly one frame.
        if self.frames_sent != 1 {
            out.push('.');
            write_base62(self.frames_sent.into(), out);
        }
        if self.epoch != 0 {
            out.push('~');
            out.push(ENCODER_REVISION);
            write_base62(self.epoch, out);
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
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Cursor, InvalidCursor> {
        let (kind, rest) = StreamKind::parse_cursor_prefix(text).ok_or(InvalidCursor)?;
        let (rest, epoch) = match rest.split_once('~') {
            Some((rest, of_log)) => {
                let epoch = of_log.strip_prefix(ENCODER_REVISION).ok_or(InvalidCursor)?;
                (rest, parse_base62(epoch)?)
            }
            None => (rest, 0),
        };
        let (seq, sent) = rest.split_once('.').unwrap_or((rest, "1"));
        let frames_sent = u32::try_from(parse_base62(sent)?).map_err(|_| InvalidCursor)?;
        Ok(Cursor { kind, epoch, seq: parse_base62(seq)?, frames_sent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Thinking, ViewName};
    use crate::wire::{ContentMode, FrameFormat};

    fn all_kinds() -> Vec<StreamKind> {
        let mut kinds = Vec::new();
        for view in ViewName::ALL {
            for format in [FrameFormat::Native, FrameFormat::Patch] {
                for content in [ContentMode::Accumulated, ContentMode::Delta] {
                    for thinking in
                        [Thinking::ViewDefault, Thinking::Hide, Thinking::Latest, Thinking::Show]
                    {
                        kinds.push(StreamKind { view, format, content, thinking });
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
        for kind in all_kinds() {
            for seq in numbers {
                for (sent, epoch) in [(0, 0), (1, 0), (2, 0), (u32::MAX, 0), (1, 1), (0, u64::MAX)]
                {
                    let cursor = Cursor { kind, epoch, seq, frames_sent: sent };
                    let word = cursor.to_string();
                    assert_eq!(word.parse(), Ok(cursor), "{word}");
                    assert!(words.insert(word.clone()), "{word} twice");
                }
            }
        }
    }

    #[test]
    fn the_usual_is_short() {
        let kind = StreamKind::new(ViewName::Latest);
        let word = |seq| Cursor { kind, epoch: 0, seq, frames_sent: 1 }.to_string();
        let words = [0, 9, 10, 35, 36, 61, 62, 124].map(word);
        assert_eq!(words, ["l0", "l9", "lA", "lZ", "la", "lz", "l10", "l20"]);
        let unusual =
            StreamKind { format: FrameFormat::Patch, content: ContentMode::Delta, ..kind };
        let unusual = Cursor { kind: unusual, epoch: 3, seq: 5, frames_sent: 0 };
        assert_eq!(unusual.to_string(), "L-d5.0~13");
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
            "l1~1",
            "l1~13~13",
            "l1~1zzzzzzzzzzzz",
            // Of another revision.
            "l1~3",
            "l1~03",
            "é1",
        ] {
            let no = word.parse::<Cursor>().unwrap_err();
            assert!(no.to_string().contains("use the id of a received frame"), "{word}");
        }
    }
}
