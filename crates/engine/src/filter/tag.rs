//! Tag scanner, byte by byte: `< ws /? ws (ns:)? name (attributes)? /? >`.
//!
//! Does: decide after each byte whether the text can still become a tag of the table.
//! Does not: keep the text, or detect code.

use crate::limits::{TAG_BYTES_MAX, TAG_NAME_BYTES_MAX};

/// Treatment of a tag and its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagClass {
    /// The content is reasoning.
    Reasoning,
    /// The content is hidden: a tool call or result written as text.
    Tool,
    /// The tags are hidden, the content stays visible.
    Unwrapped,
}

const DEFAULT_TAGS: [(&str, TagClass); 11] = [
    ("think", TagClass::Reasoning),
    ("thinking", TagClass::Reasoning),
    ("thought", TagClass::Reasoning),
    ("reasoning", TagClass::Reasoning),
    ("antthinking", TagClass::Reasoning),
    ("tool_call", TagClass::Tool),
    ("tool_calls", TagClass::Tool),
    ("function_call", TagClass::Tool),
    ("function_calls", TagClass::Tool),
    ("tool_response", TagClass::Tool),
    ("final", TagClass::Unwrapped),
];

/// Tag names that are markup, in lower case; matched ignoring ASCII case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagTable {
    names: Vec<(Box<str>, TagClass)>,
}

impl Default for TagTable {
    fn default() -> TagTable {
        TagTable { names: DEFAULT_TAGS.map(|(name, class)| (name.into(), class)).to_vec() }
    }
}

/// Error in a line of a tag file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagLineError {
    /// Counted from 1.
    pub line: usize,
    /// Description of the error.
    pub problem: String,
}

impl std::fmt::Display for TagLineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for TagLineError {}

impl TagTable {
    /// Parses a tag file and adds its names to the built-in table. A line is `class: name name`,
    /// where the class is `reasoning`, `tool` or `unwrapped`; `#` begins a comment.
    pub fn parse_with_defaults(text: &str) -> Result<TagTable, TagLineError> {
        let mut table = TagTable::default();
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if !line.is_empty() {
                table
                    .parse_and_add_line(line)
                    .map_err(|problem| TagLineError { line: at + 1, problem })?;
            }
        }
        Ok(table)
    }

    /// Parses one line and adds its names, replacing known ones.
    fn parse_and_add_line(&mut self, line: &str) -> Result<(), String> {
        let (class, names) = line
            .split_once(':')
            .ok_or("expected `class: name name`, with class reasoning, tool or unwrapped")?;
        let class = match class.trim() {
            "reasoning" => TagClass::Reasoning,
            "tool" => TagClass::Tool,
            "unwrapped" => TagClass::Unwrapped,
            other => {
                return Err(format!("unknown class `{other}`: use reasoning, tool or unwrapped"));
            }
        };
        for name in names.split_whitespace() {
            let fits = name.len() <= TAG_NAME_BYTES_MAX
                && name.bytes().all(is_name_byte)
                && name.bytes().next().is_some_and(is_name_start);
            if !fits {
                return Err(format!("invalid tag name `{name}`"));
            }
            let name = name.to_ascii_lowercase();
            self.names.retain(|(known, _)| **known != *name);
            self.names.push((name.into(), class));
        }
        Ok(())
    }

    /// Class of a tag name in lower case.
    fn class_of(&self, name: &[u8]) -> Option<TagClass> {
        self.names.iter().find(|(known, _)| known.as_bytes() == name).map(|&(_, class)| class)
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// True if `byte` can be part of an attribute's name; nearly anything can, as in browsers.
fn is_attribute_byte(byte: u8) -> bool {
    !is_ascii_space(byte) && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'/' | b'=' | b'`')
}

/// A complete tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) class: TagClass,
    pub(super) form: TagForm,
}

/// Form of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagForm {
    Open,
    Close,
    SelfClosing,
}

/// Result of scanning one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagStep {
    Incomplete,
    Tag(Tag),
    NotATag,
}

/// State of the tag scanner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TagState {
    BeforeName,
    Name,
    BetweenAttributes(TagClass),
    AttributeName(TagClass),
    AfterAttributeName(TagClass),
    BeforeValue(TagClass),
    Quoted(TagClass, u8),
    Unquoted(TagClass),
    /// After the `/` of `/>`.
    Slash(TagClass),
}

