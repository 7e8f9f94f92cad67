//! AG-UI 1.0: a run with steps (rounds), text messages, reasoning, tool calls and their results.
//!
//! Ids are the run's id with a suffix, because the client keeps messages of many runs in one list.
//! Lines end with line feeds only and there is no `[DONE]`. What has no event of its own is sent as
//! `CUSTOM`, under names that begin with `millpond.`.

use std::collections::BTreeSet;

use millpond_engine::event::{
    Citation, Ending, Event, Image, ImageOwner, MessageId, Millis, NoticeLevel, Outcome,
    ReasoningOrigin, StepId,
};
use serde_json::value::RawValue;

use super::ending::{ending_code, ending_text};
use super::run_usage::RunUsage;
use super::tool_calls::ToolCalls;
use super::urls::{image_link, is_web_url};
use super::{PayloadSink, Protocol, RESENDS_MAX, Reasoning, json};

use client_thread::ClientThreadCopy;
use event::{Custom, Usage};

mod client_thread;
mod event;
mod tools;

/// Options of an AG-UI stream.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The client's thread id.
    pub thread: String,
    /// The client's run id, if it sent one.
    pub run: Option<String>,
    pub reasoning: Reasoning,
    /// URL prefix before the digest of a stored image.
    pub image_prefix: String,
    /// The client's messages, as sent.
    pub history: Vec<Box<RawValue>>,
}

/// Encodes one run as AG-UI events.
#[derive(Clone, Debug, Default)]
pub struct AgUi {
    thread_id: String,
    client_run: Option<String>,
    reasoning: Reasoning,
    image_prefix: String,
    /// Prefix of all ids: the run's id.
    id_prefix: String,
    model: Option<String>,
    open_round: Option<String>,
    open_texts: BTreeSet<MessageId>,
    open_reasoning: BTreeSet<StepId>,
    calls: ToolCalls,
    unanswered: Vec<(StepId, String)>,
    client_thread: ClientThreadCopy,
    resend_count: u32,
    /// True while the client has not been sent the latest change.
    is_stale: bool,
    usage: RunUsage,
}

impl AgUi {
    /// Encoder for a client's thread.
    pub fn new(options: Options) -> AgUi {
        AgUi {
            thread_id: options.thread,
            client_run: options.run,
            reasoning: options.reasoning,
            image_prefix: options.image_prefix,
            client_thread: ClientThreadCopy::new(&options.history),
            ..AgUi::default()
        }
    }

    fn message_id(&self, message: MessageId) -> String {
        format!("{}-m{}", self.id_prefix, message.0)
    }

    fn step_id(&self, step: StepId) -> String {
        format!("{}-s{}", self.id_prefix, step.0)
    }

    fn write_custom(custom: Custom<'_>, out: PayloadSink<'_>) {
        json::write_payload(&event::Event::Custom { custom }, out);
    }

    fn start_round(&mut self, round: u32, out: PayloadSink<'_>) {
        self.end_round(out);
        let step_name = format!("round {round}");
        json::write_payload(&event::Event::StepStarted { step_name: &step_name }, out);
        self.open_round = Some(step_name);
    }

    fn end_round(&mut self, out: PayloadSink<'_>) {
        if let Some(step_name) = self.open_round.take() {
            json::write_payload(&event::Event::StepFinished { step_name: &step_name }, out);
        }
    }

    fn start_text(&mut self, message: MessageId, out: PayloadSink<'_>) {
        if !self.open_texts.insert(message) {
            return;
        }
        let message_id = self.message_id(message);
        let role = "assistant";
        json::write_payload(&event::Event::TextMessageStart { message_id: &message_id, role }, out);
        self.client_thread.push_empty_text(message, message_id);
    }

    fn append_text(&mut self, message: MessageId, delta: &str, out: PayloadSink<'_>) {
        if !self.open_texts.contains(&message) || delta.is_empty() {
            return;
        }
        if let Some((text, message_id)) = self.client_thread.find_text_mut_and_id(message) {
            text.push_str(delta);
            json::write_payload(&event::Event::TextMessageContent { message_id, delta }, out);
        }
    }

    fn rewrite_text(
        &mut self,
        message: MessageId,
        kept_bytes: usize,
        new_text: &str,
        out: PayloadSink<'_>,
    ) {
        if !self.open_texts.contains(&message) {
            return;
        }
        let Some((text, _)) = self.client_thread.find_text_mut_and_id(message) else { return };
        if kept_bytes >= text.len() {
            return self.append_text(message, new_text, out);
        }
        text.truncate(text.floor_char_boundary(kept_bytes));
        text.push_str(new_text);
        self.resend_thread_or_mark_stale(out);
    }

