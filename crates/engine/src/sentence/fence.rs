//! A fenced code block, from its third mark on.
//!
//! Closed only by its closing line: a fence in a list item whose code is not indented is one
//! piece too. A fence in a quotation ends with it.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fence {
    mark: char,
    len: usize,
    quoted: bool,
    line: Line,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    /// Still marks.
    Marks,
    Info,
    Start {
        quote_seen: bool,
    },
    Run {
        len: usize,
    },
    /// Only white space after a run that closes.
    AfterRun,
    Code,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FenceStep {
    Inside,
    /// This character ended the closing line.
    Closed,
    /// The quotation around it ended before this character.
    Left,
    /// It was inline code: its first line has another back-tick.
    Inline {
        len: usize,
    },
}

impl Fence {
    pub(super) fn new(mark: char, len: usize, quoted: bool) -> Fence {
        Fence { mark, len, quoted, line: Line::Marks }
    }

    /// Whether nothing but the end of the line matters.
    pub(super) fn is_in_code(&self) -> bool {
        self.line == Line::Code
    }

    pub(super) fn step(&mut self, c: char) -> FenceStep {
        self.line = match self.line {
            Line::Marks if c == self.mark => {
                self.len += 1;
                Line::Marks
            }
            Line::Run { len } if c == self.mark => Line::Run { len: len + 1 },
            Line::Run { len } if c == '\n' && self.len <= len => return FenceStep::Closed,
            Line::AfterRun if c == '\n' => return FenceStep::Closed,
            _ if c == '\n' => Line::Start { quote_seen: false },
            Line::Marks | Line::Info if c == '`' && self.mark == '`' => {
                return FenceStep::Inline { len: self.len };
            }
            Line::Marks | Line::Info => Line::Info,
            Line::Run { len } if c.is_whitespace() && self.len <= len => Line::AfterRun,
            Line::AfterRun if c.is_whitespace() => Line::AfterRun,
            Line::Start { quote_seen } if c.is_whitespace() => Line::Start { quote_seen },
            Line::Start { quote_seen: false } if self.quoted => match c {
                '>' => Line::Start { quote_seen: true },
                _ => return FenceStep::Left,
            },
            Line::Start { .. } if c == self.mark => Line::Run { len: 1 },
            Line::Start { .. } | Line::Run { .. } | Line::AfterRun | Line::Code => Line::Code,
        };
        FenceStep::Inside
    }
}
