//! Content blocks: the events that the start, the deltas and the end of each kind write.

use crate::event::{
    Event, NoticeLevel, ReasoningOrigin, StepId, ToolKind, ToolOutcome, UnrecognisedReason,
};
use crate::ingest::json::{
    RawValue, array_elements, as_string, is_true, json_object_of_strings, object,
};
use crate::run::{ToolStart, Writer};

use super::result::{ensure_tool_and_end_with_result, parse_image, write_citation};
use super::{Anthropic, ClientToolMapper};

/// Kind of an open block, with the state it needs until its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BlockKind {
    Text,
    Thinking,
    Tool {
        step: StepId,
    },
    /// A summary of earlier context, collected until the block ends.
    Compaction {
        summary: String,
    },
    /// Complete at its start; later deltas are ignored.
    Ignored,
}

object! {
    /// Members of any block; [`ToolFields`] has those of tool calls.
    BlockFields {
        kind = "type", text, thinking, content, tool_use = "tool_use_id", is_error, citations, data,
        ; skip "id" | "name" | "input" | "server_name" | "from" | "to" | "signature" | "caller"
            | "file_id" | "source" | "cache_control" | "toolset_version" | "encrypted_content"
    }
}
object! { ToolFields { id, name, server = "server_name", input; skip _ } }

impl Anthropic {
    /// Writes a block that arrives complete.
    pub(in crate::ingest::dialect) fn apply_whole_block(
        &mut self,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) {
        const WHOLE: u64 = u64::MAX;
        self.open_block_and_write_content(WHOLE, raw, out);
        self.stop_block(WHOLE, out);
    }

    /// Opens the block at `index` and writes its initial content.
    pub(super) fn open_block_and_write_content(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) {
        let Some(block) = BlockFields::from_raw(raw) else {
            out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
            return;
        };
        out.append_unknown_fields_once(&block.unknown);
        let BlockFields {
            kind, text, thinking, content, tool_use, is_error, citations, data, ..
        } = block;
        let text_of = |raw: Option<_>| raw.and_then(as_string).unwrap_or_default();
        let name = text_of(kind);
        let kind = match name.as_ref() {
            "text" => {
                out.append_text(&text_of(text));
                for citation in citations.map(array_elements).unwrap_or_default() {
                    write_citation(citation, out);
                }
                BlockKind::Text
            }
            "thinking" => {
                out.close_reasoning_and_defer_end();
                out.append_reasoning(&text_of(thinking), ReasoningOrigin::Native);
                BlockKind::Thinking
            }
            "redacted_thinking" => {
                out.append_redacted_reasoning();
                if let Some(step) = out.last_started_step_id() {
                    out.append_step_seal_if_kept(step, || {
                        json_object_of_strings(&[("data", &text_of(data))])
                    });
                }
                BlockKind::Ignored
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                self.start_tool_and_return_block(&name, raw, out)
            }
            "compaction" => BlockKind::Compaction { summary: text_of(content).into_owned() },
            "fallback" => {
                out.append_notice(NoticeLevel::Info, &format_model_fallback_notice(raw));
                BlockKind::Ignored
            }
            "image" if let Some(image) = parse_image(raw) => {
                out.append_message_image(image);
                BlockKind::Ignored
            }
            _ if tool_use.is_some() => {
                let is_failed = is_error.is_some_and(is_true);
                let outcome = if is_failed { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
                ensure_tool_and_end_with_result(&name, &text_of(tool_use), content, outcome, out);
                BlockKind::Ignored
            }
            _ => {
                out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
                BlockKind::Ignored
            }
        };
        self.open_blocks.insert(index, kind);
    }

    /// Starts the tool step of a tool call block, with its input if that is complete.
    fn start_tool_and_return_block(
        &self,
        block: &str,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> BlockKind {
        let ToolFields { id, name, server, input } = ToolFields::from_raw(raw).unwrap_or_default();
        let text_of = |raw: Option<_>| raw.and_then(as_string).unwrap_or_default();
        let (id, name, server) = (text_of(id), text_of(name), server.and_then(as_string));
        let tool = match self.client_tool {
            Some(ClientToolMapper(tool)) if block == "tool_use" => tool(&id, &name),
            _ => build_tool_start(block, &id, &name, server.as_deref()),
        };
        let step = out.start_tool(tool);
        if let Some(input) = input.filter(|input| input.get() != "{}") {
            out.replace_arguments_if_changed(step, input.get());
        }
        BlockKind::Tool { step }
    }

    /// Closes the block at `index` and writes the end of its content.
    pub(super) fn stop_block(&mut self, index: u64, out: &mut Writer<'_>) {
        let Some(block) = self.open_blocks.remove(index) else { return };
        match block {
            BlockKind::Thinking => out.close_reasoning_and_defer_end(),
            BlockKind::Tool { step } => out.emit_tool_ready_once(step),
            BlockKind::Compaction { summary } => {
                let summary = (!summary.is_empty()).then(|| summary.into());
                out.append_stateless_event(Event::HistoryCompacted { summary });
            }
            BlockKind::Text | BlockKind::Ignored => {}
        }
    }
}

/// Notice text for a reply from another model than the requested one.
fn format_model_fallback_notice(raw: &RawValue) -> String {
    object! { Fallback { from, to; skip _ } }
    let Fallback { from, to } = Fallback::from_raw(raw).unwrap_or_default();
    let [from, to] = [from, to].map(|member| member.map_or("?", RawValue::get));
    format!("the provider switched from {from} to {to}")
}

/// Builds the start of a tool call from its block type, id and name.
fn build_tool_start<'a>(
    block: &str,
    id: &'a str,
    name: &'a str,
    server: Option<&'a str>,
) -> ToolStart<'a> {
    match block {
        "mcp_tool_use" => ToolStart { server, ..ToolStart::provider_tool(id, name, ToolKind::Mcp) },
        "server_tool_use" => ToolStart::provider_tool(id, name, server_tool_kind(name)),
        _ if name == "computer" => {
            ToolStart { kind: ToolKind::Action, ..ToolStart::client_function(id, name) }
        }
        _ => ToolStart::client_function(id, name),
    }
}

/// Maps a server tool's name to its kind.
pub(super) fn server_tool_kind(name: &str) -> ToolKind {
    match name {
        "web_search" => ToolKind::WebSearch,
        "web_fetch" => ToolKind::WebFetch,
        "code_execution" | "bash_code_execution" | "text_editor_code_execution" => {
            ToolKind::CodeInterpreter
        }
        _ => ToolKind::Builtin,
    }
}
