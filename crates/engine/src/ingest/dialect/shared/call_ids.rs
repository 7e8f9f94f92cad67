//! Ids for tool calls that a source sends without one.

use std::borrow::Cow;

/// Numbers the calls without an id: `call_1`, `call_2`, ...
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallIds {
    generated: u32,
}

impl CallIds {
    /// The call's id, or a generated one if it is missing or empty.
    pub(crate) fn id_or_generated<'a>(&mut self, id: Option<Cow<'a, str>>) -> Cow<'a, str> {
        id.filter(|id| !id.is_empty()).unwrap_or_else(|| {
            self.generated += 1;
            format!("call_{}", self.generated).into()
        })
    }
}
