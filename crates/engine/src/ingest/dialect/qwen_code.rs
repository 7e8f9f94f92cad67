//! Qwen Code: `qwen -p --output-format stream-json [--include-partial-messages]`.
//!
//! As Claude Code, but every block is streamed at index 0, whole blocks have ids of their own, and
//! no `message_delta` comes: usage and the stop reason are on the whole lines. Text is incremental;
//! the run ends at its `result` line, whose text is the final message.

use crate::event::{TextMode, ToolKind};
use crate::ingest::frame::Frame;
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{ToolStart, Writer};

use super::anthropic::ClientTool;
use super::claude_code::mcp_tool;
use super::stream_json::{Habits, Repeats, StreamJson, inner_text};
use super::{Dialect, Unreadable};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QwenCode {
    stream: StreamJson,
}

static HABITS: Habits = Habits {
    repeats: Repeats::ByPlace,
    tool: ClientTool(tool),
    fields: &["permission_mode", "qwen_code_version", "stats", "data"],
    events: &["goal_state"],
};

impl Default for QwenCode {
    fn default() -> QwenCode {
        QwenCode { stream: StreamJson::new(&HABITS) }
    }
}

impl Dialect for QwenCode {
    const NAME: &'static str = "qwen-code";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let of_qwen = match probe.kind() {
            "system" => probe.has("qwen_code_version"),
            "stream_event" => {
                inner_text(probe, "event", "type").is_some_and(|it| it == "goal_state")
            }
            "assistant" => {
                let id = inner_text(probe, "message", "id");
                id.is_some() && id == probe.text("uuid")
            }
            _ => false,
        };
        Likeness::yes_if(of_qwen)
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        self.stream.frame(frame, out)
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.stream.finish(out);
    }
}

fn tool<'a>(call: &'a str, name: &'a str) -> ToolStart<'a> {
    let kind = match name {
        "run_shell_command" | "monitor" => ToolKind::Command,
        "edit" | "write_file" | "notebook_edit" => ToolKind::Edit,
        "agent" | "task" => ToolKind::Agent,
        "web_fetch" => ToolKind::WebFetch,
        "web_search" => ToolKind::WebSearch,
        _ => ToolKind::Builtin,
    };
    mcp_tool(call, name).unwrap_or(ToolStart { kind, ..ToolStart::function(call, name) })
}
