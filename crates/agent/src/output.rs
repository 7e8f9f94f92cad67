//! A tool's output: so much of it for the log and the model, the rest kept beside.

use crate::limits::{OUTPUT_BYTES_MAX, OUTPUT_KEPT_MAX};

#[derive(Clone, Debug, Default)]
pub struct Output {
    whole: String,
    shown: usize,
    lost: usize,
}

/// An output that was too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    pub bytes: Vec<u8>,
    /// Bytes that were not shown.
    pub hidden: usize,
}

impl Output {
    /// Takes more of it; gives what is to be shown of that.
    pub fn take(&mut self, text: &str) -> String {
        let room = OUTPUT_KEPT_MAX.saturating_sub(self.whole.len());
        let kept = text.floor_char_boundary(room);
        self.whole.push_str(&text[..kept]);
        self.lost += text.len() - kept;
        let open = OUTPUT_BYTES_MAX.saturating_sub(self.shown);
        // Once something was left out nothing follows it.
        let open = if self.shown + text.len() == self.whole.len() + self.lost { open } else { 0 };
        let shown = text.floor_char_boundary(open);
        self.shown += shown;
        text[..shown].to_owned()
    }

    /// All of it, if not all was shown.
    pub fn into_whole(self) -> Option<Whole> {
        let hidden = self.whole.len() + self.lost - self.shown;
        (0 < hidden).then(|| Whole { bytes: self.whole.into_bytes(), hidden })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_shown_and_the_rest_is_kept() {
        let mut output = Output::default();
        assert_eq!(output.take("short"), "short");
        assert_eq!(output.into_whole(), None);

        let long = "ł".repeat(OUTPUT_BYTES_MAX);
        let mut output = Output::default();
        let first = output.take("x");
        let shown = first + &output.take(&long) + &output.take("more");
        assert_eq!(shown.len(), OUTPUT_BYTES_MAX - 1, "a character is never cut");
        let whole = output.into_whole();
        let all = 1 + long.len() + 4;
        assert_eq!(
            whole.map(|whole| (whole.bytes.len(), whole.hidden)),
            Some((all, all - shown.len()))
        );
    }

    #[test]
    fn not_even_what_is_kept_grows_for_ever() {
        let mut output = Output::default();
        let piece = "x".repeat(1 << 20);
        for _ in 0..20 {
            output.take(&piece);
        }
        let whole = output.into_whole().unwrap_or_else(|| panic!("it was too long"));
        assert_eq!(whole.bytes.len(), OUTPUT_KEPT_MAX);
        assert_eq!(whole.hidden, 20 * piece.len() - OUTPUT_BYTES_MAX);
    }
}
