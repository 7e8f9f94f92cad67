//! What a tool call did, in words and lists for people, whatever its agent calls the tool.
//!
//! A pure function of the tool's name, kind, server and complete arguments, to which the result
//! adds what only it has. The names of tools and of their arguments are data of this module. An
//! unknown tool is described by its name. Any arguments give a description, and it is bounded.

mod arguments;
mod bounded;
mod changes;
mod description;
mod diff;
mod exit_status;
mod names;
mod opaque_state;
mod patch_text;
mod sources;
mod todos;

use crate::event::{ToolKind, ToolOutcome};
use crate::limits::{OUTPUT_BYTES_SHOWN_MAX, TOOL_STATUS_OUTPUT_BYTES_MAX, TOOL_WORD_BYTES_MAX};

use arguments::Arguments;
use changes::find_changes;
pub use description::{
    DiffLine, FileChange, FileDiff, LineChange, Omitted, Source, Todo, TodoState, ToolDescription,
    ToolPurpose,
};
use names::{find_tool, split_mcp_name, to_words};
pub use opaque_state::OpaqueStateFilter;

/// A tool call with its complete arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// Name of the tool.
    pub name: &'a str,
    /// Kind of the tool.
    pub kind: ToolKind,
    /// MCP server of the tool.
    pub server: Option<&'a str>,
    /// Arguments, as the model wrote them.
    pub arguments: &'a str,
}

/// Result of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolResult<'a> {
    /// Output, or its beginning.
    pub output: &'a str,
    /// Outcome.
    pub outcome: ToolOutcome,
    /// Reason or exit code.
    pub detail: Option<&'a str>,
}

impl ToolCall<'_> {
    /// Describes the call.
    pub fn describe(&self) -> ToolDescription {
        let arguments = Arguments::parse(self.arguments);
        match self.kind {
            ToolKind::Action => return self.describe_action(&arguments),
            ToolKind::Mcp => return self.describe_mcp(&arguments),
            _ => {}
        }
        if split_mcp_name(self.name).is_some() {
            return self.describe_mcp(&arguments);
        }
        let known = find_tool(self.name)
            .map(|(purpose, title)| fit_to_arguments(purpose, title, &arguments))
            .and_then(|(purpose, title)| describe_as(purpose, title, &arguments));
        known.unwrap_or_else(|| self.describe_by_kind(&arguments))
    }

    /// Describes a tool by its kind, because its name is unknown or its arguments do not fit it.
    fn describe_by_kind(&self, arguments: &Arguments<'_>) -> ToolDescription {
        let (purpose, title) = match self.kind {
            ToolKind::Command => (ToolPurpose::Command, "Run"),
            ToolKind::Edit => (ToolPurpose::Edit, "Edit"),
            ToolKind::WebSearch => (ToolPurpose::WebSearch, "Web search"),
            ToolKind::WebFetch => (ToolPurpose::Fetch, "Fetch"),
            ToolKind::FileSearch => (ToolPurpose::Search, "Search"),
            ToolKind::Agent => (ToolPurpose::Agent, "Sub-agent"),
            ToolKind::CodeInterpreter => {
                let code = arguments.command();
                let text = ToolDescription::new(ToolPurpose::Other, "Run code");
                return text.with_target(code);
            }
            ToolKind::Function
            | ToolKind::Mcp
            | ToolKind::ImageGeneration
            | ToolKind::Action
            | ToolKind::Builtin => return describe_other(self.name, arguments),
        };
        if let Some(description) = describe_as(purpose, title, arguments) {
            return description;
        }
        // Some agents name a call by what it does: the name is all there is.
        let is_phrase = self.name.contains(' ');
        let mut description = describe_other(self.name, arguments);
        description.purpose = purpose;
        if is_phrase && purpose == ToolPurpose::Command && description.target.is_none() {
            return ToolDescription { title: title.to_owned(), ..description }
                .with_target(Some(self.name));
        }
        if purpose == ToolPurpose::Edit {
            description.set_diffs(find_changes(arguments));
            description.covers_arguments |= !description.diffs.is_empty();
        }
        description
    }

    /// Describes a call to an MCP server.
    fn describe_mcp(&self, arguments: &Arguments<'_>) -> ToolDescription {
        let (server, tool) = split_mcp_name(self.name)
            .map_or((self.server, self.name), |(server, tool)| (Some(server), tool));
        let mut description = describe_other(&to_words(tool), arguments);
        description.purpose = ToolPurpose::Mcp;
        description.server = server
            .map(|server| bounded::shorten(&to_words(server), crate::limits::TOOL_TITLE_BYTES_MAX));
        description
    }

    /// Describes a computer or browser action.
    fn describe_action(&self, arguments: &Arguments<'_>) -> ToolDescription {
        let inner = arguments.get(&["action"]).and_then(serde_json::Value::as_object);
        let action = arguments
            .string(&["action"])
            .or_else(|| arguments::find_text(inner?, &["type"]))
            .or_else(|| arguments.string(&["type"]));
        let name = action.as_deref().unwrap_or(self.name);
        let mut description = describe_other(&to_words(name), arguments);
        description.purpose = ToolPurpose::Computer;
        let target = arguments.url().or_else(|| arguments.text().map(str::to_owned));
        description.target = None;
        description.with_target(
            target.or_else(|| {
                arguments.string(&["text", "key", "keys", "coordinate", "element", "ref"])
            }),
        )
    }
}

