//! The AI SDK's UI message stream: one assistant message per run, one step per round, one part per
//! message, reasoning step or tool.
//!
//! Written for version 6; version 7, if requested, only adds resetting a step. Every tool is marked
//! as executed by the provider, because the browser must not run it. `[DONE]` is always last.

use millpond_engine::event::{
    Citation, Ending, Event, Image, MessageId, Millis, NoticeLevel, Outcome, ReasoningOrigin,
    StepId, StopReason,
};

use super::ending::ending_text;
use super::run_usage::RunUsage;
use super::tool_calls::ToolCalls;
use super::urls::{image_link, is_web_url};
use super::{DONE, PayloadSink, Protocol, RESENDS_MAX, Reasoning, json};

use part::{Metadata, Notice, Part, ProviderMetadata, RunMetadata};
use step_journal::{PartOwner, StepJournal};
use text::TextParts;
use tools::OpenAsk;

mod part;
mod step_journal;
mod text;
mod tools;

/// Version of the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// Also understood by version 7.
    #[default]
    V6,
    V7,
}

/// Options of an AI SDK stream.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub version: Version,
    pub reasoning: Reasoning,
    /// URL prefix before the digest of a stored image.
    pub image_prefix: String,
}

/// Encodes one run as a UI message stream.
#[derive(Clone, Debug, Default)]
pub struct AiSdk {
    options: Options,
    journal: StepJournal,
    texts: TextParts,
    open_reasoning: Vec<StepId>,
    calls: ToolCalls,
    open_asks: Vec<OpenAsk>,
    /// Calls that ended without a result.
    unanswered: Vec<(StepId, String)>,
    withdrawn_ids: Vec<String>,
    resend_count: u32,
    source_count: u32,
    is_in_step: bool,
    usage: RunUsage,
}

impl AiSdk {
    /// Encoder with these options.
    pub fn new(options: Options) -> AiSdk {
        AiSdk { options, ..AiSdk::default() }
    }

    /// Writes a part, and records it if it may have to be resent.
    fn write_resendable_part(
        &mut self,
        owner: Option<PartOwner>,
        part: &Part<'_>,
        out: PayloadSink<'_>,
    ) {
        let Ok(text) = serde_json::to_string(part) else { return };
        out(&text);
        if self.options.version == Version::V7 {
            self.journal.record_part(owner, text);
        }
    }

    /// Writes the first part of an owner.
    fn write_part_and_mark_owner_begun(
        &mut self,
        owner: PartOwner,
        part: &Part<'_>,
        out: PayloadSink<'_>,
    ) {
        if self.options.version == Version::V7 {
            self.journal.record_begun_owner(owner);
        }
        self.write_resendable_part(Some(owner), part, out);
    }

    fn start_round(&mut self, out: PayloadSink<'_>) {
        self.end_round(out);
        self.end_all_arguments(out);
        self.is_in_step = true;
        json::write_payload(&Part::StartStep, out);
        self.journal = StepJournal::default();
    }

    fn end_round(&mut self, out: PayloadSink<'_>) {
        self.end_text_parts(out);
        for step in std::mem::take(&mut self.open_reasoning) {
            self.write_reasoning_end(step, out);
        }
        if std::mem::take(&mut self.is_in_step) {
            json::write_payload(&Part::FinishStep, out);
        }
    }

    fn start_reasoning_if_shown(&mut self, step: StepId, out: PayloadSink<'_>) {
        if self.options.reasoning == Reasoning::Show && !self.open_reasoning.contains(&step) {
            self.open_reasoning.push(step);
            let id = step_id(step);
            let part =
                Part::ReasoningStart { id: &id, provider_metadata: ProviderMetadata::new(&id) };
            self.write_part_and_mark_owner_begun(PartOwner::Step(step), &part, out);
        }
    }

