//! Recognising a text that comes a second time, without keeping it.

/// Length and hash of a text without the white space around it; how it was cut does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Fingerprint {
    hash: u64,
    len: usize,
    /// The same, up to the last byte that was not white space.
    trimmed: (u64, usize),
}

/// An odd number with well spread bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Fingerprint {
    pub(crate) fn of(text: &str) -> Fingerprint {
        let mut print = Fingerprint::default();
        print.push(text);
        print
    }

    pub(crate) fn push(&mut self, text: &str) {
        for &byte in text.as_bytes() {
            let blank = byte.is_ascii_whitespace();
            if self.len == 0 && blank {
                continue;
            }
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(FACTOR).rotate_left(23);
            self.len += 1;
            if !blank {
                self.trimmed = (self.hash, self.len);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.trimmed.1 == 0
    }

    pub(crate) fn same_text(&self, other: &Fingerprint) -> bool {
        self.trimmed == other.trimmed
    }
}