/// Adds to a description what only the result says.
impl ToolDescription {
    /// Bytes at the start of the output that [`ToolDescription::add_result`] reads.
    pub fn result_bytes_read(&self) -> usize {
        match self.purpose {
            ToolPurpose::Command => TOOL_STATUS_OUTPUT_BYTES_MAX,
            ToolPurpose::WebSearch => OUTPUT_BYTES_SHOWN_MAX,
            // Some agents report a change only when it is made.
            ToolPurpose::Edit | ToolPurpose::Write if self.diffs.is_empty() => {
                OUTPUT_BYTES_SHOWN_MAX
            }
            ToolPurpose::Edit
            | ToolPurpose::Write
            | ToolPurpose::Read
            | ToolPurpose::Search
            | ToolPurpose::List
            | ToolPurpose::Fetch
            | ToolPurpose::Todo
            | ToolPurpose::Plan
            | ToolPurpose::Agent
            | ToolPurpose::Mcp
            | ToolPurpose::Computer
            | ToolPurpose::Other => 0,
        }
    }

    /// Adds the exit status of a command, the sources of a search, or a reported change.
    pub fn add_result(&mut self, result: ToolResult<'_>) {
        let bytes = self.result_bytes_read().min(result.output.len());
        let output = &result.output[..result.output.floor_char_boundary(bytes)];
        match self.purpose {
            ToolPurpose::Command => {
                self.exit_code = exit_status::find_exit_code(output, result.outcome, result.detail);
            }
            ToolPurpose::WebSearch => self.add_sources_of_output(output),
            ToolPurpose::Edit | ToolPurpose::Write if self.diffs.is_empty() => {
                let mut values = serde_json::Deserializer::from_str(output).into_iter();
                let mut list = Vec::new();
                while let Some(Ok(value)) = values.next() {
                    list.push(value);
                }
                self.set_diffs(find_changes(&Arguments::List(list)));
            }
            ToolPurpose::Edit
            | ToolPurpose::Write
            | ToolPurpose::Read
            | ToolPurpose::Search
            | ToolPurpose::List
            | ToolPurpose::Fetch
            | ToolPurpose::Todo
            | ToolPurpose::Plan
            | ToolPurpose::Agent
            | ToolPurpose::Mcp
            | ToolPurpose::Computer
            | ToolPurpose::Other => {}
        }
    }
}

/// Purpose and title of a tool that does several things, by its arguments.
fn fit_to_arguments(
    purpose: ToolPurpose,
    title: &'static str,
    arguments: &Arguments<'_>,
) -> (ToolPurpose, &'static str) {
    if purpose != ToolPurpose::Edit {
        return (purpose, title);
    }
    match arguments.string(&["command"]).as_deref() {
        Some("view") => (ToolPurpose::Read, "Read"),
        Some("create") => (ToolPurpose::Write, "Write"),
        _ => (purpose, title),
    }
}

