//! What sort of thing an item is, in the event log's words.

use crate::event::{AskKind, Level, ToolKind, ToolOutcome};
use crate::view::item::State;

pub(super) fn tool(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Function => "function",
        ToolKind::Mcp => "mcp",
        ToolKind::WebSearch => "web_search",
        ToolKind::WebFetch => "web_fetch",
        ToolKind::FileSearch => "file_search",
        ToolKind::CodeInterpreter => "code_interpreter",
        ToolKind::ImageGeneration => "image_generation",
        ToolKind::Action => "action",
        ToolKind::Command => "command",
        ToolKind::Edit => "edit",
        ToolKind::Agent => "agent",
        ToolKind::Builtin => "builtin",
    }
}

pub(super) fn ask(kind: AskKind) -> &'static str {
    match kind {
        AskKind::Tool => "tool",
        AskKind::Command => "command",
        AskKind::Mcp => "mcp",
        AskKind::Browser => "browser",
        AskKind::Followup => "followup",
        AskKind::Other => "other",
    }
}

pub(super) fn level(level: Level) -> &'static str {
    match level {
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

pub(super) fn state(outcome: ToolOutcome) -> State {
    match outcome {
        ToolOutcome::Succeeded => State::Done,
        ToolOutcome::Failed => State::Failed,
        ToolOutcome::Denied => State::Denied,
        ToolOutcome::NoResult | ToolOutcome::Cut => State::Incomplete,
    }
}
