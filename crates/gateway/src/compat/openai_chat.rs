//! Chat completions as a server: `chat.completion.chunk` streams, and whole `chat.completion`
//! bodies ([`body`]).
//!
//! The run is the model. Tools that were run on the way are not shown; calls that a completed run
//! left without a result are, as `tool_calls`. Content can only grow in this protocol: [`Content`]
//! selects what is sent of a run with several messages.

use millpond_engine::event::{Ending, Event, MessageId, Millis, Outcome, StepId, StopReason};
use millpond_engine::event_family;
use millpond_engine::view::message_order::{MessageOrder, OrderedText};

use super::ending::is_refused;
use super::run_usage::RunUsage;
use super::tool_calls::UnansweredCalls;
use super::{DONE, PayloadSink, Protocol, Reasoning, json};

use chunk::{Call, Choice, Chunk, CorrectedContent, Delta, Failure, Usage, UsageField};
use message_texts::MessageTexts;

pub mod body;

mod chunk;
mod message_texts;

/// Which messages of a run are the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// All of them, as they are written, separated by blank lines.
    #[default]
    All,
    /// Only the final one, sent when the run has ended.
    Final,
}

/// Whether a chunk with the run's usage is sent (`stream_options.include_usage`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeUsage {
    Yes,
    #[default]
    No,
}

/// Options of a chat completion.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The model as the client named it.
    pub model: String,
    /// Seconds since the Unix epoch, if the log has no times.
    pub created: u64,
    pub content: Content,
    pub reasoning: Reasoning,
    pub usage: IncludeUsage,
}

/// Encodes one run as chat completion chunks.
#[derive(Clone, Debug, Default)]
pub struct OpenAiChat {
    options: Options,
    id: String,
    messages: MessageTexts,
    order: MessageOrder,
    /// The message whose text was sent last.
    last_message: Option<MessageId>,
    last_reasoning: Option<StepId>,
    unanswered: UnansweredCalls,
    usage: RunUsage,
}

impl OpenAiChat {
    /// Encoder with these options.
    pub fn new(options: Options) -> OpenAiChat {
        OpenAiChat { options, ..OpenAiChat::default() }
    }

    fn write_chunk(
        &self,
        delta: Delta<'_>,
        finish_reason: Option<&'static str>,
        out: PayloadSink<'_>,
    ) {
        let choice = Choice { index: 0, delta, finish_reason, logprobs: () };
        json::write_payload(&self.build_chunk(&[choice], None, None), out);
    }

    fn build_chunk<'a>(
        &'a self,
        choices: &'a [Choice<'a>],
        usage: Option<Usage>,
        millpond: Option<CorrectedContent<'a>>,
    ) -> Chunk<'a> {
        let usage = match (self.options.usage, usage) {
            (IncludeUsage::No, _) => UsageField::Omitted,
            (IncludeUsage::Yes, None) => UsageField::Null,
            (IncludeUsage::Yes, Some(usage)) => UsageField::Known(usage),
        };
        Chunk {
            id: &self.id,
            object: "chat.completion.chunk",
            created: self.options.created,
            model: &self.options.model,
            choices,
            usage,
            millpond,
        }
    }

    /// Writes text whose turn has come: the protocol has one text, so messages follow one another.
    fn write_text_in_order(&mut self, event: &Event<'_>, out: PayloadSink<'_>) {
        let mut order = std::mem::take(&mut self.order);
        order.apply(event, &mut |ordered| {
            let (OrderedText::Appended { message, text }
            | OrderedText::Rewritten { message, text, .. }) = ordered;
            if !text.is_empty() {
                self.write_text_delta_if_allowed(message, text, out);
            }
        });
        self.order = order;
    }

    fn write_text_delta_if_allowed(
        &mut self,
        message: MessageId,
        delta: &str,
        out: PayloadSink<'_>,
    ) {
        if self.options.content == Content::All && self.messages.can_append(message) {
            let is_new = self.last_message != Some(message);
            if is_new && self.last_message.is_some() {
                self.write_chunk(Delta::from_content("\n\n"), None, out);
            }
            self.last_message = Some(message);
            self.write_chunk(Delta::from_content(delta), None, out);
        }
    }

    fn write_reasoning_if_shown(&mut self, step: StepId, delta: &str, out: PayloadSink<'_>) {
        if self.options.reasoning == Reasoning::Hide {
            return;
        }
        if self.last_reasoning.is_some_and(|last_step| last_step != step) {
            self.write_chunk(Delta::from_reasoning("\n\n"), None, out);
        }
        self.last_reasoning = Some(step);
        self.write_chunk(Delta::from_reasoning(delta), None, out);
    }

    /// Takes the calls that are left to the client.
    fn take_client_calls(&mut self, ending: &Ending<'_>) -> Vec<Call> {
        let calls = self.unanswered.take_if_stopped_for_tools(ending).into_iter();
        calls.map(|(_, call)| Call::new(call.id, call.name, call.arguments)).collect()
    }

    fn write_failure_and_done(ending: &Ending<'_>, out: PayloadSink<'_>) {
        json::write_payload(&Failure::from_ending(ending), out);
        out(DONE);
    }

    fn write_usage_if_requested(&self, out: PayloadSink<'_>) {
        if self.options.usage == IncludeUsage::Yes {
            let usage = Usage::new(self.usage.total().unwrap_or_default());
            json::write_payload(&self.build_chunk(&[], Some(usage), None), out);
        }
    }
}

