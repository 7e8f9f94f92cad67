//! Built-in tools and the catalogue of all tools.
//!
//! A call is prepared first: that changes nothing and describes exactly what would happen. The
//! prepared action is what runs. An approval is bound to its digest.

mod action_digest;
mod builtin;
mod chart;
mod command;
mod files;
mod update;
mod web_fetch;
mod working_folder;
mod write;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::join_all;
use millpond_engine::event::{AskKind, ToolKind};
use millpond_engine::run::ActionNames;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::conversation::{Call, qualify_tool_name_for_model};
use crate::mcp::{McpServer, McpTool, ServerUnavailable};
use crate::request::ToolSpec;
use crate::run_writer::{ToolDetails, ToolDetailsByName};

pub use action_digest::ActionDigest;
pub use builtin::BuiltinTool;
pub use update::{CallResult, ToolUpdate, UpdateContent, UpdateSender};
pub use working_folder::{OpenFolderError, WorkingFolder};

/// A prepared call: its action, description and digest.
#[derive(Clone, Debug)]
pub struct PreparedCall {
    /// Action to run.
    pub action: ToolAction,
    /// Kind of the approval ask.
    pub ask_kind: AskKind,
    /// Text shown to the person who approves it.
    pub description: String,
    /// Digest of the call and of the current state that it acts on.
    pub digest: ActionDigest,
}

/// A prepared action of a tool.
#[derive(Clone, Debug)]
pub enum ToolAction {
    Read(files::ReadFile),
    List(files::ListFiles),
    Search(files::SearchFiles),
    Write(write::FileWrite),
    RunCommand(command::ShellCommand),
    Fetch(web_fetch::WebFetch),
    DrawChart,
    /// A tool of an MCP server.
    CallRemoteTool(RemoteTool, Map<String, Value>),
    /// Ends the run with a question.
    AskPerson(String),
}

impl ToolAction {
    /// True if the action may change files in the working folder.
    pub fn may_change_files(&self) -> bool {
        match self {
            ToolAction::Write(_) | ToolAction::RunCommand(_) | ToolAction::CallRemoteTool(..) => {
                true
            }
            ToolAction::Read(_)
            | ToolAction::List(_)
            | ToolAction::Search(_)
            | ToolAction::Fetch(_)
            | ToolAction::DrawChart
            | ToolAction::AskPerson(_) => false,
        }
    }
}

/// Error message of a call, for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolCallError(pub String);

impl ToolCallError {
    fn new(message: impl Into<String>) -> ToolCallError {
        ToolCallError(message.into())
    }
}

/// Built-in tools of a working folder, and MCP servers.
#[derive(Clone, Debug)]
pub struct Toolbox {
    /// The working folder.
    pub folder: WorkingFolder,
    /// Enabled built-in tools.
    pub builtins: Vec<BuiltinTool>,
    /// MCP servers.
    pub servers: Vec<Arc<McpServer>>,
}

/// A tool of an MCP server, as the server listed it.
#[derive(Clone, Debug)]
pub struct RemoteTool {
    server: Arc<McpServer>,
    tool: McpTool,
}

/// All tools available now, by the names that the model uses.
#[derive(Clone, Debug, Default)]
pub struct ToolCatalogue {
    /// Definitions for the model.
    pub specs: Vec<ToolSpec>,
    /// Details that are added to events.
    pub details: ToolDetailsByName,
    remote_tools: BTreeMap<String, RemoteTool>,
}

impl RemoteTool {
    fn tool_and_ask_kind(&self) -> (ToolKind, AskKind) {
        if ActionNames::default().is_action(&self.tool.name, Some(&self.server.name)) {
            (ToolKind::Action, AskKind::Browser)
        } else {
            (ToolKind::Mcp, AskKind::Mcp)
        }
    }

