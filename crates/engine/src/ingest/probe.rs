//! Telling a dialect from a frame.

use super::dialect::{DialectName, likenesses};
use super::frame::Frame;
use super::json::{RawValue, Shape, string};

/// How sure a dialect is that a frame is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    No,
    /// Others say this too; a later frame may tell.
    Maybe,
    Yes,
}

impl Likeness {
    pub(crate) fn yes_if(it_is: bool) -> Likeness {
        if it_is { Likeness::Yes } else { Likeness::No }
    }

    pub(crate) fn maybe_if(it_may_be: bool) -> Likeness {
        if it_may_be { Likeness::Maybe } else { Likeness::No }
    }
}

/// The top level of a frame.
#[derive(Debug)]
pub(crate) struct Probe<'a> {
    kind: String,
    members: Vec<(String, &'a RawValue)>,
}

const ANYTHING: Shape<0> = Shape { read: [], skip: &[] };

impl<'a> Probe<'a> {
    /// `None` if the frame is no JSON object.
    pub(super) fn new(frame: Frame<'a>) -> Option<Probe<'a>> {
        let members = ANYTHING.read(frame.data)?.unknown;
        let mut probe = Probe { kind: String::new(), members };
        probe.kind = probe.text("type").unwrap_or_default();
        Some(probe)
    }

    /// The `type` member, empty where there is none.
    pub(crate) fn kind(&self) -> &str {
        &self.kind
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.members.iter().find(|(name, _)| name == key).map(|&(_, value)| value)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn has_all<const N: usize>(&self, keys: [&str; N]) -> bool {
        keys.iter().all(|key| self.has(key))
    }

    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(string).map(std::borrow::Cow::into_owned)
    }

    /// Whether the member is an object that has this key.
    pub(crate) fn inner_has(&self, member: &str, key: &str) -> bool {
        self.get(member)
            .and_then(|raw| ANYTHING.read(raw.get()))
            .is_some_and(|inner| inner.unknown.iter().any(|(name, _)| name == key))
    }

    /// The text of a member's member; empty where there is none.
    pub(crate) fn inner_text(&self, member: &str, key: &str) -> String {
        let inner = self.get(member).and_then(|raw| ANYTHING.read(raw.get()));
        let found = inner.and_then(|inner| {
            let value = inner.unknown.iter().find(|(name, _)| name == key)?.1;
            string(value).map(std::borrow::Cow::into_owned)
        });
        found.unwrap_or_default()
    }

    /// The dialect that is surest, and how sure it is.
    pub(super) fn likeness(&self) -> (DialectName, Likeness) {
        let mut best = (DialectName::ALL[0], Likeness::No);
        for (name, likeness) in likenesses(self) {
            if best.1 < likeness {
                best = (name, likeness);
            }
        }
        best
    }
}
