//! Frame decoder for server-sent events, by the WHATWG grammar.
//!
//! Invariant: it buffers one unfinished line and one unfinished event, each at most
//! [`FRAME_BYTES_MAX`] bytes, or as many as [`SseDecoder::with_frame_bytes_max`] says.

use std::borrow::Cow;
use std::time::Duration;

use crate::limits::{FRAME_BYTES_MAX, UNREADABLE_BYTES_KEPT};

use super::{BUFFER_BYTES_KEPT, BYTE_ORDER_MARK, CutterOutput, Frame, FrameOrigin};

/// Incremental decoder of server-sent events.
#[derive(Clone, Debug, PartialEq)]
pub struct SseDecoder {
    frame_bytes_max: usize,
    /// Unfinished line; empty while chunks hold whole lines.
    line: Vec<u8>,
    event_name: String,
    event_data: String,
    event_state: EventState,
    last_event_id: String,
    reconnection_time: Option<Duration>,
    /// The current line exceeds the limit; its rest is skipped.
    line_too_long: bool,
    position: StreamPosition,
}

/// State of the current event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EventState {
    /// No `data` field yet; such an event is not dispatched.
    #[default]
    Empty,
    WithData,
    /// Too long: skipped until it ends.
    Skipping,
}

/// Stream position, as far as the next byte depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StreamPosition {
    /// Before any complete line: a byte-order mark may follow.
    #[default]
    Start,
    /// After `\r`: a `\n` belongs to the same line ending.
    AfterReturn,
    Elsewhere,
}

impl Default for SseDecoder {
    fn default() -> SseDecoder {
        SseDecoder::with_frame_bytes_max(FRAME_BYTES_MAX)
    }
}

impl SseDecoder {
    /// Creates a decoder that skips lines and events over `frame_bytes_max` bytes.
    pub fn with_frame_bytes_max(frame_bytes_max: usize) -> SseDecoder {
        SseDecoder {
            frame_bytes_max,
            line: Vec::new(),
            event_name: String::new(),
            event_data: String::new(),
            event_state: EventState::default(),
            last_event_id: String::new(),
            reconnection_time: None,
            line_too_long: false,
            position: StreamPosition::default(),
        }
    }

    /// Delay before a reconnection, as the last `retry` field set it.
    pub fn reconnection_time(&self) -> Option<Duration> {
        self.reconnection_time
    }

