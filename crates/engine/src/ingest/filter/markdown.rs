//! Where a line begins in markdown, as far as code is concerned.
//!
//! Does: classify the start of each line, byte by byte: fence, indented code, new block, text.
//! Does not: look at inline markup; that is the filter's.

/// Fewest characters that open a fence.
const FENCE_LEN_MIN: usize = 3;

/// Fewest marks that make a rule.
const RULE_LEN_MIN: usize = 3;

const HEADING_LEVELS: usize = 6;

/// A longer number is no list marker.
const LIST_NUMBER_DIGITS_MAX: usize = 9;

/// What the bytes of a line have shown so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Still white space, a list marker or a quote mark.
    More,
    /// The line ended and was blank.
    Blank,
    /// This byte is the first of the line's text.
    Text,
    /// This byte belongs to an indented code block.
    Indented,
    /// This byte follows a run of tildes that opens a fence.
    Fence(Fence),
    /// This byte follows back-ticks, enough of them for a fence or not.
    Ticks { len: usize, fence: Option<Fence> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Indent,
    Run {
        mark: u8,
        len: usize,
    },
    /// A line of nothing but the same mark: a list item, a rule, or the underline of a heading.
    Marks {
        mark: u8,
        len: usize,
    },
    Hashes {
        len: usize,
    },
    Digits {
        count: usize,
    },
    AfterNumber {
        count: usize,
    },
}

/// What the line before was, as far as the next one cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Previous {
    /// Nothing, or a blank line: indented code may begin.
    Blank,
    Indented,
    /// A paragraph: an indented line only continues it.
    Paragraph,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct LineStart {
    state: State,
    /// Columns of white space since the line or its last container mark began.
    columns: usize,
    /// Columns before the last container mark's content.
    offset: usize,
    /// Where the content of the list item around this line begins.
    base: usize,
    previous: Previous,
    quoted: bool,
    /// A list marker stood on this line, and its content has not begun.
    after_marker: bool,
    /// A tag or word was taken out of this line, so what stands after it is not indented.
    taken_out: bool,
    opens: Opens,
}

/// What begins on a line, as far as what was before it cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opens {
    Nothing,
    /// A quote, list item or table row: whatever came before has ended.
    Block,
    /// A heading: what comes after it is a new block too.
    Heading,
}

impl LineStart {
    pub(super) fn new() -> LineStart {
        LineStart {
            state: State::Indent,
            columns: 0,
            offset: 0,
            base: 0,
            previous: Previous::Blank,
            quoted: false,
            after_marker: false,
            taken_out: false,
            opens: Opens::Nothing,
        }
    }

    pub(super) fn began_block(&self) -> bool {
        self.opens != Opens::Nothing
    }

    /// Begins the next line; the last one was text.
    pub(super) fn after_text(&mut self) {
        self.next_line(if self.opens == Opens::Heading {
            Previous::Blank
        } else {
            Previous::Paragraph
        });
    }

    /// Begins the next line; the last one was indented code.
    pub(super) fn after_indented(&mut self) {
        self.next_line(Previous::Indented);
    }

    /// Begins the next line; the last one closed a fence.
    pub(super) fn after_fence(&mut self) {
        self.next_line(Previous::Blank);
    }

    /// A tag or word stood here and is hidden; the line goes on.
    pub(super) fn took_out(&mut self) {
        self.taken_out = true;
    }

    fn next_line(&mut self, previous: Previous) {
        self.state = State::Indent;
        self.columns = 0;
        self.offset = 0;
        self.previous = previous;
        self.quoted = false;
        self.after_marker = false;
        self.taken_out = false;
        self.opens = Opens::Nothing;
    }

