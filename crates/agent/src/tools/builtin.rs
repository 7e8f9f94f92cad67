//! The tools that are always there: what a model is told of them, and who is asked about them.

use engine::event::ToolKind;
use serde_json::{Value, json};

use crate::policy::Policy;
use crate::request::Spec;

/// What a built-in tool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    ReadFile,
    ListFiles,
    SearchFiles,
    WriteFile,
    EditFile,
    RunCommand,
    FetchPage,
    AskUser,
    /// The demo agent's.
    DrawChart,
}

impl Builtin {
    pub const ALL: [Builtin; 8] = [
        Builtin::ReadFile,
        Builtin::ListFiles,
        Builtin::SearchFiles,
        Builtin::WriteFile,
        Builtin::EditFile,
        Builtin::RunCommand,
        Builtin::FetchPage,
        Builtin::AskUser,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Builtin::ReadFile => "read_file",
            Builtin::ListFiles => "list_files",
            Builtin::SearchFiles => "search_files",
            Builtin::WriteFile => "write_file",
            Builtin::EditFile => "edit_file",
            Builtin::RunCommand => "run_command",
            Builtin::FetchPage => "fetch_page",
            Builtin::AskUser => "ask_user",
            Builtin::DrawChart => "draw_chart",
        }
    }

    /// What is asked about unless a profile says otherwise: whatever writes, runs or sends.
    pub fn policy(self) -> Policy {
        match self {
            Builtin::ReadFile
            | Builtin::ListFiles
            | Builtin::SearchFiles
            | Builtin::AskUser
            | Builtin::DrawChart => Policy::Allow,
            Builtin::WriteFile | Builtin::EditFile | Builtin::RunCommand | Builtin::FetchPage => {
                Policy::Ask
            }
        }
    }

    pub(super) fn kind(self) -> ToolKind {
        match self {
            Builtin::RunCommand => ToolKind::Command,
            Builtin::WriteFile | Builtin::EditFile => ToolKind::Edit,
            Builtin::FetchPage => ToolKind::WebFetch,
            Builtin::DrawChart => ToolKind::ImageGeneration,
            Builtin::ReadFile | Builtin::ListFiles | Builtin::SearchFiles | Builtin::AskUser => {
                ToolKind::Function
            }
        }
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Builtin::ReadFile => "Reads a text file. Lines are numbered.",
            Builtin::ListFiles => "Lists the files under a folder, with their sizes.",
            Builtin::SearchFiles => "Finds lines that match a regular expression.",
            Builtin::WriteFile => "Writes a whole file, new or not.",
            Builtin::EditFile => "Replaces one exact piece of a file by another.",
            Builtin::RunCommand => "Runs a shell command in the working folder.",
            Builtin::FetchPage => "Fetches a web page and gives its text.",
            Builtin::AskUser => {
                "Asks the person something only they can say. Ends your turn; the answer is their \
                 next message."
            }
            Builtin::DrawChart => "Draws how large the files under the folder are, by their kind.",
        }
    }

    pub(super) fn schema(self) -> Value {
        let path = json!({ "type": "string", "description": "relative to the working folder" });
        let (members, required) = match self {
            Builtin::ReadFile => (
                json!({
                    "path": path,
                    "from_line": { "type": "integer", "minimum": 1 },
                    "lines": { "type": "integer", "minimum": 1 },
                }),
                json!(["path"]),
            ),
            Builtin::ListFiles => (json!({ "path": path }), json!([])),
            Builtin::SearchFiles => {
                (json!({ "pattern": { "type": "string" }, "path": path }), json!(["pattern"]))
            }
            Builtin::WriteFile => (
                json!({ "path": path, "content": { "type": "string" } }),
                json!(["path", "content"]),
            ),
            Builtin::EditFile => (
                json!({
                    "path": path,
                    "old": { "type": "string", "description": "stands in the file exactly once" },
                    "new": { "type": "string" },
                }),
                json!(["path", "old", "new"]),
            ),
            Builtin::RunCommand => (
                json!({
                    "command": { "type": "string" },
                    "seconds": { "type": "integer", "minimum": 1, "description": "120 if not given" },
                }),
                json!(["command"]),
            ),
            Builtin::FetchPage => (json!({ "url": { "type": "string" } }), json!(["url"])),
            Builtin::AskUser => (json!({ "question": { "type": "string" } }), json!(["question"])),
            Builtin::DrawChart => (json!({}), json!([])),
        };
        json!({
            "type": "object",
            "properties": members,
            "required": required,
            "additionalProperties": false,
        })
    }

    pub fn spec(self) -> Spec {
        Spec { name: self.name().to_owned(), about: self.about().to_owned(), schema: self.schema() }
    }
}
