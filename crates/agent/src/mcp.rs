//! Tools of MCP servers, over stdio or streamable HTTP.
//!
//! A server is started when its tools are first needed, and again when it has gone. What a server
//! says of its tools is told to the model and to nobody who decides anything.

mod listed;
mod result;

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

use crate::process::Group;
use crate::tools::{Done, Said, Teller};

pub use listed::{BadServers, Tool, servers_of_json};

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    Command { program: String, arguments: Vec<String>, variables: BTreeMap<String, String> },
    Http { url: String, headers: BTreeMap<String, String> },
}

/// How long a server has to start and to say what it can.
const START_TIME: Duration = Duration::from_secs(30);
/// How long one that could not be started is left alone.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(20);
/// How long one call may take.
const CALL_TIME: Duration = Duration::from_mins(10);
/// Words on progress that wait for whoever is slow to hear them.
const PROGRESS_WAITING_MAX: usize = 256;

#[derive(Debug)]
pub struct Server {
    pub name: String,
    pub how: How,
    folder: PathBuf,
    client: reqwest::Client,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Unknown,
    There(Arc<Connected>),
    /// It could not be started, so long ago.
    Away(Away, Instant),
}

/// A server that is there.
struct Connected {
    service: RunningService<RoleClient, Hearer>,
    tools: Mutex<Option<Arc<Vec<Tool>>>>,
    /// Ends with the connection.
    _group: Option<Group>,
}

impl std::fmt::Debug for Connected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connected")
    }
}

/// Hears what a server says without being asked.
#[derive(Clone, Debug)]
struct Hearer {
    progress: broadcast::Sender<ProgressNotificationParam>,
    tools_changed: Arc<AtomicBool>,
}

impl ClientHandler for Hearer {
    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        // Nobody listens when nothing is called.
        let _nobody = self.progress.send(progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.store(true, Ordering::Release);
    }
}

/// Why a server's tools cannot be used now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the MCP server `{server}` {words}")]
pub struct Away {
    server: String,
    words: String,
}

impl Server {
    pub fn new(name: String, how: How, folder: PathBuf, client: reqwest::Client) -> Server {
        Server { name, how, folder, client, state: Mutex::default() }
    }

    fn away(&self, words: impl Into<String>) -> Away {
        Away { server: self.name.clone(), words: words.into() }
    }

    /// What it can do, as it said last.
    pub async fn tools(&self) -> Result<Arc<Vec<Tool>>, Away> {
        let connected = self.connected().await?;
        let mut known = connected.tools.lock().await;
        if connected.service.service().tools_changed.swap(false, Ordering::AcqRel) {
            *known = None;
        }
        if let Some(tools) = &*known {
            return Ok(Arc::clone(tools));
        }
        let listing = tokio::time::timeout(START_TIME, connected.service.list_all_tools());
        let tools = match listing.await {
            Err(_) => return Err(self.away("does not say what it can do")),
            Ok(Err(error)) => return Err(self.away(format!("does not list its tools: {error}"))),
            Ok(Ok(tools)) => Arc::new(tools.into_iter().map(Tool::from).collect::<Vec<_>>()),
        };
        *known = Some(Arc::clone(&tools));
        Ok(tools)
    }

