//! The Interactions API: an interaction is a list of steps, each with a start, deltas and a stop.
//!
//! A whole interaction lists its steps (or `outputs`, as it used to) in one object.

use crate::event::{
    Citation, FailureReason, Image, ReasoningOrigin, StepId, Stop, ToolKind, ToolOutcome,
    UnrecognisedReason, Usage,
};
use crate::ingest::dialect::Unreadable;
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Shape, Text, elements, is_true, number, object, string, string_or_json,
};
use crate::run::{ToolStart, Writer};

use super::fail_with;
use super::generate::sum;

#[derive(Clone, Debug, Default)]
pub(crate) struct Interactions {
    open: Vec<OpenStep>,
    /// Steps have come one by one; a list of them says nothing new.
    streamed: bool,
}

#[derive(Clone, Debug)]
struct OpenStep {
    index: u64,
    kind: StepKind,
}

#[derive(Clone, Copy, Debug)]
enum StepKind {
    Thought { said: bool },
    Output,
    Call { step: StepId },
    Result { step: StepId, outcome: ToolOutcome },
    /// Nothing that it says counts.
    Closed,
}

object! { Line {
    event: Text<'a> = "event_type",
    index: u64 = "index",
    step: &'a RawValue = "step",
    content: &'a RawValue = "content",
    delta: &'a RawValue = "delta",
    interaction: &'a RawValue = "interaction",
    status: Text<'a> = "status",
    error: &'a RawValue = "error",
    object: Text<'a> = "object",
    ; skip "event_id" | "interaction_id" | "metadata" | "id" | "model" | "agent" | "steps"
        | "outputs" | "usage" | "created" | "updated" | "service_tier" | "role"
        | "previous_interaction_id" | "environment_id"
} }

const INTERACTION: Shape<8> = Shape {
    read: ["id", "model", "agent", "status", "usage", "steps", "outputs", "error"],
    skip: &[],
};

/// A step, a delta of one, and a piece of content: what is in them has the same names.
const ITEM: Shape<16> = Shape {
    read: [
        "type",
        "text",
        "content",
        "summary",
        "annotations",
        "id",
        "call_id",
        "name",
        "server_name",
        "arguments",
        "partial_arguments",
        "result",
        "is_error",
        "data",
        "mime_type",
        "uri",
    ],
    skip: &["signature", "resolution", "status"],
};

impl Interactions {
    pub(super) fn frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let line: Line<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.unknown_fields(&line.unknown);
        let index = line.index.unwrap_or(0);
        match line.event.as_deref().unwrap_or("") {
            "step.delta" | "content.delta" => {
                let delta = line.delta.ok_or(Unreadable)?;
                self.delta(index, delta, out)?;
            }
            "step.start" | "content.start" => {
                let step = line.step.or(line.content).ok_or(Unreadable)?;
                self.streamed = true;
                self.start_step(index, step, out)?;
            }
            "step.stop" | "content.stop" => self.stop_step(index, out),
            "interaction.created" | "interaction.start" => {
                self.begin(line.interaction.ok_or(Unreadable)?, out)?;
            }
            "interaction.completed" | "interaction.complete" => {
                self.complete(line.interaction.ok_or(Unreadable)?, out)?;
            }
            "interaction.status_update" => {
                if let Some(status @ ("failed" | "cancelled")) = line.status.as_deref() {
                    end(status, None, out);
                }
            }
            "error" => {
                if let Some(error) = line.error {
                    fail_with(error, out);
                }
            }
            "" if line.object.as_deref() == Some("interaction") => {
                let whole: &RawValue = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
                self.begin(whole, out)?;
                self.complete(whole, out)?;
            }
            "" if let Some(error) = line.error => fail_with(error, out),
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }

    fn begin(&mut self, raw: &RawValue, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let [id, model, agent, ..] = INTERACTION.read(raw.get()).ok_or(Unreadable)?.read;
        *self = Interactions::default();
        let [id, model] = [id, model.or(agent)].map(|member| member.and_then(string));
        let filled = |text: &&str| !text.is_empty();
        out.round(model.as_deref().filter(filled), id.as_deref().filter(filled));
        Ok(())
    }

    fn complete(&mut self, raw: &RawValue, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let [_, _, _, status, usage, steps, outputs, error] =
            INTERACTION.read(raw.get()).ok_or(Unreadable)?.read;
        if !self.streamed {
            for step in steps.or(outputs).map(elements).unwrap_or_default() {
                const WHOLE: u64 = u64::MAX;
                self.start_step(WHOLE, step, out)?;
                self.stop_step(WHOLE, out);
            }
        }
        self.open.clear();
        if let Some(usage) = usage {
            out.round_usage(usage_of(usage));
        }
        end(&status.and_then(string).unwrap_or_default(), error, out);
        Ok(())
    }