    fn end_reasoning_if_open(&mut self, step: StepId, out: PayloadSink<'_>) {
        if let Some(at) = self.open_reasoning.iter().position(|open| *open == step) {
            self.open_reasoning.remove(at);
            self.write_reasoning_end(step, out);
        }
    }

    fn append_reasoning_if_shown(&mut self, step: StepId, delta: &str, out: PayloadSink<'_>) {
        self.start_reasoning_if_shown(step, out);
        if self.options.reasoning == Reasoning::Show {
            let id = step_id(step);
            self.write_resendable_part(
                Some(PartOwner::Step(step)),
                &Part::ReasoningDelta { id: &id, delta },
                out,
            );
        }
    }

    fn write_reasoning_end(&mut self, step: StepId, out: PayloadSink<'_>) {
        self.write_resendable_part(
            Some(PartOwner::Step(step)),
            &Part::ReasoningEnd { id: &step_id(step) },
            out,
        );
    }

    fn write_cited_source(
        &mut self,
        message: MessageId,
        citation: &Citation<'_>,
        out: PayloadSink<'_>,
    ) {
        let source_id = format!("c{}", self.source_count);
        self.source_count += 1;
        let title = citation.title.as_deref();
        let part = match citation.url.as_deref() {
            Some(url) if is_web_url(url) => Part::SourceUrl { source_id: &source_id, url, title },
            url => {
                let Some(title) = title.or(url).or(citation.quote.as_deref()) else { return };
                let media_type = "application/octet-stream";
                Part::SourceDocument { source_id: &source_id, media_type, title }
            }
        };
        self.write_resendable_part(Some(PartOwner::Message(message)), &part, out);
    }

    fn write_image_if_linkable(
        &mut self,
        owner: millpond_engine::event::ImageOwner,
        image: &Image<'_>,
        out: PayloadSink<'_>,
    ) {
        let prefix = std::mem::take(&mut self.options.image_prefix);
        if let Some(link) = image_link(image, &prefix) {
            let part = Part::File { url: &link.url, media_type: link.media_type };
            self.write_resendable_part(Some(owner.into()), &part, out);
        }
        self.options.image_prefix = prefix;
    }

    /// Withdraws parts by resetting the step if the client can; else lists their ids in the
    /// message's metadata.
    fn withdraw_parts(&mut self, messages: &[MessageId], steps: &[StepId], out: PayloadSink<'_>) {
        let owners = messages.iter().map(|&message| PartOwner::Message(message));
        let owners: Vec<_> =
            owners.chain(steps.iter().map(|&step| PartOwner::Step(step))).collect();
        self.close_withdrawn_parts(messages, steps, out);
        let (resendable, mut withdrawn): (Vec<_>, Vec<_>) =
            owners.into_iter().partition(|owner| self.journal.has_begun_owner(*owner));
        let can_resend = self.count_resend_if_allowed();
        if !resendable.is_empty() && can_resend {
            self.journal.reset_step_and_resend_without(&resendable, out);
        } else {
            withdrawn.extend(resendable);
        }
        for owner in withdrawn {
            let id = match owner {
                PartOwner::Message(message) => self.texts.newest_part_id(message),
                PartOwner::Step(step) => {
                    self.calls.call_id(step).map_or_else(|| step_id(step), str::to_owned)
                }
            };
            self.withdrawn_ids.push(id);
        }
        if can_resend {
            self.write_withdrawn_ids(out);
        }
    }

    /// Returns true, and counts it, if another resend is allowed.
    fn count_resend_if_allowed(&mut self) -> bool {
        let is_allowed = self.resend_count < RESENDS_MAX;
        self.resend_count += u32::from(is_allowed);
        is_allowed
    }

    fn close_withdrawn_parts(
        &mut self,
        messages: &[MessageId],
        steps: &[StepId],
        out: PayloadSink<'_>,
    ) {
        for &message in messages {
            self.end_text(message, out);
        }
        for &step in steps {
            if let Some(at) = self.open_reasoning.iter().position(|&open| open == step) {
                self.open_reasoning.swap_remove(at);
                self.write_reasoning_end(step, out);
            }
            self.end_call_as_withdrawn(step, out);
        }
    }

