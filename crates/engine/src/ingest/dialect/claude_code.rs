//! Dialect of Claude Code:
//! `claude -p --output-format stream-json --verbose [--include-partial-messages]`.
//!
//! Text is incremental with partial messages, whole without. The run ends at its `result` line,
//! whose text is the final message; without one it was cut. `--output-format json` prints only a
//! `result`.

use crate::event::{TextMode, ToolKind};
use crate::ingest::frame::Frame;
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{ToolStart, Writer};

use super::anthropic::ClientToolMapper;
use super::shared::stream_json::{RepeatMatching, StreamJson, StreamJsonVariant};
use super::{Dialect, Unreadable};

/// Parser state of the `claude-code` dialect.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClaudeCode {
    stream: StreamJson,
}

static VARIANT: StreamJsonVariant = StreamJsonVariant {
    repeat_matching: RepeatMatching::ById,
    tool_start: ClientToolMapper(build_tool_start),
    ignored_fields: &[
        "additional_directories",
        "analytics_disabled",
        "apiKeySource",
        "api_error_status",
        "api_error_type",
        "api_message_id",
        "aborted",
        "betas",
        "capabilities",
        "claude_code_version",
        "compact_metadata",
        "decision_reason",
        "decision_reason_type",
        "direction",
        "estimated_tokens",
        "estimated_tokens_delta",
        "fallback_model",
        "fast_mode_disabled_reason",
        "fast_mode_state",
        "first_content_frame_ms",
        "heartbeat",
        "hook_event",
        "hook_id",
        "hook_name",
        "exit_code",
        "outcome",
        "output",
        "stderr",
        "stdout",
        "memory_paths",
        "messaging_socket_path",
        "modelUsage",
        "model_usage_since_last_result",
        "new_conversation_id",
        "original_cwd",
        "original_model",
        "output_file",
        "output_style",
        "patch",
        "per_turn_effort_active",
        "permissionMode",
        "plugins",
        "preceding_tool_use_ids",
        "priority",
        "product_feedback_disabled",
        "queued_turn_count",
        "rate_limit_info",
        "refused_user_message_uuid",
        "api_refusal_category",
        "api_refusal_explanation",
        "result_index",
        "safety_stops",
        "scope",
        "skills",
        "state",
        "structured_output",
        "subagent_stats",
        "suggestion",
        "task_id",
        "task_type",
        "tasks",
        "terminal_slash_commands",
        "thinking_display",
        "thinking_duration_ms",
        "time_to_request_ms",
        "trigger",
        "ttft_ms",
        "ttft_stream_ms",
        "ultrathink_available",
        "ultrathink_typed_raises",
        "view_mode",
        "isAuthenticating",
    ],
    ignored_events: &[],
};

impl Default for ClaudeCode {
    fn default() -> ClaudeCode {
        ClaudeCode { stream: StreamJson::new(&VARIANT) }
    }
}

impl Dialect for ClaudeCode {
    const NAME: &'static str = "claude-code";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let of_claude = match probe.type_text() {
            "system" => {
                probe.has("claude_code_version")
                    || (probe.has_all(["tools", "mcp_servers"]) && !probe.has("qwen_code_version"))
                    || match probe.text_member("subtype").as_deref() {
                        Some("thinking_tokens") => true,
                        Some("api_retry") => probe.has("retry_delay_ms"),
                        _ => false,
                    }
            }
            "stream_event" => probe.has("api_message_id") || probe.has("ttft_ms"),
            "assistant" => {
                let id = probe.nested_text("message", "id");
                id.is_some() && probe.has("uuid") && id != probe.text_member("uuid")
            }
            "user" => probe.has("tool_use_result") || probe.has("tool_result_meta"),
            "result" => probe.has_all(["subtype", "total_cost_usd"]),
            "control_request" => probe.has_nested("request", "subtype"),
            _ => return Likeness::No,
        };
        if of_claude { Likeness::Yes } else { Likeness::maybe_if(is_stream_json_frame(probe)) }
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        self.stream.push_frame(frame, out)
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.stream.finish(out);
    }
}

/// True if the frame has the shape of a `stream-json` line, which other agents print too.
fn is_stream_json_frame(probe: &Probe<'_>) -> bool {
    match probe.type_text() {
        "stream_event" => probe.has("event"),
        "assistant" | "user" => probe.has_nested("message", "content"),
        "system" | "result" => probe.has("subtype"),
        _ => false,
    }
}

/// Tool start of a call, with the kind by the tool's name.
fn build_tool_start<'a>(call: &'a str, name: &'a str) -> ToolStart<'a> {
    let kind = match name {
        "Bash" | "BashOutput" | "KillShell" | "PowerShell" | "Monitor" => ToolKind::Command,
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => ToolKind::Edit,
        "Task" | "Agent" => ToolKind::Agent,
        "WebFetch" => ToolKind::WebFetch,
        "WebSearch" => ToolKind::WebSearch,
        _ => ToolKind::Builtin,
    };
    build_mcp_tool_start(call, name)
        .unwrap_or(ToolStart { kind, ..ToolStart::client_function(call, name) })
}

/// Tool start of an MCP call; `None` unless the name is `mcp__server__tool`.
pub(super) fn build_mcp_tool_start<'a>(call: &'a str, name: &'a str) -> Option<ToolStart<'a>> {
    let (server, _) = name.strip_prefix("mcp__")?.split_once("__")?;
    let tool = ToolStart::client_function(call, name);
    Some(ToolStart { kind: ToolKind::Mcp, server: Some(server), ..tool })
}
