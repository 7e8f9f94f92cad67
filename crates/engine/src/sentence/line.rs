//! What a line begins with, character by character.
//!
//! Does: tell block markers of markdown from text. Does not: decide what ends before them; that
//! is the splitter's.
//!
//! Invariant: what it has read without finding anything is in `read`, so that it can be read
//! again as text.

use super::chars::is_bullet;

/// Fewest marks that open a fence or make a rule.
const MARKS_MIN: usize = 3;
const HASHES_MAX: usize = 6;
const DIGITS_MAX: usize = 9;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// White space, or what may be the beginning of a marker.
    More,
    /// The line ended and was blank.
    Blank,
    Text,
    /// Code by its indentation.
    Indented,
    /// This character ended the marker of a list item, or is it.
    Item,
    /// This character follows the hashes.
    Heading,
    /// This character is the third mark.
    Fence {
        mark: char,
    },
    Table,
    Rule,
    /// What makes the paragraph before it a heading, or a table.
    Underline,
}

/// What is open when a line begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Around {
    /// A paragraph that the line may go on with.
    pub(super) paragraph: bool,
    pub(super) item: bool,
    /// Column at which the content of the innermost list item begins.
    pub(super) base: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Indent,
    Hashes(usize),
    Ticks {
        mark: char,
        len: usize,
    },
    Marks {
        mark: char,
        len: usize,
    },
    Digits(usize),
    Letter,
    /// After the dot or bracket of a number or letter.
    Numbered {
        dot: bool,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct LineStart {
    state: State,
    /// Columns of white space since the line or its last quotation mark began.
    columns: usize,
    quoted: bool,
    /// An item began on this line.
    in_item: bool,
    /// What it begins with belongs to the open piece, whatever it turns out to be.
    pub(super) settled: bool,
    /// What may be a marker.
    read: String,
}

impl LineStart {
    pub(super) fn new() -> LineStart {
        LineStart {
            state: State::Indent,
            columns: 0,
            quoted: false,
            in_item: false,
            settled: false,
            read: String::new(),
        }
    }

    /// The line's next character is its first that is not white space.
    pub(super) fn is_untouched(&self) -> bool {
        self.state == State::Indent && !self.quoted && !self.in_item
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.quoted
    }

    /// An item began on this line.
    pub(super) fn is_in_item(&self) -> bool {
        self.in_item
    }

    pub(super) fn take_read(&mut self) -> String {
        std::mem::take(&mut self.read)
    }

    /// Goes on after the marker of an item: its content may begin with another marker.
    pub(super) fn after_item(&mut self) {
        *self = LineStart { quoted: self.quoted, in_item: true, settled: true, ..LineStart::new() };
    }

    pub(super) fn step(&mut self, c: char, around: Around) -> Found {
        let found = match self.state {
            State::Indent => self.indent(c, around),
            State::Hashes(len) => match c {
                '#' if len < HASHES_MAX => self.go(State::Hashes(len + 1)),
                _ if c.is_whitespace() => Found::Heading,
                _ => Found::Text,
            },
            State::Ticks { mark, len } if c == mark && len + 1 == MARKS_MIN => {
                Found::Fence { mark }
            }
            State::Ticks { mark, len } if c == mark => self.go(State::Ticks { mark, len: len + 1 }),
            State::Ticks { .. } => Found::Text,
            State::Marks { mark, len } => self.marks(c, mark, len, around),
            State::Digits(len) => match c {
                '0'..='9' if len < DIGITS_MAX => self.go(State::Digits(len + 1)),
                '.' | ')' => self.go(State::Numbered { dot: c == '.' }),
                _ => Found::Text,
            },
            State::Letter => match c {
                '.' | ')' => self.go(State::Numbered { dot: c == '.' }),
                _ => Found::Text,
            },
            State::Numbered { dot: true } if c == ')' => self.go(State::Numbered { dot: false }),
            State::Numbered { dot } => {
                if c.is_whitespace() && self.may_begin_item(dot, around) {
                    Found::Item
                } else {
                    Found::Text
                }
            }
        };
        if found == Found::More && self.state != State::Indent {
            self.read.push(c);
        }
        found
    }

    fn go(&mut self, state: State) -> Found {
        self.state = state;
        Found::More
    }

    fn indent(&mut self, c: char, around: Around) -> Found {
        match c {
            '\n' => return Found::Blank,
            '\t' => {
                self.columns += 4 - self.columns % 4;
                return Found::More;
            }
            _ if c.is_whitespace() => {
                self.columns += 1;
                return Found::More;
            }
            _ => {}
        }
        if !around.paragraph && !self.in_item && around.base + 4 <= self.columns {
            return Found::Indented;
        }
        match c {
            '>' if !self.in_item => {
                self.quoted = true;
                self.columns = 0;
                Found::More
            }
            '#' => self.go(State::Hashes(1)),
            '`' | '~' => self.go(State::Ticks { mark: c, len: 1 }),
            '-' | '*' | '+' | '_' | '=' => self.go(State::Marks { mark: c, len: 1 }),
            '0'..='9' => self.go(State::Digits(1)),
            'a'..='z' => self.go(State::Letter),
            '|' if !self.in_item => Found::Table,
            _ if is_bullet(c) => Found::Item,
            _ => Found::Text,
        }
    }

    fn marks(&mut self, c: char, mark: char, len: usize, around: Around) -> Found {
        let bullet = matches!(mark, '-' | '*' | '+');
        match c {
            _ if bullet && len == 1 && c.is_whitespace() => Found::Item,
            _ if c == mark && len + 1 < MARKS_MIN => self.go(State::Marks { mark, len: len + 1 }),
            '-' | '=' if c == mark && around.paragraph => Found::Underline,
            // Three may still open emphasis.
            '*' | '_' if c == mark && len < MARKS_MIN => {
                self.go(State::Marks { mark, len: len + 1 })
            }
            '-' | '*' | '_' if c == mark => Found::Rule,
            _ if matches!(mark, '*' | '_') && len == MARKS_MIN && c.is_whitespace() => Found::Rule,
            _ => Found::Text,
        }
    }

    /// Inside a paragraph only a first item may begin a list: "in\n1984. Then" is none.
    fn may_begin_item(&self, dot: bool, around: Around) -> bool {
        let fresh = !around.paragraph || around.item || self.in_item;
        let marker = self.read.trim_end_matches(['.', ')']);
        let letter = marker.starts_with(|c: char| c.is_ascii_lowercase());
        match (letter, dot) {
            (true, false) => true,
            (true, true) => around.item || fresh && marker == "a",
            (false, _) => fresh || marker == "1",
        }
    }
}
