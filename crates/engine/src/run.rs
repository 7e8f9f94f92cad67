//! State machine of one run: which event may follow which.
//!
//! Does: number rounds, messages and steps; open and close them in pairs; hold blank text until a
//! message has visible text; pass text through the filter; emit exactly one ending.
//! Does not: parse provider formats, or keep text it has emitted.
//!
//! Invariant: whatever a dialect calls on the [`Writer`], in whatever order, the emitted events are
//! well formed.

#![allow(clippy::unnested_or_patterns, reason = "a family of events is an or-pattern")]

mod action_names;
mod cumulative;
mod emitter;
mod ending;
mod fingerprint;
mod finish_request;
pub mod grammar;
mod identified_reasoning;
mod implied_thought;
mod message_state;
mod open_messages;
mod options;
mod reasoning;
mod replay;
mod source_options;
mod text;
mod thinking_models;
mod tools;
pub mod unfinished;
mod writer;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::{
    Citation, Event, MessageId, MessagePhase, NoticeLevel, StopReason, TextMode, Trace, Usage,
    UsageScope,
};
use crate::filter::{FilterStart, MessageFilter};

pub use action_names::ActionNames;
use cumulative::CumulativeText;
use emitter::{DeferredEnds, EndedPart, EventEmitter};
pub use ending::ReportedEnd;
pub(crate) use fingerprint::Fingerprint;
use finish_request::{FinishRequest, FinishState};
use identified_reasoning::IdentifiedReasoning;
use implied_thought::{ImpliedThought, ThoughtStart};
use message_state::{MessageState, MessageText};
pub(crate) use open_messages::MessageLifetime;
use open_messages::{MessageSlots, TextInterruption};
pub use options::{Quirk, RunOptions, SealPolicy, UnknownQuirk};
use reasoning::ReasoningState;
pub use source_options::{
    InvalidSourceOption, OptionValues, SourceOption, SourceOptions, find_similar_name,
};
use tools::OpenTools;
pub use tools::{OutputContinuity, ToolStart};
pub(crate) use writer::RewindPoint;
pub use writer::{Interruption, NewAsk, Writer};

/// Source of the boundaries between rounds (model calls).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundBoundaries {
    /// The source marks them.
    Explicit,
    /// The source does not mark them: output after a tool's result is a new round.
    AfterToolResults,
}

/// Why the input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputEnd {
    /// The stream ended by itself.
    EndOfInput,
    /// The user cancelled it.
    Cancelled,
    /// No input for longer than the idle limit.
    Stalled,
    /// The process or node died.
    Interrupted,
    /// The stream exceeded the accepted length.
    TooLong,
}

/// Lifecycle of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lifecycle {
    New,
    Open,
    /// The input ended; open parts are being closed.
    Ending,
    Ended,
}

/// State machine of one run, from its first event to its ending.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    filter: MessageFilter,
    state: RunState,
    deferred_ends: DeferredEnds,
}

/// All state of a run except the filter, which calls into it.
#[derive(Clone, Debug, PartialEq)]
struct RunState {
    lifecycle: Lifecycle,
    round_boundaries: RoundBoundaries,
    /// Model of the rounds that name none.
    declared_model: Option<String>,
    /// Number of the next round.
    next_round_number: u32,
    open_round: Option<OpenRound>,
    /// True if a tool's result arrived since the last model output.
    tool_result_seen: bool,
    /// Messages started so far; the next message's id.
    message_count: u32,
    /// Steps started so far; the next step's id.
    step_count: u32,
    message_state: MessageState,
    /// Slots of the current message and of suspended ones.
    slots: MessageSlots,
    /// Text of the open message, if it is remembered.
    cumulative: Option<CumulativeText>,
    /// Declared phase of the next message.
    next_message_phase: Option<MessagePhase>,
    reasoning_state: ReasoningState,
    /// Open reasoning steps whose source gives them ids, oldest first.
    identified_reasoning: Vec<IdentifiedReasoning>,
    thought_start: ThoughtStart,
    implied_thought: ImpliedThought,
    open_tools: OpenTools,
    open_asks: Vec<String>,
    /// Ids of listed requests that have not ended.
    open_requests: VecDeque<String>,
    /// The message that the source declared final.
    declared_final: Option<MessageId>,
    /// The last message of the last round that ended.
    last_round_message: Option<MessageText>,
    /// Stop reason of the last round that ended.
    last_round_stop: Option<StopReason>,
    withdrawn_messages: Vec<MessageId>,
    /// Citations that arrived before their message.
    pending_citations: Vec<Citation<'static>>,
    seen_unknown_fields: Vec<Fingerprint>,
    reported_end: ReportedEnd,
    /// True if the log has the reason of the failure that is being retried.
    failure_reported: bool,
    /// Finish request in the open message.
    finish_request: FinishRequest,
    finish_state: FinishState,
    quirks: Vec<Quirk>,
    seal_policy: SealPolicy,
    action_names: ActionNames,
}

