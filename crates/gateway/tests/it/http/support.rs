//! A gateway on a port of its own, and a client that reads server-sent events by the letter.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use gateway::access::Allowed;
use gateway::agent::Agent;
use gateway::clock::{now_ms, random};
use gateway::gateway::Gateway;
use gateway::id::OwnerId;
use gateway::store::sqlite::{Durability, SqliteStore};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub(super) struct Served {
    pub(super) gateway: Arc<Gateway>,
    pub(super) base: String,
    pub(super) token: String,
    pub(super) client: reqwest::Client,
    pub(super) stop: Option<oneshot::Sender<()>>,
    pub(super) done: Option<tokio::task::JoinHandle<()>>,
    /// Removed last.
    pub(super) folder: Arc<tempfile::TempDir>,
}

pub(super) async fn serve() -> Served {
    serve_in(Arc::new(tempfile::tempdir().unwrap()), None).await
}

pub(super) async fn serve_in(
    folder: Arc<tempfile::TempDir>,
    agent: Option<Arc<dyn Agent>>,
) -> Served {
    serve_with(folder, agent, |_| {}).await
}

/// With something changed before it begins to serve.
pub(super) async fn serve_with(
    folder: Arc<tempfile::TempDir>,
    agent: Option<Arc<dyn Agent>>,
    change: impl FnOnce(&mut Gateway),
) -> Served {
    let store = open_when_free(&folder).await;
    serve_on(store, folder, agent, change).await
}

/// On a store of one's own, with something changed before it begins to serve.
pub(super) async fn serve_on(
    store: Arc<SqliteStore>,
    folder: Arc<tempfile::TempDir>,
    agent: Option<Arc<dyn Agent>>,
    tune: impl FnOnce(&mut Gateway),
) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let allowed = Allowed::new(address.port(), false, &[], &[]);
    let mut gateway = Gateway::open(store, allowed, false, agent).await.unwrap();
    tune(&mut gateway);
    let gateway = Arc::new(gateway);
    let owner = OwnerId::new(now_ms(), random().unwrap());
    let (_, secret) = gateway.issue(owner, "test").await.unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let served = Arc::clone(&gateway);
    let done = tokio::spawn(async move {
        let stop = async {
            let _dropped = stopped.await;
        };
        gateway::serve::serve(served, listener, None, stop).await.unwrap();
    });
    Served {
        gateway,
        base: format!("http://{address}"),
        token: secret.reveal().to_owned(),
        client: reqwest::Client::new(),
        stop: Some(stop),
        done: Some(done),
        folder,
    }
}

