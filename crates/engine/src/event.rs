//! The canonical vocabulary: every fact the log can hold.
//!
//! Events are in the past tense, small, and never rewritten. Texts are borrowed where the source
//! still owns them, so that a delta costs no allocation; [`Event::into_owned`] detaches one.
//!
//! Every `*_started` is followed by exactly one `*_ended` of the same id, and every run by exactly
//! one `run_ended`; `run.rs` sees to it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Version of this vocabulary, written into every `run_started`.
pub const EVENT_VERSION: u32 = 1;

/// Milliseconds since the Unix epoch, as told by the provider or the shell.
pub type Millis = u64;

/// A line of the log: where it stands, when it happened, which run it belongs to, and the fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record<'a> {
    /// Dense within its session, from 0.
    pub seq: u64,
    /// The provider's time, else the time of arrival, else nothing.
    pub at_ms: Option<Millis>,
    pub run: Cow<'a, str>,
    #[serde(flatten)]
    pub event: Event<'a>,
}

/// Dense number of a message within its run, from 0, in order of appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageId(pub u32);

/// Dense number of a step (reasoning or tool) within its run, from 0, in order of appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepId(pub u32);

/// One fact about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event<'a> {
    RunStarted {
        version: u32,
        /// The dialect the source speaks; `unknown` where none was recognised.
        dialect: Cow<'a, str>,
        mode: TextMode,
    },
    /// What the person wrote.
    PromptReceived {
        text: Cow<'a, str>,
        /// Pictures that the person showed with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image<'a>>,
    },
    /// One model call began.
    RoundStarted {
        round: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<Cow<'a, str>>,
        /// The source's own id of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response: Option<Cow<'a, str>>,
    },
    RoundEnded {
        round: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<Stop>,
        /// Its source did not come to its end: it broke off or failed.
        #[serde(default, skip_serializing_if = "is_false")]
        incomplete: bool,
    },
    /// A stretch of assistant text between two steps began; it is never blank.
    MessageStarted {
        message: MessageId,
        round: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<Phase>,
    },
    TextAppended {
        message: MessageId,
        text: Cow<'a, str>,
    },
    /// A cumulative source changed what it had said: keep this many bytes, then this text.
    TextRewritten {
        message: MessageId,
        kept_bytes: usize,
        text: Cow<'a, str>,
    },
    MessageEnded {
        message: MessageId,
        /// It broke off, or reached a limit on its length.
        #[serde(default, skip_serializing_if = "is_false")]
        incomplete: bool,
    },
    /// A source for what a message says.
    SourceCited {
        message: MessageId,
        #[serde(flatten)]
        citation: Citation<'a>,
    },
    /// A picture that came with a message or out of a step.
    ImageReceived {
        #[serde(flatten)]
        owner: Owner,
        #[serde(flatten)]
        image: Image<'a>,
    },
    ReasoningStarted {
        step: StepId,
        round: u32,
        origin: ReasoningOrigin,
    },
    ReasoningAppended {
        step: StepId,
        text: Cow<'a, str>,
    },
    ReasoningEnded {
        step: StepId,
        /// It broke off, or reached a limit on its length.
        #[serde(default, skip_serializing_if = "is_false")]
        incomplete: bool,
    },
    /// The provider sealed a thought or a call. Whoever goes on with the conversation gives the seal
    /// back as it is; recorded only for those who do.
    StepSealed {
        step: StepId,
        /// Members of the provider's own JSON, as an object.
        seal: Cow<'a, str>,
    },
    /// Markup taken out of the text, verbatim: tags, tool calls written as text, blanks around them.
    MarkupHidden {
        class: MarkupClass,
        text: Cow<'a, str>,
    },
    ToolStarted {
        step: StepId,
        round: u32,
        /// The source's own id of the call.
        call: Cow<'a, str>,
        name: Cow<'a, str>,
        kind: ToolKind,
        executor: Executor,
        /// The MCP server or container the tool belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<Cow<'a, str>>,
        /// The tool step whose sub-agent made this call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<StepId>,
    },
    ArgumentsAppended {
        step: StepId,
        text: Cow<'a, str>,
    },
    /// A source that sends arguments whole sent them anew.
    ArgumentsReplaced {
        step: StepId,
        text: Cow<'a, str>,
    },
    /// The arguments are complete.
    ToolReady {
        step: StepId,
    },
    /// A word on how far a running tool has come.
    ToolProgressed {
        step: StepId,
        text: Cow<'a, str>,
    },
    /// What a tool (or the sub-agent behind it) put out.
    OutputAppended {
        step: StepId,
        text: Cow<'a, str>,
    },
    ToolEnded {
        step: StepId,
        outcome: ToolOutcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<Cow<'a, str>>,
    },
    /// Something only a person can settle.
    AskOpened {
        ask: Cow<'a, str>,
        kind: AskKind,
        text: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<AskOption<'a>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<StepId>,
        /// Digest of exactly what an approval would run; set by whoever runs it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at_ms: Option<Millis>,
    },
    AskResolved {
        ask: Cow<'a, str>,
        answer: Cow<'a, str>,
        by: AnsweredBy,
    },
    /// A call to a model's API began, from a source that lists its calls.
    RequestStarted {
        /// The source's own id of the call.
        request: Cow<'a, str>,
    },
    /// A call to a model's API ended; `cost_usd` is missing where no price is known.
    RequestEnded {
        /// The call that had been listed; missing where none had.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cancel_reason: Option<Cow<'a, str>>,
    },
    CheckpointSaved {
        hash: Cow<'a, str>,
    },
    /// A message joined the run that was going; its text follows.
    PromptJoined {
        /// The id that it had while it waited.
        queued: Cow<'a, str>,
    },
    /// What the source itself calls this conversation. Whoever goes on with it says the name;
    /// recorded only for those who do.
    SessionNamed {
        name: Cow<'a, str>,
    },
    RetryScheduled {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempts_max: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_ms: Option<u64>,
        reason: Cow<'a, str>,
    },
    /// The source shortened its own memory of the conversation.
    HistoryCompacted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Cow<'a, str>>,
    },
    /// Something worth knowing that is neither text nor failure of the run.
    NoticeGiven {
        level: Level,
        text: Cow<'a, str>,
    },
    UsageReported {
        scope: UsageScope,
        #[serde(flatten)]
        usage: Usage,
    },
    /// The source said which message is the final one.
    FinalDeclared {
        message: MessageId,
    },
    /// The source took back what it had sent.
    Withdrawn {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        messages: Vec<MessageId>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        steps: Vec<StepId>,
    },
    /// A named quirk changed what the source sent.
    QuirkActed {
        quirk: Cow<'a, str>,
        detail: Cow<'a, str>,
    },
    /// Input the dialect did not recognise, kept verbatim so that a later version can.
    Unrecognised {
        reason: UnrecognisedReason,
        raw: Cow<'a, str>,
    },
    /// The one ending.
    RunEnded {
        #[serde(flatten)]
        ending: Ending<'a>,
    },
}

