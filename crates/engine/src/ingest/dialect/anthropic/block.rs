//! Content blocks: what each kind means when it begins, and when it ends.

use crate::event::{Event, Level, ReasoningOrigin, StepId, ToolKind, UnrecognisedReason};
use crate::ingest::json::{RawValue, Shape, elements, is_true, sealed, string};
use crate::limits::OPEN_BLOCKS_MAX;
use crate::run::{ToolStart, Writer};

use super::result::{cite, image_of, tool_result};
use super::{Anthropic, ClientTool};

/// A block that is open.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    index: u64,
    kind: BlockKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum BlockKind {
    Text,
    Thinking,
    Tool {
        step: StepId,
    },
    /// A block of the model's own memory; its text is a summary.
    Compaction {
        summary: String,
    },
    /// Nothing can follow its start.
    Closed,
}

/// What the tools' own members are is read where a tool starts.
const BLOCK: Shape<8> = Shape {
    read: ["type", "text", "thinking", "content", "tool_use_id", "is_error", "citations", "data"],
    skip: &[
        "id",
        "name",
        "input",
        "server_name",
        "from",
        "to",
        "signature",
        "caller",
        "file_id",
        "source",
        "cache_control",
        "toolset_version",
        "encrypted_content",
    ],
};
const TOOL: Shape<4> = Shape { read: ["id", "name", "server_name", "input"], skip: &[] };

impl Anthropic {
    /// A block that comes in one piece.
    pub(in crate::ingest::dialect) fn whole_block(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const WHOLE: u64 = u64::MAX;
        self.start_block(WHOLE, raw, out);
        self.stop_block(WHOLE, out);
    }

    pub(super) fn start_block(&mut self, index: u64, raw: &RawValue, out: &mut Writer<'_>) {
        let Some(block) = BLOCK.read(raw.get()) else {
            out.unrecognised(UnrecognisedReason::Frame, raw.get());
            return;
        };
        out.unknown_fields(&block.unknown);
        let [kind, text, thinking, content, tool_use, is_error, citations, data] = block.read;
        let text_of = |raw: Option<_>| raw.and_then(string).unwrap_or_default();
        let name = text_of(kind);
        let kind = match name.as_ref() {
            "text" => {
                out.text(&text_of(text));
                for citation in citations.map(elements).unwrap_or_default() {
                    cite(citation, out);
                }
                BlockKind::Text
            }
            "thinking" => {
                out.end_reasoning();
                out.reasoning(&text_of(thinking), ReasoningOrigin::Native);
                BlockKind::Thinking
            }
            "redacted_thinking" => {
                out.redacted_reasoning();
                if let Some(step) = out.last_step() {
                    out.seal(step, || sealed(&[("data", &text_of(data))]));
                }
                BlockKind::Closed
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => self.start_tool(&name, raw, out),
            "compaction" => BlockKind::Compaction { summary: text_of(content).into_owned() },
            "fallback" => {
                out.notice(Level::Info, &fallback_words(raw));
                BlockKind::Closed
            }
            "image" if let Some(image) = image_of(raw) => {
                out.image(image);
                BlockKind::Closed
            }
            _ if tool_use.is_some() => {
                let failed = is_error.is_some_and(is_true);
                tool_result(&name, &text_of(tool_use), content, failed, out);
                BlockKind::Closed
            }
            _ => {
                out.unrecognised(UnrecognisedReason::Frame, raw.get());
                BlockKind::Closed
            }
        };
        self.open_block(index, kind);
    }

    fn open_block(&mut self, index: u64, kind: BlockKind) {
        self.blocks.retain(|block| block.index != index);
        if OPEN_BLOCKS_MAX <= self.blocks.len() {
            self.blocks.remove(0);
        }
        self.blocks.push(Block { index, kind });
    }

    fn start_tool(&self, block: &str, raw: &RawValue, out: &mut Writer<'_>) -> BlockKind {
        let members = TOOL.read(raw.get()).map_or([None; 4], |tool| tool.read);
        let [id, name, server, input] = members;
        let text_of = |raw: Option<_>| raw.and_then(string).unwrap_or_default();
        let (id, name, server) = (text_of(id), text_of(name), server.and_then(string));
        let tool = match self.client_tool {
            Some(ClientTool(tool)) if block == "tool_use" => tool(&id, &name),
            _ => tool_start(block, &id, &name, server.as_deref()),
        };
        let step = out.tool(tool);
        if let Some(input) = input.filter(|input| input.get() != "{}") {
            out.whole_arguments(step, input.get());
        }
        BlockKind::Tool { step }
    }

    pub(super) fn block(&mut self, index: u64) -> Option<&mut BlockKind> {
        let block = self.blocks.iter_mut().find(|block| block.index == index)?;
        Some(&mut block.kind)
    }

    pub(super) fn stop_block(&mut self, index: u64, out: &mut Writer<'_>) {
        let Some(at) = self.blocks.iter().position(|block| block.index == index) else {
            return;
        };
        match self.blocks.remove(at).kind {
            BlockKind::Thinking => out.end_reasoning(),
            BlockKind::Tool { step } => out.ready(step),
            BlockKind::Compaction { summary } => {
                let summary = (!summary.is_empty()).then(|| summary.into());
                out.note(Event::HistoryCompacted { summary });
            }
            BlockKind::Text | BlockKind::Closed => {}
        }
    }
}

/// The provider answered with another model than it was asked for.
fn fallback_words(raw: &RawValue) -> String {
    const FALLBACK: Shape<2> = Shape { read: ["from", "to"], skip: &[] };
    let members = FALLBACK.read(raw.get()).map_or([None; 2], |fallback| fallback.read);
    let [from, to] = members.map(|member| member.map_or("?", RawValue::get));
    format!("the provider went from {from} to {to}")
}

fn tool_start<'a>(
    block: &str,
    id: &'a str,
    name: &'a str,
    server: Option<&'a str>,
) -> ToolStart<'a> {
    match block {
        "mcp_tool_use" => ToolStart { server, ..ToolStart::provider(id, name, ToolKind::Mcp) },
        "server_tool_use" => ToolStart::provider(id, name, server_tool_kind(name)),
        _ if name == "computer" => {
            ToolStart { kind: ToolKind::Action, ..ToolStart::function(id, name) }
        }
        _ => ToolStart::function(id, name),
    }
}

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