    fn start_step(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let item = ITEM.read(raw.get()).ok_or(Unreadable)?;
        out.unknown_fields(&item.unknown);
        let [kind, _, content, summary, _, id, call, name, server, arguments, ..] = item.read;
        let kind = kind.and_then(string).unwrap_or_default();
        self.open.retain(|step| step.index != index);
        let kind = match kind.as_ref() {
            "thought" => {
                out.end_reasoning();
                let said = summary.is_some_and(|summary| think(summary, out));
                StepKind::Thought { said }
            }
            "model_output" => {
                for piece in content.map(elements).unwrap_or_default() {
                    content_piece(piece, out)?;
                }
                StepKind::Output
            }
            "text" | "image" => {
                content_piece(raw, out)?;
                StepKind::Output
            }
            "user_input" => {
                prompt(content, out);
                StepKind::Closed
            }
            _ if kind.ends_with("_call") => {
                let [id, name, server] = [id, name, server].map(|member| member.and_then(string));
                let id = id.unwrap_or_default();
                let step = out.tool(tool_start(&kind, &id, name.as_deref(), server.as_deref()));
                if let Some(arguments) = arguments.filter(|arguments| arguments.get() != "{}") {
                    out.whole_arguments(step, arguments.get());
                }
                StepKind::Call { step }
            }
            _ if kind.ends_with("_result") => {
                let step = call.and_then(string).and_then(|call| out.step_of(&call));
                let kind = step.map(|step| StepKind::Result { step, outcome: ToolOutcome::Succeeded });
                if kind.is_none() {
                    out.unrecognised(UnrecognisedReason::Late, raw.get());
                }
                kind.unwrap_or(StepKind::Closed)
            }
            _ => {
                out.unrecognised(UnrecognisedReason::Frame, raw.get());
                StepKind::Closed
            }
        };
        self.open.push(OpenStep { index, kind });
        if let StepKind::Result { .. } = kind {
            self.result(index, item.read[11], item.read[12], out);
        }
        Ok(())
    }

    fn delta(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let item = ITEM.read(raw.get()).ok_or(Unreadable)?;
        out.unknown_fields(&item.unknown);
        let [kind, _, content, _, annotations, _, _, _, _, arguments, partial, result, is_error, ..] =
            item.read;
        let kind = kind.and_then(string).unwrap_or_default();
        match kind.as_ref() {
            "text" | "image" => content_piece(raw, out)?,
            "thought_summary" => {
                let said = content.is_some_and(|content| think_piece(content, out));
                if let Some(StepKind::Thought { said: before }) = self.step(index) {
                    *before |= said;
                }
            }
            "thought_signature" => {}
            "text_annotation_delta" | "text_annotation" => cite(annotations, out),
            "arguments_delta" => {
                if let (Some(&mut StepKind::Call { step }), Some(arguments)) =
                    (self.step(index), arguments.or(partial))
                {
                    out.arguments(step, &string_or_json(arguments));
                }
            }
            _ if kind.ends_with("_call") => {
                if let (Some(&mut StepKind::Call { step }), Some(arguments)) =
                    (self.step(index), arguments)
                {
                    out.whole_arguments(step, arguments.get());
                }
            }
            _ if kind.ends_with("_result") => self.result(index, result, is_error, out),
            _ => out.unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
        Ok(())
    }

    fn result(
        &mut self,
        index: u64,
        result: Option<&RawValue>,
        is_error: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let Some(StepKind::Result { step, outcome }) = self.step(index) else { return };
        if is_error.is_some_and(is_true) {
            *outcome = ToolOutcome::Failed;
        }
        if let Some(result) = result {
            out.output(*step, &string_or_json(result));
        }
    }

    fn step(&mut self, index: u64) -> Option<&mut StepKind> {
        let step = self.open.iter_mut().find(|step| step.index == index)?;
        Some(&mut step.kind)
    }

    fn stop_step(&mut self, index: u64, out: &mut Writer<'_>) {
        let Some(at) = self.open.iter().position(|step| step.index == index) else { return };
        match self.open.remove(at).kind {
            StepKind::Thought { said: true } => out.end_reasoning(),
            StepKind::Thought { said: false } => out.redacted_reasoning(),
            StepKind::Call { step } => out.ready(step),
            StepKind::Result { step, outcome } => out.end_tool(step, outcome, None),
            StepKind::Output | StepKind::Closed => {}
        }
    }
}

fn tool_start<'a>(
    kind: &'a str,
    id: &'a str,
    name: Option<&'a str>,
    server: Option<&'a str>,
) -> ToolStart<'a> {
    let own = kind.strip_suffix("_call").unwrap_or(kind);
    let name = name.unwrap_or(own);
    let kind = match own {
        "function" => return ToolStart::function(id, name),
        "code_execution" => ToolKind::CodeInterpreter,
        "google_search" => ToolKind::WebSearch,
        "url_context" => ToolKind::WebFetch,
        "file_search" => ToolKind::FileSearch,
        "mcp_server_tool" => ToolKind::Mcp,
        _ => ToolKind::Builtin,
    };
    ToolStart { server, ..ToolStart::provider(id, name, kind) }
}