/// Describes a call with this purpose; `None` if the arguments do not have what it needs.
fn describe_as(
    purpose: ToolPurpose,
    title: &str,
    arguments: &Arguments<'_>,
) -> Option<ToolDescription> {
    let described = ToolDescription::new(purpose, title);
    Some(match purpose {
        ToolPurpose::Command => {
            let command = arguments.command().or_else(|| arguments.text().map(str::to_owned))?;
            let why = arguments.string(&["description"]);
            ToolDescription::new(purpose, why.as_deref().unwrap_or(title))
                .with_target(Some(command))
        }
        ToolPurpose::Read => described.with_target(Some(arguments.path()?)),
        ToolPurpose::Edit | ToolPurpose::Write => describe_edit(described, arguments)?,
        ToolPurpose::Search => {
            let place = arguments.path();
            let query = match (arguments.query(), place) {
                (Some(query), Some(place)) if query != place => format!("{query} in {place}"),
                (Some(query), _) => query,
                (None, place) => place?,
            };
            described.with_target(Some(query))
        }
        ToolPurpose::List => described.with_target(arguments.path()),
        ToolPurpose::WebSearch => {
            let query = arguments.query().or_else(|| arguments.text().map(str::to_owned))?;
            let mut described = described.with_target(Some(query));
            if let Some(action) = arguments.get(&["action", "sources"]) {
                described.add_sources_of_value(action, 0);
            }
            described
        }
        ToolPurpose::Fetch => {
            let url = arguments.url().or_else(|| arguments.string(&["prompt"]))?;
            described.with_target(Some(url))
        }
        ToolPurpose::Todo | ToolPurpose::Plan => {
            let mut described = described;
            described.set_todos(arguments);
            let text = arguments.string(&["plan", "response", "explanation"]);
            if described.todos.is_empty() && text.is_none() {
                described.covers_arguments = is_empty(arguments);
            }
            described.with_target(text.filter(|_| purpose == ToolPurpose::Plan))
        }
        ToolPurpose::Agent => {
            let task = arguments.string(&["description", "title", "objective", "name", "subject"]);
            let prompt =
                arguments.string(&["prompt", "message", "task", "instructions", "content"]);
            let first_line = prompt.as_deref().and_then(|prompt| prompt.trim().lines().next());
            described.with_target(Some(task.as_deref().or(first_line)?))
        }
        ToolPurpose::Other | ToolPurpose::Mcp | ToolPurpose::Computer => {
            describe_other(title, arguments)
        }
    })
}

/// Describes a change of files; `None` without a path and without a change.
fn describe_edit(
    mut described: ToolDescription,
    arguments: &Arguments<'_>,
) -> Option<ToolDescription> {
    described.set_diffs(find_changes(arguments));
    let path = arguments.path().filter(|path| path.len() <= TOOL_WORD_BYTES_MAX);
    let target = match (&described.diffs[..], path) {
        ([], path) => path?,
        ([one], _) if !one.path.is_empty() => match &one.moved_to {
            Some(to) => format!("{} -> {to}", one.path),
            None => one.path.clone(),
        },
        ([one], path) => path.unwrap_or_else(|| one.path.clone()),
        (several, _) => {
            let paths: Vec<&str> = several.iter().map(|diff| &*diff.path).collect();
            paths.join(", ")
        }
    };
    if let ([FileDiff { change, .. }], "Edit") = (&described.diffs[..], &*described.title) {
        let title = match change {
            FileChange::Update => "Edit",
            FileChange::Write => "Write",
            FileChange::Delete => "Delete",
        };
        title.clone_into(&mut described.title);
    }
    let has_change = !described.diffs.is_empty() || described.title != "Edit";
    described.covers_arguments = has_change || arguments.members().is_some_and(|all| all.len() < 2);
    Some(described.with_target(Some(target)))
}

/// Describes a tool by its name, with the one argument that says what it is about.
fn describe_other(name: &str, arguments: &Arguments<'_>) -> ToolDescription {
    let described = ToolDescription::new(ToolPurpose::Other, name);
    let is_short = |text: &String| text.len() <= TOOL_WORD_BYTES_MAX && !text.contains('\n');
    let Some(members) = arguments.members() else {
        let text = arguments.text().map(str::to_owned).filter(is_short);
        let covers_arguments = text.is_some() || is_empty(arguments);
        return ToolDescription { covers_arguments, ..described }.with_target(text);
    };
    let telling = arguments
        .path()
        .or_else(|| arguments.url())
        .or_else(|| arguments.query())
        .or_else(|| arguments.string(&["question", "name", "title", "prompt", "text", "id"]));
    let mut texts = members.values().filter_map(serde_json::Value::as_str);
    let only = texts.next().filter(|_| texts.next().is_none()).map(str::to_owned);
    let target = telling.or(only).filter(is_short).filter(|text| !text.trim().is_empty());
    let covers_arguments = members.is_empty() || (members.len() == 1 && target.is_some());
    ToolDescription { covers_arguments, ..described }.with_target(target)
}

/// Returns true if there are no arguments.
fn is_empty(arguments: &Arguments<'_>) -> bool {
    match arguments {
        Arguments::Members(members) => members.is_empty(),
        Arguments::List(list) => list.is_empty(),
        Arguments::Text(text) => text.trim().is_empty(),
    }
}
