//! The tools that an agent has without any server: files, commands, pages, and the person.
//!
//! A call is prepared first, which changes nothing and says exactly what would happen; what is then
//! done is what was prepared. Whoever approves a call approves the digest of that.

mod builtin;
mod chart;
mod command;
mod files;
mod page;
mod root;
mod write;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::event::{AskKind, StepId, ToolKind, ToolOutcome};
use futures_util::future::join_all;
use gateway::digest::Digest;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::conversation::{Call, called};
use crate::mcp::{Away, Server, Tool};
use crate::pen::{Known, KnownTools};
use crate::request::Spec;

pub use builtin::Builtin;
pub use root::{NoRoot, Root};

/// What a tool has to say while it runs, and when it has ended.
#[derive(Debug)]
pub struct News {
    pub step: StepId,
    pub said: Said,
}

#[derive(Debug)]
pub enum Said {
    Output(String),
    Progress(String),
    Image { media_type: String, base64: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub outcome: ToolOutcome,
    pub detail: Option<String>,
}

impl Done {
    pub fn well() -> Done {
        Done { outcome: ToolOutcome::Succeeded, detail: None }
    }

    pub fn failed(detail: impl Into<String>) -> Done {
        Done { outcome: ToolOutcome::Failed, detail: Some(detail.into()) }
    }

    pub fn denied(detail: impl Into<String>) -> Done {
        Done { outcome: ToolOutcome::Denied, detail: Some(detail.into()) }
    }
}

/// Tells news of one step.
#[derive(Clone, Debug)]
pub struct Teller {
    pub step: StepId,
    pub news: mpsc::Sender<News>,
}

impl Teller {
    pub async fn tell(&self, said: Said) {
        // Whoever does not listen any more has been told to stop.
        let _stopped = self.news.send(News { step: self.step, said }).await;
    }

    pub async fn put_out(&self, text: impl Into<String>) {
        self.tell(Said::Output(text.into())).await;
    }
}

/// Exactly what a call would do.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub deed: Deed,
    pub kind: AskKind,
    /// What a person is shown before allowing it.
    pub words: String,
    /// Of all that decides what happens: the call, and what it would act on as that is now.
    pub digest: String,
}

#[derive(Clone, Debug)]
pub enum Deed {
    Read(files::Read),
    List(files::List),
    Search(files::Search),
    Write(write::Write),
    Run(command::Run),
    Fetch(page::Fetch),
    Chart,
    /// A tool of an MCP server.
    Remote(Remote, Map<String, Value>),
    /// The person is asked, and the run ends with the question.
    AskPerson(String),
}

impl Deed {
    /// Whether files in the working folder may be others afterwards.
    pub fn may_change_files(&self) -> bool {
        match self {
            Deed::Write(_) | Deed::Run(_) | Deed::Remote(..) => true,
            Deed::Read(_)
            | Deed::List(_)
            | Deed::Search(_)
            | Deed::Fetch(_)
            | Deed::Chart
            | Deed::AskPerson(_) => false,
        }
    }
}

/// What the model is told when a call cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadCall(pub String);

impl BadCall {
    fn new(words: impl Into<String>) -> BadCall {
        BadCall(words.into())
    }
}

/// The tools of one working folder.
#[derive(Clone, Debug)]
pub struct Toolbox {
    pub root: Root,
    pub builtins: Vec<Builtin>,
    pub servers: Vec<Arc<Server>>,
}

/// A tool of an MCP server, as the server told of it.
#[derive(Clone, Debug)]
pub struct Remote {
    server: Arc<Server>,
    tool: Tool,
}

/// All tools that there are now, by the names that a model says.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    pub specs: Vec<Spec>,
    pub known: KnownTools,
    remote: BTreeMap<String, Remote>,
}

impl Remote {
    fn kind(&self) -> (ToolKind, AskKind) {
        // As Playwright's server names what it does in a browser.
        if self.tool.name.starts_with("browser_") {
            (ToolKind::Action, AskKind::Browser)
        } else {
            (ToolKind::Mcp, AskKind::Mcp)
        }
    }

    fn prepare(&self, call: &Call) -> Result<Prepared, BadCall> {
        let arguments: Map<String, Value> = arguments(call)?;
        let Remote { server, tool } = self;
        let words = format!("{}: {}\n{:#}", server.name, tool.name, Value::from(arguments.clone()));
        // A server that changes what its tool is said to do has another tool.
        let state = json!([format!("{:?}", server.how), tool.name, tool.about, tool.schema]);
        let digest = digest(&call.name, &call.arguments, &state);
        let (_, kind) = self.kind();
        Ok(Prepared { deed: Deed::Remote(self.clone(), arguments), kind, words, digest })
    }
}

impl Toolbox {
    pub fn find(&self, name: &str) -> Option<Builtin> {
        self.builtins.iter().copied().find(|tool| tool.name() == name)
    }

    /// What there is now, and which servers are away.
    pub async fn catalogue(&self) -> (Catalogue, Vec<Away>) {
        let mut all = Catalogue::default();
        let mut missing = Vec::new();
        for tool in &self.builtins {
            let name = tool.name().to_owned();
            all.specs.push(tool.spec());
            all.known.insert(name.clone(), Known { kind: tool.kind(), server: None, name });
        }
        let asked = self.servers.iter().map(|server| async move { (server, server.tools().await) });
        for (server, tools) in join_all(asked).await {
            match tools {
                Ok(tools) => tools.iter().for_each(|tool| all.add(server, tool)),
                Err(away) => missing.push(away),
            }
        }
        (all, missing)
    }