/// Text or a picture of the reply.
fn content_piece(raw: &RawValue, out: &mut Writer<'_>) -> Result<(), Unreadable> {
    let [kind, text, _, _, annotations, .., data, mime_type, uri] =
        ITEM.read(raw.get()).ok_or(Unreadable)?.read;
    let image = match [data, mime_type, uri].map(|member| member.and_then(string)) {
        [Some(base64), Some(media_type), _] => Some(Image::Inline { media_type, base64 }),
        [_, _, Some(url)] => Some(Image::Url { url }),
        _ => None,
    };
    match (kind.and_then(string).as_deref(), image) {
        (Some("text"), _) => {
            out.text(&text.and_then(string).unwrap_or_default());
            cite(annotations, out);
        }
        (Some("image"), Some(image)) => out.image(image),
        _ => out.unrecognised(UnrecognisedReason::Frame, raw.get()),
    }
    Ok(())
}

/// Whether there was anything to say.
fn think(summary: &RawValue, out: &mut Writer<'_>) -> bool {
    elements(summary).into_iter().fold(false, |said, piece| think_piece(piece, out) || said)
}

fn think_piece(raw: &RawValue, out: &mut Writer<'_>) -> bool {
    let text = ITEM.read(raw.get()).and_then(|item| item.read[1]).and_then(string);
    let text = text.unwrap_or_default();
    out.reasoning(&text, ReasoningOrigin::Summary);
    !text.is_empty()
}

fn prompt(content: Option<&RawValue>, out: &mut Writer<'_>) {
    for piece in content.map(elements).unwrap_or_default() {
        if let Some(text) = ITEM.read(piece.get()).and_then(|item| item.read[1]).and_then(string) {
            out.prompt(&text);
        }
    }
}

fn cite(annotations: Option<&RawValue>, out: &mut Writer<'_>) {
    const ANNOTATION: Shape<5> =
        Shape { read: ["url", "title", "name", "document_uri", "file_name"], skip: &[] };
    for raw in annotations.map(elements).unwrap_or_default() {
        if let Some(annotation) = ANNOTATION.read(raw.get()) {
            let [url, title, name, document, file] =
                annotation.read.map(|member| member.and_then(string));
            let title = title.or(name).or(file);
            out.cite(Citation { url: url.or(document), title, quote: None });
        }
    }
}

fn end(status: &str, error: Option<&RawValue>, out: &mut Writer<'_>) {
    match status {
        "completed" => out.complete(Stop::End),
        "requires_action" => out.complete(Stop::Tools),
        "incomplete" => out.complete(Stop::Length),
        "budget_exceeded" => out.fail(FailureReason::Limit, "the budget was spent"),
        "cancelled" => out.cancelled("the interaction was cancelled"),
        "failed" => match error {
            Some(error) => fail_with(error, out),
            None => out.fail(FailureReason::Error, "the interaction failed"),
        },
        "in_progress" => {}
        _ => out.complete(Stop::Other),
    }
}

fn usage_of(raw: &RawValue) -> Usage {
    const USAGE: Shape<5> = Shape {
        read: [
            "total_input_tokens",
            "total_tool_use_tokens",
            "total_output_tokens",
            "total_thought_tokens",
            "total_cached_tokens",
        ],
        skip: &[],
    };
    let Some(usage) = USAGE.read(raw.get()) else { return Usage::default() };
    let [input, tools, output, thoughts, cached] =
        usage.read.map(|member| member.and_then(number::<u64>));
    Usage {
        input_tokens: sum(input, tools),
        output_tokens: sum(output, thoughts),
        reasoning_tokens: thoughts,
        cache_read_tokens: cached,
        ..Usage::default()
    }
}