impl Protocol for OpenAiChat {
    fn write_run_start(&mut self, run: &str, at: Option<Millis>, out: PayloadSink<'_>) {
        self.id = format!("chatcmpl-{run}");
        self.options.created = at.map_or(self.options.created, |at| at / 1000);
        self.write_chunk(Delta::new_opening(), None, out);
    }

    fn apply_event(&mut self, event: &Event<'_>, out: PayloadSink<'_>) {
        self.usage.track_event(event);
        self.messages.track_event(event);
        self.unanswered.track_event(event);
        match event {
            Event::MessageStarted { .. }
            | Event::TextAppended { .. }
            | Event::TextRewritten { .. }
            | Event::MessageEnded { .. }
            | Event::Withdrawn { .. }
            | Event::RunEnded { .. } => self.write_text_in_order(event, out),
            Event::ReasoningAppended { step, text } => {
                self.write_reasoning_if_shown(*step, text, out);
            }
            // Without a form in this protocol.
            Event::SourceCited { .. }
            | Event::ImageReceived { .. }
            | Event::ReasoningStarted { .. }
            | Event::ReasoningEnded { .. }
            | Event::FinalDeclared { .. }
            | Event::RunStarted { .. }
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Tool)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    fn write_run_end(&mut self, ending: &Ending<'_>, out: PayloadSink<'_>) {
        // Text that waited for an earlier message of the run.
        self.write_text_in_order(&Event::RunEnded { ending: ending.clone() }, out);
        let is_refused = is_refused(ending);
        if ending.outcome != Outcome::Completed && !is_refused {
            return OpenAiChat::write_failure_and_done(ending, out);
        }
        let content = self.messages.answer_content(self.options.content, ending);
        if self.options.content == Content::Final && !content.is_empty() {
            self.write_chunk(Delta::from_content(&content), None, out);
        }
        if let Some(detail) = ending.detail.as_deref().filter(|_| is_refused) {
            self.write_chunk(Delta::from_refusal(detail), None, out);
        }
        let pending = self.take_client_calls(ending);
        if !pending.is_empty() {
            self.write_chunk(Delta::from_calls(&pending), None, out);
        }
        let finish_reason = Some(finish_reason(ending, &pending));
        let is_outdated =
            self.options.content == Content::All && self.messages.has_changed_sent_text();
        let correction = is_outdated.then_some(CorrectedContent { content: &content });
        let choice = Choice { index: 0, delta: Delta::default(), finish_reason, logprobs: () };
        json::write_payload(&self.build_chunk(&[choice], None, correction), out);
        self.write_usage_if_requested(out);
        out(DONE);
    }
}

/// Maps the ending to `finish_reason`; only calls that the client has to answer are `tool_calls`.
fn finish_reason(ending: &Ending<'_>, client_calls: &[Call]) -> &'static str {
    match ending.stop {
        _ if is_refused(ending) => "content_filter",
        Some(StopReason::Length) => "length",
        Some(StopReason::Tools) if !client_calls.is_empty() => "tool_calls",
        None
        | Some(StopReason::End | StopReason::Tools | StopReason::Paused | StopReason::Other) => {
            "stop"
        }
    }
}
