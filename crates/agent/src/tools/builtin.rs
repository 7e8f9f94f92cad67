//! The built-in tools: definitions for the model and default policies.

use millpond_engine::event::ToolKind;
use serde_json::{Value, json};

use crate::policy::ToolPolicy;
use crate::request::ToolSpec;

/// A built-in tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltinTool {
    ReadFile,
    ListFiles,
    SearchFiles,
    WriteFile,
    EditFile,
    RunCommand,
    FetchPage,
    AskUser,
    /// Only for the demo.
    DrawChart,
}

impl BuiltinTool {
    /// All built-in tools except the demo's.
    pub const ALL: [BuiltinTool; 8] = [
        BuiltinTool::ReadFile,
        BuiltinTool::ListFiles,
        BuiltinTool::SearchFiles,
        BuiltinTool::WriteFile,
        BuiltinTool::EditFile,
        BuiltinTool::RunCommand,
        BuiltinTool::FetchPage,
        BuiltinTool::AskUser,
    ];

    /// Name by which the model calls it.
    pub fn name(self) -> &'static str {
        match self {
            BuiltinTool::ReadFile => "read_file",
            BuiltinTool::ListFiles => "list_files",
            BuiltinTool::SearchFiles => "search_files",
            BuiltinTool::WriteFile => "write_file",
            BuiltinTool::EditFile => "edit_file",
            BuiltinTool::RunCommand => "run_command",
            BuiltinTool::FetchPage => "fetch_page",
            BuiltinTool::AskUser => "ask_user",
            BuiltinTool::DrawChart => "draw_chart",
        }
    }

    /// Policy unless the profile sets one: tools that write, run or send need approval.
    pub fn default_policy(self) -> ToolPolicy {
        match self {
            BuiltinTool::ReadFile
            | BuiltinTool::ListFiles
            | BuiltinTool::SearchFiles
            | BuiltinTool::AskUser
            | BuiltinTool::DrawChart => ToolPolicy::Allow,
            BuiltinTool::WriteFile
            | BuiltinTool::EditFile
            | BuiltinTool::RunCommand
            | BuiltinTool::FetchPage => ToolPolicy::Ask,
        }
    }

    pub(super) fn tool_kind(self) -> ToolKind {
        match self {
            BuiltinTool::RunCommand => ToolKind::Command,
            BuiltinTool::WriteFile | BuiltinTool::EditFile => ToolKind::Edit,
            BuiltinTool::FetchPage => ToolKind::WebFetch,
            BuiltinTool::DrawChart => ToolKind::ImageGeneration,
            BuiltinTool::ReadFile
            | BuiltinTool::ListFiles
            | BuiltinTool::SearchFiles
            | BuiltinTool::AskUser => ToolKind::Function,
        }
    }

    pub(super) fn description(self) -> &'static str {
        match self {
            BuiltinTool::ReadFile => "Reads a text file. Lines are numbered.",
            BuiltinTool::ListFiles => "Lists the files under a folder, with their sizes.",
            BuiltinTool::SearchFiles => "Finds lines that match a regular expression.",
            BuiltinTool::WriteFile => "Writes a whole file. Creates or replaces it.",
            BuiltinTool::EditFile => "Replaces one exact piece of a file.",
            BuiltinTool::RunCommand => "Runs a shell command in the working folder.",
            BuiltinTool::FetchPage => "Fetches a web page and gives its text.",
            BuiltinTool::AskUser => {
                "Asks the user a question. Ends your turn; the answer is their next message."
            }
            BuiltinTool::DrawChart => "Draws a chart of the file sizes by type.",
        }
    }

    pub(super) fn arguments_schema(self) -> Value {
        let path = json!({ "type": "string", "description": "relative to the working folder" });
        let (members, required) = match self {
            BuiltinTool::ReadFile => (
                json!({
                    "path": path,
                    "from_line": { "type": "integer", "minimum": 1 },
                    "lines": { "type": "integer", "minimum": 1 },
                }),
                json!(["path"]),
            ),
            BuiltinTool::ListFiles => (json!({ "path": path }), json!([])),
            BuiltinTool::SearchFiles => {
                (json!({ "pattern": { "type": "string" }, "path": path }), json!(["pattern"]))
            }
            BuiltinTool::WriteFile => (
                json!({ "path": path, "content": { "type": "string" } }),
                json!(["path", "content"]),
            ),
            BuiltinTool::EditFile => (
                json!({
                    "path": path,
                    "old": { "type": "string", "description": "must be in the file exactly once" },
                    "new": { "type": "string" },
                }),
                json!(["path", "old", "new"]),
            ),
            BuiltinTool::RunCommand => (
                json!({
                    "command": { "type": "string" },
                    "seconds": { "type": "integer", "minimum": 1, "description": "120 if not given" },
                }),
                json!(["command"]),
            ),
            BuiltinTool::FetchPage => (json!({ "url": { "type": "string" } }), json!(["url"])),
            BuiltinTool::AskUser => {
                (json!({ "question": { "type": "string" } }), json!(["question"]))
            }
            BuiltinTool::DrawChart => (json!({}), json!([])),
        };
        json!({
            "type": "object",
            "properties": members,
            "required": required,
            "additionalProperties": false,
        })
    }

    /// Definition for the model.
    pub fn tool_spec(self) -> ToolSpec {
        ToolSpec {
            name: self.name().to_owned(),
            description: self.description().to_owned(),
            schema: self.arguments_schema(),
        }
    }
}
