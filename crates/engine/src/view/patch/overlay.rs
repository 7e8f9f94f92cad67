//! Overlay: the phase that is shown above the page until the first text of a round.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::into_owned_cow;

/// Overlay above the page until a round's first text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overlay<'a> {
    /// Round that is awaited.
    pub round: u32,
    /// Kind of work.
    pub phase: OverlayPhase,
    /// Text for people.
    pub label: Cow<'a, str>,
}

/// Kind of work that an overlay reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OverlayPhase {
    /// Waiting for the model.
    Waiting,
    /// The model thinks.
    Reasoning,
    /// A tool runs.
    Tool,
    /// A web search runs.
    WebSearch,
    /// Code runs at the provider.
    CodeInterpreter,
    /// A model is loaded.
    Loading,
}

impl Overlay<'_> {
    /// Converts to owned texts.
    #[must_use]
    pub fn into_owned(self) -> Overlay<'static> {
        Overlay { round: self.round, phase: self.phase, label: into_owned_cow(self.label) }
    }
}
