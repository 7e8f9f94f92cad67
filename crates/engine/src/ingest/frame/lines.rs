//! One JSON value per line, as newline-delimited JSON and JSON-RPC over pipes have it.
//!
//! Also: a value printed over several lines; a line break inside a string that a careless writer
//! did not escape; `> ` and `< ` before each line of a transcript of both sides; lines of plain
//! text in between, which are noise.
//!
//! A value that never closes ends where the next line begins with `{` in its first column, so that
//! one bad line costs one line.

use crate::limits::{FRAME_BYTES_MAX, UNREADABLE_BYTES_KEPT};

use super::{BUFFER_BYTES_KEPT, Cutting, Direction, Frame};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LineCutter {
    /// The line being read, without what is known to be whole before it.
    line: Vec<u8>,
    /// Lines of a value that is not closed yet.
    value: Vec<u8>,
    depth: Depth,
    direction: Option<Direction>,
    /// A value has been handed on: this is a stream of values, whatever else is in it.
    seen_value: bool,
    skipping: bool,
}

/// How deep in a value we are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Depth {
    brackets: usize,
    in_string: bool,
    escaped: bool,
}

impl Depth {
    /// Reads on; returns just after the byte that closes the value, if one does.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string && !self.escaped {
                // Most of any stream is inside strings: pass over it quickly.
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
    /// Returns the bytes from where on these are server-sent events, if they turn out to be.
    pub(super) fn push(
        &mut self,
        mut bytes: &[u8],
        out: &mut impl FnMut(Cutting<'_>),
    ) -> Option<Vec<u8>> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let whole = self.line.is_empty() && !self.skipping;
            if whole && self.value.len() + end <= FRAME_BYTES_MAX {
                if self.begins_events(&bytes[..end]) {
                    return Some(bytes.to_vec());
                }
                self.end_line(&bytes[..end], out);
            } else {
                self.hold(&bytes[..end], out);
                let mut line = std::mem::take(&mut self.line);
                if self.begins_events(&line) {
                    line.extend_from_slice(&bytes[end..]);
                    return Some(line);
                }
                self.end_line(&line, out);
                line.clear();
                line.shrink_to(BUFFER_BYTES_KEPT);
                self.line = line;
            }
            bytes = &bytes[end + 1..];
        }
        self.hold(bytes, out);
        None
    }

    pub(super) fn finish(&mut self, out: &mut impl FnMut(Cutting<'_>)) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if self.begins_events(&line) {
            return Some(line);
        }
        if !line.is_empty() || self.skipping {
            self.end_line(&line, out);
        }
        self.give_up(out);
        None
    }

    /// A program or a proxy may have said something before the events began.
    fn begins_events(&self, line: &[u8]) -> bool {
        let between = !self.seen_value && self.value.is_empty() && !self.skipping;
        between && (line.starts_with(b"data:") || line.starts_with(b"event:"))
    }

    fn hold(&mut self, bytes: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        if self.skipping {
            return;
        }
        if self.value.len() + self.line.len() + bytes.len() <= FRAME_BYTES_MAX {
            self.line.extend_from_slice(bytes);
            return;
        }
        self.skipping = true;
        let value = std::mem::take(&mut self.value);
        let line = std::mem::take(&mut self.line);
        let all = value.iter().chain(&line).chain(bytes);
        let beginning: Vec<u8> = all.copied().take(UNREADABLE_BYTES_KEPT).collect();
        out(Cutting::TooLong { beginning: &String::from_utf8_lossy(&beginning) });
        self.depth = Depth::default();
    }

    fn end_line(&mut self, line: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        if std::mem::take(&mut self.skipping) {
            return;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (direction, line) = match line {
            [b'>', b' ', rest @ ..] if rest.starts_with(b"{") => (Some(Direction::Client), rest),
            [b'<', b' ', rest @ ..] if rest.starts_with(b"{") => (Some(Direction::Agent), rest),
            _ => (None, line),
        };
        if !self.value.is_empty() {
            if !line.starts_with(b"{") {
                self.continue_value(line, out);
                return;
            }
            self.give_up(out);
        }
        self.direction = direction;
        self.begin_value(line, out);
    }

    fn begin_value(&mut self, line: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        let mut rest = line.trim_ascii();
        while !rest.is_empty() {
            if !rest.starts_with(b"{") {
                // `[DONE]`, and whatever a program prints beside its stream.
                let text = String::from_utf8_lossy(rest);
                out(if rest == b"[DONE]" { Cutting::data(&text) } else { Cutting::Noise(&text) });
                return;
            }
            self.depth = Depth::default();
            let Some(end) = self.depth.read(rest) else {
                self.value.extend_from_slice(rest);
                return;
            };
            self.hand_on(&rest[..end], out);
            rest = rest[end..].trim_ascii_start();
        }
    }

    fn continue_value(&mut self, line: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        // A bare line break cannot stand in a string; the escape it should have been can.
        let joint: &[u8] = if self.depth.in_string { b"\\n" } else { b"\n" };
        self.value.extend_from_slice(joint);
        let Some(end) = self.depth.read(line) else {
            self.value.extend_from_slice(line);
            return;
        };
        self.value.extend_from_slice(&line[..end]);
        let value = std::mem::take(&mut self.value);
        self.hand_on(&value, out);
        self.begin_value(&line[end..], out);
    }

    fn give_up(&mut self, out: &mut impl FnMut(Cutting<'_>)) {
        let value = std::mem::take(&mut self.value);
        if !value.is_empty() {
            self.hand_on(&value, out);
        }
    }

    fn hand_on(&mut self, value: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        self.seen_value = true;
        let from = self.direction.unwrap_or(Direction::Agent);
        if let Ok(data) = simdutf8::basic::from_utf8(value) {
            out(Cutting::Frame(Frame { name: "", data, from }));
        } else {
            let data = &String::from_utf8_lossy(value);
            out(Cutting::Frame(Frame { name: "", data, from }));
        }
    }
}
