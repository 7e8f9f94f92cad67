//! Server-sent-event framing, by the WHATWG grammar.
//!
//! Invariant: what has been pushed and not yet handed on is one unfinished line and one unfinished
//! event, each at most [`FRAME_BYTES_MAX`] bytes.

use std::borrow::Cow;

use crate::limits::{FRAME_BYTES_MAX, UNREADABLE_BYTES_KEPT};

use super::{BUFFER_BYTES_KEPT, BYTE_ORDER_MARK, Cutting, Direction, Frame};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SseDecoder {
    /// A line that has not ended; empty while lines come whole.
    line: Vec<u8>,
    name: String,
    data: String,
    event: Event,
    /// The line being read is longer than a line may be; its rest is passed over.
    overlong: bool,
    position: Position,
}

/// The event being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Event {
    /// No `data` field yet; such an event is not dispatched.
    #[default]
    Empty,
    WithData,
    /// Too long: passed over until it ends.
    Skipping,
}

/// Where the last byte left us, as far as the next one cares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    /// Before any complete line: a byte-order mark may come first.
    #[default]
    Start,
    /// After `\r`: a `\n` belongs to the same line ending.
    AfterReturn,
    Elsewhere,
}

impl SseDecoder {
    pub fn push(&mut self, mut bytes: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        while !bytes.is_empty() {
            if self.position == Position::AfterReturn {
                self.position = Position::Elsewhere;
                if bytes[0] == b'\n' {
                    bytes = &bytes[1..];
                    continue;
                }
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.hold(bytes, out);
                return;
            };
            let ending = bytes[end];
            if let Some(rest) = self.whole_event(bytes, end, out) {
                bytes = rest;
                continue;
            }
            if self.line.is_empty() && end <= FRAME_BYTES_MAX {
                self.end_line(&bytes[..end], out);
            } else {
                self.hold(&bytes[..end], out);
                let line = std::mem::take(&mut self.line);
                self.end_line(&line, out);
                self.line = line;
                self.line.clear();
                self.line.shrink_to(BUFFER_BYTES_KEPT);
            }
            self.position = match ending {
                b'\r' => Position::AfterReturn,
                _ => Position::Elsewhere,
            };
            bytes = &bytes[end + 1..];
        }
    }

    /// An event of one data line that lies in the chunk with its blank line, as nearly all do, is
    /// handed on where it is. Returns what follows it.
    fn whole_event<'b>(
        &mut self,
        bytes: &'b [u8],
        end: usize,
        out: &mut impl FnMut(Cutting<'_>),
    ) -> Option<&'b [u8]> {
        let fresh = self.line.is_empty() && self.event == Event::Empty && !self.overlong;
        if !fresh || self.position == Position::Start || FRAME_BYTES_MAX < end {
            return None;
        }
        let value = bytes[..end].strip_prefix(b"data:")?;
        let rest = bytes[end..].strip_prefix(b"\n\n")?;
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let frame = Frame { name: &self.name, data: &text_of(value), from: Direction::Agent };
        out(Cutting::Frame(frame));
        self.name.clear();
        Some(rest)
    }

    /// The stream ended. The grammar drops an event that was not closed; a provider's last words
    /// are worth more than that, so it is handed on and its reader decides.
    pub fn finish(&mut self, out: &mut impl FnMut(Cutting<'_>)) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line, out);
        }
        self.dispatch(out);
    }

    fn hold(&mut self, bytes: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        if self.overlong {
            return;
        }
        if self.line.len() + bytes.len() <= FRAME_BYTES_MAX {
            self.line.extend_from_slice(bytes);
            return;
        }
        // Of an overlong line only enough is kept to know which field it is.
        let missing = UNREADABLE_BYTES_KEPT.saturating_sub(self.line.len()).min(bytes.len());
        self.line.extend_from_slice(&bytes[..missing]);
        self.line.truncate(UNREADABLE_BYTES_KEPT);
        self.line.shrink_to(UNREADABLE_BYTES_KEPT);
        self.overlong = true;
        self.skip(out);
    }

    /// Gives up the event being read, once.
    fn skip(&mut self, out: &mut impl FnMut(Cutting<'_>)) {
        if self.event == Event::Skipping {
            return;
        }
        self.event = Event::Skipping;
        let beginning = if self.data.is_empty() { &self.line } else { self.data.as_bytes() };
        let kept = &beginning[..beginning.len().min(UNREADABLE_BYTES_KEPT)];
        out(Cutting::TooLong { beginning: &String::from_utf8_lossy(kept) });
        self.data = String::new();
    }

    fn end_line(&mut self, line: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        if std::mem::take(&mut self.overlong) {
            return;
        }
        let line = match self.position {
            Position::Start => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
            _ => line,
        };
        if line.is_empty() {
            self.dispatch(out);
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.add_data(value, out),
            b"event" => {
                self.name.clear();
                self.name.push_str(&text_of(value));
            }
            // Comments have an empty field name; `id` and `retry` mean nothing to ingest.
            _ => {}
        }
    }

    fn add_data(&mut self, value: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        let value = text_of(value);
        if FRAME_BYTES_MAX < self.data.len() + value.len() {
            self.skip(out);
        }
        match self.event {
            Event::Skipping => return,
            Event::WithData => self.data.push('\n'),
            Event::Empty => self.event = Event::WithData,
        }
        self.data.push_str(&value);
    }

    fn dispatch(&mut self, out: &mut impl FnMut(Cutting<'_>)) {
        if self.event == Event::WithData {
            out(Cutting::Frame(Frame {
                name: &self.name,
                data: &self.data,
                from: Direction::Agent,
            }));
        }
        self.event = Event::Empty;
        self.data.clear();
        self.data.shrink_to(BUFFER_BYTES_KEPT);
        self.name.clear();
    }
}

/// As text, with replacement characters for what is none; nearly always there is nothing to do.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
