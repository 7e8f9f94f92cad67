//! Back-ticks that may open inline code, until it is known whether they do.
//!
//! Inline code ends at a run of exactly as many back-ticks. If its paragraph ends first, it never
//! was code, and runs of other lengths that were passed over may be code themselves.

use crate::limits::BACKTICK_RUNS_MAX;
use crate::markdown::{BlockScanner, Found, LineKind, SoFar};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct PossibleInlineCode {
    /// Length of the opening run.
    ticks: usize,
    /// The runs since, none of which closed it.
    passed: Vec<Run>,
    /// Length of the run being read.
    run: usize,
    /// A backslash stands before the run or byte being read; it matters only if this is no code.
    escaped: bool,
    place: Place,
    /// A tag or word was met: from there on the text is held.
    holds: bool,
}

/// Position of the next byte in its paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    InLine,
    /// On the line that the opening run begins: if it holds no other back-tick, it opens a fence.
    AfterFenceMarks,
    /// At the start of a further line.
    LineStart,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    /// As many back-ticks as close code with.
    len: usize,
    /// As many as open it: a backslash takes the first one out of its run, but not in code.
    opens: usize,
}

/// Next mode of the filter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Next {
    Text,
    /// In a line of a code block.
    Code,
    Ticks(PossibleInlineCode),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum InlineStep {
    Consumed,
    /// This byte is a `<` outside a run.
    TagBegins,
    /// It was code up to this byte, which is to be read again.
    Code,
    /// It was code up to the end of the line, which has been read.
    CodeEndedLine,
    /// It opened a fence; the line after it begins.
    FenceOpened,
    /// It was no code. This byte is to be read again.
    NotCode {
        next: Next,
    },
    /// It was no code. This byte is the first of what comes next and has been read.
    ParagraphEnded,
}

impl PossibleInlineCode {
    pub(super) fn new(ticks: usize) -> PossibleInlineCode {
        PossibleInlineCode {
            ticks,
            passed: Vec::new(),
            run: 0,
            escaped: false,
            place: Place::InLine,
            holds: false,
        }
    }

    /// Creates the state after back-ticks that a line's text begins with; `blocks` has read the
    /// byte after them.
    pub(super) fn new_after_line_start_ticks(
        ticks: usize,
        blocks: &BlockScanner,
    ) -> PossibleInlineCode {
        let place = match blocks.line_state_so_far() {
            SoFar::FenceMarks => Place::AfterFenceMarks,
            _ if blocks.is_at_line_start() => Place::LineStart,
            _ => Place::InLine,
        };
        PossibleInlineCode { place, ..PossibleInlineCode::new(ticks) }
    }

    pub(super) fn is_holding_text(&self) -> bool {
        self.holds
    }

    pub(super) fn start_holding_text(&mut self) {
        self.holds = true;
    }

    pub(super) fn is_at_line_start(&self) -> bool {
        self.place == Place::LineStart
    }

    pub(super) fn push_byte(&mut self, byte: u8, blocks: &mut BlockScanner) -> InlineStep {
        if self.place == Place::LineStart {
            return self.push_byte_at_line_start(byte, blocks);
        }
        if byte == b'`' {
            if self.place == Place::AfterFenceMarks {
                blocks.push_undecided_or_line_end_byte(byte);
                self.place = Place::InLine;
            }
            blocks.push_text_byte_if_decided(byte);
            self.run += 1;
            return InlineStep::Consumed;
        }
        if 0 < self.run {
            let run = std::mem::take(&mut self.run);
            if self.check_closing_run_or_record(run) {
                return InlineStep::Code;
            }
        }
        let was_escaped = self.escaped;
        self.escaped = byte == b'\\' && !was_escaped;
        match byte {
            b'|' if !was_escaped
                && blocks.current_or_last_line_kind() == Some(LineKind::TableRow) =>
            {
                InlineStep::NotCode { next: Next::Text }
            }
            b'\n' => self.end_line(blocks),
            b'<' if !self.holds => InlineStep::TagBegins,
            _ => {
                blocks.push_text_byte_if_decided(byte);
                InlineStep::Consumed
            }
        }
    }

    fn end_line(&mut self, blocks: &mut BlockScanner) -> InlineStep {
        if self.place == Place::AfterFenceMarks {
            blocks.push_undecided_or_line_end_byte(b'\n');
            return InlineStep::FenceOpened;
        }
        blocks.end_line_and_default_to_text();
        if !blocks.has_open_paragraph() {
            return InlineStep::ParagraphEnded;
        }
        self.place = Place::LineStart;
        InlineStep::Consumed
    }