    /// Sends a snapshot of the whole conversation, unless that was done too often.
    fn resend_thread_or_mark_stale(&mut self, out: PayloadSink<'_>) {
        self.is_stale = self.resend_count >= RESENDS_MAX;
        if !self.is_stale {
            self.resend_count += 1;
            json::write_payload(&self.client_thread.build_messages_snapshot(), out);
        }
    }

    fn end_text_if_open(&mut self, message: MessageId, out: PayloadSink<'_>) {
        if self.open_texts.remove(&message) {
            let message_id = self.message_id(message);
            json::write_payload(&event::Event::TextMessageEnd { message_id: &message_id }, out);
        }
    }

    fn start_reasoning_if_shown(&mut self, step: StepId, out: PayloadSink<'_>) {
        if self.reasoning == Reasoning::Show && self.open_reasoning.insert(step) {
            let message_id = &*self.step_id(step);
            json::write_payload(&event::Event::ReasoningStart { message_id }, out);
            let role = "reasoning";
            json::write_payload(&event::Event::ReasoningMessageStart { message_id, role }, out);
        }
    }

    fn append_reasoning_if_shown(&mut self, step: StepId, delta: &str, out: PayloadSink<'_>) {
        self.start_reasoning_if_shown(step, out);
        if self.reasoning == Reasoning::Show && !delta.is_empty() {
            let message_id = &*self.step_id(step);
            json::write_payload(&event::Event::ReasoningMessageContent { message_id, delta }, out);
        }
    }

    fn end_reasoning(&mut self, step: StepId, out: PayloadSink<'_>) {
        if self.open_reasoning.remove(&step) {
            let message_id = &*self.step_id(step);
            json::write_payload(&event::Event::ReasoningMessageEnd { message_id }, out);
            json::write_payload(&event::Event::ReasoningEnd { message_id }, out);
        }
    }

    fn write_cited_source(
        &self,
        message: MessageId,
        citation: &Citation<'_>,
        out: PayloadSink<'_>,
    ) {
        let custom = Custom::Source {
            message_id: &self.message_id(message),
            url: citation.url.as_deref().filter(|url| is_web_url(url)),
            title: citation.title.as_deref(),
            quote: citation.quote.as_deref(),
        };
        AgUi::write_custom(custom, out);
    }

    fn write_image_if_linkable(&self, owner: ImageOwner, image: &Image<'_>, out: PayloadSink<'_>) {
        let id = match owner {
            ImageOwner::Message(message) => self.message_id(message),
            ImageOwner::Step(step) => {
                self.calls.call_id(step).map_or_else(|| self.step_id(step), str::to_owned)
            }
        };
        if let Some(link) = image_link(image, &self.image_prefix) {
            let (url, media_type) = (&*link.url, link.media_type);
            AgUi::write_custom(Custom::Image { id: &id, url, media_type }, out);
        }
    }

    /// Closes withdrawn parts, names them in a `CUSTOM` event, and resends the conversation without
    /// them.
    fn withdraw_parts(&mut self, messages: &[MessageId], steps: &[StepId], out: PayloadSink<'_>) {
        for &message in messages {
            self.end_text_if_open(message, out);
        }
        for &step in steps {
            self.end_reasoning(step, out);
            self.end_call_as_withdrawn(step, out);
        }
        let mut ids = self.client_thread.remove_withdrawn_and_list_ids(messages, steps);
        let reasoning_steps = steps.iter().filter(|&&step| self.calls.call_id(step).is_none());
        ids.extend(reasoning_steps.map(|&step| self.step_id(step)));
        AgUi::write_custom(Custom::Withdrawn { ids: &ids }, out);
        self.resend_thread_or_mark_stale(out);
    }
}

impl Protocol for AgUi {
    fn write_run_start(&mut self, run: &str, _at: Option<Millis>, out: PayloadSink<'_>) {
        run.clone_into(&mut self.id_prefix);
        let event = event::Event::RunStarted {
            thread_id: &self.thread_id,
            run_id: self.client_run.as_deref().unwrap_or(run),
            protocol_version: "1.0",
        };
        json::write_payload(&event, out);
    }

