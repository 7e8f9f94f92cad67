//! Dialect of Qwen Code: `qwen -p --output-format stream-json [--include-partial-messages]`.
//!
//! Like Claude Code, but every block is streamed at index 0, whole blocks have different ids, and
//! there is no `message_delta`: usage and the stop reason are on the whole lines. Text is
//! incremental; the run ends at its `result` line, whose text is the final message.

use crate::event::{TextMode, ToolKind};
use crate::ingest::frame::Frame;
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{ToolStart, Writer};

use super::anthropic::ClientToolMapper;
use super::claude_code::build_mcp_tool_start;
use super::shared::stream_json::{RepeatMatching, StreamJson, StreamJsonVariant};
use super::{Dialect, Unreadable};

/// Parser state of the `qwen-code` dialect.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QwenCode {
    stream: StreamJson,
}

static VARIANT: StreamJsonVariant = StreamJsonVariant {
    repeat_matching: RepeatMatching::ByPosition,
    tool_start: ClientToolMapper(build_tool_start),
    ignored_fields: &["permission_mode", "qwen_code_version", "stats", "data"],
    ignored_events: &["goal_state"],
};

impl Default for QwenCode {
    fn default() -> QwenCode {
        QwenCode { stream: StreamJson::new(&VARIANT) }
    }
}

impl Dialect for QwenCode {
    const NAME: &'static str = "qwen-code";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let of_qwen = match probe.type_text() {
            "system" => probe.has("qwen_code_version"),
            "stream_event" => probe.nested_text("event", "type").as_deref() == Some("goal_state"),
            "assistant" => {
                let id = probe.nested_text("message", "id");
                id.is_some() && id == probe.text_member("uuid")
            }
            _ => false,
        };
        Likeness::yes_if(of_qwen)
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        self.stream.push_frame(frame, out)
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.stream.finish(out);
    }
}

/// Tool start of a call, with the kind by the tool's name.
fn build_tool_start<'a>(call: &'a str, name: &'a str) -> ToolStart<'a> {
    let kind = match name {
        "run_shell_command" | "monitor" => ToolKind::Command,
        "edit" | "write_file" | "notebook_edit" => ToolKind::Edit,
        "agent" | "task" => ToolKind::Agent,
        "web_fetch" => ToolKind::WebFetch,
        "web_search" => ToolKind::WebSearch,
        _ => ToolKind::Builtin,
    };
    build_mcp_tool_start(call, name)
        .unwrap_or(ToolStart { kind, ..ToolStart::client_function(call, name) })
}
