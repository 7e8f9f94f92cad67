//! `say` types that are notices, and those that only matter to the agent's UI.

use crate::event::NoticeLevel;

/// Level of a `say` type that is a notice.
pub(super) fn notice_level(say: &str) -> Option<NoticeLevel> {
    match say {
        "error"
        | "diff_error"
        | "condense_context_error"
        | "clineignore_error"
        | "rooignore_error" => Some(NoticeLevel::Error),
        "shell_integration_warning" | "too_many_tools_warning" => Some(NoticeLevel::Warning),
        "info" => Some(NoticeLevel::Info),
        _ => None,
    }
}

/// True if a `say` type only matters to the agent's UI.
pub(super) fn is_ui_only(say: &str) -> bool {
    matches!(
        say,
        "api_req_finished"
            | "api_req_deleted"
            | "deleted_api_reqs"
            | "load_mcp_documentation"
            | "task_progress"
            | "mcp_server_request_started"
            | "api_req_rate_limit_wait"
            | "user_edit_todos"
            | "mcp_notification"
            | "sliding_window_truncation"
    )
}
