//! MCP servers, over stdio or streamable HTTP.
//!
//! A server is started when its tools are first needed, and restarted when it has exited. Its tool
//! descriptions go to the model only; no decision depends on them.

mod config;
mod tool_result;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ProgressNotificationParam, ServerResult,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestHandle, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::{Map, Value};
use tokio::process::Command;
use tokio::sync::{Mutex, broadcast};

use crate::process::ProcessGroup;
use crate::tools::{CallResult, UpdateContent, UpdateSender};

pub use config::{McpConfigError, McpTool, parse_enabled_mcp_servers};

/// Transport of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTransport {
    Command { program: String, arguments: Vec<String>, environment: BTreeMap<String, String> },
    Http { url: String, headers: BTreeMap<String, String> },
}

/// Time a server has to start, and to list its tools.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Time before a server that failed to start is started again.
const RESTART_DELAY: Duration = Duration::from_secs(20);
/// Time one call may take.
const CALL_TIMEOUT: Duration = Duration::from_mins(10);
/// Progress notifications buffered for a slow receiver.
const PROGRESS_QUEUED_MAX: usize = 256;

/// An MCP server and its connection.
#[derive(Debug)]
pub struct McpServer {
    /// Its name in the configuration.
    pub name: String,
    /// Its transport.
    pub transport: ServerTransport,
    folder: PathBuf,
    client: reqwest::Client,
    connection: Mutex<ConnectionState>,
}

/// State of a server's connection.
#[derive(Debug, Default)]
enum ConnectionState {
    #[default]
    NotStarted,
    Connected(Arc<McpConnection>),
    /// It failed to start at this time.
    Failed(ServerUnavailable, Instant),
}

/// An open connection.
struct McpConnection {
    service: RunningService<RoleClient, NotificationHandler>,
    listed_tools: Mutex<Option<Arc<Vec<McpTool>>>>,
    /// Terminated with the connection.
    _group: Option<ProcessGroup>,
}

impl std::fmt::Debug for McpConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connected")
    }
}

/// Handles a server's notifications.
#[derive(Clone, Debug)]
struct NotificationHandler {
    progress: broadcast::Sender<ProgressNotificationParam>,
    tools_changed: Arc<AtomicBool>,
}

impl ClientHandler for NotificationHandler {
    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        // Without a call there is no receiver.
        let _unreceived = self.progress.send(progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.store(true, Ordering::Release);
    }
}

/// Error of a server whose tools cannot be used now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("MCP server `{server}` {words}")]
pub struct ServerUnavailable {
    server: String,
    words: String,
}

impl McpServer {
    /// Configures a server; starts nothing.
    pub fn new(
        name: String,
        transport: ServerTransport,
        folder: PathBuf,
        client: reqwest::Client,
    ) -> McpServer {
        McpServer { name, transport, folder, client, connection: Mutex::default() }
    }

    fn unavailable_error(&self, message: impl Into<String>) -> ServerUnavailable {
        ServerUnavailable { server: self.name.clone(), words: message.into() }
    }

    /// Lists its tools; cached until the server reports a change.
    pub async fn list_tools(&self) -> Result<Arc<Vec<McpTool>>, ServerUnavailable> {
        let connection = self.connect_if_needed().await?;
        let mut cached_tools = connection.listed_tools.lock().await;
        if connection.service.service().tools_changed.swap(false, Ordering::AcqRel) {
            *cached_tools = None;
        }
        if let Some(tools) = &*cached_tools {
            return Ok(Arc::clone(tools));
        }
        let listing = tokio::time::timeout(START_TIMEOUT, connection.service.list_all_tools());
        let tools = match listing.await {
            Err(_) => return Err(self.unavailable_error("did not list its tools in time")),
            Ok(Err(error)) => {
                return Err(self.unavailable_error(format!("could not list its tools: {error}")));
            }
            Ok(Ok(tools)) => Arc::new(tools.into_iter().map(McpTool::from).collect::<Vec<_>>()),
        };
        *cached_tools = Some(Arc::clone(&tools));
        Ok(tools)
    }

    /// Calls a tool. Dropping the future cancels the call on the server.
    pub async fn call_tool(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        updates: &UpdateSender,
    ) -> CallResult {
        match self.try_call_tool(tool, arguments, updates).await {
            Ok(result) => result,
            Err(error) => CallResult::failed(format!("{error}.")),
        }
    }

