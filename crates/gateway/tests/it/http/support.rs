//! A gateway on its own port, and a strict client for server-sent events.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use millpond_gateway::access::{OriginPolicy, Scheme};
use millpond_gateway::gateway::Gateway;
use millpond_log::agent::Agent;
use millpond_log::clock::{now_ms, random_bytes};
use millpond_log::id::OwnerId;
use millpond_log::store::sqlite::{Durability, SqliteStore};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub(super) struct TestGateway {
    pub(super) gateway: Arc<Gateway>,
    pub(super) base: String,
    pub(super) token: String,
    pub(super) client: reqwest::Client,
    pub(super) stop_sender: Option<oneshot::Sender<()>>,
    pub(super) server_task: Option<tokio::task::JoinHandle<()>>,
    /// Removed last.
    pub(super) folder: Arc<tempfile::TempDir>,
}

pub(super) async fn start_gateway() -> TestGateway {
    start_gateway_in(Arc::new(tempfile::tempdir().unwrap()), None).await
}

pub(super) async fn start_gateway_in(
    folder: Arc<tempfile::TempDir>,
    agent: Option<Arc<dyn Agent>>,
) -> TestGateway {
    start_tuned_gateway(folder, agent, |_| {}).await
}

/// Starts a gateway after `change` was applied to it.
pub(super) async fn start_tuned_gateway(
    folder: Arc<tempfile::TempDir>,
    agent: Option<Arc<dyn Agent>>,
    change: impl FnOnce(&mut Gateway),
) -> TestGateway {
    let store = open_store_when_free(&folder).await;
    start_gateway_on_store(store, folder, agent, change).await
}

/// Starts a gateway on this store after `tune` was applied to it.
pub(super) async fn start_gateway_on_store(
    store: Arc<SqliteStore>,
    folder: Arc<tempfile::TempDir>,
    agent: Option<Arc<dyn Agent>>,
    configure: impl FnOnce(&mut Gateway),
) -> TestGateway {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let allowed = OriginPolicy::new(address.port(), Scheme::Http, &[], &[]);
    let mut gateway =
        Gateway::open_and_recover_runs(store, allowed, Scheme::Http, agent).await.unwrap();
    configure(&mut gateway);
    let gateway = Arc::new(gateway);
    let owner = OwnerId::new(now_ms(), random_bytes().unwrap());
    let (_, secret) = gateway.issue_token(owner, "test").await.unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let server_gateway = Arc::clone(&gateway);
    let server_task = tokio::spawn(async move {
        let stop = async {
            let _dropped = stopped.await;
        };
        millpond_gateway::serve::serve_and_shut_down(server_gateway, listener, None, stop)
            .await
            .unwrap();
    });
    TestGateway {
        gateway,
        base: format!("http://{address}"),
        token: secret.reveal().to_owned(),
        client: reqwest::Client::new(),
        stop_sender: Some(stop),
        server_task: Some(server_task),
        folder,
    }
}

