//! How much of what a tool put out a page holds. All of it is in the log.
//!
//! Where it is cut depends on the text alone, never on how that came.

use std::borrow::Cow;

use crate::limits::OUTPUT_BYTES_SHOWN_MAX;

/// The output of one item, as far as it has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    shown: usize,
    left_out: usize,
}

impl Output {
    /// So much of more output as has a place on the page.
    pub(super) fn take<'t>(&mut self, text: &'t str) -> &'t str {
        let room = match self.left_out {
            0 => OUTPUT_BYTES_SHOWN_MAX - self.shown,
            _ => 0,
        };
        let mut fits = room.min(text.len());
        while !text.is_char_boundary(fits) {
            fits -= 1;
        }
        self.shown += fits;
        self.left_out += text.len() - fits;
        &text[..fits]
    }

    /// The same of a text that need not be ours.
    pub(super) fn take_of<'t>(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        match text {
            Cow::Borrowed(text) => Cow::Borrowed(self.take(text)),
            Cow::Owned(mut text) => {
                let fits = self.take(&text).len();
                text.truncate(fits);
                Cow::Owned(text)
            }
        }
    }

    /// What to say after it, on a line of its own, if it was cut.
    pub(super) fn note(self) -> Option<String> {
        match self.left_out {
            0 => None,
            1 => Some("[1 more byte is in the log]".to_owned()),
            more => Some(format!("[{more} more bytes are in the log]")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x14_output_at_the_limit_is_whole_and_one_byte_more_is_cut() {
        let most = "x".repeat(OUTPUT_BYTES_SHOWN_MAX);
        let mut output = Output::default();
        assert_eq!((output.take(&most), output.note()), (&*most, None));
        assert_eq!(output.take("y"), "");
        assert_eq!(output.note().unwrap(), "[1 more byte is in the log]");
        assert_eq!(output.take("yz"), "");
        assert_eq!(output.note().unwrap(), "[3 more bytes are in the log]");
    }

    #[test]
    fn x14_no_character_is_cut_and_none_follows_the_cut() {
        let nearly = "x".repeat(OUTPUT_BYTES_SHOWN_MAX - 1);
        let mut output = Output::default();
        assert_eq!(output.take(&nearly), nearly);
        assert_eq!(output.take("é"), "");
        assert_eq!(output.take("y"), "");
        assert_eq!(output.note().unwrap(), "[3 more bytes are in the log]");
    }
}