    fn push_byte_at_line_start(&mut self, byte: u8, blocks: &mut BlockScanner) -> InlineStep {
        match blocks.push_undecided_or_line_end_byte(byte) {
            Found::More if blocks.has_open_paragraph() => InlineStep::Consumed,
            Found::More => InlineStep::ParagraphEnded,
            Found::Ticks { len } => self.push_byte_after_ticks(len, byte, blocks),
            Found::Line(LineKind::Continuation) if byte == b'\n' => InlineStep::Consumed,
            Found::Line(_) if byte == b'\n' => InlineStep::ParagraphEnded,
            // It may be a row of a table, whose cells hold no code that began in another.
            Found::Line(LineKind::Continuation)
                if byte != b'|' && !blocks.line_text_begins_with_bar() =>
            {
                self.place = Place::InLine;
                self.push_byte(byte, blocks)
            }
            Found::Line(kind) if kind.can_have_inline_markup() => {
                InlineStep::NotCode { next: Next::Text }
            }
            Found::Line(_) => InlineStep::NotCode { next: Next::Code },
        }
    }

    /// Reads `byte`, which follows `len` back-ticks at the start of a line.
    fn push_byte_after_ticks(
        &mut self,
        len: usize,
        byte: u8,
        blocks: &mut BlockScanner,
    ) -> InlineStep {
        let ticks = PossibleInlineCode::new_after_line_start_ticks(len, blocks);
        if ticks.place == Place::AfterFenceMarks || !blocks.has_open_paragraph() {
            return InlineStep::NotCode { next: Next::Ticks(ticks) };
        }
        self.place = ticks.place;
        match (self.check_closing_run_or_record(len), byte) {
            (true, b'\n') => InlineStep::CodeEndedLine,
            (true, _) => InlineStep::Code,
            (false, b'\n') => InlineStep::Consumed,
            (false, _) => self.push_byte(byte, blocks),
        }
    }

    /// True if as many back-ticks as `run` close the code; otherwise remembers the run.
    fn check_closing_run_or_record(&mut self, run: usize) -> bool {
        if self.ticks == run {
            return true;
        }
        let opens = run - usize::from(std::mem::take(&mut self.escaped));
        if self.passed.len() < BACKTICK_RUNS_MAX && !self.holds {
            self.passed.push(Run { len: run, opens });
        }
        false
    }

    /// Returns where the code ends that `held` begins in. The paragraph ended before the last line
    /// of `held`.
    pub(super) fn find_code_end_at_paragraph_end(&self, held: &str) -> Option<usize> {
        self.find_end_of_later_opened_code(held.rfind('\n').map_or(held, |end| &held[..end]))
    }

    /// Returns where the code ends that the held text begins in, if a later run than the opening
    /// one opened some. `paragraph` is the held text up to the end of its paragraph.
    fn find_end_of_later_opened_code(&self, paragraph: &str) -> Option<usize> {
        let mut rest = self.passed.as_slice();
        while let Some((&run, later)) = rest.split_first() {
            match later.iter().position(|other| other.len == run.opens) {
                Some(close) => rest = &later[close + 1..],
                None => match find_exact_backtick_run_end(paragraph, run.opens) {
                    Some(end) => return Some(end),
                    None => rest = later,
                },
            }
        }
        None
    }

    /// Returns where the code ends that `held` begins in, now that the message has ended.
    pub(super) fn find_code_end_at_message_end(
        &self,
        held: &str,
        blocks: &BlockScanner,
    ) -> Option<usize> {
        match self.clone().push_byte(b'\n', &mut blocks.clone()) {
            InlineStep::Code | InlineStep::CodeEndedLine | InlineStep::FenceOpened => {
                Some(held.len())
            }
            InlineStep::NotCode { .. } => self.find_code_end_at_paragraph_end(held),
            InlineStep::ParagraphEnded if self.is_at_line_start() => {
                self.find_code_end_at_paragraph_end(held)
            }
            _ => self.find_end_of_later_opened_code(held),
        }
    }
}

/// Returns the end of the first run of exactly `len` back-ticks.
fn find_exact_backtick_run_end(text: &str, len: usize) -> Option<usize> {
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