    pub(super) fn step(&mut self, byte: u8) -> Found {
        match self.state {
            State::Indent => self.indent(byte),
            State::Run { mark, len } if byte == mark => {
                self.state = State::Run { mark, len: len + 1 };
                Found::More
            }
            State::Run { mark: b'`', len } => Found::Ticks { len, fence: self.fence(b'`', len) },
            State::Run { mark, len } => match self.fence(mark, len) {
                Some(fence) => Found::Fence(fence),
                None => self.text(),
            },
            State::Marks { mark, len } => match byte {
                b' ' | b'\t' if len == 1 && is_bullet(mark) => self.list_item(1, byte),
                b' ' | b'\t' | b'\r' => Found::More,
                b'\n' => self.end_of_marks(mark, len),
                _ if byte == mark => {
                    self.state = State::Marks { mark, len: len + 1 };
                    Found::More
                }
                _ => self.text(),
            },
            State::Hashes { len } => match byte {
                b'#' => {
                    self.state = State::Hashes { len: len + 1 };
                    Found::More
                }
                b' ' | b'\t' | b'\r' | b'\n' if len <= HEADING_LEVELS => {
                    self.opens = Opens::Heading;
                    self.text()
                }
                _ => self.text(),
            },
            State::Digits { count } => match byte {
                b'0'..=b'9' if count < LIST_NUMBER_DIGITS_MAX => {
                    self.state = State::Digits { count: count + 1 };
                    Found::More
                }
                b'.' | b')' => {
                    self.state = State::AfterNumber { count: count + 1 };
                    Found::More
                }
                _ => self.text(),
            },
            State::AfterNumber { count } => match byte {
                b' ' | b'\t' => self.list_item(count, byte),
                _ => self.text(),
            },
        }
    }

    fn indent(&mut self, byte: u8) -> Found {
        match byte {
            b' ' => {
                self.columns += 1;
                Found::More
            }
            b'\t' => {
                self.columns += tab_width(self.begins());
                Found::More
            }
            b'\r' => Found::More,
            b'\n' => self.blank(),
            _ if self.is_indented_code() => Found::Indented,
            b'>' => {
                self.opens = Opens::Block;
                self.quoted = true;
                self.offset = 0;
                self.columns = 0;
                self.base = 0;
                Found::More
            }
            b'`' | b'~' => {
                self.leave_list();
                self.state = State::Run { mark: byte, len: 1 };
                Found::More
            }
            b'-' | b'*' | b'+' | b'_' | b'=' => {
                self.state = State::Marks { mark: byte, len: 1 };
                Found::More
            }
            b'0'..=b'9' => {
                self.state = State::Digits { count: 1 };
                Found::More
            }
            b'#' => {
                self.state = State::Hashes { len: 1 };
                Found::More
            }
            // A row of a table: its cells hold no code that began in another.
            b'|' => {
                self.opens = Opens::Block;
                self.text()
            }
            _ => self.text(),
        }
    }

    fn fence(&self, mark: u8, len: usize) -> Option<Fence> {
        (FENCE_LEN_MIN <= len).then_some(Fence {
            mark,
            len,
            base: self.base,
            quoted: self.quoted,
            line: FenceLine::Code,
        })
    }

    fn is_indented_code(&self) -> bool {
        let may_begin = match self.previous {
            Previous::Blank | Previous::Indented => true,
            Previous::Paragraph => self.began_block(),
        };
        may_begin && !self.taken_out && self.base + 4 <= self.begins()
    }

    fn blank(&mut self) -> Found {
        let previous = match self.previous {
            Previous::Indented => Previous::Indented,
            Previous::Blank | Previous::Paragraph => Previous::Blank,
        };
        self.next_line(previous);
        Found::Blank
    }

    /// A line of nothing but marks has ended.
    fn end_of_marks(&mut self, mark: u8, len: usize) -> Found {
        let goes_on = self.previous == Previous::Paragraph && self.base <= self.begins();
        let underlines = goes_on && matches!(mark, b'-' | b'=');
        if underlines || (RULE_LEN_MIN <= len && mark != b'=' && mark != b'+') {
            self.next_line(Previous::Blank);
            Found::Blank
        } else if len == 1 && is_bullet(mark) && !goes_on {
            let content = self.begins() + 2;
            self.next_line(Previous::Blank);
            self.base = content;
            Found::Blank
        } else {
            self.text()
        }
    }

