//! Inline code: between two runs of as many back-ticks there is no sentence to end.
//!
//! Does not look ahead: a run that may open code does, until its paragraph ends.

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct InlineCode {
    /// Length of the run that opened it.
    open: Option<usize>,
    /// Length of the run being read.
    run: usize,
    /// The run stands right after a letter: before white space it is an accent, not code.
    glued: bool,
}

impl InlineCode {
    /// Creates the state inside code that a run of `len` back-ticks opened.
    pub(super) fn new_inside_code(len: usize) -> InlineCode {
        InlineCode { open: Some(len), run: 0, glued: false }
    }

    /// True if no code is open, and no back-ticks that may open some are being read.
    pub(super) fn is_outside(&self) -> bool {
        self.open.is_none() && self.run == 0
    }

    /// Reads `c`, `before` being the character before it. Returns true if it is code or its edge.
    pub(super) fn push_char_and_is_code(&mut self, c: char, before: char) -> bool {
        if c == '`' && (before != '\\' || self.open.is_some() || 0 < self.run) {
            if self.run == 0 {
                self.glued = before.is_alphanumeric();
            }
            self.run += 1;
            return true;
        }
        if 0 < self.run {
            let run = std::mem::take(&mut self.run);
            self.open = match self.open {
                Some(open) if open == run => None,
                Some(open) => Some(open),
                None if self.glued && c.is_whitespace() => None,
                None => Some(run),
            };
        }
        self.open.is_some()
    }
}
