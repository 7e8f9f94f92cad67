//! Cuts bytes into frames: server-sent events, JSON lines or a JSON array.
//!
//! Does: detect the transport from the first bytes; emit each frame once; bound memory.
//! Does not: depend on any dialect. One payload per line works for all of them.
//!
//! Invariant: frames do not depend on chunk boundaries.

mod array;
mod lines;
mod sse;

use array::ArrayCutter;
pub(crate) use lines::JsonDepth;
use lines::LineCutter;
pub use sse::SseDecoder;

/// One unit of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Event name; empty except for server-sent events.
    pub name: &'a str,
    /// Last event id, which persists until the next one; empty except for server-sent events.
    pub id: &'a str,
    /// Payload, usually JSON.
    pub data: &'a str,
    /// Side that sent the frame.
    pub origin: FrameOrigin,
}

/// Side that sent a frame; a transcript may show both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameOrigin {
    /// The agent, or a source with one side only.
    Agent,
    /// The program that drives the agent.
    Client,
}

/// One output of a [`Cutter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutterOutput<'a> {
    /// A complete frame.
    Frame(Frame<'a>),
    /// Beginning of a frame over [`FRAME_BYTES_MAX`](crate::limits::FRAME_BYTES_MAX); the rest is
    /// skipped.
    TooLong {
        /// The first bytes of the frame.
        beginning: &'a str,
    },
    /// Text that is not a frame of this transport.
    Noise(&'a str),
}

impl<'a> CutterOutput<'a> {
    /// A frame without a name, sent by the agent.
    fn unnamed_agent_frame(data: &'a str) -> CutterOutput<'a> {
        CutterOutput::Frame(Frame { name: "", id: "", data, origin: FrameOrigin::Agent })
    }
}

/// Incremental frame decoder that detects its transport.
#[derive(Clone, Debug, PartialEq)]
pub struct Cutter {
    transport: Transport,
}

/// Detected transport with its decoder state.
#[derive(Clone, Debug, PartialEq)]
enum Transport {
    /// The bytes so far fit several transports.
    Unknown {
        seen: Vec<u8>,
    },
    Sse(SseDecoder),
    Lines(LineCutter),
    Array(ArrayCutter),
}

/// Capacity that a buffer keeps after a long frame.
const BUFFER_BYTES_KEPT: usize = 1_048_576;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Default for Cutter {
    fn default() -> Cutter {
        Cutter { transport: Transport::Unknown { seen: Vec::new() } }
    }
}

impl Cutter {
    /// Decodes one chunk and calls `out` for each frame it completes.
    pub fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(CutterOutput<'_>)) {
        match &mut self.transport {
            Transport::Sse(decoder) => decoder.push(bytes, out),
            Transport::Lines(lines) => {
                if let Some(events) = lines.push_until_sse(bytes, out) {
                    self.switch_to_sse_and_push(&events, out);
                }
            }
            Transport::Array(array) => array.push(bytes, out),
            Transport::Unknown { seen } => {
                seen.extend_from_slice(bytes);
                strip_leading_whitespace_and_bom(seen);
                if let Some(transport) = detect_transport(seen) {
                    self.set_transport_and_replay(transport, out);
                }
            }
        }
    }

    /// Ends the input and emits unclosed frames.
    pub fn finish(&mut self, out: &mut impl FnMut(CutterOutput<'_>)) {
        if let Transport::Unknown { .. } = self.transport {
            self.set_transport_and_replay(Transport::Lines(LineCutter::default()), out);
        }
        match &mut self.transport {
            Transport::Sse(decoder) => decoder.finish(out),
            Transport::Lines(lines) => {
                if let Some(events) = lines.finish_unless_sse(out) {
                    self.switch_to_sse_and_push(&events, out);
                    self.finish(out);
                }
            }
            Transport::Array(array) => array.finish(out),
            Transport::Unknown { .. } => {}
        }
    }

    /// Switches from lines to server-sent events and decodes `events`: the lines so far were a
    /// preamble.
    fn switch_to_sse_and_push(&mut self, events: &[u8], out: &mut impl FnMut(CutterOutput<'_>)) {
        self.transport = Transport::Sse(SseDecoder::default());
        self.push(events, out);
    }

    /// Sets the detected transport and pushes the buffered bytes to it.
    fn set_transport_and_replay(
        &mut self,
        transport: Transport,
        out: &mut impl FnMut(CutterOutput<'_>),
    ) {
        let before = std::mem::replace(&mut self.transport, transport);
        if let Transport::Unknown { seen } = before {
            self.push(&seen, out);
        }
    }
}

/// Removes white space and byte-order marks before the first frame.
fn strip_leading_whitespace_and_bom(seen: &mut Vec<u8>) {
    let mut body = seen.trim_ascii_start();
    while let Some(rest) = body.strip_prefix(BYTE_ORDER_MARK) {
        body = rest.trim_ascii_start();
    }
    let lead = seen.len() - body.len();
    seen.drain(..lead);
}

/// Detects the transport from its first bytes; `None` if more are needed.
fn detect_transport(body: &[u8]) -> Option<Transport> {
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