impl TagState {
    /// True if non-ASCII white space counts as a space in this state.
    fn treats_unicode_space_as_space(self) -> bool {
        !matches!(self, TagState::Quoted(..) | TagState::AttributeName(_) | TagState::Unquoted(_))
    }

    /// Class of the tag, once its name is read.
    fn class(self) -> Option<TagClass> {
        match self {
            TagState::BeforeName | TagState::Name => None,
            TagState::BetweenAttributes(class)
            | TagState::AttributeName(class)
            | TagState::AfterAttributeName(class)
            | TagState::BeforeValue(class)
            | TagState::Quoted(class, _)
            | TagState::Unquoted(class)
            | TagState::Slash(class) => Some(class),
        }
    }
}

/// Longest white space character of Unicode in UTF-8.
const UNICODE_SPACE_BYTES_MAX: usize = 3;

/// Scanner of one possible tag, from the byte after its `<`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TagScanner {
    state: TagState,
    is_closing: bool,
    /// True if white space follows the `<`. Prose such as `a < final and b > c` does that, so
    /// attributes then need a value.
    space_after_bracket: bool,
    name: [u8; TAG_NAME_BYTES_MAX],
    name_len: usize,
    /// Bytes of an incomplete non-ASCII character, which may be white space.
    partial_char: [u8; UNICODE_SPACE_BYTES_MAX],
    partial_char_len: usize,
    byte_count: usize,
}

impl TagScanner {
    pub(super) fn new() -> TagScanner {
        TagScanner {
            state: TagState::BeforeName,
            is_closing: false,
            space_after_bracket: false,
            name: [0; TAG_NAME_BYTES_MAX],
            name_len: 0,
            partial_char: [0; UNICODE_SPACE_BYTES_MAX],
            partial_char_len: 0,
            byte_count: 1,
        }
    }

    /// Scans one byte.
    pub(super) fn push_byte(&mut self, byte: u8, table: &TagTable) -> TagStep {
        self.byte_count += 1;
        if TAG_BYTES_MAX < self.byte_count {
            // A known name without an end: hidden rather than leaked.
            return match self.state.class() {
                Some(class) => self.build_complete_tag(class, TagForm::Open),
                None => TagStep::NotATag,
            };
        }
        if !byte.is_ascii() && self.state.treats_unicode_space_as_space() {
            self.push_non_ascii_byte(byte, table)
        } else {
            self.advance_state(byte, table)
        }
    }

    /// Scans a non-ASCII byte; a whole Unicode white space character counts as a space.
    fn push_non_ascii_byte(&mut self, byte: u8, table: &TagTable) -> TagStep {
        if let Some(slot) = self.partial_char.get_mut(self.partial_char_len) {
            *slot = byte;
            self.partial_char_len += 1;
            match std::str::from_utf8(&self.partial_char[..self.partial_char_len]) {
                Ok(char) if char.trim().is_empty() => {
                    self.partial_char_len = 0;
                    return self.advance_state(b' ', table);
                }
                Err(_) => return TagStep::Incomplete,
                Ok(_) => {}
            }
        }
        self.partial_char_len = 0;
        self.advance_state(byte, table)
    }

    /// Advances the state machine by one byte.
    fn advance_state(&mut self, byte: u8, table: &TagTable) -> TagStep {
        match self.state {
            TagState::BeforeName => self.read_before_name(byte),
            TagState::Name => self.read_name_byte_or_classify(byte, table),
            TagState::BetweenAttributes(class) => self.read_between_attributes(byte, class),
            TagState::AttributeName(class) => self.read_attribute_name(byte, class),
            TagState::AfterAttributeName(class) => self.read_after_attribute_name(byte, class),
            TagState::BeforeValue(class) => match byte {
                b'"' | b'\'' => self.enter_state(TagState::Quoted(class, byte)),
                b'>' | b'<' | b'`' => TagStep::NotATag,
                _ if is_ascii_space(byte) => TagStep::Incomplete,
                _ => self.enter_state(TagState::Unquoted(class)),
            },
            TagState::Quoted(class, quote) if byte == quote => {
                self.enter_state(TagState::BetweenAttributes(class))
            }
            TagState::Quoted(..) => TagStep::Incomplete,
            TagState::Unquoted(class) => match byte {
                b'>' => self.build_complete_tag(class, TagForm::Open),
                b'<' | b'"' | b'\'' | b'`' => TagStep::NotATag,
                _ if is_ascii_space(byte) => self.enter_state(TagState::BetweenAttributes(class)),
                _ => TagStep::Incomplete,
            },
            TagState::Slash(class) => match byte {
                b'>' => self.build_complete_tag(class, TagForm::SelfClosing),
                _ if is_ascii_space(byte) => TagStep::Incomplete,
                _ => TagStep::NotATag,
            },
        }
    }

