//! Anthropic Messages: `message_start`, content blocks, `message_delta`, `message_stop`.
//!
//! Text is incremental. A reply ends at its `message_stop`, or at the `stop_reason` before it.
//! Blocks of text that follow each other are one message, because the provider cuts text where its
//! citations change. Whole replies are one object of type `message`.

use std::borrow::Cow;

use crate::event::{
    Citation, Event, FailureReason, Image, ReasoningOrigin, StepId, Stop, TextMode, ToolKind,
    ToolOutcome, UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Shape, Text, elements, is_true, number, object, string, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{ToolStart, Writer};

use super::openai_chat::error_text;
use super::{Dialect, Unreadable};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Anthropic {
    message: String,
    blocks: Vec<Block>,
    client_tool: Option<ClientTool>,
}

/// How an agent that has tools of its own tells what they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientTool(pub(super) for<'a> fn(call: &'a str, name: &'a str) -> ToolStart<'a>);

impl PartialEq for ClientTool {
    fn eq(&self, other: &ClientTool) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

/// A block that is open.
#[derive(Clone, Debug, PartialEq)]
struct Block {
    index: u64,
    kind: BlockKind,
}

#[derive(Clone, Debug, PartialEq)]
enum BlockKind {
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

object! { Line {
    kind: Text<'a> = "type",
    index: u64 = "index",
    delta: DeltaOf<'a> = "delta",
    content_block: &'a RawValue = "content_block",
    message: &'a RawValue = "message",
    usage: &'a RawValue = "usage",
    error: &'a RawValue = "error",
    content: &'a RawValue = "content",
    stop_reason: Text<'a> = "stop_reason",
    id: Text<'a> = "id",
    model: Text<'a> = "model",
    stop_details: &'a RawValue = "stop_details",
    ; skip "role" | "stop_sequence" | "request_id" | "context_management" | "container"
        | "service_tier" | "diagnostics" | "abandoned_blocks" | "api_message_id"
} }

object! { DeltaOf {
    kind: Text<'a> = "type",
    text: Text<'a> = "text",
    thinking: Text<'a> = "thinking",
    partial_json: Text<'a> = "partial_json",
    citation: &'a RawValue = "citation",
    content: &'a RawValue = "content",
    stop_reason: Text<'a> = "stop_reason",
    stop_details: &'a RawValue = "stop_details",
    ; skip "signature" | "stop_sequence" | "container" | "estimated_tokens" | "encrypted_content"
} }

const BLOCK: Shape<13> = Shape {
    read: [
        "type",
        "text",
        "thinking",
        "id",
        "name",
        "input",
        "server_name",
        "tool_use_id",
        "content",
        "is_error",
        "citations",
        "from",
        "to",
    ],
    skip: &[
        "signature",
        "data",
        "caller",
        "file_id",
        "source",
        "cache_control",
        "toolset_version",
        "encrypted_content",
    ],
};
const CITATION: Shape<5> = Shape {
    read: ["url", "title", "cited_text", "document_title", "source"],
    skip: &["type", "encrypted_index", "document_index", "start_char_index", "end_char_index"],
};
const USAGE: Shape<5> = Shape {
    read: [
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "output_tokens_details",
    ],
    skip: &[],
};

impl Dialect for Anthropic {
    const NAME: &'static str = "anthropic";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        match probe.kind() {
            "message_start" => Likeness::yes_if(
                probe.inner_has("message", "content") || probe.inner_has("message", "usage"),
            ),
            "content_block_start" => Likeness::yes_if(probe.has("content_block")),
            "content_block_delta" => Likeness::yes_if(probe.has("delta")),
            "message" => Likeness::yes_if(probe.has_all(["content", "role", "model"])),
            "error" => Likeness::maybe_if(probe.inner_has("error", "type")),
            "ping" => Likeness::Maybe,
            _ => Likeness::No,
        }
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut line = Line::default();
        line.read(frame.data)?;
        out.unknown_fields(&line.unknown);
        match line.kind.as_deref().unwrap_or("") {
            "content_block_delta" => {
                let delta = line.delta.unwrap_or_default();
                self.delta(line.index.unwrap_or(0), delta, frame.data, out);
            }
            "content_block_start" => {
                if let Some(block) = line.content_block {
                    self.start_block(line.index.unwrap_or(0), block, out);
                }
            }
            "content_block_stop" => self.stop_block(line.index.unwrap_or(0), out),
            "message_start" => {
                if let Some(message) = line.message {
                    self.start_message(message, out)?;
                }
            }
            "message_delta" => {
                if let Some(usage) = line.usage {
                    out.round_usage(usage_of(usage));
                }
                let delta = line.delta.unwrap_or_default();
                out.unknown_fields(&delta.unknown);
                if let Some(reason) = delta.stop_reason {
                    stop(&reason, delta.stop_details, out);
                }
            }
            "message_stop" => self.stop_message(out),
            "message" => self.whole_message(&line, out),
            "error" => {
                let words = line.error.or(line.message).map(error_text);
                out.fail(FailureReason::Error, words.as_deref().unwrap_or("unnamed error"));
            }
            "ping" | "keepalive" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }
}

impl Anthropic {
    /// The replies an agent with tools of its own passes on.
    pub(super) fn of_agent(client_tool: ClientTool) -> Anthropic {
        Anthropic { client_tool: Some(client_tool), ..Anthropic::default() }
    }

    fn start_message(&mut self, raw: &RawValue, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut message = Line::default();
        message.read(raw.get())?;
        let id = message.id.as_deref().unwrap_or("");
        // A proxy may send the same start twice, before anything else has come.
        let again = out.in_round() && !id.is_empty() && id == self.message;
        if !again {
            self.blocks.clear();
            id.clone_into(&mut self.message);
            out.round(message.model.as_deref(), Some(id).filter(|id| !id.is_empty()));
        }
        if let Some(usage) = message.usage {
            out.round_usage(usage_of(usage));
        }
        for block in message.content.map(elements).unwrap_or_default() {
            self.whole_block(block, out);
        }
        Ok(())
    }

    fn stop_message(&mut self, out: &mut Writer<'_>) {
        self.blocks.clear();
        if out.in_round() && !out.is_settled() {
            out.complete(Stop::End);
        }
    }

    fn whole_message(&mut self, line: &Line<'_>, out: &mut Writer<'_>) {
        out.round(line.model.as_deref(), line.id.as_deref());
        for block in line.content.map(elements).unwrap_or_default() {
            self.whole_block(block, out);
        }
        if let Some(usage) = line.usage {
            out.round_usage(usage_of(usage));
        }
        match &line.stop_reason {
            Some(reason) => stop(reason, line.stop_details, out),
            None => out.complete(Stop::Other),
        }
    }

    /// A block that comes in one piece.
    pub(super) fn whole_block(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const WHOLE: u64 = u64::MAX;
        self.start_block(WHOLE, raw, out);
        self.stop_block(WHOLE, out);
    }

    fn start_block(&mut self, index: u64, raw: &RawValue, out: &mut Writer<'_>) {
        let Some(block) = BLOCK.read(raw.get()) else {
            out.unrecognised(UnrecognisedReason::Frame, raw.get());
            return;
        };
        out.unknown_fields(&block.unknown);
        let [
            kind,
            text,
            thinking,
            id,
            name,
            input,
            server,
            tool_use,
            content,
            is_error,
            citations,
            from,
            to,
        ] = block.read;
        let text_of = |raw: Option<_>| raw.and_then(string).unwrap_or_default();
        let kind = text_of(kind);
        self.blocks.retain(|block| block.index != index);
        let kind = match kind.as_ref() {
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
                BlockKind::Closed
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let (id, name, server) = (text_of(id), text_of(name), server.and_then(string));
                let tool = match self.client_tool {
                    Some(ClientTool(tool)) if kind == "tool_use" => tool(&id, &name),
                    _ => tool_start(&kind, &id, &name, server.as_deref()),
                };
                let step = out.tool(tool);
                if let Some(input) = input.filter(|input| input.get() != "{}") {
                    out.whole_arguments(step, input.get());
                }
                BlockKind::Tool { step }
            }
            "compaction" => {
                let mut summary = String::new();
                summary.push_str(&text_of(content));
                BlockKind::Compaction { summary }
            }
            "fallback" => {
                let json = |raw: Option<&RawValue>| raw.map_or("?", RawValue::get).to_owned();
                let text = format!("the provider went from {} to {}", json(from), json(to));
                out.notice(crate::event::Level::Info, &text);
                BlockKind::Closed
            }
            "image" => {
                if let Some(image) = image_of(raw) {
                    out.image(image);
                }
                BlockKind::Closed
            }
            _ if tool_use.is_some() => {
                let failed = is_error.is_some_and(is_true);
                tool_result(&kind, &text_of(tool_use), content, failed, out);
                BlockKind::Closed
            }
            _ => {
                out.unrecognised(UnrecognisedReason::Frame, raw.get());
                BlockKind::Closed
            }
        };
        self.blocks.push(Block { index, kind });
    }

    fn delta(&mut self, index: u64, delta: DeltaOf<'_>, raw: &str, out: &mut Writer<'_>) {
        out.unknown_fields(&delta.unknown);
        match delta.kind.as_deref().unwrap_or("") {
            "text_delta" => out.text(delta.text.as_deref().unwrap_or("")),
            "thinking_delta" => {
                let text = delta.thinking.as_deref().unwrap_or("");
                out.reasoning(text, ReasoningOrigin::Native);
            }
            "input_json_delta" => {
                if let Some(BlockKind::Tool { step }) = self.block(index) {
                    out.arguments(*step, delta.partial_json.as_deref().unwrap_or(""));
                }
            }
            "citations_delta" => {
                if let Some(citation) = delta.citation {
                    cite(citation, out);
                }
            }
            "compaction_delta" => {
                if let Some(BlockKind::Compaction { summary }) = self.block(index) {
                    summary.push_str(&delta.content.and_then(string).unwrap_or_default());
                }
            }
            "signature_delta" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    fn block(&mut self, index: u64) -> Option<&mut BlockKind> {
        let block = self.blocks.iter_mut().find(|block| block.index == index)?;
        Some(&mut block.kind)
    }

    fn stop_block(&mut self, index: u64, out: &mut Writer<'_>) {
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

fn server_tool_kind(name: &str) -> ToolKind {
    match name {
        "web_search" => ToolKind::WebSearch,
        "web_fetch" => ToolKind::WebFetch,
        "code_execution" | "bash_code_execution" | "text_editor_code_execution" => {
            ToolKind::CodeInterpreter
        }
        _ => ToolKind::Builtin,
    }
}

/// A result that comes as a block: of a server tool in the same reply, or of a tool the client ran.
pub(super) fn tool_result(
    block: &str,
    call: &str,
    content: Option<&RawValue>,
    failed: bool,
    out: &mut Writer<'_>,
) {
    // A turn that was paused goes on in another stream: its result comes without its call.
    let step = out.step_of(call).unwrap_or_else(|| {
        let name = block.strip_suffix("_tool_result").unwrap_or(block);
        out.tool(ToolStart::provider(call, name, server_tool_kind(name)))
    });
    let failed = failed || content.is_some_and(is_error_result);
    if let Some(content) = content {
        result_output(step, content, out);
    }
    let outcome = if failed { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
    out.end_tool(step, outcome, None);
}

/// What a tool put out, as a text or in parts.
pub(super) fn result_output(step: StepId, content: &RawValue, out: &mut Writer<'_>) {
    match string(content) {
        Some(text) => out.whole_output(step, &text),
        None => result_parts(step, content, out),
    }
}

/// Text and pictures of a result; anything else as the JSON it is.
fn result_parts(step: StepId, content: &RawValue, out: &mut Writer<'_>) {
    let parts = elements(content);
    if parts.is_empty() {
        if content.get() != "[]" {
            out.output(step, content.get());
        }
        return;
    }
    for raw in parts {
        let part = BLOCK.read(raw.get());
        let kind = part.as_ref().and_then(|part| part.read[0]).and_then(string);
        match kind.as_deref() {
            Some("text") => {
                let text = part.and_then(|part| part.read[1]).and_then(string);
                out.output(step, &text.unwrap_or_default());
            }
            Some("image") if let Some(image) = image_of(raw) => out.output_image(step, image),
            _ => out.output(step, raw.get()),
        }
    }
}

fn is_error_result(content: &RawValue) -> bool {
    const RESULT: Shape<3> = Shape { read: ["type", "error_code", "return_code"], skip: &[] };
    RESULT.read(content.get()).is_some_and(|result| {
        let [kind, error_code, return_code] = result.read;
        let named = kind.and_then(string).is_some_and(|kind| kind.ends_with("_error"));
        named || error_code.is_some() || return_code.is_some_and(|code| code.get() != "0")
    })
}

pub(super) fn image_of(raw: &RawValue) -> Option<Image<'_>> {
    const IMAGE: Shape<3> = Shape { read: ["source", "data", "mimeType"], skip: &[] };
    const SOURCE: Shape<3> = Shape { read: ["media_type", "data", "url"], skip: &[] };
    let [source, data, mime] = IMAGE.read(raw.get())?.read;
    if let (Some(data), Some(mime)) = (data, mime) {
        return Some(Image::Inline { media_type: string(mime)?, base64: string(data)? });
    }
    let [media_type, data, url] = SOURCE.read(source?.get())?.read;
    match (media_type, data, url) {
        (Some(media_type), Some(data), _) => {
            Some(Image::Inline { media_type: string(media_type)?, base64: string(data)? })
        }
        (_, _, Some(url)) => Some(Image::Url { url: string(url)? }),
        _ => None,
    }
}

fn cite(raw: &RawValue, out: &mut Writer<'_>) {
    let Some(citation) = CITATION.read(raw.get()) else {
        return;
    };
    let [url, title, quote, document, source] = citation.read.map(|member| member.and_then(string));
    out.cite(Citation { url: url.or(source), title: title.or(document), quote });
}

pub(super) fn stop(reason: &str, details: Option<&RawValue>, out: &mut Writer<'_>) {
    match stop_of(reason) {
        Some(stop) => out.complete(stop),
        None => refuse(details, out),
    }
}

/// What a stop reason means; `None` for a refusal.
pub(super) fn stop_of(reason: &str) -> Option<Stop> {
    match reason {
        "end_turn" | "stop_sequence" => Some(Stop::End),
        "tool_use" => Some(Stop::Tools),
        "max_tokens" | "model_context_window_exceeded" => Some(Stop::Length),
        "pause_turn" => Some(Stop::Paused),
        "refusal" => None,
        _ => Some(Stop::Other),
    }
}

pub(super) fn refuse(details: Option<&RawValue>, out: &mut Writer<'_>) {
    const DETAILS: Shape<1> = Shape { read: ["explanation"], skip: &[] };
    let words = details
        .and_then(|raw| DETAILS.read(raw.get())?.read[0])
        .map(string_or_json)
        .unwrap_or(Cow::Borrowed("the model refused"));
    out.fail(FailureReason::Refused, &words);
}

pub(super) fn usage_of(raw: &RawValue) -> Usage {
    let Some(usage) = USAGE.read(raw.get()) else {
        return Usage::default();
    };
    let [input, output, cache_read, cache_write, details] = usage.read;
    const DETAILS: Shape<1> = Shape { read: ["thinking_tokens"], skip: &[] };
    Usage {
        input_tokens: input.and_then(number),
        output_tokens: output.and_then(number),
        reasoning_tokens: details.and_then(|raw| DETAILS.read(raw.get())?.read[0]).and_then(number),
        cache_read_tokens: cache_read.and_then(number),
        cache_write_tokens: cache_write.and_then(number),
        cost_usd: None,
    }
}
