//! Calls of a model: one request, a stream of bytes, and an honest word on why there is none.
//!
//! Does: connect, wait no longer than it may, and sort failures into those that may be tried again
//! and those that may not. Does not: read the reply.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, StatusCode};
use serde_json::Value;

use crate::demo;
use crate::limits::{ERROR_BYTES_MAX, RETRY_DELAY_MAX};
use crate::model::Model;
use crate::net;
use crate::request::{Asked, build};

/// How long a call may take, in each of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    pub connect: Duration,
    /// From the request to the first word of the answer.
    pub first_byte: Duration,
    /// Between two pieces of a reply.
    pub idle: Duration,
    /// All of one reply.
    pub total: Duration,
    /// Before the first further attempt; each one after it waits twice as long.
    pub retry: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(2),
            idle: Duration::from_mins(2),
            total: Duration::from_mins(30),
            retry: Duration::from_secs(1),
        }
    }
}

/// Whoever answers.
#[derive(Clone, Debug)]
pub enum Provider {
    Model {
        client: Client,
        model: Box<Model>,
        patience: Patience,
    },
    /// The demo agent's own, which needs nothing.
    Demo(demo::Pace),
}

/// A reply on its way. An error of the line ends it.
pub type Reply = Pin<Box<dyn Stream<Item = Result<Bytes, String>> + Send>>;

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct NoReply {
    pub detail: String,
    pub again: Again,
}

impl NoReply {
    /// Whether the same call would come to the same.
    pub fn is_final(&self) -> bool {
        matches!(self.again, Again::No | Again::Otherwise)
    }
}

/// Whether the same call may be made once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    No,
    /// The server will not have this request; it may have another one.
    Otherwise,
    Yes,
    /// Not before this has passed.
    After(Duration),
}

/// Why a client that calls models cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("no client for models: {0}")]
pub struct NoClient(#[from] reqwest::Error);

impl Provider {
    /// The model's name; nothing if it is none.
    pub fn model_name(&self) -> Option<&str> {
        match self {
            Provider::Model { model, .. } => Some(&model.name),
            Provider::Demo(_) => None,
        }
    }

    /// A model, called with more certificates than the system has.
    pub fn model(
        model: Model,
        patience: Patience,
        authorities: &[reqwest::Certificate],
    ) -> Result<Provider, NoClient> {
        let builder = net::client(authorities).connect_timeout(patience.connect);
        Ok(Provider::Model { client: builder.build()?, model: Box::new(model), patience })
    }

    pub async fn call(&self, asked: Asked<'_>, attempt: u32) -> Result<Reply, NoReply> {
        match self {
            Provider::Model { client, model, patience } => {
                call(client, model, *patience, asked).await
            }
            Provider::Demo(pace) => demo::reply(asked, attempt, *pace),
        }
    }

    pub fn patience(&self) -> Patience {
        match self {
            Provider::Model { patience, .. } => *patience,
            Provider::Demo(_) => Patience::default(),
        }
    }
}

async fn call(
    client: &Client,
    model: &Model,
    patience: Patience,
    asked: Asked<'_>,
) -> Result<Reply, NoReply> {
    let request = build(model, asked);
    let mut call = client.post(&request.url).header(CONTENT_TYPE, "application/json");
    for (name, value) in request.headers {
        call = call.header(name, value);
    }
    if let Some(key) = &model.key {
        let (name, before) = request.key_header;
        let mut value =
            reqwest::header::HeaderValue::from_str(&format!("{before}{}", key.reveal()))
                .map_err(|_| never("the key holds characters that no key has"))?;
        value.set_sensitive(true);
        call = call.header(name, value);
    }
    let sent = call.body(request.body.to_string()).send();
    let answer = match tokio::time::timeout(patience.first_byte, sent).await {
        Err(_) => {
            let waited = patience.first_byte.as_secs_f32();
            return Err(once_more(format!("the model did not answer within {waited} s")));
        }
        Ok(Err(error)) => return Err(unreachable(&error)),
        Ok(Ok(answer)) => answer,
    };
    if !answer.status().is_success() {
        return Err(refusal(answer, patience.idle).await);
    }
    let pieces = answer.bytes_stream();
    Ok(Box::pin(pieces.map(|piece| piece.map_err(|error| innermost(&error)))))
}

fn never(detail: impl Into<String>) -> NoReply {
    NoReply { detail: detail.into(), again: Again::No }
}

fn once_more(detail: impl Into<String>) -> NoReply {
    NoReply { detail: detail.into(), again: Again::Yes }
}

fn unreachable(error: &reqwest::Error) -> NoReply {
    let words = innermost(error);
    // Where the model is may stand in the log; nothing else of the request does.
    let place = error.url().and_then(|url| url.host_str().map(|host| (host, url.port())));
    let place = match place {
        Some((host, Some(port))) => format!("{host}:{port}"),
        Some((host, None)) => host.to_owned(),
        None => "its address".to_owned(),
    };
    let again = if error.is_builder() { Again::No } else { Again::Yes };
    NoReply { detail: format!("no answer from the model at {place}: {words}"), again }
}

/// The words of the error that began it, without addresses and headers.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    if error.url().is_some() && std::ptr::eq(cause, error as &dyn std::error::Error) {
        return if error.is_timeout() { "timed out".into() } else { "the request failed".into() };
    }
    cause.to_string()
}

