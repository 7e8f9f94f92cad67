//! Removal of opaque state from the results of tools: values that only their provider can read.
//!
//! Incremental: how the text is cut does not show. Only texts that begin like JSON are changed.

use std::borrow::Cow;

/// Beginning of the names of members that only their provider can read.
const OPAQUE_PREFIX: &[u8] = b"encrypted_";

/// Replacement of an opaque value.
const CUT_MARK: &str = "…";

/// Incremental filter of one result: the value of an opaque member becomes a mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpaqueStateFilter {
    state: ScanState,
}

/// Position in the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ScanState {
    /// Nothing but white space came.
    #[default]
    Start,
    /// It is not JSON: nothing is changed.
    Text,
    /// Between strings.
    Between,
    /// In a string that has this many bytes of the prefix.
    Name(usize),
    /// In any other string.
    String(Escape),
    /// In a string that begins with the prefix.
    OpaqueName(Escape),
    /// After such a string.
    AfterOpaqueName,
    /// After such a member's colon.
    BeforeValue,
    /// In such a member's value.
    OpaqueValue(Escape),
}

/// Meaning of the next byte of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    None,
    /// It follows a back-slash.
    Next,
}

impl Escape {
    /// Meaning of the byte after this one; `None` if this one ends the string.
    fn after(self, byte: u8) -> Option<Escape> {
        match (self, byte) {
            (Escape::None, b'"') => None,
            (Escape::None, b'\\') => Some(Escape::Next),
            (Escape::None | Escape::Next, _) => Some(Escape::None),
        }
    }
}

impl OpaqueStateFilter {
    /// Returns the next text of the result without opaque values.
    pub fn push<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        if self.state == ScanState::Text {
            return Cow::Borrowed(text);
        }
        let mut out = String::new();
        // Text before this byte is in `out`, or dropped.
        let (mut from, mut is_changed) = (0, false);
        for (at, byte) in text.bytes().enumerate() {
            let before = self.state;
            self.state = before.after(byte);
            match (before, self.state) {
                (ScanState::BeforeValue, ScanState::OpaqueValue(_)) => {
                    out.extend([&text[from..=at], CUT_MARK]);
                    (from, is_changed) = (at + 1, true);
                }
                (ScanState::OpaqueValue(_), ScanState::Between) => (from, is_changed) = (at, true),
                _ => {}
            }
        }
        if let ScanState::OpaqueValue(_) = self.state {
            (from, is_changed) = (text.len(), true);
        }
        if !is_changed {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[from..]);
        Cow::Owned(out)
    }
}

impl ScanState {
    /// State after a byte.
    fn after(self, byte: u8) -> ScanState {
        let is_blank = byte.is_ascii_whitespace();
        match self {
            ScanState::Start if is_blank => ScanState::Start,
            ScanState::Start if matches!(byte, b'{' | b'[') => ScanState::Between,
            ScanState::Start | ScanState::Text => ScanState::Text,
            ScanState::Between if byte == b'"' => ScanState::Name(0),
            ScanState::Between => ScanState::Between,
            ScanState::Name(seen) if OPAQUE_PREFIX.get(seen) == Some(&byte) => {
                if seen + 1 < OPAQUE_PREFIX.len() {
                    ScanState::Name(seen + 1)
                } else {
                    ScanState::OpaqueName(Escape::None)
                }
            }
            ScanState::Name(_) => in_string(Escape::None.after(byte), ScanState::String),
            ScanState::String(escape) => in_string(escape.after(byte), ScanState::String),
            ScanState::OpaqueName(escape) => match escape.after(byte) {
                Some(escape) => ScanState::OpaqueName(escape),
                None => ScanState::AfterOpaqueName,
            },
            ScanState::AfterOpaqueName | ScanState::BeforeValue if is_blank => self,
            ScanState::AfterOpaqueName if byte == b':' => ScanState::BeforeValue,
            ScanState::BeforeValue if byte == b'"' => ScanState::OpaqueValue(Escape::None),
            ScanState::AfterOpaqueName | ScanState::BeforeValue => ScanState::Between.after(byte),
            ScanState::OpaqueValue(escape) => in_string(escape.after(byte), ScanState::OpaqueValue),
        }
    }
}

/// State in a string, or between strings if it has ended.
fn in_string(escape: Option<Escape>, string: fn(Escape) -> ScanState) -> ScanState {
    escape.map_or(ScanState::Between, string)
}
