//! Options of a run: hidden tags, control words, quirks, actions and the handling of seals.

use std::sync::Arc;

use super::action_names::ActionNames;
use super::source_options::find_similar_name;
use crate::filter::{ControlWord, FilterStart, TagTable};

/// Options of a run, from the profile of its source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// Tags that the filter hides.
    pub tags: Arc<TagTable>,
    /// Filter mode at the start of each reply.
    pub filter_start: FilterStart,
    /// Workarounds for known bugs of the source.
    pub quirks: Vec<Quirk>,
    /// Words with which the agent signals its runner. Empty by default.
    pub control_words: Vec<ControlWord>,
    /// Handling of provider seals.
    pub seal_policy: SealPolicy,
    /// Names of tools that act on a computer or browser.
    pub action_names: ActionNames,
}

/// Handling of seals: provider state that must be sent back to continue the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SealPolicy {
    /// Do not record seals.
    #[default]
    Drop,
    /// Record seals as `StepSealed` events.
    Keep,
}

/// Workaround for a known bug of a source. Off by default; the log records when one acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Quirk {
    /// The dialect is incremental, but this source repeats its whole text each time.
    CumulativeText,
}

impl Quirk {
    /// Every quirk.
    pub const ALL: &'static [Quirk] = &[Quirk::CumulativeText];

    /// Name in profiles and the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Quirk::CumulativeText => "cumulative-text",
        }
    }
}

/// Error: no quirk has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownQuirk(pub String);

impl std::fmt::Display for UnknownQuirk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = Quirk::ALL.iter().map(|quirk| quirk.as_str()).collect();
        match find_similar_name(&self.0, names.iter().copied()) {
            Some(near) => write!(f, "unknown quirk `{}`; did you mean `{near}`?", self.0),
            None => write!(f, "unknown quirk `{}` (known: {})", self.0, names.join(", ")),
        }
    }
}

impl std::error::Error for UnknownQuirk {}

impl std::str::FromStr for Quirk {
    type Err = UnknownQuirk;

    fn from_str(text: &str) -> Result<Quirk, UnknownQuirk> {
        let known = Quirk::ALL.iter().copied().find(|quirk| quirk.as_str() == text);
        known.ok_or_else(|| UnknownQuirk(text.to_owned()))
    }
}