/// A gateway that has stopped lets go of its store in its own time.
async fn open_when_free(folder: &tempfile::TempDir) -> Arc<SqliteStore> {
    let free = async {
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
    tokio::time::timeout(PATIENCE, free).await.expect("somebody holds the store")
}

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Got {
    pub(super) id: String,
    pub(super) event: String,
    pub(super) data: String,
}

impl Served {
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

    /// Takes a whole stream in as a run of `session`.
    pub(super) async fn ingest(&self, session: &str, bytes: Vec<u8>) -> Value {
        let path = format!("/v1/ingest/auto?session={session}");
        let answer = self.request(reqwest::Method::POST, &path).body(bytes).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.json().await.unwrap()
    }

    /// Waits until a run has ended. Returns how it stands.
    pub(super) async fn ended(&self, session: &str, run: &str) -> Value {
        let mut end = self.gateway.log.follow(session.parse().unwrap()).await.unwrap();
        loop {
            let (status, shown) = answer_to(self.get(&format!("/v1/runs/{run}"))).await;
            if status == 200 && shown["outcome"] != Value::Null {
                return shown;
            }
            let changed = tokio::time::timeout(PATIENCE, end.changed()).await;
            changed.expect("the run goes on").unwrap();
        }
    }

    pub(super) async fn log(&self, session: &str) -> String {
        let path = format!("/v1/sessions/{session}/log");
        self.get(&path).send().await.unwrap().text().await.unwrap()
    }

    /// From the first frame on, unless the query or an id says otherwise.
    pub(super) async fn follow(&self, session: &str, query: &str, last_id: &str) -> Events {
        let from = if query.contains("from=") { "" } else { "&from=start" };
        let mut request = self.get(&format!("/v1/sessions/{session}/stream?{query}{from}"));
        if !last_id.is_empty() {
            request = request.header("last-event-id", last_id);
        }
        events_of(request).await
    }

    /// The same gateway, for another caller.
    pub(super) fn again(&self) -> Served {
        Served {
            gateway: Arc::clone(&self.gateway),
            base: self.base.clone(),
            token: self.token.clone(),
            client: self.client.clone(),
            stop: None,
            done: None,
            folder: Arc::clone(&self.folder),
        }
    }

    /// Stops as a signal would, and waits until all is done.
    pub(super) async fn stop(mut self) -> Arc<tempfile::TempDir> {
        drop(self.stop.take());
        if let Some(done) = self.done.take() {
            done.await.unwrap();
        }
        Arc::clone(&self.folder)
    }
}

pub(super) async fn events_of(request: reqwest::RequestBuilder) -> Events {
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    Events { body: Box::pin(answer.bytes_stream()), buffer: String::new() }
}

/// The status and the JSON that a request is answered with.
pub(super) async fn answer_to(request: reqwest::RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap_or(Value::Null))
}

/// A body that is sent piece by piece; it ends when the sender is dropped.
pub(super) fn body_in_pieces() -> (tokio::sync::mpsc::Sender<Vec<u8>>, reqwest::Body) {
    let (pieces, body) = tokio::sync::mpsc::channel::<Vec<u8>>(1);
    let body = futures_util::stream::unfold(body, |mut body| async {
        let piece = body.recv().await?;
        Some((Ok::<_, std::io::Error>(piece), body))
    });
    (pieces, reqwest::Body::wrap_stream(body))
}

/// An agent that answers every message with the same short stream.
pub(super) fn script() -> Arc<dyn Agent> {
    Arc::new(gateway::agent::script::Script {
        bytes: fixture("anthropic/payload-per-line.jsonl"),
        piece: 4096,
        pause: Duration::from_millis(1),
    })
}

pub(super) struct Events {
    body: std::pin::Pin<Box<dyn futures_util::Stream<Item = reqwest::Result<bytes::Bytes>> + Send>>,
    buffer: String,
}

/// Nothing here waits longer for what must come.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

impl Events {
    /// The next event; comments are passed over. Nothing when the stream has ended.
    pub(super) async fn next(&mut self) -> Option<Got> {
        loop {
            while let Some(end) = self.buffer.find("\n\n") {
                let block: String = self.buffer.drain(..end + 2).collect();
                if let Some(got) = parse(&block) {
                    return Some(got);
                }
            }
            let next = tokio::time::timeout(PATIENCE, self.body.next()).await;
            let bytes = next.expect("nothing came")?.unwrap();
            self.buffer.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }

    /// Events up to and with the one that `last` says is the last.
    pub(super) async fn until(&mut self, last: impl Fn(&Got) -> bool) -> Vec<Got> {
        let mut all = Vec::new();
        loop {
            let got = self.next().await.expect("the stream ended");
            let is_last = last(&got);
            all.push(got);
            if is_last {
                return all;
            }
        }
    }
}

fn parse(block: &str) -> Option<Got> {
    let mut got = Got::default();
    for line in block.trim_end().lines() {
        let (field, value) = line.split_once(':')?;
        match field {
            "id" => value.clone_into(&mut got.id),
            "event" => value.clone_into(&mut got.event),
            "data" => value.clone_into(&mut got.data),
            _ => return None,
        }
    }
    Some(got)
}

pub(super) fn fixture(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
