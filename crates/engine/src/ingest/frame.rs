//! Cutting bytes into frames, whatever the transport and wherever the chunks end.
//!
//! Does: find out the transport from its first bytes; hand on each frame once; bound memory.
//! Does not: know any dialect. One payload per line works for every one of them.

mod array;
mod lines;
mod sse;

use array::ArrayCutter;
pub(crate) use lines::Depth;
use lines::LineCutter;
pub use sse::SseDecoder;

/// One unit of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The transport's own name for it; only server-sent events have one.
    pub name: &'a str,
    pub data: &'a str,
    pub from: Direction,
}

/// Which side of a conversation a frame was sent by, where a transcript shows both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Agent,
    Client,
}

/// What a cutter hands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cutting<'a> {
    Frame(Frame<'a>),
    /// A frame over [`FRAME_BYTES_MAX`](crate::limits::FRAME_BYTES_MAX): its beginning; the rest is passed over.
    TooLong {
        beginning: &'a str,
    },
    /// Bytes that are no frame of this transport.
    Noise(&'a str),
}

impl<'a> Cutting<'a> {
    fn data(data: &'a str) -> Cutting<'a> {
        Cutting::Frame(Frame { name: "", data, from: Direction::Agent })
    }
}

/// A stream of frames over a stream of bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Cutter {
    transport: Transport,
}

#[derive(Clone, Debug, PartialEq)]
enum Transport {
    /// Only white space, a byte-order mark or the beginning of either has come.
    Unknown {
        seen: Vec<u8>,
    },
    Sse(SseDecoder),
    Lines(LineCutter),
    Array(ArrayCutter),
}

/// A buffer that one long frame has blown up is given back down to this.
const BUFFER_BYTES_KEPT: usize = 1_048_576;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Default for Cutter {
    fn default() -> Cutter {
        Cutter { transport: Transport::Unknown { seen: Vec::new() } }
    }
}

impl Cutter {
    pub fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        match &mut self.transport {
            Transport::Sse(decoder) => decoder.push(bytes, out),
            Transport::Lines(lines) => {
                if let Some(events) = lines.push(bytes, out) {
                    self.turn_to_sse(&events, out);
                }
            }
            Transport::Array(array) => array.push(bytes, out),
            Transport::Unknown { seen } => {
                seen.extend_from_slice(bytes);
                drop_lead(seen);
                if let Some(transport) = recognise(seen) {
                    self.begin(transport, out);
                }
            }
        }
    }

    /// No more bytes come: hands on what was not yet closed.
    pub fn finish(&mut self, out: &mut impl FnMut(Cutting<'_>)) {
        if let Transport::Unknown { .. } = self.transport {
            self.begin(Transport::Lines(LineCutter::default()), out);
        }
        match &mut self.transport {
            Transport::Sse(decoder) => decoder.finish(out),
            Transport::Lines(lines) => {
                if let Some(events) = lines.finish(out) {
                    self.turn_to_sse(&events, out);
                    self.finish(out);
                }
            }
            Transport::Array(array) => array.finish(out),
            Transport::Unknown { .. } => {}
        }
    }

    /// What looked like lines of text was only said before the events began.
    fn turn_to_sse(&mut self, events: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        self.transport = Transport::Sse(SseDecoder::default());
        self.push(events, out);
    }

    fn begin(&mut self, transport: Transport, out: &mut impl FnMut(Cutting<'_>)) {
        let before = std::mem::replace(&mut self.transport, transport);
        if let Transport::Unknown { seen } = before {
            self.push(&seen, out);
        }
    }
}

/// Forgets white space and byte-order marks before the first frame.
fn drop_lead(seen: &mut Vec<u8>) {
    let mut body = seen.trim_ascii_start();
    while let Some(rest) = body.strip_prefix(BYTE_ORDER_MARK) {
        body = rest.trim_ascii_start();
    }
    let lead = seen.len() - body.len();
    seen.drain(..lead);
}

/// Tells the transport from its first bytes, or that more are needed.
fn recognise(body: &[u8]) -> Option<Transport> {
    if BYTE_ORDER_MARK.starts_with(body) {
        return None;
    }
    match body.first()? {
        b'[' => return Some(Transport::Array(ArrayCutter::default())),
        b':' => return Some(Transport::Sse(SseDecoder::default())),
        _ => {}
    }
    for field in ["data:", "event:", "id:", "retry:"] {
        let field = field.as_bytes();
        if body.starts_with(field) {
            return Some(Transport::Sse(SseDecoder::default()));
        }
        if field.starts_with(body) {
            return None;
        }
    }
    Some(Transport::Lines(LineCutter::default()))
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
