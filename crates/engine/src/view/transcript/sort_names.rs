//! Values of an item's `sort`, in the event log's terms.

use crate::event::{AskKind, NoticeLevel};

/// Returns the `sort` of an ask of this kind.
pub(super) fn ask_kind_name(kind: AskKind) -> &'static str {
    match kind {
        AskKind::Tool => "tool",
        AskKind::Command => "command",
        AskKind::Mcp => "mcp",
        AskKind::Browser => "browser",
        AskKind::Followup => "followup",
        AskKind::Other => "other",
    }
}

/// Returns the `sort` of a notice of this level.
pub(super) fn level_name(level: NoticeLevel) -> &'static str {
    match level {
        NoticeLevel::Info => "info",
        NoticeLevel::Warning => "warning",
        NoticeLevel::Error => "error",
    }
}