    #[allow(clippy::too_many_lines, reason = "one arm per event")]
    fn apply_event(&mut self, event: &Event<'_>, out: PayloadSink<'_>) {
        self.usage.track_event(event);
        match event {
            Event::RoundStarted { round, model, .. } => {
                if let Some(model) = model {
                    self.model = Some(model.clone().into_owned());
                }
                self.start_round(*round, out);
            }
            Event::RoundEnded { .. } => self.end_round(out),
            Event::MessageStarted { message, .. } => self.start_text(*message, out),
            Event::TextAppended { message, text } => self.append_text(*message, text, out),
            Event::TextRewritten { message, kept_bytes, text } => {
                self.rewrite_text(*message, *kept_bytes, text, out);
            }
            Event::MessageEnded { message, .. } => self.end_text_if_open(*message, out),
            Event::SourceCited { message, citation } => {
                self.write_cited_source(*message, citation, out);
            }
            Event::ImageReceived { owner, image } => {
                self.write_image_if_linkable(*owner, image, out);
            }
            Event::ReasoningStarted { step, origin, .. } => {
                if *origin != ReasoningOrigin::Redacted {
                    self.start_reasoning_if_shown(*step, out);
                }
            }
            Event::ReasoningAppended { step, text } => {
                self.append_reasoning_if_shown(*step, text, out);
            }
            Event::ReasoningEnded { step, .. } => self.end_reasoning(*step, out),
            Event::Withdrawn { messages, steps } => self.withdraw_parts(messages, steps, out),
            Event::NoticeGiven { level, text } => {
                AgUi::write_custom(Custom::Notice { level: *level, text }, out);
            }
            Event::RetryScheduled { reason, .. } => {
                AgUi::write_custom(
                    Custom::Notice { level: NoticeLevel::Warning, text: reason },
                    out,
                );
            }
            Event::ToolStarted { .. }
            | Event::ArgumentsAppended { .. }
            | Event::ArgumentsReplaced { .. }
            | Event::ToolReady { .. }
            | Event::ToolProgressed { .. }
            | Event::OutputAppended { .. }
            | Event::OutputReplaced { .. }
            | Event::ToolEnded { .. }
            | Event::AskOpened { .. }
            | Event::AskResolved { .. } => self.apply_tool_or_ask_event(event, out),
            // Named one by one, as in the other protocols: a new event must be thought about in each.
            Event::RunStarted { .. }
            | Event::RunEnded { .. }
            | Event::PromptReceived { .. }
            | Event::StepSealed { .. }
            | Event::SessionNamed { .. }
            | Event::PromptJoined { .. }
            | Event::MarkupHidden { .. }
            | Event::RequestStarted { .. }
            | Event::RequestEnded { .. }
            | Event::CheckpointSaved { .. }
            | Event::HistoryCompacted { .. }
            | Event::DraftReceived { .. }
            | Event::DraftCompleted { .. }
            | Event::UsageReported { .. }
            | Event::FinalDeclared { .. }
            | Event::QuirkActed { .. }
            | Event::Unrecognised { .. } => {}
        }
    }

    fn write_run_end(&mut self, ending: &Ending<'_>, out: PayloadSink<'_>) {
        for message in self.open_texts.clone() {
            self.end_text_if_open(message, out);
        }
        for step in std::mem::take(&mut self.open_reasoning) {
            self.open_reasoning.insert(step);
            self.end_reasoning(step, out);
        }
        let pending = self.end_calls_and_take_client_calls(ending, out);
        self.end_round(out);
        if self.is_stale {
            json::write_payload(&self.client_thread.build_messages_snapshot(), out);
        }
        let usage = self.usage.total().map(|usage| [Usage::new(usage, self.model.as_deref())]);
        let outcome = match ending.outcome {
            Outcome::Completed => event::Outcome::Success { pending_tool_call_ids: &pending },
            Outcome::Cancelled => event::Outcome::Cancelled,
            Outcome::Failed | Outcome::Truncated | Outcome::Stalled | Outcome::Interrupted => {
                let (message, code) = (&*ending_text(ending), ending_code(ending));
                return json::write_payload(&event::Event::RunError { message, code, usage }, out);
            }
        };
        let reply = ending.message.map(|message| self.message_id(message));
        let event = event::Event::RunFinished {
            thread_id: &self.thread_id,
            run_id: self.client_run.as_deref().unwrap_or(&self.id_prefix),
            result: event::RunResult {
                message_id: reply.as_deref(),
                stop: ending.stop,
                incomplete: ending.incomplete,
            },
            outcome,
            usage,
        };
        json::write_payload(&event, out);
    }
}
