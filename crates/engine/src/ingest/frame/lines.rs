//! Frame decoder for newline-delimited JSON and JSON-RPC over pipes.
//!
//! Also accepts: values printed over several lines; unescaped line breaks inside strings; `> ` and
//! `< ` before each line of a two-sided transcript; lines of plain text, which are noise.
//!
//! An unclosed value ends where a line starts with `{` in its first column, so that one bad line
//! costs one line.

use crate::limits::{FRAME_BYTES_MAX, UNREADABLE_BYTES_KEPT};

use super::{BUFFER_BYTES_KEPT, CutterOutput, Frame, FrameOrigin};

/// Decoder of one JSON value per line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LineCutter {
    /// Bytes of the unfinished line.
    line: Vec<u8>,
    /// Finished lines of an unclosed value.
    value: Vec<u8>,
    depth: JsonDepth,
    origin: Option<FrameOrigin>,
    /// A value was emitted, so the input can no longer turn out to be server-sent events.
    seen_value: bool,
    skipping_line: bool,
}

/// Scanner state inside a JSON value: nesting depth and string state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonDepth {
    brackets: usize,
    in_string: bool,
    escaped: bool,
}

impl JsonDepth {
    /// Scans `bytes`; returns the position after the byte that closes the value, if any.
    pub(crate) fn scan_to_value_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string && !self.escaped {
                // Most bytes are inside strings: skip them fast.
                at += memchr::memchr2(b'"', b'\\', &bytes[at..])?;
            }
            let byte = bytes[at];
            at += 1;
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' => self.brackets += 1,
                b'}' | b']' => {
                    self.brackets = self.brackets.saturating_sub(1);
                    if self.brackets == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

impl LineCutter {
    /// Decodes one chunk. If it turns out to be server-sent events, returns the bytes from their
    /// start.
    pub(super) fn push_until_sse(
        &mut self,
        mut bytes: &[u8],
        out: &mut impl FnMut(CutterOutput<'_>),
    ) -> Option<Vec<u8>> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let whole = self.line.is_empty() && !self.skipping_line;
            if whole && self.value.len() + end <= FRAME_BYTES_MAX {
                if self.is_sse_start_after_preamble(&bytes[..end]) {
                    return Some(bytes.to_vec());
                }
                self.push_line(&bytes[..end], out);
            } else {
                self.buffer_or_emit_too_long(&bytes[..end], out);
                let mut line = std::mem::take(&mut self.line);
                if self.is_sse_start_after_preamble(&line) {
                    line.extend_from_slice(&bytes[end..]);
                    return Some(line);
                }
                self.push_line(&line, out);
                line.clear();
                line.shrink_to(BUFFER_BYTES_KEPT);
                self.line = line;
            }
            bytes = &bytes[end + 1..];
        }
        self.buffer_or_emit_too_long(bytes, out);
        None
    }

    /// Ends the input and emits an unclosed value; returns bytes like `push`.
    pub(super) fn finish_unless_sse(
        &mut self,
        out: &mut impl FnMut(CutterOutput<'_>),
    ) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if self.is_sse_start_after_preamble(&line) {
            return Some(line);
        }
        if !line.is_empty() || self.skipping_line {
            self.push_line(&line, out);
        }
        self.emit_unclosed_value(out);
        None
    }

    /// True if `line` starts server-sent events after a text preamble.
    fn is_sse_start_after_preamble(&self, line: &[u8]) -> bool {
        let between = !self.seen_value && self.value.is_empty() && !self.skipping_line;
        between && (line.starts_with(b"data:") || line.starts_with(b"event:"))
    }

    /// Appends to the unfinished line; if the frame gets too long, emits its beginning and skips
    /// the rest of the line.
    fn buffer_or_emit_too_long(&mut self, bytes: &[u8], out: &mut impl FnMut(CutterOutput<'_>)) {
        if self.skipping_line {
            return;
        }
        if self.value.len() + self.line.len() + bytes.len() <= FRAME_BYTES_MAX {
            self.line.extend_from_slice(bytes);
            return;
        }
        self.skipping_line = true;
        let value = std::mem::take(&mut self.value);
        let line = std::mem::take(&mut self.line);
        let all = value.iter().chain(&line).chain(bytes);
        let beginning: Vec<u8> = all.copied().take(UNREADABLE_BYTES_KEPT).collect();
        out(CutterOutput::TooLong { beginning: &String::from_utf8_lossy(&beginning) });
        self.depth = JsonDepth::default();
    }

    /// Decodes one complete line.
    fn push_line(&mut self, line: &[u8], out: &mut impl FnMut(CutterOutput<'_>)) {
        if std::mem::take(&mut self.skipping_line) {
            return;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (direction, line) = match line {
            [b'>', b' ', rest @ ..] if rest.starts_with(b"{") => (Some(FrameOrigin::Client), rest),
            [b'<', b' ', rest @ ..] if rest.starts_with(b"{") => (Some(FrameOrigin::Agent), rest),
            _ => (None, line),
        };
        if !self.value.is_empty() {
            if !line.starts_with(b"{") {
                self.append_line_and_emit_if_closed(line, out);
                return;
            }
            self.emit_unclosed_value(out);
        }
        self.origin = direction;
        self.emit_values_and_keep_unclosed(line, out);
    }

    /// Emits each value in `line`; keeps the last if it is unclosed.
    fn emit_values_and_keep_unclosed(
        &mut self,
        line: &[u8],
        out: &mut impl FnMut(CutterOutput<'_>),
    ) {
        let mut rest = line.trim_ascii();
        while !rest.is_empty() {
            if !rest.starts_with(b"{") {
                let text = String::from_utf8_lossy(rest);
                out(if rest == b"[DONE]" {
                    CutterOutput::unnamed_agent_frame(&text)
                } else {
                    CutterOutput::Noise(&text)
                });
                return;
            }
            self.depth = JsonDepth::default();
            let Some(end) = self.depth.scan_to_value_end(rest) else {
                self.value.extend_from_slice(rest);
                return;
            };
            self.emit_value(&rest[..end], out);
            rest = rest[end..].trim_ascii_start();
        }
    }

    /// Appends a line to the unclosed value; emits the value if the line closes it.
    fn append_line_and_emit_if_closed(
        &mut self,
        line: &[u8],
        out: &mut impl FnMut(CutterOutput<'_>),
    ) {
        // JSON strings cannot contain a raw line break: escape it.
        let joint: &[u8] = if self.depth.in_string { b"\\n" } else { b"\n" };
        self.value.extend_from_slice(joint);
        let Some(end) = self.depth.scan_to_value_end(line) else {
            self.value.extend_from_slice(line);
            return;
        };
        self.value.extend_from_slice(&line[..end]);
        let value = std::mem::take(&mut self.value);
        self.emit_value(&value, out);
        self.emit_values_and_keep_unclosed(&line[end..], out);
    }

    /// Emits the unclosed value as it is.
    fn emit_unclosed_value(&mut self, out: &mut impl FnMut(CutterOutput<'_>)) {
        let value = std::mem::take(&mut self.value);
        if !value.is_empty() {
            self.emit_value(&value, out);
        }
    }

    /// Emits one value as a frame.
    fn emit_value(&mut self, value: &[u8], out: &mut impl FnMut(CutterOutput<'_>)) {
        self.seen_value = true;
        let from = self.origin.unwrap_or(FrameOrigin::Agent);
        if let Ok(data) = simdutf8::basic::from_utf8(value) {
            out(CutterOutput::Frame(Frame { name: "", id: "", data, origin: from }));
        } else {
            let data = &String::from_utf8_lossy(value);
            out(CutterOutput::Frame(Frame { name: "", id: "", data, origin: from }));
        }
    }
}
