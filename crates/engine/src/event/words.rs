//! The words that events are made of.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{MessageId, StepId};

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
    /// The provider paused a long turn, or for an approval; the client goes on.
    Paused,
    /// A reason this version does not know.
    Other,
}

impl Stop {
    /// Whether the source went away waiting for others: what it asked can still be answered.
    pub fn leaves_asks_open(self) -> bool {
        match self {
            Stop::Tools | Stop::Paused => true,
            Stop::End | Stop::Length | Stop::Other => false,
        }
    }
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    Url {
        url: Cow<'a, str>,
    },
    Inline {
        media_type: Cow<'a, str>,
        base64: Cow<'a, str>,
    },
    /// Kept beside the log, under the digest (SHA-256, in hexadecimal) of its bytes.
    Kept {
        media_type: Cow<'a, str>,
        digest: Cow<'a, str>,
    },
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
    /// A control word.
    Control,
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

impl ToolKind {
    /// As the log spells it.
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