    /// Decodes one chunk and calls `out` for each event it completes.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut impl FnMut(CutterOutput<'_>)) {
        while !bytes.is_empty() {
            if self.position == StreamPosition::AfterReturn {
                self.position = StreamPosition::Elsewhere;
                if bytes[0] == b'\n' {
                    bytes = &bytes[1..];
                    continue;
                }
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.buffer_line_or_emit_too_long(bytes, out);
                return;
            };
            let ending = bytes[end];
            if let Some(rest) = self.try_emit_whole_event(bytes, end, out) {
                bytes = rest;
                continue;
            }
            if self.line.is_empty() && end <= self.frame_bytes_max {
                self.push_line(&bytes[..end], out);
            } else {
                self.buffer_line_or_emit_too_long(&bytes[..end], out);
                let line = std::mem::take(&mut self.line);
                self.push_line(&line, out);
                self.line = line;
                self.line.clear();
                self.line.shrink_to(BUFFER_BYTES_KEPT);
            }
            self.position = match ending {
                b'\r' => StreamPosition::AfterReturn,
                _ => StreamPosition::Elsewhere,
            };
            bytes = &bytes[end + 1..];
        }
    }

    /// Fast path: emits an event of one data line, complete in the chunk, without copying it.
    /// Returns the bytes after it.
    fn try_emit_whole_event<'b>(
        &mut self,
        bytes: &'b [u8],
        end: usize,
        out: &mut impl FnMut(CutterOutput<'_>),
    ) -> Option<&'b [u8]> {
        let fresh =
            self.line.is_empty() && self.event_state == EventState::Empty && !self.line_too_long;
        if !fresh || self.position == StreamPosition::Start || self.frame_bytes_max < end {
            return None;
        }
        let value = bytes[..end].strip_prefix(b"data:")?;
        let rest = bytes[end..].strip_prefix(b"\n\n")?;
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let frame = Frame {
            name: &self.event_name,
            id: &self.last_event_id,
            data: &decode_utf8_lossy(value),
            origin: FrameOrigin::Agent,
        };
        out(CutterOutput::Frame(frame));
        self.event_name.clear();
        Some(rest)
    }

    /// Ends the input. Emits an unclosed event, although the grammar drops it: it may hold a
    /// provider's last text.
    pub fn finish(&mut self, out: &mut impl FnMut(CutterOutput<'_>)) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.push_line(&line, out);
        }
        self.dispatch_event(out);
    }

    /// Appends to the unfinished line; if it gets too long, reports its event and skips its rest.
    fn buffer_line_or_emit_too_long(
        &mut self,
        bytes: &[u8],
        out: &mut impl FnMut(CutterOutput<'_>),
    ) {
        if self.line_too_long {
            return;
        }
        if self.line.len() + bytes.len() <= self.frame_bytes_max {
            self.line.extend_from_slice(bytes);
            return;
        }
        // Keep only enough of the line to report its beginning.
        let missing = UNREADABLE_BYTES_KEPT.saturating_sub(self.line.len()).min(bytes.len());
        self.line.extend_from_slice(&bytes[..missing]);
        self.line.truncate(UNREADABLE_BYTES_KEPT);
        self.line.shrink_to(UNREADABLE_BYTES_KEPT);
        self.line_too_long = true;
        self.emit_too_long_and_skip(out);
    }

    /// Reports the current event as too long, once, and skips its rest.
    fn emit_too_long_and_skip(&mut self, out: &mut impl FnMut(CutterOutput<'_>)) {
        if self.event_state == EventState::Skipping {
            return;
        }
        self.event_state = EventState::Skipping;
        let beginning =
            if self.event_data.is_empty() { &self.line } else { self.event_data.as_bytes() };
        let kept = &beginning[..beginning.len().min(UNREADABLE_BYTES_KEPT)];
        out(CutterOutput::TooLong { beginning: &String::from_utf8_lossy(kept) });
        self.event_data = String::new();
    }

    /// Applies one complete line to the current event.
    fn push_line(&mut self, line: &[u8], out: &mut impl FnMut(CutterOutput<'_>)) {
        if std::mem::take(&mut self.line_too_long) {
            return;
        }
        let line = match self.position {
            StreamPosition::Start => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
            _ => line,
        };
        if line.is_empty() {
            self.dispatch_event(out);
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.append_data(value, out),
            b"event" => {
                self.event_name.clear();
                self.event_name.push_str(&decode_utf8_lossy(value));
            }
            b"id" if !value.contains(&0) => {
                self.last_event_id.clear();
                self.last_event_id.push_str(&decode_utf8_lossy(value));
            }
            b"retry" => {
                self.reconnection_time = parse_milliseconds(value).or(self.reconnection_time);
            }
            // Comments have an empty field name; unknown fields are ignored.
            _ => {}
        }
    }

    /// Appends a `data` field to the current event.
    fn append_data(&mut self, value: &[u8], out: &mut impl FnMut(CutterOutput<'_>)) {
        let value = decode_utf8_lossy(value);
        if self.frame_bytes_max < self.event_data.len() + value.len() {
            self.emit_too_long_and_skip(out);
        }
        match self.event_state {
            EventState::Skipping => return,
            EventState::WithData => self.event_data.push('\n'),
            EventState::Empty => self.event_state = EventState::WithData,
        }
        self.event_data.push_str(&value);
    }

    /// Emits the current event if it has data, and resets.
    fn dispatch_event(&mut self, out: &mut impl FnMut(CutterOutput<'_>)) {
        if self.event_state == EventState::WithData {
            out(CutterOutput::Frame(Frame {
                name: &self.event_name,
                id: &self.last_event_id,
                data: &self.event_data,
                origin: FrameOrigin::Agent,
            }));
        }
        self.event_state = EventState::Empty;
        self.event_data.clear();
        self.event_data.shrink_to(BUFFER_BYTES_KEPT);
        self.event_name.clear();
    }
}

/// Parses a number of ASCII digits as milliseconds.
fn parse_milliseconds(value: &[u8]) -> Option<Duration> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| digits)?;
    text.parse().ok().map(Duration::from_millis)
}

/// Decodes UTF-8 with replacement characters; borrows valid text.
fn decode_utf8_lossy(bytes: &[u8]) -> Cow<'_, str> {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
