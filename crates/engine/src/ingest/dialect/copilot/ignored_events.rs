//! Known events that do not affect the run.

/// True for known events that do not affect the run.
pub(super) fn is_ignored_event(kind: &str) -> bool {
    const KINDS: [&str; 32] = [
        "assistant.idle",
        "assistant.intent",
        "assistant.streaming_delta",
        "capabilities.changed",
        "hook.end",
        "hook.start",
        "model.call_final_result",
        "model.call_finished",
        "pending_messages.modified",
        "session.background_tasks_changed",
        "session.compaction_start",
        "session.context_changed",
        "session.custom_agents_updated",
        "session.extensions_loaded",
        "session.idle",
        "session.mcp_server_status_changed",
        "session.mcp_servers_loaded",
        "session.mode_changed",
        "session.model_change",
        "session.plan_changed",
        "session.resume",
        "session.session_limits_changed",
        "session.skills_loaded",
        "session.start",
        "session.task_complete",
        "session.title_changed",
        "session.tools_updated",
        "session.truncation",
        "session.usage_checkpoint",
        "session.usage_info",
        "skill.invoked",
        "system.message",
    ];
    KINDS.contains(&kind)
}
