//! Event types: every fact the log can hold.
//!
//! Events are in the past tense, small, and never rewritten. Texts are borrowed where the source
//! still owns them, so that a delta costs no allocation; [`Event::into_owned`] detaches one.
//!
//! Every `*_started` is followed by exactly one `*_ended` of the same id, and every run by exactly
//! one `run_ended`; `run.rs` enforces it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// One fact about a run.
// Not `non_exhaustive`: a program that shows or stores events has to decide about every one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event<'a> {
    /// The run began.
    RunStarted {
        /// [`EVENT_VERSION`] of the writer.
        version: u32,
        /// Dialect of the source; `unknown` if none was recognised.
        dialect: Cow<'a, str>,
        /// Text mode of the source: new text only, or the text so far.
        mode: TextMode,
    },
    /// The person or a schedule sent a message.
    PromptReceived {
        /// Its text.
        text: Cow<'a, str>,
        /// Images attached to the message.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image<'a>>,
        /// Who sent it.
        #[serde(default, skip_serializing_if = "PromptOrigin::is_person")]
        origin: PromptOrigin,
    },
    /// One model call began.
    RoundStarted {
        /// Number of the round within its run, from 0.
        round: u32,
        /// Name of the model, if the source says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<Cow<'a, str>>,
        /// The source's own id of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response: Option<Cow<'a, str>>,
    },
    /// One model call ended.
    RoundEnded {
        /// Number of the round.
        round: u32,
        /// Why the model stopped, if the source says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<StopReason>,
        /// True if the source failed or was cut off before its end.
        #[serde(default, skip_serializing_if = "is_false")]
        incomplete: bool,
    },
    /// A stretch of assistant text between two steps began; it is never blank.
    MessageStarted {
        /// Number of the message within its run.
        message: MessageId,
        /// Round that it belongs to.
        round: u32,
        /// Its role, if the source declares one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<MessagePhase>,
    },
    /// New text of the open message.
    TextAppended {
        /// The message.
        message: MessageId,
        /// The text that follows what it has.
        text: Cow<'a, str>,
    },
    /// A cumulative source changed earlier text: keep `kept_bytes`, then append `text`.
    TextRewritten {
        /// The message.
        message: MessageId,
        /// Bytes of its text that stay.
        kept_bytes: usize,
        /// The text after them.
        text: Cow<'a, str>,
    },
    /// The open message ended.
    MessageEnded {
        /// The message.
        message: MessageId,
        /// True if it was cut off or reached a length limit.
        #[serde(default, skip_serializing_if = "is_false")]
        incomplete: bool,
    },
    /// A message cited a source.
    SourceCited {
        /// The message.
        message: MessageId,
        /// The cited source.
        #[serde(flatten)]
        citation: Citation<'a>,
    },
    /// An image belongs to a message, or came out of a step.
    ImageReceived {
        /// The message or step.
        #[serde(flatten)]
        owner: ImageOwner,
        /// The image.
        #[serde(flatten)]
        image: Image<'a>,
    },
    /// A reasoning step began.
    ReasoningStarted {
        /// Number of the step within its run.
        step: StepId,
        /// Round that it belongs to.
        round: u32,
        /// Origin of the reasoning in the source.
        origin: ReasoningOrigin,
        /// Open message whose text it came after or within; more text of it may follow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interrupts: Option<MessageId>,
    },
    /// New text of a reasoning step.
    ReasoningAppended {
        /// The step.
        step: StepId,
        /// The text that follows what it has.
        text: Cow<'a, str>,
    },
    /// A reasoning step ended.
    ReasoningEnded {
        /// The step.
        step: StepId,
        /// True if it was cut off or reached a length limit.
        #[serde(default, skip_serializing_if = "is_false")]
        incomplete: bool,
    },
    /// The provider attached a seal (signature or encrypted state) to a reasoning step or a tool
    /// call. It must be sent back unchanged in the next request; recorded only if
    /// `SealPolicy::Keep`.
    StepSealed {
        /// The step.
        step: StepId,
        /// JSON object with the provider's own fields.
        seal: Cow<'a, str>,
    },
    /// Markup removed from the text, verbatim: tags, tool calls written as text, blanks around
    /// them.
    MarkupHidden {
        /// Kind of the markup.
        class: MarkupClass,
        /// The markup.
        text: Cow<'a, str>,
    },
    /// A tool call began.
    ToolStarted {
        /// Number of the step within its run.
        step: StepId,
        /// Round that it belongs to.
        round: u32,
        /// The source's own id of the call.
        call: Cow<'a, str>,
        /// Name of the tool.
        name: Cow<'a, str>,
        /// Kind of the tool.
        kind: ToolKind,
        /// Side that runs it.
        executor: Executor,
        /// The MCP server or container the tool belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<Cow<'a, str>>,
        /// The tool step whose sub-agent made this call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<StepId>,
    },
    /// New text of a tool call's arguments.
    ArgumentsAppended {
        /// The step.
        step: StepId,
        /// The text that follows what the arguments have.
        text: Cow<'a, str>,
    },
    /// A source that sends whole arguments sent different ones.
    ArgumentsReplaced {
        /// The step.
        step: StepId,
        /// The whole arguments.
        text: Cow<'a, str>,
    },
    /// The arguments are complete.
    ToolReady {
        /// The step.
        step: StepId,
    },
    /// Progress message of a running tool.
    ToolProgressed {
        /// The step.
        step: StepId,
        /// The message.
        text: Cow<'a, str>,
    },
    /// New output of a tool or its sub-agent.
    OutputAppended {
        /// The step.
        step: StepId,
        /// The text that follows what the output has.
        text: Cow<'a, str>,
    },
    /// Replacement of a tool's whole output, which its source changed.
    OutputReplaced {
        /// The step.
        step: StepId,
        /// The whole output.
        text: Cow<'a, str>,
    },
    /// A tool call ended.
    ToolEnded {
        /// The step.
        step: StepId,
        /// Outcome.
        outcome: ToolOutcome,
        /// Reason or exit code, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<Cow<'a, str>>,
    },
    /// A person has to answer: an approval or a question.
    AskOpened {
        /// Id of the ask.
        ask: Cow<'a, str>,
        /// Subject of the ask.
        kind: AskKind,
        /// The question.
        text: Cow<'a, str>,
        /// The answers it offers; none for a free-form answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<AskOption<'a>>,
        /// The tool step that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<StepId>,
        /// Digest of exactly what an approval would run; set by the agent that runs it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<Cow<'a, str>>,
        /// Time at which it counts as denied.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at_ms: Option<Millis>,
    },
    /// An ask was answered, or expired with the run.
    AskResolved {
        /// Id of the ask.
        ask: Cow<'a, str>,
        /// Id of the chosen option, or the text of the answer.
        answer: Cow<'a, str>,
        /// Party that answered.
        by: AnsweredBy,
    },
    /// A model API request began; only from sources that list their requests.
    RequestStarted {
        /// The source's own id of the request.
        request: Cow<'a, str>,
    },
    /// A model API request ended; `cost_usd` is missing if the price is unknown.
    RequestEnded {
        /// Id of the listed request; missing if it was not listed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Cow<'a, str>>,
        /// Price of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
        /// Error message, if it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Cow<'a, str>>,
        /// Reason, if it was cancelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cancel_reason: Option<Cow<'a, str>>,
    },
    /// The source saved a checkpoint of the workspace.
    CheckpointSaved {
        /// Id of the checkpoint.
        hash: Cow<'a, str>,
    },
    /// A queued prompt joined the running run; its text follows.
    PromptJoined {
        /// Id of the prompt in the queue.
        queued: Cow<'a, str>,
    },
    /// The source's own name of this conversation, needed to resume it; recorded only by agents
    /// that do.
    SessionNamed {
        /// The name.
        name: Cow<'a, str>,
    },
    /// A request failed and will be retried.
    RetryScheduled {
        /// Number of the attempt that failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// Number of attempts before the source gives up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempts_max: Option<u32>,
        /// Time until the next attempt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_ms: Option<u64>,
        /// Error message of the failed attempt.
        reason: Cow<'a, str>,
    },
    /// The source compacted its conversation history.
    HistoryCompacted {
        /// Summary that replaces the history, if the source says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Cow<'a, str>>,
    },
    /// A notice that is neither text nor the end of the run.
    NoticeGiven {
        /// Severity.
        level: NoticeLevel,
        /// The text.
        text: Cow<'a, str>,
    },
    /// The source shows a prompt, notice or question that it is still writing.
    DraftReceived {
        /// The draft.
        draft: DraftId,
        /// Kind of the item that it becomes.
        kind: DraftKind,
        /// Bytes of its earlier text that stay.
        kept_bytes: usize,
        /// The text that follows them.
        text: Cow<'a, str>,
    },
    /// A draft is whole: the next event is what it became.
    DraftCompleted {
        /// The draft.
        draft: DraftId,
    },
    /// Tokens and cost of a round or of the run.
    UsageReported {
        /// Round or run.
        scope: UsageScope,
        /// The numbers.
        #[serde(flatten)]
        usage: Usage,
    },
    /// The source declared which message is final.
    FinalDeclared {
        /// The message.
        message: MessageId,
    },
    /// The source withdrew messages and steps.
    Withdrawn {
        /// The messages.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        messages: Vec<MessageId>,
        /// The steps.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        steps: Vec<StepId>,
    },
    /// A named quirk changed what the source sent.
    QuirkActed {
        /// Name of the quirk.
        quirk: Cow<'a, str>,
        /// The change that it made.
        detail: Cow<'a, str>,
    },
    /// Input the dialect did not recognise, kept verbatim so that a later version can.
    Unrecognised {
        /// Why it was not recognised.
        reason: UnrecognisedReason,
        /// The input.
        raw: Cow<'a, str>,
    },
    /// The run ended; exactly one per run.
    RunEnded {
        /// Outcome.
        #[serde(flatten)]
        ending: Ending<'a>,
    },
}

mod cache_counting;
mod ending;
mod family;
mod fields;
mod ids;
mod owned;
mod record;
mod sink;

use fields::is_false;

pub use cache_counting::CacheCounting;
pub use ending::{Ending, FailureReason, Outcome, Reply};
pub use fields::{
    AnsweredBy, AskKind, AskOption, Citation, DraftKind, Executor, Image, ImageOwner, MarkupClass,
    MessagePhase, NoticeLevel, PromptOrigin, ReasoningOrigin, StopReason, TextMode, ToolKind,
    ToolOutcome, UnrecognisedReason, Usage, UsageScope,
};
pub use ids::{DraftId, MessageId, StepId};
pub use record::{EVENT_VERSION, Millis, Record};
pub use sink::{DroppedReason, HeldReason, Sink, Trace};
