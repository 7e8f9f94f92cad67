//! Back-ticks that may open inline code, until it is known whether they do.
//!
//! Inline code ends at a run of exactly as many back-ticks. If its paragraph ends first, it never
//! was code, and runs of other lengths that were passed over may be code themselves.

use crate::limits::CODE_RUNS_MAX;

use super::fence::Fence;
use super::markdown::{Found, LineStart};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Inline {
    /// Length of the opening run.
    ticks: usize,
    /// The runs since, none of which closed it.
    passed: Vec<Run>,
    /// Length of the run being read.
    run: usize,
    /// A backslash stands before the run or byte being read; it matters only if this is no code.
    escaped: bool,
    /// At the start of a further line of the paragraph.
    at_line: bool,
    /// The opening run stands where a fence may: if its line holds no other back-tick, it is one.
    fence: Option<Fence>,
    /// A tag or word was met: from there on the text is held.
    holds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    /// As many back-ticks as close code with.
    len: usize,
    /// As many as open it: a backslash takes the first one out of its run, but not in code.
    opens: usize,
}

/// How the filter goes on.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Next {
    Text,
    Fence(Fence),
    Ticks { len: usize, fence: Option<Fence> },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum InlineStep {
    Consumed,
    /// This byte is a `<` outside a run.
    TagBegins,
    /// It was code up to this byte, which is to be read again.
    Code {
        next: Next,
    },
    /// It was no code. This byte is to be read again.
    NotCode {
        next: Next,
    },
    /// It was no code. This byte is the first of what comes next and has been read.
    ParagraphEnded,
}

impl Inline {
    pub(super) fn new(ticks: usize) -> Inline {
        Inline::at_line_start(ticks, None)
    }

    pub(super) fn at_line_start(ticks: usize, fence: Option<Fence>) -> Inline {
        Inline {
            ticks,
            passed: Vec::new(),
            run: 0,
            escaped: false,
            at_line: false,
            fence,
            holds: false,
        }
    }

    pub(super) fn holds(&self) -> bool {
        self.holds
    }

    pub(super) fn hold(&mut self) {
        self.holds = true;
    }

    pub(super) fn step(&mut self, byte: u8, line: &mut LineStart) -> InlineStep {
        if self.at_line {
            return self.step_line(byte, line);
        }
        if byte == b'`' {
            self.fence = None;
            self.run += 1;
            return InlineStep::Consumed;
        }
        if 0 < self.run {
            let run = std::mem::take(&mut self.run);
            if self.closes(run) {
                return InlineStep::Code { next: Next::Text };
            }
        }
        self.escaped = byte == b'\\' && !self.escaped;
        match byte {
            b'\n' => {
                if let Some(fence) = self.fence.take() {
                    InlineStep::Code { next: Next::Fence(fence) }
                } else if line.after_text() {
                    self.at_line = true;
                    InlineStep::Consumed
                } else {
                    InlineStep::ParagraphEnded
                }
            }
            b'<' if !self.holds => InlineStep::TagBegins,
            _ => InlineStep::Consumed,
        }
    }

    fn step_line(&mut self, byte: u8, line: &mut LineStart) -> InlineStep {
        match line.step(byte) {
            Found::Blank => InlineStep::ParagraphEnded,
            Found::More if line.began_block() => InlineStep::ParagraphEnded,
            Found::More => InlineStep::Consumed,
            Found::Fence(fence) => InlineStep::NotCode { next: Next::Fence(fence) },
            Found::Ticks { len, fence: Some(fence) } => {
                InlineStep::NotCode { next: Next::Ticks { len, fence: Some(fence) } }
            }
            Found::Ticks { len, fence: None } => {
                self.at_line = false;
                if self.closes(len) {
                    InlineStep::Code { next: Next::Text }
                } else {
                    self.step(byte, line)
                }
            }
            Found::Text | Found::Indented if line.began_block() => {
                InlineStep::NotCode { next: Next::Text }
            }
            Found::Text | Found::Indented => {
                self.at_line = false;
                self.step(byte, line)
            }
        }
    }

    fn closes(&mut self, run: usize) -> bool {
        if self.ticks == run {
            return true;
        }
        let opens = run - usize::from(std::mem::take(&mut self.escaped));
        if self.passed.len() < CODE_RUNS_MAX && !self.holds {
            self.passed.push(Run { len: run, opens });
        }
        false
    }

    /// The paragraph ended with the line before the last of `held`.
    pub(super) fn at_paragraph_end(&self, held: &str) -> Option<usize> {
        self.code_end(held.rfind('\n').map_or(held, |end| &held[..end]))
    }

    /// The opening run opens nothing. Says where the code ends that the text held, up to the end
    /// of its paragraph, begins in, if a later run opened some.
    fn code_end(&self, paragraph: &str) -> Option<usize> {
        let mut rest = self.passed.as_slice();
        while let Some((&run, later)) = rest.split_first() {
            match later.iter().position(|other| other.len == run.opens) {
                Some(close) => rest = &later[close + 1..],
                None => match run_end(paragraph, run.opens) {
                    Some(end) => return Some(end),
                    None => rest = later,
                },
            }
        }
        None
    }

    /// The message ended: where the code ends that `held` begins in.
    pub(super) fn at_end(&self, held: &str, line: &LineStart) -> Option<usize> {
        match self.clone().step(b'\n', &mut line.clone()) {
            InlineStep::Code { .. } => Some(held.len()),
            InlineStep::NotCode { .. } => self.at_paragraph_end(held),
            _ => self.code_end(held),
        }
    }
}

/// The end of the first run of exactly `len` back-ticks.
fn run_end(text: &str, len: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'`', &bytes[at..]) {
        let begin = at + found;
        let run = bytes[begin..].iter().take_while(|&&byte| byte == b'`').count();
        at = begin + run;
        if run == len {
            return Some(at);
        }
    }
    None
}