    fn prepare_call(&self, call: &Call) -> Result<PreparedCall, ToolCallError> {
        let arguments: Map<String, Value> = parse_arguments(call)?;
        let RemoteTool { server, tool } = self;
        let description =
            format!("{}: {}\n{:#}", server.name, tool.name, Value::from(arguments.clone()));
        let digest = ActionDigest::of_remote(&call.name, &call.arguments, &server.transport, tool);
        let (_, kind) = self.tool_and_ask_kind();
        Ok(PreparedCall {
            action: ToolAction::CallRemoteTool(self.clone(), arguments),
            ask_kind: kind,
            description,
            digest,
        })
    }
}

impl Toolbox {
    /// The enabled built-in tool of that name.
    pub fn find_enabled_builtin(&self, name: &str) -> Option<BuiltinTool> {
        self.builtins.iter().copied().find(|tool| tool.name() == name)
    }

    /// Lists all tools, asking every MCP server; also returns the servers that are unavailable.
    pub async fn connect_servers_and_build_catalogue(
        &self,
    ) -> (ToolCatalogue, Vec<ServerUnavailable>) {
        let mut catalogue = ToolCatalogue::default();
        let mut missing = Vec::new();
        for tool in &self.builtins {
            let name = tool.name().to_owned();
            catalogue.specs.push(tool.tool_spec());
            catalogue
                .details
                .insert(name.clone(), ToolDetails { kind: tool.tool_kind(), server: None, name });
        }
        let listings =
            self.servers.iter().map(|server| async move { (server, server.list_tools().await) });
        for (server, tools) in join_all(listings).await {
            match tools {
                Ok(tools) => tools
                    .iter()
                    .for_each(|tool| catalogue.add_remote_tool_if_name_free(server, tool)),
                Err(error) => missing.push(error),
            }
        }
        (catalogue, missing)
    }

    /// Prepares a call; changes nothing.
    pub fn prepare_call(
        &self,
        catalogue: &ToolCatalogue,
        call: &Call,
    ) -> Result<PreparedCall, ToolCallError> {
        if let Some(remote) = catalogue.remote_tools.get(&call.name) {
            return remote.prepare_call(call);
        }
        let tool = self.find_enabled_builtin(&call.name).ok_or_else(|| {
            let names: Vec<_> = catalogue.details.keys().map(String::as_str).collect();
            ToolCallError(format!("Unknown tool `{}`. Available: {}.", call.name, names.join(", ")))
        })?;
        let (action, kind, description, state) = match tool {
            BuiltinTool::ReadFile => {
                let read = files::ReadFile::prepare(&self.folder, &parse_arguments(call)?)?;
                (
                    ToolAction::Read(read.clone()),
                    AskKind::Tool,
                    format!("Read {}", read.path),
                    json!(null),
                )
            }
            BuiltinTool::ListFiles => {
                let list = files::ListFiles::prepare(&self.folder, &parse_arguments(call)?)?;
                let description = format!("List the files in {}", list.path);
                (ToolAction::List(list), AskKind::Tool, description, json!(null))
            }
            BuiltinTool::SearchFiles => {
                let search = files::SearchFiles::prepare(&self.folder, parse_arguments(call)?)?;
                let description = format!("Search for `{}` in {}", search.pattern, search.path);
                (ToolAction::Search(search), AskKind::Tool, description, json!(null))
            }
            BuiltinTool::WriteFile => build_write_action(write::FileWrite::prepare_whole(
                &self.folder,
                parse_arguments(call)?,
            )?),
            BuiltinTool::EditFile => build_write_action(write::FileWrite::prepare_edit(
                &self.folder,
                &parse_arguments(call)?,
            )?),
            BuiltinTool::RunCommand => {
                let run = command::ShellCommand::prepare(&self.folder, parse_arguments(call)?)?;
                let (description, state) = (run.description(), run.state_for_digest());
                (ToolAction::RunCommand(run), AskKind::Command, description, state)
            }
            BuiltinTool::FetchPage => {
                let fetch = web_fetch::WebFetch::prepare(&parse_arguments(call)?)?;
                let description = format!("Fetch {}", fetch.url);
                (ToolAction::Fetch(fetch), AskKind::Tool, description, json!(null))
            }
            BuiltinTool::AskUser => {
                let QuestionArguments { question } = parse_arguments(call)?;
                (ToolAction::AskPerson(question.clone()), AskKind::Followup, question, json!(null))
            }
            BuiltinTool::DrawChart => {
                (ToolAction::DrawChart, AskKind::Tool, "Draw a chart".to_owned(), json!(null))
            }
        };
        let digest = ActionDigest::of_builtin(&call.name, &call.arguments, &state);
        Ok(PreparedCall { action, ask_kind: kind, description, digest })
    }

