//! What the overlay says: a phase for machines, words for a person.

use std::borrow::Cow;

use crate::event::ToolKind;
use crate::view::patch::{Overlay, Phase};

use super::tray::Step;

/// Before anything has come of a round.
pub(super) fn waiting(round: u32) -> Overlay<'static> {
    Overlay { round, phase: Phase::Waiting, label: Cow::Borrowed("Waiting") }
}

/// For the newest step that is open, or none.
pub(super) fn words(newest: Option<&Step>) -> (Phase, &str) {
    let Some(step) = newest else { return (Phase::Loading, "Working") };
    let Some(tool) = step.tool else { return (Phase::Reasoning, "Thinking") };
    match tool {
        ToolKind::WebSearch => (Phase::WebSearch, "Searching the web"),
        ToolKind::WebFetch => (Phase::WebSearch, "Reading a web page"),
        ToolKind::CodeInterpreter => (Phase::CodeInterpreter, "Running code"),
        ToolKind::FileSearch => (Phase::Tool, "Searching files"),
        ToolKind::ImageGeneration => (Phase::Loading, "Making a picture"),
        ToolKind::Function
        | ToolKind::Mcp
        | ToolKind::Action
        | ToolKind::Command
        | ToolKind::Edit
        | ToolKind::Agent
        | ToolKind::Builtin => match step.item.name.as_deref() {
            None | Some("") => (Phase::Tool, "Using a tool"),
            Some(name) => (Phase::Tool, name),
        },
    }
}
