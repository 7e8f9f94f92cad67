//! The gateway, as the chat uses it: commands as calls, and a session as a stream that mends itself.

mod events;
pub mod follow;

use std::time::Duration;

use engine::event::{Millis, Outcome};
use reqwest::{Method, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// From a request to the end of its answer, where that is not a stream.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Bytes of a picture; a gateway keeps none that is larger.
const BLOB_BYTES_MAX: usize = 32 << 20;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("{message}")]
    Refused { status: u16, code: String, message: String },
    #[error("the gateway cannot be reached: {0}")]
    Away(String),
}

impl Trouble {
    /// Whether trying again later may help.
    pub fn is_passing(&self) -> bool {
        match self {
            Trouble::Away(_) => true,
            Trouble::Refused { status, .. } => matches!(status, 408 | 429 | 500..),
        }
    }

    pub fn is_code(&self, wanted: &str) -> bool {
        matches!(self, Trouble::Refused { code, .. } if code == wanted)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Session {
    pub id: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub changed_ms: Millis,
    /// The run that is going.
    #[serde(default)]
    pub run: Option<String>,
    #[serde(default)]
    pub asks: u32,
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Agent {
    pub agent: Option<String>,
    pub model: Option<String>,
    pub tools: Vec<Tool>,
    pub missing: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Tool {
    pub name: String,
    pub about: String,
    pub policy: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Waiting {
    pub id: String,
    pub text: String,
}

/// A message on its way; the same key is the same message, however often it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    pub text: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub join: bool,
    #[serde(skip)]
    pub key: String,
}

#[derive(Clone, Debug)]
pub struct Link {
    base: String,
    token: String,
    http: reqwest::Client,
}

#[derive(Deserialize)]
struct Sessions {
    sessions: Vec<Session>,
}

#[derive(Deserialize)]
struct Queue {
    queue: Vec<Waiting>,
}

#[derive(Deserialize)]
struct Run {
    outcome: Option<Outcome>,
}

#[derive(Deserialize)]
struct Accepted {
    run: String,
}

#[derive(Deserialize)]
struct Refusal {
    error: Said,
}

#[derive(Deserialize)]
struct Said {
    code: String,
    message: String,
}

impl Link {
    pub fn new(base: &str, token: &str) -> Result<Link, Trouble> {
        let http = reqwest::Client::builder().no_proxy().build().map_err(|e| away(&e))?;
        Ok(Link { base: base.trim_end_matches('/').to_owned(), token: token.to_owned(), http })
    }

    /// Sessions, the one that changed last first.
    pub async fn sessions(&self, words: &str, limit: usize) -> Result<Vec<Session>, Trouble> {
        let query = [("query", words), ("limit", &limit.to_string())];
        let words = if words.is_empty() { &query[1..] } else { &query[..] };
        let request = self.request(Method::GET, "/v1/sessions").query(words);
        Ok(read::<Sessions>(answered(request).await?).await?.sessions)
    }

    pub async fn agent(&self) -> Result<Agent, Trouble> {
        self.get("/v1/agent").await
    }

    pub async fn session(&self, id: &str) -> Result<Session, Trouble> {
        self.get(&format!("/v1/sessions/{id}")).await
    }

    pub async fn create(&self, title: &str) -> Result<Session, Trouble> {
        self.post("/v1/sessions", &json!({ "title": title })).await
    }

    pub async fn rename(&self, id: &str, title: &str) -> Result<(), Trouble> {
        let request = self.request(Method::PATCH, &format!("/v1/sessions/{id}"));
        answered(request.json(&json!({ "title": title }))).await.map(drop)
    }

    /// Gives the run that will answer.
    pub async fn send(&self, session: &str, message: &Message) -> Result<String, Trouble> {
        let request = self.request(Method::POST, &format!("/v1/sessions/{session}/messages"));
        let request = request.header("idempotency-key", &message.key).json(message);
        Ok(read::<Accepted>(answered(request).await?).await?.run)
    }

    pub async fn queue(&self, session: &str) -> Result<Vec<Waiting>, Trouble> {
        let path = format!("/v1/sessions/{session}/queue");
        Ok(self.get::<Queue>(&path).await?.queue)
    }

    /// Takes waiting messages out of the queue; the others go on waiting as they did.
    pub async fn unqueue(&self, session: &str, gone: &[String]) -> Result<Vec<Waiting>, Trouble> {
        let waiting = self.queue(session).await?;
        let (removed, order): (Vec<_>, Vec<_>) =
            waiting.into_iter().map(|message| message.id).partition(|id| gone.contains(id));
        let request = self.request(Method::PUT, &format!("/v1/sessions/{session}/queue"));
        let request = request.json(&json!({ "order": order, "removed": removed }));
        Ok(read::<Queue>(answered(request).await?).await?.queue)
    }

    /// How a run ended; nothing while it is going.
    pub async fn outcome(&self, run: &str) -> Result<Option<Outcome>, Trouble> {
        Ok(self.get::<Run>(&format!("/v1/runs/{run}")).await?.outcome)
    }

    pub async fn cancel(&self, run: &str) -> Result<(), Trouble> {
        self.post::<Value>(&format!("/v1/runs/{run}/cancel"), &json!({})).await.map(drop)
    }

    pub async fn retry(&self, run: &str) -> Result<(), Trouble> {
        self.post::<Value>(&format!("/v1/runs/{run}/retry"), &json!({})).await.map(drop)
    }

    pub async fn answer(&self, run: &str, ask: &str, answer: &str) -> Result<(), Trouble> {
        let request = self.request(Method::POST, &format!("/v1/runs/{run}/asks/{ask}/answer"));
        answered(request.json(&json!({ "answer": answer }))).await.map(drop)
    }

    /// Where a browser shows a session.
    pub fn page_of(&self, session: Option<&Session>) -> String {
        match session {
            Some(session) => format!("{}/s/{}", self.base, session.id),
            None => format!("{}/", self.base),
        }
    }

    /// The bytes of a picture, by its digest.
    pub async fn blob(&self, session: &str, digest: &str) -> Result<Vec<u8>, Trouble> {
        let path = format!("/v1/sessions/{session}/blobs/{digest}");
        let mut answer = answered(self.request(Method::GET, &path)).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| away(&error))? {
            bytes.extend_from_slice(&chunk);
            if BLOB_BYTES_MAX < bytes.len() {
                let message = format!("it has more than {BLOB_BYTES_MAX} bytes");
                return Err(Trouble::Refused {
                    status: 413,
                    code: "too_large".to_owned(),
                    message,
                });
            }
        }
        Ok(bytes)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Trouble> {
        read(answered(self.request(Method::GET, path)).await?).await
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Trouble> {
        read(answered(self.request(Method::POST, path).json(body)).await?).await
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        request.bearer_auth(&self.token).timeout(ANSWER_WITHIN)
    }

    /// A request whose answer has no end that could be waited for.
    fn stream(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.get(format!("{}{path}", self.base)).bearer_auth(&self.token)
    }
}

fn away(error: &reqwest::Error) -> Trouble {
    Trouble::Away(innermost(error))
}

/// What went wrong at the bottom: what stands above it says only that something did.
fn innermost(error: &reqwest::Error) -> String {
    let mut source: &dyn std::error::Error = error;
    while let Some(below) = source.source() {
        source = below;
    }
    source.to_string()
}

async fn answered(request: reqwest::RequestBuilder) -> Result<Response, Trouble> {
    let answer = request.send().await.map_err(|error| away(&error))?;
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let said = answer.json::<Refusal>().await.ok().map(|refusal| refusal.error);
    Err(refused(status, said))
}

fn refused(status: StatusCode, said: Option<Said>) -> Trouble {
    let status = status.as_u16();
    let Said { code, message } = said.unwrap_or_else(|| Said {
        code: "unknown".to_owned(),
        message: format!("the gateway answered {status}"),
    });
    Trouble::Refused { status, code, message }
}

async fn read<T: DeserializeOwned>(answer: Response) -> Result<T, Trouble> {
    answer.json().await.map_err(|error| away(&error))
}
