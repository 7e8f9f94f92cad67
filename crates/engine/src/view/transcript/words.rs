//! What sort of thing an item is, in the event log's words.

use crate::event::{AskKind, Level};

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
