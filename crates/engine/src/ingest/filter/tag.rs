//! One tag, byte by byte: `< ws /? ws (ns:)? name (attributes)? /? >`.
//!
//! Does: say after each byte whether the text can still become a tag of the table.
//! Does not: keep the text, or know what is code.

use crate::limits::{TAG_BYTES_MAX, TAG_NAME_BYTES_MAX};

/// What becomes of a tag and of what stands between its open and its close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Reasoning,
    Tool,
    /// The tags go, the content stays.
    Unwrapped,
}

const DEFAULT: [(&str, Class); 11] = [
    ("think", Class::Reasoning),
    ("thinking", Class::Reasoning),
    ("thought", Class::Reasoning),
    ("reasoning", Class::Reasoning),
    ("antthinking", Class::Reasoning),
    ("tool_call", Class::Tool),
    ("tool_calls", Class::Tool),
    ("function_call", Class::Tool),
    ("function_calls", Class::Tool),
    ("tool_response", Class::Tool),
    ("final", Class::Unwrapped),
];

/// The names that are markup. Lower case; compared without regard to ASCII case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagTable {
    names: Vec<(Box<str>, Class)>,
}

impl Default for TagTable {
    fn default() -> TagTable {
        TagTable { names: DEFAULT.map(|(name, class)| (name.into(), class)).to_vec() }
    }
}

/// A line of a tag file that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTagLine {
    /// Counted from 1.
    pub line: usize,
    pub problem: String,
}

impl TagTable {
    /// Adds to the built-in table. A line is `class: name name`, where the class is `reasoning`,
    /// `tool` or `unwrapped`; `#` begins a comment.
    pub fn extended(text: &str) -> Result<TagTable, BadTagLine> {
        let mut table = TagTable::default();
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if !line.is_empty() {
                table.add_line(line).map_err(|problem| BadTagLine { line: at + 1, problem })?;
            }
        }
        Ok(table)
    }

    fn add_line(&mut self, line: &str) -> Result<(), String> {
        let (class, names) = line
            .split_once(':')
            .ok_or("expected `class: name name`, with class reasoning, tool or unwrapped")?;
        let class = match class.trim() {
            "reasoning" => Class::Reasoning,
            "tool" => Class::Tool,
            "unwrapped" => Class::Unwrapped,
            other => {
                return Err(format!("unknown class `{other}`: use reasoning, tool or unwrapped"));
            }
        };
        for name in names.split_whitespace() {
            let fits = name.len() <= TAG_NAME_BYTES_MAX
                && name.bytes().all(is_name_byte)
                && name.bytes().next().is_some_and(starts_name);
            if !fits {
                return Err(format!("`{name}` cannot be the name of a tag"));
            }
            let name = name.to_ascii_lowercase();
            self.names.retain(|(known, _)| **known != *name);
            self.names.push((name.into(), class));
        }
        Ok(())
    }

    fn class(&self, name: &[u8]) -> Option<Class> {
        self.names.iter().find(|(known, _)| known.as_bytes() == name).map(|&(_, class)| class)
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// As browsers have it: nearly anything may be part of an attribute's name.
fn is_attribute_byte(byte: u8) -> bool {
    !is_space(byte) && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'/' | b'=' | b'`')
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) class: Class,
    pub(super) form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Open,
    Close,
    SelfClosing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    More,
    Tag(Tag),
    NotATag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    BeforeName,
    Name,
    BetweenAttributes(Class),
    AttributeName(Class),
    AfterAttributeName(Class),
    BeforeValue(Class),
    Quoted(Class, u8),
    Unquoted(Class),
    /// After the `/` of `/>`.
    Slash(Class),
}

impl State {
    /// Whether white space says something here; elsewhere it is like any other character.
    fn sees_space(self) -> bool {
        !matches!(self, State::Quoted(..) | State::AttributeName(_) | State::Unquoted(_))
    }

    /// What the tag is of, once its name is known.
    fn class(self) -> Option<Class> {
        match self {
            State::BeforeName | State::Name => None,
            State::BetweenAttributes(class)
            | State::AttributeName(class)
            | State::AfterAttributeName(class)
            | State::BeforeValue(class)
            | State::Quoted(class, _)
            | State::Unquoted(class)
            | State::Slash(class) => Some(class),
        }
    }
}

/// Every white space character of Unicode fits.
const WIDE_SPACE_BYTES_MAX: usize = 3;

/// A tag in the making. It begins after its `<`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TagScan {
    state: State,
    closing: bool,
    /// White space after the `<`: prose such as `a < final and b > c` looks like that, so
    /// attributes then need a value.
    spaced: bool,
    name: [u8; TAG_NAME_BYTES_MAX],
    name_len: usize,
    /// A character beyond ASCII in the making; it may be white space.
    wide: [u8; WIDE_SPACE_BYTES_MAX],
    wide_len: usize,
    bytes: usize,
}

impl TagScan {
    pub(super) fn new() -> TagScan {
        TagScan {
            state: State::BeforeName,
            closing: false,
            spaced: false,
            name: [0; TAG_NAME_BYTES_MAX],
            name_len: 0,
            wide: [0; WIDE_SPACE_BYTES_MAX],
            wide_len: 0,
            bytes: 1,
        }
    }