    /// Looks what a call would do, and changes nothing.
    pub fn prepare(&self, all: &Catalogue, call: &Call) -> Result<Prepared, BadCall> {
        if let Some(remote) = all.remote.get(&call.name) {
            return remote.prepare(call);
        }
        let tool = self.find(&call.name).ok_or_else(|| {
            let names: Vec<_> = all.known.keys().map(String::as_str).collect();
            BadCall(format!("There is no tool `{}`; there are {}.", call.name, names.join(", ")))
        })?;
        let (deed, kind, words, state) = match tool {
            Builtin::ReadFile => {
                let read = files::Read::prepare(&self.root, &arguments(call)?)?;
                (
                    Deed::Read(read.clone()),
                    AskKind::Tool,
                    format!("Read {}", read.path),
                    json!(null),
                )
            }
            Builtin::ListFiles => {
                let list = files::List::prepare(&self.root, &arguments(call)?)?;
                let words = format!("List the files in {}", list.path);
                (Deed::List(list), AskKind::Tool, words, json!(null))
            }
            Builtin::SearchFiles => {
                let search = files::Search::prepare(&self.root, arguments(call)?)?;
                let words = format!("Search for `{}` in {}", search.pattern, search.path);
                (Deed::Search(search), AskKind::Tool, words, json!(null))
            }
            Builtin::WriteFile => prepared(write::Write::whole(&self.root, arguments(call)?)?),
            Builtin::EditFile => prepared(write::Write::edit(&self.root, &arguments(call)?)?),
            Builtin::RunCommand => {
                let run = command::Run::prepare(&self.root, arguments(call)?)?;
                let (words, state) = (run.words(), run.state());
                (Deed::Run(run), AskKind::Command, words, state)
            }
            Builtin::FetchPage => {
                let fetch = page::Fetch::prepare(&arguments(call)?)?;
                let words = format!("Fetch {}", fetch.url);
                (Deed::Fetch(fetch), AskKind::Tool, words, json!(null))
            }
            Builtin::AskUser => {
                let Question { question } = arguments(call)?;
                (Deed::AskPerson(question.clone()), AskKind::Followup, question, json!(null))
            }
            Builtin::DrawChart => {
                (Deed::Chart, AskKind::Tool, "Draw a chart".to_owned(), json!(null))
            }
        };
        let digest = digest(&call.name, &call.arguments, &state);
        Ok(Prepared { deed, kind, words, digest })
    }

    /// Does what was prepared. Dropped, it stops at once, with all that it started.
    pub async fn run(&self, deed: Deed, teller: Teller) -> Done {
        let done = match deed {
            Deed::Read(read) => teller.whole(blocking(move || read.run()).await).await,
            Deed::List(list) => teller.whole(blocking(move || list.run()).await).await,
            Deed::Search(search) => teller.whole(blocking(move || search.run()).await).await,
            Deed::Write(write) => teller.whole(blocking(move || write.run()).await).await,
            Deed::Run(run) => run.run(&teller).await,
            Deed::Fetch(fetch) => teller.whole(fetch.run().await).await,
            Deed::Chart => {
                let root = self.root.clone();
                match blocking(move || chart::draw(&root)).await {
                    Ok((words, bytes)) => {
                        teller.put_out(words).await;
                        let base64 = STANDARD.encode(bytes);
                        teller
                            .tell(Said::Image { media_type: "image/png".to_owned(), base64 })
                            .await;
                        Ok(())
                    }
                    Err(bad) => Err(bad),
                }
            }
            Deed::Remote(Remote { server, tool }, arguments) => {
                return server.call(&tool.name, arguments, &teller).await;
            }
            Deed::AskPerson(_) => Ok(()),
        };
        done.map_or_else(|bad| Done::failed(bad.0), |()| Done::well())
    }
}

impl Catalogue {
    fn add(&mut self, server: &Arc<Server>, tool: &Tool) {
        let name = called(Some(&server.name), &tool.name);
        if self.known.contains_key(&name) {
            return;
        }
        let remote = Remote { server: Arc::clone(server), tool: tool.clone() };
        let (kind, _) = remote.kind();
        let schema = Value::from(tool.schema.clone());
        self.specs.push(Spec { name: name.clone(), about: tool.about.clone(), schema });
        let known = Known { kind, server: Some(server.name.clone()), name: tool.name.clone() };
        self.known.insert(name.clone(), known);
        self.remote.insert(name, remote);
    }
}

impl Teller {
    /// A result that comes in one piece.
    async fn whole(&self, result: Result<String, BadCall>) -> Result<(), BadCall> {
        self.put_out(result?).await;
        Ok(())
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    question: String,
}

fn prepared(write: write::Write) -> (Deed, AskKind, String, Value) {
    let (words, state) = (write.words(), write.state());
    (Deed::Write(write), AskKind::Tool, words, state)
}

/// The arguments of a call, read once, at the border.
fn arguments<T: DeserializeOwned>(call: &Call) -> Result<T, BadCall> {
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    serde_json::from_str(text)
        .map_err(|error| BadCall(format!("The arguments of `{}` are wrong: {error}.", call.name)))
}

/// SHA-256, in hexadecimal, of all that decides what happens.
pub fn digest(tool: &str, arguments: &str, state: &Value) -> String {
    Digest::of(json!([tool, arguments, state]).to_string().as_bytes()).to_string()
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BadCall> + Send + 'static,
) -> Result<T, BadCall> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(BadCall::new("The tool stopped in the middle of its work.")))
}

/// A folder's name for people: its own, not where it stands.
fn shown(path: &std::path::Path) -> String {
    match path.to_string_lossy() {
        name if name.is_empty() => ".".to_owned(),
        name => name.into_owned(),
    }
}

fn seconds(asked: Option<u64>, default: Duration, max: Duration) -> Duration {
    asked.map_or(default, Duration::from_secs).min(max)
}