/// Receives what the engine makes of a source, in order.
pub trait Sink {
    fn event(&mut self, at: Option<Millis>, event: Event<'_>);

    /// What the engine did on the way (`STREAM_DEBUG`); most sinks do not care.
    fn trace(&mut self, _trace: Trace<'_>) {}
}

/// Decisions worth seeing when a stream looks wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "debug", rename_all = "snake_case")]
pub enum Trace<'a> {
    DialectChosen { dialect: &'a str, frames_before: usize },
    FirstToken { round: u32 },
    Held { bytes: usize, reason: HeldReason },
    Hidden { bytes: usize, class: MarkupClass },
    Dropped { bytes: usize, reason: DroppedReason },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldReason {
    /// May become a tag, or a tag that may stand in code.
    Markup,
    /// Blank so far.
    Blank,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DroppedReason {
    /// A message that stayed blank.
    Blank,
    /// Came after the end.
    Late,
    /// Repeats what deltas had already said.
    Repeat,
}

mod ending;
mod owned;
mod words;

pub use ending::{Ending, FailureReason, Outcome, Reply};
pub use words::{
    AnsweredBy, AskKind, AskOption, Citation, Executor, Image, Level, MarkupClass, Owner, Phase,
    ReasoningOrigin, Stop, TextMode, ToolKind, ToolOutcome, UnrecognisedReason, Usage, UsageScope,
};

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !value
}