    /// The column at which the content of this line begins.
    fn begins(&self) -> usize {
        self.offset + self.columns
    }

    fn text(&mut self) -> Found {
        self.leave_list();
        Found::Text
    }

    fn leave_list(&mut self) {
        if self.after_marker {
            self.base = self.begins();
        } else if self.previous != Previous::Paragraph {
            // A line that only goes on with a paragraph stays in its item, wherever it begins.
            self.base = self.base.min(self.begins());
        }
    }

    fn list_item(&mut self, marker: usize, byte: u8) -> Found {
        self.opens = Opens::Block;
        let after_marker = self.begins() + marker;
        // One column of white space belongs to the marker.
        self.offset = after_marker + 1;
        self.columns = if byte == b'\t' { tab_width(after_marker) - 1 } else { 0 };
        self.base = self.offset;
        self.after_marker = true;
        self.state = State::Indent;
        Found::More
    }
}

/// The columns that a tab at `column` takes.
fn tab_width(column: usize) -> usize {
    4 - column % 4
}

fn is_bullet(mark: u8) -> bool {
    matches!(mark, b'-' | b'*' | b'+')
}

/// A fenced block, from the line that opens it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: u8,
    len: usize,
    /// Where the content of the list item around it begins.
    base: usize,
    quoted: bool,
    line: FenceLine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FenceLine {
    Start {
        columns: usize,
        quote_seen: bool,
    },
    Run {
        len: usize,
    },
    /// Nothing but white space after a run that closes.
    AfterRun,
    /// Code, or what follows the marks that open the fence.
    Code,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FenceStep {
    Inside,
    /// It ended before this byte: its closing line is over, or the quote or list item around it.
    Ended,
}

impl Fence {
    pub(super) fn step(&mut self, byte: u8) -> FenceStep {
        self.line = match (self.line, byte) {
            (FenceLine::Start { columns, quote_seen }, _) => {
                match self.at_line_start(byte, columns, quote_seen) {
                    Some(line) => line,
                    None => return FenceStep::Ended,
                }
            }
            (FenceLine::Run { len }, _) if byte == self.mark => FenceLine::Run { len: len + 1 },
            (FenceLine::Run { len }, b'\n') if self.len <= len => return FenceStep::Ended,
            (FenceLine::AfterRun, b'\n') => return FenceStep::Ended,
            (FenceLine::Run { len }, b' ' | b'\t' | b'\r') if self.len <= len => {
                FenceLine::AfterRun
            }
            (FenceLine::AfterRun, b' ' | b'\t' | b'\r') => FenceLine::AfterRun,
            (_, b'\n') => FenceLine::Start { columns: 0, quote_seen: false },
            _ => FenceLine::Code,
        };
        FenceStep::Inside
    }

    fn at_line_start(&self, byte: u8, columns: usize, quote_seen: bool) -> Option<FenceLine> {
        Some(match byte {
            b' ' => FenceLine::Start { columns: columns + 1, quote_seen },
            b'\t' => FenceLine::Start { columns: columns + tab_width(columns), quote_seen },
            b'>' if self.quoted && !quote_seen => FenceLine::Start { columns: 0, quote_seen: true },
            _ if self.quoted && !quote_seen => return None,
            b'\n' => FenceLine::Start { columns: 0, quote_seen: false },
            b'\r' => FenceLine::Start { columns, quote_seen },
            _ if columns < self.base && !self.quoted => return None,
            _ if byte == self.mark && columns <= self.close_columns_max() => {
                FenceLine::Run { len: 1 }
            }
            _ => FenceLine::Code,
        })
    }

    /// A closing line stands at most three columns in; the space after a quote mark is not one.
    fn close_columns_max(&self) -> usize {
        self.base + 3 + usize::from(self.quoted)
    }
}
