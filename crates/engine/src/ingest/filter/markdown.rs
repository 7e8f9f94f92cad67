//! Where a line begins in markdown, as far as code is concerned.
//!
//! Does: classify the start of each line, byte by byte: fence, indented code, new block, text.
//! Does not: look at inline markup; that is the filter's.

use super::fence::{Around, Fence};

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
    /// After a quote mark; one column of white space belongs to it.
    AfterQuote,
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
    column: usize,
    /// The column at which the content of the innermost quote begins.
    quote: usize,
    /// Quote marks on this line, and on the one before.
    quotes: usize,
    quotes_before: usize,
    /// Where the content of the list item around this line begins, outside of quotes and, counted
    /// from the innermost quote's content, inside.
    lists: [usize; 2],
    previous: Previous,
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
            column: 0,
            quote: 0,
            quotes: 0,
            quotes_before: 0,
            lists: [0; 2],
            previous: Previous::Blank,
            after_marker: false,
            taken_out: false,
            opens: Opens::Nothing,
        }
    }

    pub(super) fn began_block(&self) -> bool {
        self.opens != Opens::Nothing
    }

    /// Begins the next line; the last one was text. Says whether its paragraph may go on.
    pub(super) fn after_text(&mut self) -> bool {
        let goes_on = self.opens != Opens::Heading;
        self.next_line(if goes_on { Previous::Paragraph } else { Previous::Blank });
        goes_on
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
        self.column = 0;
        self.quote = 0;
        self.quotes_before = std::mem::take(&mut self.quotes);
        self.previous = previous;
        self.after_marker = false;
        self.taken_out = false;
        self.opens = Opens::Nothing;
    }

    pub(super) fn step(&mut self, byte: u8) -> Found {
        match self.state {
            State::Indent => self.indent(byte),
            State::AfterQuote => self.after_quote(byte),
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
                self.column += 1;
                Found::More
            }
            b'\t' => {
                self.column += tab_width(self.column);
                Found::More
            }
            b'\r' => Found::More,
            b'\n' => self.blank(),
            _ if self.is_indented() && self.goes_on() => Found::Text,
            _ if self.is_indented() => Found::Indented,
            b'>' => self.quote_mark(),
            b'`' | b'~' => {
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

    fn quote_mark(&mut self) -> Found {
        self.column += 1;
        self.quote = self.column;
        self.quotes += 1;
        if self.quotes_before < self.quotes {
            self.opens = Opens::Block;
            *self.list() = 0;
        }
        self.state = State::AfterQuote;
        Found::More
    }

    fn after_quote(&mut self, byte: u8) -> Found {
        self.state = State::Indent;
        if matches!(byte, b' ' | b'\t') {
            self.quote += 1;
        }
        self.indent(byte)
    }

    fn fence(&mut self, mark: u8, len: usize) -> Option<Fence> {
        let list = self.leave_list();
        Fence::opened_by(mark, len, Around { quotes: self.quotes, list })
    }

    /// Whether the line begins so far in that it is code, or only goes on with a paragraph.
    fn is_indented(&self) -> bool {
        !self.taken_out && self.lists[self.place()] + 4 <= self.begins()
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
        let goes_on = self.goes_on() && *self.list() <= self.begins();
        let underlines = goes_on && matches!(mark, b'-' | b'=');
        let rules = RULE_LEN_MIN <= len && matches!(mark, b'-' | b'*' | b'_');
        if underlines || rules {
            self.leave_list();
        } else if len == 1 && is_bullet(mark) && !goes_on {
            *self.list() = self.begins() + 2;
        } else {
            return self.text();
        }
        self.next_line(Previous::Blank);
        Found::Blank
    }

    /// Whether this line only goes on with the paragraph before it, unless something begins on it.
    fn goes_on(&self) -> bool {
        self.previous == Previous::Paragraph && !self.began_block()
    }

    fn place(&self) -> usize {
        usize::from(0 < self.quotes)
    }

    fn list(&mut self) -> &mut usize {
        let place = self.place();
        &mut self.lists[place]
    }

    /// The column reached, counted from the innermost quote's content.
    fn begins(&self) -> usize {
        self.column - self.quote
    }

    fn text(&mut self) -> Found {
        // A line that only goes on with a paragraph stays in its item, wherever it begins.
        if !self.goes_on() {
            self.leave_list();
        }
        Found::Text
    }

    /// What begins here is in no list item whose content begins further in. Returns where the
    /// content of the one it is in begins.
    fn leave_list(&mut self) -> usize {
        let begins = self.begins();
        let after_marker = self.after_marker;
        let list = self.list();
        *list = if after_marker { begins } else { begins.min(*list) };
        *list
    }

    fn list_item(&mut self, marker: usize, byte: u8) -> Found {
        self.opens = Opens::Block;
        self.column += marker;
        // One column of white space belongs to the marker.
        *self.list() = self.begins() + 1;
        self.after_marker = true;
        self.state = State::Indent;
        self.indent(byte)
    }
}

/// The columns that a tab at `column` takes.
pub(super) fn tab_width(column: usize) -> usize {
    4 - column % 4
}

fn is_bullet(mark: u8) -> bool {
    matches!(mark, b'-' | b'*' | b'+')
}