    pub(super) fn step(&mut self, byte: u8, table: &TagTable) -> Step {
        self.bytes += 1;
        if TAG_BYTES_MAX < self.bytes {
            // A name of the table and then no end: hidden rather than leaked.
            return match self.state.class() {
                Some(class) => self.tag(class, Form::Open),
                None => Step::NotATag,
            };
        }
        if !byte.is_ascii() && self.state.sees_space() {
            self.wide(byte, table)
        } else {
            self.narrow(byte, table)
        }
    }

    /// White space is white space, also beyond ASCII.
    fn wide(&mut self, byte: u8, table: &TagTable) -> Step {
        if let Some(place) = self.wide.get_mut(self.wide_len) {
            *place = byte;
            self.wide_len += 1;
            match std::str::from_utf8(&self.wide[..self.wide_len]) {
                Ok(char) if char.trim().is_empty() => {
                    self.wide_len = 0;
                    return self.narrow(b' ', table);
                }
                Err(_) => return Step::More,
                Ok(_) => {}
            }
        }
        self.wide_len = 0;
        self.narrow(byte, table)
    }

    fn narrow(&mut self, byte: u8, table: &TagTable) -> Step {
        match self.state {
            State::BeforeName => self.before_name(byte),
            State::Name => self.in_name(byte, table),
            State::BetweenAttributes(class) => self.between_attributes(byte, class),
            State::AttributeName(class) => self.attribute_name(byte, class),
            State::AfterAttributeName(class) => self.after_attribute_name(byte, class),
            State::BeforeValue(class) => match byte {
                b'"' | b'\'' => self.go(State::Quoted(class, byte)),
                b'>' | b'<' | b'`' => Step::NotATag,
                _ if is_space(byte) => Step::More,
                _ => self.go(State::Unquoted(class)),
            },
            State::Quoted(class, quote) if byte == quote => {
                self.go(State::BetweenAttributes(class))
            }
            State::Quoted(..) => Step::More,
            State::Unquoted(class) => match byte {
                b'>' => self.tag(class, Form::Open),
                b'<' | b'"' | b'\'' | b'`' => Step::NotATag,
                _ if is_space(byte) => self.go(State::BetweenAttributes(class)),
                _ => Step::More,
            },
            State::Slash(class) => match byte {
                b'>' => self.tag(class, Form::SelfClosing),
                _ if is_space(byte) => Step::More,
                _ => Step::NotATag,
            },
        }
    }

    fn go(&mut self, state: State) -> Step {
        self.state = state;
        Step::More
    }

    fn tag(&self, class: Class, form: Form) -> Step {
        let form = if self.closing { Form::Close } else { form };
        Step::Tag(Tag { class, form })
    }

    fn before_name(&mut self, byte: u8) -> Step {
        match byte {
            b'/' if !self.closing => {
                self.closing = true;
                Step::More
            }
            _ if is_space(byte) => {
                self.spaced |= !self.closing;
                Step::More
            }
            _ if starts_name(byte) => {
                self.push_name(byte);
                self.go(State::Name)
            }
            _ => Step::NotATag,
        }
    }

    fn push_name(&mut self, byte: u8) {
        self.name[self.name_len] = byte.to_ascii_lowercase();
        self.name_len += 1;
    }

    fn in_name(&mut self, byte: u8, table: &TagTable) -> Step {
        match byte {
            // What came so far was a namespace.
            b':' => {
                self.name_len = 0;
                Step::More
            }
            _ if is_name_byte(byte) && self.name_len < TAG_NAME_BYTES_MAX => {
                self.push_name(byte);
                Step::More
            }
            _ if matches!(byte, b'>' | b'/') || is_space(byte) => {
                let Some(class) = table.class(&self.name[..self.name_len]) else {
                    return Step::NotATag;
                };
                match byte {
                    b'>' => self.tag(class, Form::Open),
                    b'/' => self.go(State::Slash(class)),
                    _ => self.go(State::BetweenAttributes(class)),
                }
            }
            _ => Step::NotATag,
        }
    }

    fn between_attributes(&mut self, byte: u8, class: Class) -> Step {
        match byte {
            b'>' => self.tag(class, Form::Open),
            b'/' => self.go(State::Slash(class)),
            _ if is_space(byte) => Step::More,
            _ if is_attribute_byte(byte) => self.go(State::AttributeName(class)),
            _ => Step::NotATag,
        }
    }

    fn attribute_name(&mut self, byte: u8, class: Class) -> Step {
        match byte {
            b'=' => self.go(State::BeforeValue(class)),
            b'>' if !self.spaced => self.tag(class, Form::Open),
            b'/' if !self.spaced => self.go(State::Slash(class)),
            _ if is_space(byte) => self.go(State::AfterAttributeName(class)),
            _ if is_attribute_byte(byte) => Step::More,
            _ => Step::NotATag,
        }
    }

    fn after_attribute_name(&mut self, byte: u8, class: Class) -> Step {
        match byte {
            b'=' => self.go(State::BeforeValue(class)),
            _ if is_space(byte) => Step::More,
            _ if self.spaced => Step::NotATag,
            _ => self.between_attributes(byte, class),
        }
    }
}
