//! Types of the fields of events.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{MessageId, StepId};

/// Text mode of a source. Declared by its dialect, never guessed from the data.
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
pub enum StopReason {
    /// The model finished its reply.
    End,
    /// The model calls tools.
    Tools,
    /// The reply reached a limit on tokens or context.
    Length,
    /// The provider paused a long turn, or waits for an approval; the client continues it.
    Paused,
    /// A reason this version does not know.
    Other,
}

impl StopReason {
    /// True if asks can still be answered after this stop: the source waits for the client.
    pub fn can_leave_asks_open(self) -> bool {
        match self {
            StopReason::Tools | StopReason::Paused => true,
            StopReason::End | StopReason::Length | StopReason::Other => false,
        }
    }
}

/// Origin of a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PromptOrigin {
    /// The person.
    #[default]
    Person,
    /// A heartbeat; its text is no words of the person, and is not shown.
    Heartbeat,
}

impl PromptOrigin {
    /// True for the person, the default.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(crate) fn is_person(&self) -> bool {
        *self == PromptOrigin::Person
    }
}

/// Role of a message, as declared by its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MessagePhase {
    /// Commentary between steps.
    Commentary,
    /// The final reply.
    Final,
}

/// Message or step that an image belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ImageOwner {
    /// It is part of this message.
    Message(MessageId),
    /// It came out of this step.
    Step(StepId),
}

/// An image, by reference or inline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Image<'a> {
    /// A link to the image.
    Url {
        /// Address of the image.
        url: Cow<'a, str>,
    },
    /// The bytes of the image, in base64.
    Inline {
        /// Media type, such as `image/png`.
        media_type: Cow<'a, str>,
        /// The bytes.
        base64: Cow<'a, str>,
    },
    /// Stored beside the log, under the digest (SHA-256, in hexadecimal) of its bytes.
    Kept {
        /// Media type, such as `image/png`.
        media_type: Cow<'a, str>,
        /// The digest.
        digest: Cow<'a, str>,
    },
}

/// A source that a message cites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Citation<'a> {
    /// Address of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Cow<'a, str>>,
    /// Title of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Cow<'a, str>>,
    /// The quoted text, if the source has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<Cow<'a, str>>,
}

/// Origin of reasoning in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReasoningOrigin {
    /// A separate field or block.
    Native,
    /// The provider's summary of the reasoning.
    Summary,
    /// Tags in the text.
    Tag,
    /// Encrypted or redacted: there is no text.
    Redacted,
}

/// Kind of hidden markup.
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
    /// A control word.
    Control,
    /// White space that only separates reasoning tags from the text.
    Blank,
    /// All hidden text of a message that its source rewrote, reasoning included.
    Rewritten,
}

/// Kind of tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// A function of the client.
    Function,
    /// A tool of an MCP server.
    Mcp,
    /// A search of the web.
    WebSearch,
    /// A web page that is fetched.
    WebFetch,
    /// A search in files of the provider.
    FileSearch,
    /// Code that the provider runs.
    CodeInterpreter,
    /// An image that is generated.
    ImageGeneration,
    /// Computer use: a click, a key, a screenshot.
    Action,
    /// A shell command.
    Command,
    /// A change to files.
    Edit,
    /// A sub-agent.
    Agent,
    /// Another built-in tool of the source.
    Builtin,
}

impl ToolKind {
    /// Name in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolKind::Function => "function",
            ToolKind::Mcp => "mcp",
            ToolKind::WebSearch => "web_search",
            ToolKind::WebFetch => "web_fetch",
            ToolKind::FileSearch => "file_search",
            ToolKind::CodeInterpreter => "code_interpreter",
            ToolKind::ImageGeneration => "image_generation",
            ToolKind::Action => "action",
            ToolKind::Command => "command",
            ToolKind::Edit => "edit",
            ToolKind::Agent => "agent",
            ToolKind::Builtin => "builtin",
        }
    }
}

/// Side that runs a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// The agent or application that called the model.
    Client,
    /// The model's provider, inside the round.
    Provider,
}

/// Outcome of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// It has a result.
    Succeeded,
    /// It has an error.
    Failed,
    /// A person or a policy denied it.
    Denied,
    /// Called, but the run ended before a result was seen.
    NoResult,
    /// The run ended in the middle of its arguments.
    Cut,
}

/// Kind of ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    /// Approval of a tool call.
    Tool,
    /// Approval of a shell command.
    Command,
    /// Approval of a call to an MCP server, or a question of one.
    Mcp,
    /// Approval of a browser action.
    Browser,
    /// A free-form question.
    Followup,
    /// A question about the source itself (retry, limit, resume).
    Other,
}

/// One answer that an ask offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AskOption<'a> {
    /// Id to answer with.
    pub id: Cow<'a, str>,
    /// Text for people.
    pub label: Cow<'a, str>,
}

/// Party that answered an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// The person.
    Person,
    /// An approval rule, without a person.
    Policy,
    /// Unanswered: the run ended first.
    Nobody,
}

/// Severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// For information.
    Info,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
}

/// Kind of an item that its source is still writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DraftKind {
    /// A prompt of the person.
    Prompt,
    /// A notice.
    Notice(NoticeLevel),
    /// A question to the person.
    Question,
}

/// Scope of a usage report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UsageScope {
    /// One model call.
    Round,
    /// The whole run.
    Run,
}

/// Tokens and cost. A field is missing if the source did not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Tokens of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens of the reply, reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens of the reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Tokens of the request that were read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Tokens of the request that were written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Price in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Overwrites every number that `newer` has.
    pub fn overwrite_reported_numbers(&mut self, newer: Usage) {
        self.input_tokens = newer.input_tokens.or(self.input_tokens);
        self.output_tokens = newer.output_tokens.or(self.output_tokens);
        self.reasoning_tokens = newer.reasoning_tokens.or(self.reasoning_tokens);
        self.cache_read_tokens = newer.cache_read_tokens.or(self.cache_read_tokens);
        self.cache_write_tokens = newer.cache_write_tokens.or(self.cache_write_tokens);
        self.cost_usd = newer.cost_usd.or(self.cost_usd);
    }
}

/// Why input was not recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnrecognisedReason {
    /// Unknown kind of frame.
    Frame,
    /// Unknown field; recorded once per name.
    Field,
    /// Not JSON, or not the shape that the dialect expects.
    Unreadable,
    /// Longer than the frame limit; only its beginning is kept.
    TooLong,
    /// An alternative reply; only choice 0 is shown.
    OtherChoice,
    /// It came after its response had ended.
    Late,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(super) fn is_false(value: &bool) -> bool {
    !value
}
