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
        let mut bytes = text.as_bytes();
        if self.len == 0 {
            bytes = bytes.trim_ascii_start();
        }
        let filled = bytes.trim_ascii_end().len();
        if 0 < filled {
            self.mix(&bytes[..filled]);
            self.trimmed = (self.hash, self.len);
        }
        self.mix(&bytes[filled..]);
    }

    fn mix(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(FACTOR).rotate_left(23);
        }
        self.len += bytes.len();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.trimmed.1 == 0
    }

    pub(crate) fn same_text(&self, other: &Fingerprint) -> bool {
        self.trimmed == other.trimmed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_text_is_cut_and_what_blank_is_around_it_do_not_matter() {
        let text = " \n a b  c\t\n";
        let whole = Fingerprint::of("a b  c");
        for cut in 0..=text.len() {
            let mut print = Fingerprint::of(&text[..cut]);
            print.push(&text[cut..]);
            assert!(print.same_text(&whole), "cut at {cut}");
        }
        for other in ["a b c", "a b  d", "a b  c x", ""] {
            assert!(!Fingerprint::of(other).same_text(&whole), "{other:?}");
        }
        assert!(Fingerprint::of(" \n").is_empty());
    }
}