async fn refusal(answer: reqwest::Response, patience: Duration) -> NoReply {
    let status = answer.status();
    let again = again(status, answer.headers());
    let mut body = Vec::new();
    let mut pieces = answer.bytes_stream();
    while let Ok(Some(Ok(piece))) = tokio::time::timeout(patience, pieces.next()).await {
        body.extend_from_slice(&piece);
        if ERROR_BYTES_MAX <= body.len() {
            break;
        }
    }
    let words = error_words(&String::from_utf8_lossy(&body));
    let name = status.canonical_reason().unwrap_or("status without a name");
    let detail = if words.is_empty() {
        format!("the model's server answered {} {name}", status.as_u16())
    } else {
        format!("the model's server answered {} {name}: {words}", status.as_u16())
    };
    NoReply { detail, again }
}

/// What every provider says may pass: too much, too early, broken, overloaded.
fn again(status: StatusCode, headers: &HeaderMap) -> Again {
    match status.as_u16() {
        400 | 413 | 415 | 422 => return Again::Otherwise,
        408 | 409 | 429 | 500 | 502 | 503 | 504 | 529 => {}
        _ => return Again::No,
    }
    let seconds = |name: &str, unit: f64| {
        let text = headers.get(name)?.to_str().ok()?;
        Some(text.trim().parse::<f64>().ok()? * unit)
    };
    let wait = seconds("retry-after-ms", 0.001).or_else(|| seconds(RETRY_AFTER.as_str(), 1.0));
    match wait {
        Some(wait) if wait.is_finite() && 0.0 <= wait => {
            Again::After(Duration::from_secs_f64(wait.min(RETRY_DELAY_MAX.as_secs_f64())))
        }
        _ => Again::Yes,
    }
}

/// Characters of an error that are shown.
const WORDS_MAX: usize = 500;

/// What an error's body says, in whichever shape.
fn error_words(body: &str) -> String {
    let body = body.trim();
    if body.starts_with('<') {
        return "a web page, not a model's answer (is the address right?)".to_owned();
    }
    let said = serde_json::from_str::<Value>(body).ok().and_then(|value| {
        let value = value.as_array().and_then(|all| all.first()).cloned().unwrap_or(value);
        let places =
            [&value["error"]["message"], &value["error"], &value["message"], &value["detail"]];
        places.iter().find_map(|place| place.as_str().map(str::to_owned))
    });
    let words = said.unwrap_or_else(|| body.to_owned());
    let mut words: String = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(WORDS_MAX) {
        words.truncate(end);
        words.push('…');
    }
    words
}