    /// Runs a prepared action. Dropping the future stops it and all processes it started.
    pub async fn run_action(&self, action: ToolAction, updates: UpdateSender) -> CallResult {
        let result = match action {
            ToolAction::Read(read) => {
                updates.send_output_unless_error(run_blocking(move || read.run()).await).await
            }
            ToolAction::List(list) => {
                updates.send_output_unless_error(run_blocking(move || list.run()).await).await
            }
            ToolAction::Search(search) => {
                updates.send_output_unless_error(run_blocking(move || search.run()).await).await
            }
            ToolAction::Write(write) => {
                updates.send_output_unless_error(run_blocking(move || write.run()).await).await
            }
            ToolAction::RunCommand(run) => run.run(&updates).await,
            ToolAction::Fetch(fetch) => updates.send_output_unless_error(fetch.run().await).await,
            ToolAction::DrawChart => {
                let root = self.folder.clone();
                match run_blocking(move || chart::draw_file_size_chart(&root)).await {
                    Ok((description, bytes)) => {
                        updates.send_output(description).await;
                        let base64 = STANDARD.encode(bytes);
                        updates
                            .send(UpdateContent::Image {
                                media_type: "image/png".to_owned(),
                                base64,
                            })
                            .await;
                        Ok(())
                    }
                    Err(error) => Err(error),
                }
            }
            ToolAction::CallRemoteTool(RemoteTool { server, tool }, arguments) => {
                return server.call_tool(&tool.name, arguments, &updates).await;
            }
            ToolAction::AskPerson(_) => Ok(()),
        };
        result.map_or_else(|error| CallResult::failed(error.0), |()| CallResult::succeeded())
    }
}

impl ToolCatalogue {
    fn add_remote_tool_if_name_free(&mut self, server: &Arc<McpServer>, tool: &McpTool) {
        let name = qualify_tool_name_for_model(Some(&server.name), &tool.name);
        if self.details.contains_key(&name) {
            return;
        }
        let remote = RemoteTool { server: Arc::clone(server), tool: tool.clone() };
        let (kind, _) = remote.tool_and_ask_kind();
        let schema = Value::from(tool.schema.clone());
        self.specs.push(ToolSpec {
            name: name.clone(),
            description: tool.description.clone(),
            schema,
        });
        let details =
            ToolDetails { kind, server: Some(server.name.clone()), name: tool.name.clone() };
        self.details.insert(name.clone(), details);
        self.remote_tools.insert(name, remote);
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionArguments {
    question: String,
}

fn build_write_action(write: write::FileWrite) -> (ToolAction, AskKind, String, Value) {
    let (description, state) = (write.diff_text(), write.state_for_digest());
    (ToolAction::Write(write), AskKind::Tool, description, state)
}

/// Parses the arguments of a call.
fn parse_arguments<T: DeserializeOwned>(call: &Call) -> Result<T, ToolCallError> {
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    serde_json::from_str(text)
        .map_err(|error| ToolCallError(format!("Invalid arguments for `{}`: {error}.", call.name)))
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolCallError> + Send + 'static,
) -> Result<T, ToolCallError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(ToolCallError::new("The tool crashed.")))
}

/// A relative path for people; `.` for the folder itself.
fn display_path(path: &std::path::Path) -> String {
    match path.to_string_lossy() {
        name if name.is_empty() => ".".to_owned(),
        name => name.into_owned(),
    }
}

fn capped_timeout_or_default(seconds: Option<u64>, default: Duration, max: Duration) -> Duration {
    seconds.map_or(default, Duration::from_secs).min(max)
}
