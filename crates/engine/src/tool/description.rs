//! Types of a description. Every text and list in it is bounded, and says what was cut.

use serde::{Deserialize, Serialize};

use crate::limits::{TOOL_SOURCES_MAX, TOOL_TARGET_BYTES_MAX, TOOL_TITLE_BYTES_MAX};

use super::bounded::shorten;

/// Purpose of a tool call, whatever its agent calls the tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolPurpose {
    /// Runs a shell command.
    Command,
    /// Reads files.
    Read,
    /// Changes, deletes or moves files.
    Edit,
    /// Writes whole files.
    Write,
    /// Searches files.
    Search,
    /// Lists files.
    List,
    /// Searches the web.
    WebSearch,
    /// Fetches a web page.
    Fetch,
    /// Writes a list of tasks.
    Todo,
    /// Writes or proposes a plan.
    Plan,
    /// Starts or asks a sub-agent.
    Agent,
    /// Calls a tool of an MCP server.
    Mcp,
    /// Uses a computer or a browser.
    Computer,
    /// Anything else.
    #[default]
    Other,
}

/// Normalised description of a tool call and its result, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolDescription {
    /// Purpose of the call.
    pub purpose: ToolPurpose,
    /// Short title: a verb, or what the agent says that the call is for.
    pub title: String,
    /// Path, command, query or address that the call is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Name of the MCP server, in plain words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// True if the description says all that the arguments do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub covers_arguments: bool,
    /// Exit status of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Changes to files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<FileDiff>,
    /// Tasks of a to-do list or plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub todos: Vec<Todo>,
    /// Sources that a search found, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// What is left out of the lists above.
    #[serde(default, skip_serializing_if = "Omitted::is_nothing")]
    pub omitted: Omitted,
}

/// Change of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileDiff {
    /// Path of the file.
    pub path: String,
    /// Kind of the change.
    pub change: FileChange,
    /// New path of a moved file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// Lines, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<DiffLine>,
}

/// Kind of a change to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// A part of it is replaced.
    #[default]
    Update,
    /// It is written whole.
    Write,
    /// It is removed.
    Delete,
}

/// One line of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffLine {
    /// Kind of the line.
    pub change: LineChange,
    /// Its number, from 1: in the old file if it is removed, else in the new one. Missing if it is
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Its text, without the line end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// Kind of a line in a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LineChange {
    /// In both versions.
    Same,
    /// In the new version only.
    Added,
    /// In the old version only.
    Removed,
    /// Lines in between are not part of the change; the text may name the place.
    Gap,
}

/// One task of a to-do list or plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Todo {
    /// The task.
    pub text: String,
    /// Its state.
    pub state: TodoState,
}

/// State of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    /// Not begun.
    #[default]
    Pending,
    /// Being worked on.
    Active,
    /// Finished.
    Done,
    /// Given up.
    Cancelled,
}

/// A source that a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// Address of the source.
    pub url: String,
    /// Title of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Counts of what a description leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Omitted {
    /// Lines of changes.
    #[serde(skip_serializing_if = "is_zero")]
    pub diff_lines: u32,
    /// Changed files.
    #[serde(skip_serializing_if = "is_zero")]
    pub files: u32,
    /// Tasks.
    #[serde(skip_serializing_if = "is_zero")]
    pub todos: u32,
    /// Sources.
    #[serde(skip_serializing_if = "is_zero")]
    pub sources: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Omitted {
    /// Returns true if nothing is left out.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub fn is_nothing(&self) -> bool {
        *self == Omitted::default()
    }
}

impl ToolDescription {
    /// Creates a description that says all that the arguments do.
    pub(super) fn new(purpose: ToolPurpose, title: &str) -> ToolDescription {
        ToolDescription {
            purpose,
            title: shorten(title, TOOL_TITLE_BYTES_MAX),
            covers_arguments: true,
            ..ToolDescription::default()
        }
    }

    /// The description without what the arguments say: for a result that is shown apart from its
    /// call.
    #[must_use]
    pub(crate) fn of_result_alone(&self) -> ToolDescription {
        ToolDescription {
            covers_arguments: true,
            diffs: Vec::new(),
            todos: Vec::new(),
            omitted: Omitted { sources: self.omitted.sources, ..Omitted::default() },
            ..self.clone()
        }
    }

    /// Sets the target, unless the text is blank.
    #[must_use]
    #[allow(clippy::needless_pass_by_value, reason = "callers have owned and borrowed texts")]
    pub(super) fn with_target(mut self, target: Option<impl AsRef<str>>) -> ToolDescription {
        let target = target.as_ref().map(AsRef::as_ref).unwrap_or_default().trim();
        if !target.is_empty() {
            self.target = Some(shorten(target, TOOL_TARGET_BYTES_MAX));
        }
        self
    }

    /// Adds a source that is not listed yet.
    pub(super) fn add_source_once(&mut self, source: Source) {
        if self.sources.iter().any(|known| known.url == source.url) {
            return;
        }
        if TOOL_SOURCES_MAX <= self.sources.len() {
            self.omitted.sources = self.omitted.sources.saturating_add(1);
        } else {
            self.sources.push(source);
        }
    }

    /// Title and target on one line: `Edit src/main.rs`, `$ cargo test`.
    pub fn summary_line(&self) -> String {
        let target = self.target.as_deref().unwrap_or_default();
        let line = match (self.purpose, target) {
            (ToolPurpose::Command, target) if !target.is_empty() => return format!("$ {target}"),
            (ToolPurpose::Mcp, _) if self.server.is_some() => {
                format!("{}: {}", self.server.as_deref().unwrap_or_default(), self.title)
            }
            _ => self.title.clone(),
        };
        if target.is_empty() { line } else { format!("{line} {target}") }
    }
}
