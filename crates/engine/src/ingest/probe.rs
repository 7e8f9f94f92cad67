//! Detects the dialect of a frame from its top-level members.

use super::dialect::{DialectName, likenesses};
use super::frame::Frame;
use super::json::{RawValue, as_string, non_null_members};

/// Certainty that a frame belongs to a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    No,
    /// Other dialects have this frame too; a later frame may decide.
    Maybe,
    Yes,
}

impl Likeness {
    /// `Yes` if the condition holds, else `No`.
    pub(crate) fn yes_if(matches: bool) -> Likeness {
        if matches { Likeness::Yes } else { Likeness::No }
    }

    /// `Maybe` if the condition holds, else `No`.
    pub(crate) fn maybe_if(matches: bool) -> Likeness {
        if matches { Likeness::Maybe } else { Likeness::No }
    }
}

/// Top-level members of a frame's JSON object.
#[derive(Debug)]
pub(crate) struct Probe<'a> {
    kind: String,
    members: Vec<(String, &'a RawValue)>,
}

impl<'a> Probe<'a> {
    /// Parses the frame; `None` if it is not a JSON object.
    pub(super) fn new(frame: Frame<'a>) -> Option<Probe<'a>> {
        let members = non_null_members(frame.data)?;
        let mut probe = Probe { kind: String::new(), members };
        probe.kind = probe.text_member("type").unwrap_or_default();
        Some(probe)
    }

    /// Text of the `type` member, or empty.
    pub(crate) fn type_text(&self) -> &str {
        &self.kind
    }

    /// Member `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.members.iter().find(|(name, _)| name == key).map(|&(_, value)| value)
    }

    /// True if member `key` exists.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// True if all members exist.
    pub(crate) fn has_all<const N: usize>(&self, keys: [&str; N]) -> bool {
        keys.iter().all(|key| self.has(key))
    }

    /// Text of member `key`, if it is a string.
    pub(crate) fn text_member(&self, key: &str) -> Option<String> {
        self.get(key).and_then(as_string).map(std::borrow::Cow::into_owned)
    }

    /// True if `member` is an object that has `key`.
    pub(crate) fn has_nested(&self, member: &str, key: &str) -> bool {
        self.get(member)
            .and_then(|raw| non_null_members(raw.get()))
            .is_some_and(|inner| inner.iter().any(|(name, _)| name == key))
    }

    /// Text of `key` in the object `member`, if both exist and it is a string.
    pub(crate) fn nested_text(&self, member: &str, key: &str) -> Option<String> {
        let inner = non_null_members(self.get(member)?.get())?;
        let value = inner.iter().find(|(name, _)| name == key)?.1;
        as_string(value).map(std::borrow::Cow::into_owned)
    }

    /// Dialect with the highest likeness, and that likeness.
    pub(super) fn best_dialect(&self) -> (DialectName, Likeness) {
        let mut best = (DialectName::ALL[0], Likeness::No);
        for (name, likeness) in likenesses(self) {
            if best.1 < likeness {
                best = (name, likeness);
            }
        }
        best
    }
}
