//! One JSON array whose elements are the frames, as Gemini streams without `alt=sse` and agents'
//! history files have it.

use crate::limits::{FRAME_BYTES_MAX, UNREADABLE_BYTES_KEPT};

use super::Cutting;
use super::lines::Depth;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ArrayCutter {
    /// The element being read.
    element: Vec<u8>,
    depth: Depth,
    reading: bool,
    skipping: bool,
}

impl ArrayCutter {
    pub(super) fn push(&mut self, mut bytes: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        while !bytes.is_empty() {
            if !self.reading {
                let Some(begin) = memchr::memchr(b'{', bytes) else {
                    return;
                };
                bytes = &bytes[begin..];
                self.reading = true;
                self.depth = Depth::default();
            }
            if let Some(end) = self.depth.read(bytes) {
                self.hold(&bytes[..end], out);
                self.hand_on(out);
                bytes = &bytes[end..];
            } else {
                self.hold(bytes, out);
                return;
            }
        }
    }

    pub(super) fn finish(&mut self, out: &mut impl FnMut(Cutting<'_>)) {
        if self.reading {
            self.hand_on(out);
        }
    }

    fn hold(&mut self, bytes: &[u8], out: &mut impl FnMut(Cutting<'_>)) {
        if self.skipping {
            return;
        }
        if self.element.len() + bytes.len() <= FRAME_BYTES_MAX {
            self.element.extend_from_slice(bytes);
            return;
        }
        self.skipping = true;
        let element = std::mem::take(&mut self.element);
        let all = element.iter().chain(bytes);
        let beginning: Vec<u8> = all.copied().take(UNREADABLE_BYTES_KEPT).collect();
        out(Cutting::TooLong { beginning: &String::from_utf8_lossy(&beginning) });
    }

    fn hand_on(&mut self, out: &mut impl FnMut(Cutting<'_>)) {
        self.reading = false;
        if !std::mem::take(&mut self.skipping) {
            let element = std::mem::take(&mut self.element);
            out(Cutting::data(&String::from_utf8_lossy(&element)));
        }
    }
}