/// Retries while a stopped gateway still has the store open.
async fn open_store_when_free(folder: &tempfile::TempDir) -> Arc<SqliteStore> {
    let open_store = async {
        loop {
            match SqliteStore::open(folder.path(), Durability::Window) {
                Ok(store) => return Arc::new(store),
                Err(error) if error.to_string().contains("in use") => {
                    tokio::task::yield_now().await;
                }
                Err(error) => panic!("{error}"),
            }
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, open_store).await.expect("the store is still in use")
}

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SseEvent {
    pub(super) id: String,
    pub(super) event: String,
    pub(super) data: String,
}

impl TestGateway {
    pub(super) fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    pub(super) fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.request(reqwest::Method::GET, path)
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> reqwest::RequestBuilder {
        self.request(reqwest::Method::POST, path).json(body)
    }

    pub(super) async fn new_session(&self) -> String {
        let answer = self.post("/v1/sessions", &serde_json::json!({})).send().await.unwrap();
        assert_eq!(answer.status(), 201);
        answer.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// Ingests a whole stream as a run of `session`.
    pub(super) async fn ingest(&self, session: &str, bytes: Vec<u8>) -> Value {
        let path = format!("/v1/ingest/auto?session={session}");
        let answer = self.request(reqwest::Method::POST, &path).body(bytes).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.json().await.unwrap()
    }

    /// Waits until a run has ended. Returns its status.
    pub(super) async fn wait_until_ended(&self, session: &str, run: &str) -> Value {
        let mut log_end = self.gateway.log.watch_log_end(session.parse().unwrap()).await.unwrap();
        loop {
            let (status, run_body) = status_and_json(self.get(&format!("/v1/runs/{run}"))).await;
            if status == 200 && run_body["outcome"] != Value::Null {
                return run_body;
            }
            let changed = tokio::time::timeout(TEST_TIMEOUT, log_end.changed()).await;
            changed.expect("the run goes on").unwrap();
        }
    }

    pub(super) async fn read_log(&self, session: &str) -> String {
        let path = format!("/v1/sessions/{session}/log");
        self.get(&path).send().await.unwrap().text().await.unwrap()
    }

    /// Starts at the first frame, unless the query or an id says otherwise.
    pub(super) async fn follow_stream(
        &self,
        session: &str,
        query: &str,
        last_id: &str,
    ) -> EventStream {
        let from = if query.contains("from=") { "" } else { "&from=start" };
        let mut request = self.get(&format!("/v1/sessions/{session}/stream?{query}{from}"));
        if !last_id.is_empty() {
            request = request.header("last-event-id", last_id);
        }
        open_event_stream(request).await
    }

    /// Another client of the same gateway.
    pub(super) fn clone_client(&self) -> TestGateway {
        TestGateway {
            gateway: Arc::clone(&self.gateway),
            base: self.base.clone(),
            token: self.token.clone(),
            client: self.client.clone(),
            stop_sender: None,
            server_task: None,
            folder: Arc::clone(&self.folder),
        }
    }

    /// Stops the gateway as a signal would, and waits until it has stopped.
    pub(super) async fn stop_and_wait(mut self) -> Arc<tempfile::TempDir> {
        drop(self.stop_sender.take());
        if let Some(server_task) = self.server_task.take() {
            server_task.await.unwrap();
        }
        Arc::clone(&self.folder)
    }
}

pub(super) async fn open_event_stream(request: reqwest::RequestBuilder) -> EventStream {
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    EventStream { body: Box::pin(answer.bytes_stream()), buffer: String::new() }
}

/// Status and JSON of the response.
pub(super) async fn status_and_json(request: reqwest::RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap_or(Value::Null))
}

/// A body that is sent in pieces; it ends when the sender is dropped.
pub(super) fn streaming_body() -> (tokio::sync::mpsc::Sender<Vec<u8>>, reqwest::Body) {
    let (chunk_sender, body) = tokio::sync::mpsc::channel::<Vec<u8>>(1);
    let body = futures_util::stream::unfold(body, |mut body| async {
        let chunk = body.recv().await?;
        Some((Ok::<_, std::io::Error>(chunk), body))
    });
    (chunk_sender, reqwest::Body::wrap_stream(body))
}

/// An agent that answers every message with the same short stream.
pub(super) fn script_agent() -> Arc<dyn Agent> {
    Arc::new(millpond_log::agent::script::ScriptAgent {
        bytes: read_fixture("anthropic/payload-per-line.jsonl"),
        chunk_bytes: 4096,
        pause_per_chunk: Duration::from_millis(1),
    })
}

pub(super) struct EventStream {
    body: std::pin::Pin<Box<dyn futures_util::Stream<Item = reqwest::Result<bytes::Bytes>> + Send>>,
    buffer: String,
}

/// How long a test waits for something that must happen.
pub(super) const TEST_TIMEOUT: Duration = Duration::from_mins(2);

impl EventStream {
    /// The next event, without comments. `None` after the end.
    pub(super) async fn next_event(&mut self) -> Option<SseEvent> {
        loop {
            while let Some(end) = self.buffer.find("\n\n") {
                let block: String = self.buffer.drain(..end + 2).collect();
                if let Some(event) = parse_event(&block) {
                    return Some(event);
                }
            }
            let chunk = tokio::time::timeout(TEST_TIMEOUT, self.body.next()).await;
            let bytes = chunk.expect("nothing came")?.unwrap();
            self.buffer.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }

    /// Events up to and including the first for which `last` is true.
    pub(super) async fn events_until(
        &mut self,
        is_match: impl Fn(&SseEvent) -> bool,
    ) -> Vec<SseEvent> {
        let mut events = Vec::new();
        loop {
            let event = self.next_event().await.expect("the stream ended");
            let is_last_event = is_match(&event);
            events.push(event);
            if is_last_event {
                return events;
            }
        }
    }
}

fn parse_event(block: &str) -> Option<SseEvent> {
    let mut event = SseEvent::default();
    for line in block.trim_end().lines() {
        let (field, value) = line.split_once(':')?;
        match field {
            "id" => value.clone_into(&mut event.id),
            "event" => value.clone_into(&mut event.event),
            "data" => value.clone_into(&mut event.data),
            _ => return None,
        }
    }
    Some(event)
}

pub(super) fn read_fixture(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
