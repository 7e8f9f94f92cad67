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
    /// A call to a model's API ended; `cost_usd` is missing where no price is known.
    RequestEnded {
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

/// How a source reports text. Declared by its dialect, never guessed from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TextMode {
    /// Each report is new text: `"A"`, `"B"`.
    Incremental,
    /// Each report repeats what came before: `"A"`, `"AB"`.
    Cumulative,
}

/// Why a round stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model had said what it wanted to say.
    End,
    /// It asks for tools.
    Tools,
    /// It ran into a limit on tokens or context.
    Length,
    /// The provider paused a long turn; the client goes on.
    Paused,
    /// A reason this version does not know.
    Other,
}

/// What a source says about the part a message plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Commentary,
    Final,
}

/// What an image belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    Message(MessageId),
    Step(StepId),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Image<'a> {
    Url { url: Cow<'a, str> },
    Inline { media_type: Cow<'a, str>, base64: Cow<'a, str> },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Citation<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Cow<'a, str>>,
    /// The words cited, where the source quotes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<Cow<'a, str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReasoningOrigin {
    /// A field or block of its own.
    Native,
    /// A summary that the provider made of it.
    Summary,
    /// Tags in the text.
    Tag,
    /// Encrypted or redacted: there is no text.
    Redacted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MarkupClass {
    /// A tag around reasoning; the reasoning itself is a step.
    Reasoning,
    /// Tool calls or results written as text, tags included.
    Tool,
    /// Tags whose content stays, such as `<final>`.
    Unwrapped,
    /// A closing tag that closes nothing.
    Stray,
    /// White space that only set reasoning tags apart from the text.
    Blank,
    /// All that is hidden in a message that its source rewrote, reasoning included.
    Rewritten,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Function,
    Mcp,
    WebSearch,
    WebFetch,
    FileSearch,
    CodeInterpreter,
    ImageGeneration,
    /// Computer use: a click, a key, a screenshot.
    Action,
    Command,
    Edit,
    /// A sub-agent.
    Agent,
    /// Another tool the source has built in.
    Builtin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// The agent or application that called the model.
    Client,
    /// The model's provider, inside the round.
    Provider,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    Succeeded,
    Failed,
    /// A person or a policy refused it.
    Denied,
    /// Called, but the run ended before a result was seen.
    NoResult,
    /// The run ended in the middle of its arguments.
    Cut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    Tool,
    Command,
    Mcp,
    Browser,
    /// A question in words.
    Followup,
    /// Asked by the source for a reason of its own (retry, limit, resume).
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AskOption<'a> {
    pub id: Cow<'a, str>,
    pub label: Cow<'a, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    Person,
    /// A rule of the agent's, without a person.
    Policy,
    /// Nobody: the run ended first.
    Nobody,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Info,
    Warning,
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UsageScope {
    Round,
    Run,
}

/// Tokens and money. A field is missing where the source did not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Takes over every number that `newer` has.
    pub fn update(&mut self, newer: Usage) {
        self.input_tokens = newer.input_tokens.or(self.input_tokens);
        self.output_tokens = newer.output_tokens.or(self.output_tokens);
        self.reasoning_tokens = newer.reasoning_tokens.or(self.reasoning_tokens);
        self.cache_read_tokens = newer.cache_read_tokens.or(self.cache_read_tokens);
        self.cache_write_tokens = newer.cache_write_tokens.or(self.cache_write_tokens);
        self.cost_usd = newer.cost_usd.or(self.cost_usd);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnrecognisedReason {
    /// No dialect knows this kind of frame.
    Frame,
    /// A field nobody has seen; recorded once for each name.
    Field,
    /// Not JSON, or not of the shape the dialect expects.
    Unreadable,
    /// Longer than a frame may be; only its beginning is kept.
    TooLong,
    /// An alternative reply; only choice 0 is shown.
    OtherChoice,
    /// Came after the response it belongs to had ended.
    Late,
}

/// How a run ended. Which message was the reply is part of it, so nothing has to be asked again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ending<'a> {
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<FailureReason>,
    /// The source's own words about a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Cow<'a, str>>,
    pub reply: Reply,
    /// The final message, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// The text as it stands is not all there should have been.
    pub incomplete: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Completed,
    Failed,
    Cancelled,
    /// The stream ended without its end marker.
    Truncated,
    /// Nothing came for longer than the idle limit.
    Stalled,
    /// The process or node died.
    Interrupted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// The model or a safety filter declined.
    Refused,
    /// The source reported an error.
    Error,
    /// A limit on turns or money was reached.
    Limit,
    /// Nothing came at all.
    Empty,
    /// No dialect recognised the input.
    Unrecognised,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// `message` names it.
    Message,
    /// There is nothing to show.
    None,
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

mod owned;
