//! A fenced block of code, from the line that opens it to the one that closes it.
//!
//! It ends at a line of at least as many of its marks, or with the quote or list item around it.

use super::markdown::tab_width;

/// Fewest marks that open a fence.
const LEN_MIN: usize = 3;

/// A line further in than this, past where its container begins, closes no fence.
const CLOSE_INDENT_MAX: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: u8,
    len: usize,
    around: Around,
    line: Line,
}

/// What a fence stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) quotes: usize,
    /// Where the content of the list item begins, counted from the innermost quote's.
    pub(super) list: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Start {
        column: usize,
        quotes: usize,
        /// The column after the last quote mark.
        content: usize,
    },
    Run {
        len: usize,
    },
    /// Nothing but white space after a run that closes.
    AfterRun,
    /// Code, or what follows the marks that open the fence.
    Code,
}

const LINE_START: Line = Line::Start { column: 0, quotes: 0, content: 0 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FenceStep {
    Inside,
    /// It ended before this byte: its closing line is over, or what it stands in.
    Ended,
}

impl Fence {
    pub(super) fn opened_by(mark: u8, len: usize, around: Around) -> Option<Fence> {
        (LEN_MIN <= len).then_some(Fence { mark, len, around, line: Line::Code })
    }

    pub(super) fn step(&mut self, byte: u8) -> FenceStep {
        self.line = match (self.line, byte) {
            (Line::Start { column, quotes, content }, _) => {
                match self.at_line_start(byte, column, quotes, content) {
                    Some(line) => line,
                    None => return FenceStep::Ended,
                }
            }
            (Line::Run { len }, _) if byte == self.mark => Line::Run { len: len + 1 },
            (Line::Run { len }, b'\n') if self.len <= len => return FenceStep::Ended,
            (Line::AfterRun, b'\n') => return FenceStep::Ended,
            (Line::Run { len }, b' ' | b'\t' | b'\r') if self.len <= len => Line::AfterRun,
            (Line::AfterRun, b' ' | b'\t' | b'\r') => Line::AfterRun,
            (_, b'\n') => LINE_START,
            _ => Line::Code,
        };
        FenceStep::Inside
    }

    fn at_line_start(
        &self,
        byte: u8,
        column: usize,
        quotes: usize,
        content: usize,
    ) -> Option<Line> {
        let Around { quotes: quotes_max, list } = self.around;
        let indent = column - content;
        // The space after a quote mark belongs to the mark.
        let begins = list + usize::from(0 < quotes_max);
        Some(match byte {
            b' ' => Line::Start { column: column + 1, quotes, content },
            b'\t' => Line::Start { column: column + tab_width(column), quotes, content },
            b'>' if quotes < quotes_max => {
                Line::Start { column: column + 1, quotes: quotes + 1, content: column + 1 }
            }
            _ if quotes < quotes_max => return None,
            b'\n' => LINE_START,
            b'\r' => Line::Start { column, quotes, content },
            _ if indent < begins && 0 < list => return None,
            _ if byte == self.mark && indent <= begins + CLOSE_INDENT_MAX => Line::Run { len: 1 },
            _ => Line::Code,
        })
    }
}
