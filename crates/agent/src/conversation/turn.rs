//! Turns of a conversation, as they are sent to a model.

use millpond_engine::event::{Image, StepId};
use millpond_log::agent::Prompt;

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// A prompt.
    Person(Prompt),
    /// A model's reply.
    Agent(Vec<Part>),
    /// Results of the reply's tool calls.
    Results(Vec<ToolResult>),
}

/// One part of a model's reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    Thought { text: String, seal: Option<String> },
    Call(Call),
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The call's step in its run.
    pub step: StepId,
    /// The model's id of the call.
    pub id: String,
    /// Tool name as the model wrote it.
    pub name: String,
    /// JSON, as the model wrote it.
    pub arguments: String,
    /// Provider data to send back with the call.
    pub seal: Option<String>,
}

/// Result of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The model's id of the call.
    pub id: String,
    /// Tool name as the model wrote it.
    pub name: String,
    /// Output text.
    pub text: String,
    /// Output images.
    pub images: Vec<Image<'static>>,
    /// True unless the tool succeeded.
    pub failed: bool,
}

/// Characters of a tool's name that every provider accepts.
const TOOL_NAME_CHARS_MAX: usize = 64;

/// Name of a tool for the model: `server__name`, in characters that every provider accepts.
pub fn qualify_tool_name_for_model(server: Option<&str>, name: &str) -> String {
    let Some(server) = server else { return name.to_owned() };
    let replace_unsafe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("{server}__{name}").chars().map(replace_unsafe).take(TOOL_NAME_CHARS_MAX).collect()
}