    async fn try_call_tool(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        updates: &UpdateSender,
    ) -> Result<CallResult, ServerUnavailable> {
        let connection = self.connect_if_needed().await?;
        let mut progress = connection.service.service().progress.subscribe();
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent =
            connection.service.send_cancellable_request(request, PeerRequestOptions::no_options());
        let handle = sent
            .await
            .map_err(|error| self.unavailable_error(format!("could not be called: {error}")))?;
        let mut call = CancelOnDrop(Some(handle));
        let over = tokio::time::sleep(CALL_TIMEOUT);
        tokio::pin!(over);
        // Notifications may arrive out of order; progress only grows.
        let mut last_progress = f64::NEG_INFINITY;
        let result = loop {
            let Some(handle) = &mut call.0 else { return Err(self.unavailable_error("is gone")) };
            tokio::select! {
                biased;
                Ok(heard) = progress.recv() => {
                    if heard.progress_token == handle.progress_token && heard.progress > last_progress {
                        last_progress = heard.progress;
                        updates.send(UpdateContent::Progress(tool_result::progress_text(&heard))).await;
                    }
                }
                result = &mut handle.rx => {
                    call.0 = None;
                    break result;
                }
                () = &mut over => return Err(self.unavailable_error("did not answer in time")),
            }
        };
        match result {
            Ok(Ok(ServerResult::CallToolResult(result))) => {
                Ok(tool_result::send_content_as_updates(result, updates).await)
            }
            Ok(Ok(_)) => Err(self.unavailable_error("sent an unexpected response")),
            Ok(Err(error)) => Err(self.unavailable_error(format!("rejected the call: {error}"))),
            Err(_) => {
                Err(self.unavailable_error("exited during the call; it restarts at the next use"))
            }
        }
    }

    /// The open connection; starts the server if needed, but not again within the restart delay.
    async fn connect_if_needed(&self) -> Result<Arc<McpConnection>, ServerUnavailable> {
        let mut state = self.connection.lock().await;
        match &*state {
            ConnectionState::Connected(connection) if connection.is_open() => {
                return Ok(Arc::clone(connection));
            }
            ConnectionState::Failed(error, since) if since.elapsed() < RESTART_DELAY => {
                return Err(error.clone());
            }
            ConnectionState::Connected(_)
            | ConnectionState::Failed(..)
            | ConnectionState::NotStarted => {}
        }
        *state = ConnectionState::NotStarted;
        let started = tokio::time::timeout(START_TIMEOUT, self.start_connection())
            .await
            .unwrap_or_else(|_| Err(self.unavailable_error("did not start in time")));
        match started {
            Ok(connection) => {
                let connection = Arc::new(connection);
                *state = ConnectionState::Connected(Arc::clone(&connection));
                Ok(connection)
            }
            Err(error) => {
                *state = ConnectionState::Failed(error.clone(), Instant::now());
                Err(error)
            }
        }
    }

    /// Starts the server process or opens the HTTP session.
    async fn start_connection(&self) -> Result<McpConnection, ServerUnavailable> {
        let (progress, _) = broadcast::channel(PROGRESS_QUEUED_MAX);
        let handler = NotificationHandler { progress, tools_changed: Arc::default() };
        let start_error =
            |error: String| self.unavailable_error(format!("failed to start: {error}"));
        let (service, group) = match &self.transport {
            ServerTransport::Command { program, arguments, environment: variables } => {
                let mut command = Command::new(program);
                command.args(arguments).envs(variables).current_dir(&self.folder);
                command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
                // Diagnostics only; to see them, run the server by hand.
                command.stderr(std::process::Stdio::null());
                let mut group =
                    ProcessGroup::spawn(command).map_err(|error| start_error(error.to_string()))?;
                let pipes = group.take_stdout().zip(group.take_stdin());
                let (output, input) = pipes.ok_or_else(|| start_error("no pipes".to_owned()))?;
                let started = handler.serve((output, input)).await;
                (started.map_err(|error| start_error(error.to_string()))?, Some(group))
            }
            ServerTransport::Http { url, headers } => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                config.custom_headers = parse_http_headers(headers).map_err(start_error)?;
                let transport =
                    StreamableHttpClientTransport::with_client(self.client.clone(), config);
                let started = handler.serve(transport).await;
                (started.map_err(|error| start_error(error.to_string()))?, None)
            }
        };
        Ok(McpConnection { service, listed_tools: Mutex::new(None), _group: group })
    }
}

fn parse_http_headers(
    headers: &BTreeMap<String, String>,
) -> Result<std::collections::HashMap<HeaderName, HeaderValue>, String> {
    let parse = |(name, value): (&String, &String)| {
        let parsed = (name.parse::<HeaderName>(), value.parse::<HeaderValue>());
        match parsed {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                Ok((name, value))
            }
            _ => Err(format!("`{name}` is not a valid header")),
        }
    };
    headers.iter().map(parse).collect()
}

impl McpConnection {
    fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed()
    }
}

/// Cancels the call on the server when dropped.
struct CancelOnDrop(Option<RequestHandle<RoleClient>>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(handle.cancel(Some("the run was stopped".to_owned())));
        }
    }
}
