//! Frame decoder for one JSON array whose elements are the frames: Gemini without `alt=sse`, and
//! history files of agents.

use crate::limits::{FRAME_BYTES_MAX, UNREADABLE_BYTES_KEPT};

use super::CutterOutput;
use super::lines::JsonDepth;

/// Decoder of the objects in one JSON array.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ArrayCutter {
    /// Bytes of the unfinished element.
    element: Vec<u8>,
    depth: JsonDepth,
    in_element: bool,
    skipping_element: bool,
}

impl ArrayCutter {
    /// Decodes one chunk and calls `out` for each element it completes.
    pub(super) fn push(&mut self, mut bytes: &[u8], out: &mut impl FnMut(CutterOutput<'_>)) {
        while !bytes.is_empty() {
            if !self.in_element {
                let Some(begin) = memchr::memchr(b'{', bytes) else {
                    return;
                };
                bytes = &bytes[begin..];
                self.in_element = true;
                self.depth = JsonDepth::default();
            }
            if let Some(end) = self.depth.scan_to_value_end(bytes) {
                self.buffer_or_emit_too_long(&bytes[..end], out);
                self.emit_element_unless_skipped(out);
                bytes = &bytes[end..];
            } else {
                self.buffer_or_emit_too_long(bytes, out);
                return;
            }
        }
    }

    /// Ends the input and emits an unclosed element.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(CutterOutput<'_>)) {
        if self.in_element {
            self.emit_element_unless_skipped(out);
        }
    }

    /// Appends to the element; if it gets too long, emits its beginning and skips its rest.
    fn buffer_or_emit_too_long(&mut self, bytes: &[u8], out: &mut impl FnMut(CutterOutput<'_>)) {
        if self.skipping_element {
            return;
        }
        if self.element.len() + bytes.len() <= FRAME_BYTES_MAX {
            self.element.extend_from_slice(bytes);
            return;
        }
        self.skipping_element = true;
        let element = std::mem::take(&mut self.element);
        let all = element.iter().chain(bytes);
        let beginning: Vec<u8> = all.copied().take(UNREADABLE_BYTES_KEPT).collect();
        out(CutterOutput::TooLong { beginning: &String::from_utf8_lossy(&beginning) });
    }

    /// Emits the element as a frame unless it was skipped.
    fn emit_element_unless_skipped(&mut self, out: &mut impl FnMut(CutterOutput<'_>)) {
        self.in_element = false;
        if !std::mem::take(&mut self.skipping_element) {
            let element = std::mem::take(&mut self.element);
            out(CutterOutput::unnamed_agent_frame(&String::from_utf8_lossy(&element)));
        }
    }
}
