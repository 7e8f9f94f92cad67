//! Inline code: between two runs of as many back-ticks there is no sentence to end.
//!
//! A run that may open code does, until its paragraph ends or `SENTENCE_CODE_BYTES_MAX` bytes
//! follow; then the text is read again without it. Two back-ticks and two apostrophes are quotes, as in
//! TeX.

use crate::limits::SENTENCE_CODE_BYTES_MAX;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct InlineCode {
    /// Length of the run that opened it.
    open: Option<usize>,
    /// Length of the run being read.
    run: usize,
    /// The run stands right after a letter: before white space it is an accent, not code.
    glued: bool,
    /// Bytes since the code opened.
    bytes_since_open: usize,
    /// Code was dropped because it reached the limit.
    is_limit_reached: bool,
}

/// Role of a character in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeRole {
    /// Not code.
    Text,
    /// Code or its edge.
    Code,
    /// End of what was not code but a quotation.
    ClosingQuote,
}

impl InlineCode {
    /// Creates the state inside code that a run of `len` back-ticks opened.
    pub(super) fn new_inside_code(len: usize) -> InlineCode {
        InlineCode { open: Some(len), ..InlineCode::default() }
    }

    /// True if no code is open, and no back-ticks that may open some are being read.
    pub(super) fn is_outside(&self) -> bool {
        self.open.is_none() && self.run == 0
    }

    /// True if code is open.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// True if the back-ticks that are read close the code if no more follow.
    pub(super) fn is_closing(&self) -> bool {
        self.open == Some(self.run)
    }

    /// True if code was dropped because it reached the limit.
    pub(super) fn is_limit_reached(&self) -> bool {
        self.is_limit_reached
    }

    /// Forgets that a limit was reached.
    pub(super) fn clear_limit_reached(&mut self) {
        self.is_limit_reached = false;
    }

    /// True if code opens before `c`.
    pub(super) fn would_open_before(&self, c: char) -> bool {
        self.open.is_none() && 0 < self.run && c != '`' && self.opens_code(self.run, c)
    }

    /// Drops the back-ticks that are read: they open no code.
    pub(super) fn drop_run(&mut self) {
        self.run = 0;
    }

    /// Reads `c`, `before` being the character before it.
    pub(super) fn push_char(&mut self, c: char, before: char) -> CodeRole {
        if c == '`' && (before != '\\' || self.open.is_some()) {
            if self.run == 0 {
                self.glued = before.is_alphanumeric();
            }
            self.run += 1;
            return CodeRole::Code;
        }
        if 0 < self.run {
            let run = std::mem::take(&mut self.run);
            self.open = match self.open {
                Some(open) if open == run => None,
                Some(open) => Some(open),
                None if self.opens_code(run, c) => Some(run),
                None => None,
            };
            self.bytes_since_open = 0;
        }
        if self.open.is_none() {
            return CodeRole::Text;
        }
        self.bytes_since_open += c.len_utf8();
        if SENTENCE_CODE_BYTES_MAX < self.bytes_since_open {
            self.open = None;
            self.is_limit_reached = true;
            return CodeRole::Text;
        }
        if self.open == Some(2) && c == '\'' && before == '\'' {
            self.open = None;
            return CodeRole::ClosingQuote;
        }
        CodeRole::Code
    }

    /// True if a run of `run` back-ticks before `c` opens code.
    fn opens_code(&self, run: usize, c: char) -> bool {
        match run {
            // A quotation that begins with a capital, or the end of one.
            2 => !c.is_uppercase() && (!self.glued || c.is_alphanumeric()),
            _ => !(self.glued && c.is_whitespace()),
        }
    }
}
