//! Limit on the tool output that a page shows; the log has all of it.
//!
//! The cut depends only on the text, never on how it was split into events.

use std::borrow::Cow;

use crate::limits::OUTPUT_BYTES_SHOWN_MAX;

/// Output shown and omitted so far, for one item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OutputLimit {
    shown_bytes: usize,
    omitted_bytes: usize,
}

impl OutputLimit {
    /// Returns the part of `text` that still fits and counts the rest as omitted.
    pub(super) fn clip_and_count<'t>(&mut self, text: &'t str) -> &'t str {
        let room = match self.omitted_bytes {
            0 => OUTPUT_BYTES_SHOWN_MAX - self.shown_bytes,
            _ => 0,
        };
        let mut fits = room.min(text.len());
        while !text.is_char_boundary(fits) {
            fits -= 1;
        }
        self.shown_bytes += fits;
        self.omitted_bytes += text.len() - fits;
        &text[..fits]
    }

    /// Like `clip`, for text that may be owned.
    pub(super) fn clip_cow_and_count<'t>(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        match text {
            Cow::Borrowed(text) => Cow::Borrowed(self.clip_and_count(text)),
            Cow::Owned(mut text) => {
                let fits = self.clip_and_count(&text).len();
                text.truncate(fits);
                Cow::Owned(text)
            }
        }
    }

    /// Note about the omitted bytes, on a separate line after the output; `None` if nothing was
    /// omitted.
    pub(super) fn omitted_note(self) -> Option<String> {
        match self.omitted_bytes {
            0 => None,
            1 => Some("[1 more byte in the log]".to_owned()),
            more => Some(format!("[{more} more bytes in the log]")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x14_output_at_the_limit_is_whole_and_one_byte_more_is_cut() {
        let most = "x".repeat(OUTPUT_BYTES_SHOWN_MAX);
        let mut output = OutputLimit::default();
        assert_eq!((output.clip_and_count(&most), output.omitted_note()), (&*most, None));
        assert_eq!(output.clip_and_count("y"), "");
        assert_eq!(output.omitted_note().unwrap(), "[1 more byte in the log]");
        assert_eq!(output.clip_and_count("yz"), "");
        assert_eq!(output.omitted_note().unwrap(), "[3 more bytes in the log]");
    }

    #[test]
    fn x14_no_character_is_cut_and_none_follows_the_cut() {
        let nearly = "x".repeat(OUTPUT_BYTES_SHOWN_MAX - 1);
        let mut output = OutputLimit::default();
        assert_eq!(output.clip_and_count(&nearly), nearly);
        assert_eq!(output.clip_and_count("é"), "");
        assert_eq!(output.clip_and_count("y"), "");
        assert_eq!(output.omitted_note().unwrap(), "[3 more bytes in the log]");
    }
}
