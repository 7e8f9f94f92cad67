//! Buffer for a tool's output: its start goes to the log and the model, all of it to a blob.

use crate::limits::{OUTPUT_BYTES_MAX, STORED_OUTPUT_BYTES_MAX};

/// Collects a tool's output within the limits.
#[derive(Clone, Debug, Default)]
pub struct ToolOutputBuffer {
    /// Output to store, up to its limit.
    stored: String,
    /// Bytes returned for the log.
    shown_bytes: usize,
    /// Bytes past the storage limit.
    lost_bytes: usize,
}

/// An output that was too long for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullOutput {
    /// The stored output.
    pub bytes: Vec<u8>,
    /// Bytes that were not returned for the log.
    pub hidden_bytes: usize,
}

impl ToolOutputBuffer {
    /// Adds text; returns the part of it that goes to the log.
    pub fn push(&mut self, text: &str) -> String {
        let free_bytes = STORED_OUTPUT_BYTES_MAX.saturating_sub(self.stored.len());
        let stored_len = text.floor_char_boundary(free_bytes);
        self.stored.push_str(&text[..stored_len]);
        self.lost_bytes += text.len() - stored_len;
        let visible_left = OUTPUT_BYTES_MAX.saturating_sub(self.shown_bytes);
        // After a gap nothing more is shown.
        let visible_max = if self.shown_bytes + text.len() == self.stored.len() + self.lost_bytes {
            visible_left
        } else {
            0
        };
        let visible_len = text.floor_char_boundary(visible_max);
        self.shown_bytes += visible_len;
        text[..visible_len].to_owned()
    }

    /// The full output, if not all of it was shown.
    pub fn into_full_if_cut(self) -> Option<FullOutput> {
        let hidden = self.stored.len() + self.lost_bytes - self.shown_bytes;
        (0 < hidden).then(|| FullOutput { bytes: self.stored.into_bytes(), hidden_bytes: hidden })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_shown_and_the_rest_is_kept() {
        let mut output = ToolOutputBuffer::default();
        assert_eq!(output.push("short"), "short");
        assert_eq!(output.into_full_if_cut(), None);

        let long_text = "ł".repeat(OUTPUT_BYTES_MAX);
        let mut output = ToolOutputBuffer::default();
        let first = output.push("x");
        let shown = first + &output.push(&long_text) + &output.push("more");
        assert_eq!(shown.len(), OUTPUT_BYTES_MAX - 1, "cut at a character boundary");
        let full = output.into_full_if_cut();
        let total_bytes = 1 + long_text.len() + 4;
        assert_eq!(
            full.map(|full| (full.bytes.len(), full.hidden_bytes)),
            Some((total_bytes, total_bytes - shown.len()))
        );
    }

    #[test]
    fn not_even_what_is_kept_grows_for_ever() {
        let mut output = ToolOutputBuffer::default();
        let mebibyte = "x".repeat(1 << 20);
        for _ in 0..20 {
            output.push(&mebibyte);
        }
        let full = output.into_full_if_cut().unwrap_or_else(|| panic!("it was too long"));
        assert_eq!(full.bytes.len(), STORED_OUTPUT_BYTES_MAX);
        assert_eq!(full.hidden_bytes, 20 * mebibyte.len() - OUTPUT_BYTES_MAX);
    }
}
