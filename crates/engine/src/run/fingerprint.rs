//! `Fingerprint`: recognises a repeated text without keeping it.

/// Length and hash of a text without surrounding white space, independent of chunk boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Fingerprint {
    hash: u64,
    len: usize,
    /// Hash and length up to the last byte that is not white space.
    trimmed: (u64, usize),
}

/// Odd multiplier with well-spread bits.
const HASH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Fingerprint {
    /// Fingerprint of a whole text.
    pub(crate) fn from_text(text: &str) -> Fingerprint {
        let mut print = Fingerprint::default();
        print.push(text);
        print
    }

    /// Appends `text`.
    pub(crate) fn push(&mut self, text: &str) {
        let mut bytes = text.as_bytes();
        if self.len == 0 {
            bytes = bytes.trim_ascii_start();
        }
        let filled = bytes.trim_ascii_end().len();
        if 0 < filled {
            self.hash_bytes(&bytes[..filled]);
            self.trimmed = (self.hash, self.len);
        }
        self.hash_bytes(&bytes[filled..]);
    }

    fn hash_bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(HASH_FACTOR).rotate_left(23);
        }
        self.len += bytes.len();
    }

    /// Hash of the text without leading white space; trailing white space counts.
    pub(crate) fn hash_with_trailing_space(&self) -> u64 {
        self.hash
    }

    /// True if the text is blank.
    pub(crate) fn is_blank(&self) -> bool {
        self.trimmed.1 == 0
    }

    /// True if both texts are equal, ignoring surrounding white space.
    pub(crate) fn is_same_trimmed_text(&self, other: &Fingerprint) -> bool {
        self.trimmed == other.trimmed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_text_is_cut_and_what_blank_is_around_it_do_not_matter() {
        let text = " \n a b  c\t\n";
        let whole = Fingerprint::from_text("a b  c");
        for cut in 0..=text.len() {
            let mut print = Fingerprint::from_text(&text[..cut]);
            print.push(&text[cut..]);
            assert!(print.is_same_trimmed_text(&whole), "cut at {cut}");
        }
        for other in ["a b c", "a b  d", "a b  c x", ""] {
            assert!(!Fingerprint::from_text(other).is_same_trimmed_text(&whole), "{other:?}");
        }
        assert!(Fingerprint::from_text(" \n").is_blank());
    }
}