    fn enter_state(&mut self, state: TagState) -> TagStep {
        self.state = state;
        TagStep::Incomplete
    }

    /// Returns the complete tag; a `/` after the `<` makes it a closing one.
    fn build_complete_tag(&self, class: TagClass, form: TagForm) -> TagStep {
        let form = if self.is_closing { TagForm::Close } else { form };
        TagStep::Tag(Tag { class, form })
    }

    fn read_before_name(&mut self, byte: u8) -> TagStep {
        match byte {
            b'/' if !self.is_closing => {
                self.is_closing = true;
                TagStep::Incomplete
            }
            _ if is_ascii_space(byte) => {
                self.space_after_bracket |= !self.is_closing;
                TagStep::Incomplete
            }
            _ if is_name_start(byte) => {
                self.append_lowercase_name_byte(byte);
                self.enter_state(TagState::Name)
            }
            _ => TagStep::NotATag,
        }
    }

    fn append_lowercase_name_byte(&mut self, byte: u8) {
        self.name[self.name_len] = byte.to_ascii_lowercase();
        self.name_len += 1;
    }

    fn read_name_byte_or_classify(&mut self, byte: u8, table: &TagTable) -> TagStep {
        match byte {
            // The name so far is a namespace.
            b':' => {
                self.name_len = 0;
                TagStep::Incomplete
            }
            _ if is_name_byte(byte) && self.name_len < TAG_NAME_BYTES_MAX => {
                self.append_lowercase_name_byte(byte);
                TagStep::Incomplete
            }
            _ if matches!(byte, b'>' | b'/') || is_ascii_space(byte) => {
                let Some(class) = table.class_of(&self.name[..self.name_len]) else {
                    return TagStep::NotATag;
                };
                match byte {
                    b'>' => self.build_complete_tag(class, TagForm::Open),
                    b'/' => self.enter_state(TagState::Slash(class)),
                    _ => self.enter_state(TagState::BetweenAttributes(class)),
                }
            }
            _ => TagStep::NotATag,
        }
    }

    fn read_between_attributes(&mut self, byte: u8, class: TagClass) -> TagStep {
        match byte {
            b'>' => self.build_complete_tag(class, TagForm::Open),
            b'/' => self.enter_state(TagState::Slash(class)),
            _ if is_ascii_space(byte) => TagStep::Incomplete,
            _ if is_attribute_byte(byte) => self.enter_state(TagState::AttributeName(class)),
            _ => TagStep::NotATag,
        }
    }

    fn read_attribute_name(&mut self, byte: u8, class: TagClass) -> TagStep {
        match byte {
            b'=' => self.enter_state(TagState::BeforeValue(class)),
            b'>' if !self.space_after_bracket => self.build_complete_tag(class, TagForm::Open),
            b'/' if !self.space_after_bracket => self.enter_state(TagState::Slash(class)),
            _ if is_ascii_space(byte) => self.enter_state(TagState::AfterAttributeName(class)),
            _ if is_attribute_byte(byte) => TagStep::Incomplete,
            _ => TagStep::NotATag,
        }
    }

    fn read_after_attribute_name(&mut self, byte: u8, class: TagClass) -> TagStep {
        match byte {
            b'=' => self.enter_state(TagState::BeforeValue(class)),
            _ if is_ascii_space(byte) => TagStep::Incomplete,
            _ if self.space_after_bracket => TagStep::NotATag,
            _ => self.read_between_attributes(byte, class),
        }
    }
}