    fn write_withdrawn_ids(&self, out: PayloadSink<'_>) {
        if !self.withdrawn_ids.is_empty() {
            let metadata = RunMetadata { withdrawn: &self.withdrawn_ids, ..RunMetadata::default() };
            json::write_payload(
                &Part::MessageMetadata { message_metadata: Metadata { millpond: metadata } },
                out,
            );
        }
    }

    fn write_notice(level: NoticeLevel, text: &str, out: PayloadSink<'_>) {
        json::write_payload(
            &Part::DataNotice { data: Notice { level, text }, transient: true },
            out,
        );
    }
}

impl Protocol for AiSdk {
    fn write_run_start(&mut self, run: &str, _at: Option<Millis>, out: PayloadSink<'_>) {
        json::write_payload(&Part::Start { message_id: run }, out);
    }

    fn apply_event(&mut self, event: &Event<'_>, out: PayloadSink<'_>) {
        self.usage.track_event(event);
        match event {
            Event::RoundStarted { .. } => self.start_round(out),
            Event::RoundEnded { .. } => self.end_round(out),
            Event::MessageStarted { message, .. } => self.start_text(*message, out),
            Event::TextAppended { message, text } => self.append_text(*message, text, out),
            Event::TextRewritten { message, kept_bytes, text } => {
                self.rewrite_text(*message, *kept_bytes, text, out);
            }
            Event::MessageEnded { message, .. } => self.end_text(*message, out),
            Event::SourceCited { message, citation } => {
                self.write_cited_source(*message, citation, out);
            }
            Event::ImageReceived { owner, image } => {
                self.write_image_if_linkable(*owner, image, out);
            }
            Event::ReasoningStarted { step, origin, .. }
                if *origin != ReasoningOrigin::Redacted =>
            {
                self.start_reasoning_if_shown(*step, out);
            }
            Event::ReasoningAppended { step, text } => {
                self.append_reasoning_if_shown(*step, text, out);
            }
            Event::ReasoningEnded { step, .. } => self.end_reasoning_if_open(*step, out),
            Event::Withdrawn { messages, steps } => self.withdraw_parts(messages, steps, out),
            Event::NoticeGiven { level, text } => AiSdk::write_notice(*level, text, out),
            Event::RetryScheduled { reason, .. } => {
                AiSdk::write_notice(NoticeLevel::Warning, reason, out);
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
            Event::ReasoningStarted { .. }
            | Event::RunStarted { .. }
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
        self.end_calls(ending, out);
        self.end_round(out);
        let reply = ending.message.map(|message| self.texts.newest_part_id(message));
        let metadata = RunMetadata {
            withdrawn: &self.withdrawn_ids,
            reply: reply.as_deref(),
            incomplete: Some(ending.incomplete),
            usage: self.usage.total(),
        };
        json::write_payload(
            &Part::MessageMetadata { message_metadata: Metadata { millpond: metadata } },
            out,
        );
        let text = ending_text(ending);
        let part = match ending.outcome {
            Outcome::Completed => Part::Finish { finish_reason: finish_reason(ending.stop) },
            Outcome::Cancelled => Part::Abort { reason: &text },
            Outcome::Failed | Outcome::Truncated | Outcome::Stalled | Outcome::Interrupted => {
                Part::Error { error_text: &text }
            }
        };
        json::write_payload(&part, out);
        out(DONE);
    }
}

fn step_id(step: StepId) -> String {
    format!("s{}", step.0)
}

fn finish_reason(stop: Option<StopReason>) -> &'static str {
    match stop {
        None | Some(StopReason::End) => "stop",
        Some(StopReason::Tools) => "tool-calls",
        Some(StopReason::Length) => "length",
        Some(StopReason::Paused | StopReason::Other) => "other",
    }
}