/// The open model call.
#[derive(Clone, Debug, PartialEq)]
struct OpenRound {
    first_message: u32,
    first_step: u32,
    first_text_traced: bool,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    last_message: Option<MessageText>,
    last_final_message: Option<MessageId>,
}

impl OpenRound {
    /// A round that starts after the given numbers of messages and steps.
    fn starting_at(first_message: u32, first_step: u32) -> OpenRound {
        OpenRound {
            first_message,
            first_step,
            first_text_traced: false,
            stop: None,
            usage: None,
            last_message: None,
            last_final_message: None,
        }
    }
}

impl Run {
    /// Creates a run that has not started.
    pub fn new(options: &RunOptions) -> Run {
        Run {
            filter: MessageFilter::new(
                Arc::clone(&options.tags),
                options.filter_start,
                &options.control_words,
            ),
            state: RunState {
                lifecycle: Lifecycle::New,
                round_boundaries: RoundBoundaries::Explicit,
                declared_model: None,
                next_round_number: 0,
                open_round: None,
                tool_result_seen: false,
                message_count: 0,
                step_count: 0,
                message_state: MessageState::None,
                slots: MessageSlots::default(),
                cumulative: None,
                next_message_phase: None,
                reasoning_state: ReasoningState::None,
                identified_reasoning: Vec::new(),
                thought_start: match options.filter_start {
                    FilterStart::Text => ThoughtStart::ModelName,
                    FilterStart::Thinking => ThoughtStart::Declared,
                },
                implied_thought: ImpliedThought::None,
                open_tools: OpenTools::default(),
                open_asks: Vec::new(),
                open_requests: VecDeque::new(),
                declared_final: None,
                last_round_message: None,
                last_round_stop: None,
                withdrawn_messages: Vec::new(),
                pending_citations: Vec::new(),
                seen_unknown_fields: Vec::new(),
                reported_end: ReportedEnd::Pending,
                failure_reported: false,
                finish_request: FinishRequest::None,
                finish_state: FinishState::NotRequested,
                quirks: options.quirks.clone(),
                seal_policy: options.seal_policy,
                action_names: options.action_names.clone(),
            },
            deferred_ends: DeferredEnds::default(),
        }
    }

    /// True after `RunEnded`.
    pub fn is_ended(&self) -> bool {
        self.state.lifecycle == Lifecycle::Ended
    }
}

impl RunState {
    /// Emits `RunStarted`, once.
    fn start_run(&mut self, dialect: &str, mode: TextMode, out: &mut EventEmitter<'_>) {
        if self.lifecycle == Lifecycle::New {
            self.lifecycle = Lifecycle::Open;
            out.emit_after_deferred_ends(Event::RunStarted {
                version: crate::event::EVENT_VERSION,
                dialect: dialect.into(),
                mode,
            });
        }
    }

    /// Starts a round if none is open, or if the open one has its tool results.
    fn ensure_round_or_end_run(&mut self, filter: &mut MessageFilter, out: &mut EventEmitter<'_>) {
        if self.open_round.is_none() || self.should_start_new_round() {
            // The declared phase applies to the message in the new round.
            let phase = self.next_message_phase.take();
            self.start_round_or_end_run(None, None, filter, out);
            self.next_message_phase = phase;
        }
    }

    /// True if new model output belongs to a new round. An open message continues in its own round,
    /// whatever results arrive meanwhile.
    fn should_start_new_round(&self) -> bool {
        self.round_boundaries == RoundBoundaries::AfterToolResults
            && self.tool_result_seen
            && self.message_state.open_id().is_none()
    }