    /// Calls a tool. Dropped, it tells the server that the call is off.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>, teller: &Teller) -> Done {
        match self.try_call(tool, arguments, teller).await {
            Ok(done) => done,
            Err(away) => Done::failed(format!("{away}.")),
        }
    }

    async fn try_call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        teller: &Teller,
    ) -> Result<Done, Away> {
        let connected = self.connected().await?;
        let mut progress = connected.service.service().progress.subscribe();
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent =
            connected.service.send_cancellable_request(request, PeerRequestOptions::no_options());
        let handle = sent.await.map_err(|error| self.away(format!("cannot be called: {error}")))?;
        let mut call = Calling(Some(handle));
        let over = tokio::time::sleep(CALL_TIME);
        tokio::pin!(over);
        // Words that arrive together are handed on in any order; progress only ever grows.
        let mut so_far = f64::NEG_INFINITY;
        let result = loop {
            let Some(handle) = &mut call.0 else { return Err(self.away("has gone")) };
            tokio::select! {
                biased;
                Ok(heard) = progress.recv() => {
                    if heard.progress_token == handle.progress_token && heard.progress > so_far {
                        so_far = heard.progress;
                        teller.tell(Said::Progress(result::progress_words(&heard))).await;
                    }
                }
                result = &mut handle.rx => {
                    call.0 = None;
                    break result;
                }
                () = &mut over => return Err(self.away("did not answer in time")),
            }
        };
        match result {
            Ok(Ok(ServerResult::CallToolResult(result))) => Ok(result::tell(result, teller).await),
            Ok(Ok(_)) => Err(self.away("answered something else than a result")),
            Ok(Err(error)) => Err(self.away(format!("refused the call: {error}"))),
            Err(_) => Err(self.away("went away during the call; it is started again when needed")),
        }
    }

    /// The server, started if it is not there; not again and again.
    async fn connected(&self) -> Result<Arc<Connected>, Away> {
        let mut state = self.state.lock().await;
        match &*state {
            State::There(there) if there.is_there() => return Ok(Arc::clone(there)),
            State::Away(away, since) if since.elapsed() < TRY_AGAIN_AFTER => {
                return Err(away.clone());
            }
            State::There(_) | State::Away(..) | State::Unknown => {}
        }
        *state = State::Unknown;
        let started = tokio::time::timeout(START_TIME, self.start())
            .await
            .unwrap_or_else(|_| Err(self.away("did not start in time")));
        match started {
            Ok(there) => {
                let there = Arc::new(there);
                *state = State::There(Arc::clone(&there));
                Ok(there)
            }
            Err(away) => {
                *state = State::Away(away.clone(), Instant::now());
                Err(away)
            }
        }
    }

    async fn start(&self) -> Result<Connected, Away> {
        let (progress, _) = broadcast::channel(PROGRESS_WAITING_MAX);
        let hearer = Hearer { progress, tools_changed: Arc::default() };
        let wrong = |error: String| self.away(format!("cannot be started: {error}"));
        let (service, group) = match &self.how {
            How::Command { program, arguments, variables } => {
                let mut command = Command::new(program);
                command.args(arguments).envs(variables).current_dir(&self.folder);
                command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
                // What it says there is for whoever runs it by hand.
                command.stderr(std::process::Stdio::null());
                let mut group = Group::start(command).map_err(|error| wrong(error.to_string()))?;
                let pipes = group.take_output().zip(group.take_input());
                let (output, input) = pipes.ok_or_else(|| wrong("it has no pipes".to_owned()))?;
                let served = hearer.serve((output, input)).await;
                (served.map_err(|error| wrong(error.to_string()))?, Some(group))
            }
            How::Http { url, headers } => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                config.custom_headers = http_headers(headers).map_err(wrong)?;
                let transport =
                    StreamableHttpClientTransport::with_client(self.client.clone(), config);
                let served = hearer.serve(transport).await;
                (served.map_err(|error| wrong(error.to_string()))?, None)
            }
        };
        Ok(Connected { service, tools: Mutex::new(None), _group: group })
    }
}

fn http_headers(
    headers: &BTreeMap<String, String>,
) -> Result<std::collections::HashMap<HeaderName, HeaderValue>, String> {
    let parse = |(name, value): (&String, &String)| {
        let parsed = (name.parse::<HeaderName>(), value.parse::<HeaderValue>());
        match parsed {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                Ok((name, value))
            }
            _ => Err(format!("`{name}` is no header")),
        }
    };
    headers.iter().map(parse).collect()
}

impl Connected {
    fn is_there(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed()
    }
}

/// A call that is called off if nobody waits for it any more.
struct Calling(Option<RequestHandle<RoleClient>>);

impl Drop for Calling {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(handle.cancel(Some("the run was stopped".to_owned())));
        }
    }
}
