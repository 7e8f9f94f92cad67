//! Texts of the overlay: a phase for clients and a label for people.

use std::borrow::Cow;

use crate::event::ToolKind;
use crate::view::patch::{Overlay, OverlayPhase};

use super::open_steps::Step;

/// Overlay of a round without any content.
pub(super) fn waiting_overlay(round: u32) -> Overlay<'static> {
    Overlay { round, phase: OverlayPhase::Waiting, label: Cow::Borrowed("Waiting") }
}

/// Phase and label for the newest open step, if any.
pub(super) fn phase_and_label(newest: Option<&Step>) -> (OverlayPhase, &str) {
    let Some(step) = newest else { return (OverlayPhase::Loading, "Working") };
    let Some(tool) = step.tool_kind else { return (OverlayPhase::Reasoning, "Thinking") };
    match tool {
        ToolKind::WebSearch => (OverlayPhase::WebSearch, "Searching the web"),
        ToolKind::WebFetch => (OverlayPhase::WebSearch, "Reading a web page"),
        ToolKind::CodeInterpreter => (OverlayPhase::CodeInterpreter, "Running code"),
        ToolKind::FileSearch => (OverlayPhase::Tool, "Searching files"),
        ToolKind::ImageGeneration => (OverlayPhase::Loading, "Generating an image"),
        ToolKind::Function
        | ToolKind::Mcp
        | ToolKind::Action
        | ToolKind::Command
        | ToolKind::Edit
        | ToolKind::Agent
        | ToolKind::Builtin => match step.item.name.as_deref() {
            None | Some("") => (OverlayPhase::Tool, "Using a tool"),
            Some(name) => (OverlayPhase::Tool, name),
        },
    }
}