    /// Ends the open round and starts one; ends the run instead if that was requested.
    fn start_round_or_end_run(
        &mut self,
        model: Option<&str>,
        response: Option<&str>,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        self.end_round(filter, out);
        self.end_run_if_requested(filter, out);
        if self.lifecycle == Lifecycle::Ended {
            return;
        }
        if self.last_round_stop == Some(StopReason::Tools) {
            // The model is called again, so the client has the results of its tools.
            self.open_tools.end_ready_client_tools_without_result(out);
        }
        filter.drop_held_and_reset_to_reply_start();
        self.open_implied_thought_if_model_has_one(model);
        let verdict = std::mem::replace(&mut self.reported_end, ReportedEnd::Pending);
        if verdict != ReportedEnd::Pending {
            // The source had reported an end but continues: its declared message is obsolete.
            self.declared_final = None;
        }
        let reported = std::mem::take(&mut self.failure_reported);
        if let ReportedEnd::Failed { detail, .. } = verdict
            && !detail.is_empty()
            && !reported
        {
            out.emit_after_deferred_ends(Event::NoticeGiven {
                level: NoticeLevel::Error,
                text: detail.into(),
            });
        }
        out.deferred_ends.incomplete = self.would_message_end_incomplete();
        self.last_round_message = None;
        self.tool_result_seen = false;
        self.open_round = Some(OpenRound::starting_at(self.message_count, self.step_count));
        out.emit_after_deferred_ends(Event::RoundStarted {
            round: self.next_round_number,
            model: model.or(self.declared_model.as_deref()).map(|model| model.to_owned().into()),
            response: response.map(Into::into),
        });
        self.next_round_number += 1;
    }

    /// Forgets which message is the final one: what follows is to be answered.
    fn forget_final_message(&mut self) {
        self.declared_final = None;
        self.last_round_message = None;
    }

    /// Ends the open round, its reasoning and its messages, except those that only their source
    /// completes. Emits its usage and late citations, and `ToolReady` unless it was cut off.
    fn end_round(&mut self, filter: &mut MessageFilter, out: &mut EventEmitter<'_>) {
        if self.open_round.is_none() {
            return;
        }
        self.end_or_release_implied_thoughts_with_round(filter, out);
        self.end_or_suspend_message(TextInterruption::RoundEnd, filter, out);
        self.end_suspended_messages(TextInterruption::RoundEnd, filter, out);
        self.close_reasoning_and_defer_end(out);
        self.close_identified_reasoning(TextInterruption::RoundEnd, out);
        out.deferred_ends.incomplete |=
            self.open_round.as_ref().is_some_and(|round| round.stop == Some(StopReason::Length));
        // Only a length limit may have cut the last call's arguments.
        let stop = self.open_round.as_ref().and_then(|round| round.stop);
        if stop.is_some_and(|stop| stop != StopReason::Length) {
            self.open_tools.emit_all_tools_ready(out);
        }
        let Some(round) = self.open_round.take() else {
            return;
        };
        if let Some(usage) = round.usage {
            out.emit_after_deferred_ends(Event::UsageReported { scope: UsageScope::Round, usage });
        }
        self.emit_leftover_citations(round.last_message, out);
        // The declared message stays known after its round.
        self.declared_final = round.last_final_message.or(self.declared_final);
        self.last_round_message = round.last_message;
        self.last_round_stop = round.stop;
        let (number, incomplete) =
            (self.current_or_last_round_number(), self.would_part_end_interrupted());
        out.emit_after_deferred_ends(Event::RoundEnded {
            round: number,
            stop: round.stop,
            incomplete,
        });
        out.deferred_ends.incomplete = self.would_message_end_incomplete();
    }

    /// Number of the open round, else of the last one.
    fn current_or_last_round_number(&self) -> u32 {
        self.next_round_number.saturating_sub(1)
    }

    /// Traces the first text of the round, once: the one that clears its overlay.
    fn trace_first_text(&mut self, out: &mut EventEmitter<'_>) {
        let number = self.current_or_last_round_number();
        if let Some(round) = &mut self.open_round
            && !round.first_text_traced
        {
            round.first_text_traced = true;
            out.sink.on_trace(Trace::FirstToken { round: number });
        }
    }
}
