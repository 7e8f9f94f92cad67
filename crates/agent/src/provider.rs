//! Calls a model: one request, a stream of bytes or the reason for failure.
//!
//! Does: connect, apply timeouts, classify failures by whether a retry may help. Does not: parse
//! the reply.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, StatusCode};
use serde_json::Value;

use crate::demo;
use crate::http_client;
use crate::limits::{ERROR_BODY_BYTES_MAX, RETRY_DELAY_MAX};
use crate::model::Model;
use crate::request::{ModelInput, build_request};

/// Timeouts of a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallTimeouts {
    /// Connecting.
    pub connect: Duration,
    /// From the request to the response's headers.
    pub first_byte: Duration,
    /// Between two pieces of a reply.
    pub idle: Duration,
    /// One whole reply.
    pub total: Duration,
    /// Delay before the first retry; doubled for each further one.
    pub retry_delay: Duration,
}

impl Default for CallTimeouts {
    fn default() -> CallTimeouts {
        CallTimeouts {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(2),
            idle: Duration::from_mins(2),
            total: Duration::from_mins(30),
            retry_delay: Duration::from_secs(1),
        }
    }
}

/// Source of replies: a model's server or the demo.
#[derive(Clone, Debug)]
pub enum Provider {
    Model {
        client: Client,
        model: Box<Model>,
        timeouts: CallTimeouts,
    },
    /// Scripted replies without a model.
    Demo(demo::Pace),
}

/// Bytes of a reply. A connection error ends it.
pub type ReplyStream = Pin<Box<dyn Stream<Item = Result<Bytes, String>> + Send>>;

/// Failure of a call: no reply was received.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct CallFailure {
    /// Message for people.
    pub detail: String,
    /// Retry that may help.
    pub retry: Retry,
}

impl CallFailure {
    /// True if the same call would fail again.
    pub fn is_permanent(&self) -> bool {
        matches!(self.retry, Retry::Never | Retry::WithChanges)
    }
}

/// Retry of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// No retry.
    Never,
    /// The server rejects this request; a changed one may work.
    WithChanges,
    /// After the usual backoff.
    WithBackoff,
    /// After the delay that the server asks for.
    After(Duration),
}

/// Failure to create the HTTP client.
#[derive(Debug, thiserror::Error)]
#[error("cannot create the HTTP client: {0}")]
pub struct ClientBuildError(#[from] reqwest::Error);

impl Provider {
    /// The model's name; `None` for the demo.
    pub fn model_name(&self) -> Option<&str> {
        match self {
            Provider::Model { model, .. } => Some(&model.name),
            Provider::Demo(_) => None,
        }
    }

    /// A model's server, with extra trusted certificates.
    pub fn for_model(
        model: Model,
        timeouts: CallTimeouts,
        authorities: &[reqwest::Certificate],
    ) -> Result<Provider, ClientBuildError> {
        let builder =
            http_client::same_origin_client_builder(authorities).connect_timeout(timeouts.connect);
        Ok(Provider::Model { client: builder.build()?, model: Box::new(model), timeouts })
    }

    /// Calls the model once.
    pub async fn call_model(
        &self,
        input: ModelInput<'_>,
        attempt: u32,
    ) -> Result<ReplyStream, CallFailure> {
        match self {
            Provider::Model { client, model, timeouts } => {
                send_request(client, model, *timeouts, input).await
            }
            Provider::Demo(pace) => demo::stream_demo_reply(input, attempt, *pace),
        }
    }

    /// Timeouts of a call.
    pub fn timeouts(&self) -> CallTimeouts {
        match self {
            Provider::Model { timeouts, .. } => *timeouts,
            Provider::Demo(_) => CallTimeouts::default(),
        }
    }
}

/// Sends the request and returns the response's body as a stream.
async fn send_request(
    client: &Client,
    model: &Model,
    timeouts: CallTimeouts,
    input: ModelInput<'_>,
) -> Result<ReplyStream, CallFailure> {
    let request = build_request(model, input);
    let mut call = client.post(&request.url).header(CONTENT_TYPE, "application/json");
    for (name, value) in request.headers {
        call = call.header(name, value);
    }
    if let Some(key) = &model.key {
        let (name, prefix) = request.key_header;
        let mut value =
            reqwest::header::HeaderValue::from_str(&format!("{prefix}{}", key.reveal()))
                .map_err(|_| permanent_failure("the API key has invalid characters"))?;
        value.set_sensitive(true);
        call = call.header(name, value);
    }
    let sent = call.body(request.body.to_string()).send();
    let answer = match tokio::time::timeout(timeouts.first_byte, sent).await {
        Err(_) => {
            let waited = timeouts.first_byte.as_secs_f32();
            return Err(retryable_failure(format!("the model did not answer within {waited} s")));
        }
        Ok(Err(error)) => return Err(connection_failure(&error)),
        Ok(Ok(answer)) => answer,
    };
    if !answer.status().is_success() {
        return Err(read_error_response(answer, timeouts.idle).await);
    }
    let chunks = answer.bytes_stream();
    Ok(Box::pin(chunks.map(|chunk| chunk.map_err(|error| root_cause_text(&error)))))
}

fn permanent_failure(detail: impl Into<String>) -> CallFailure {
    CallFailure { detail: detail.into(), retry: Retry::Never }
}

fn retryable_failure(detail: impl Into<String>) -> CallFailure {
    CallFailure { detail: detail.into(), retry: Retry::WithBackoff }
}

fn connection_failure(error: &reqwest::Error) -> CallFailure {
    let cause = root_cause_text(error);
    // Only host and port may go to the log, nothing else of the request.
    let host_and_port = error.url().and_then(|url| url.host_str().map(|host| (host, url.port())));
    let address = match host_and_port {
        Some((host, Some(port))) => format!("{host}:{port}"),
        Some((host, None)) => host.to_owned(),
        None => "its address".to_owned(),
    };
    let retry = if error.is_builder() { Retry::Never } else { Retry::WithBackoff };
    CallFailure { detail: format!("cannot reach the model at {address}: {cause}"), retry }
}

/// Message of the root cause, without URLs and headers.
fn root_cause_text(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    if error.url().is_some() && std::ptr::eq(cause, error as &dyn std::error::Error) {
        return if error.is_timeout() { "timed out".into() } else { "the request failed".into() };
    }
    cause.to_string()
}

/// Reads an error response's message.
async fn read_error_response(answer: reqwest::Response, idle_timeout: Duration) -> CallFailure {
    let status = answer.status();
    let retry = retry_for_status(status, answer.headers());
    let mut body = Vec::new();
    let mut chunks = answer.bytes_stream();
    while let Ok(Some(Ok(chunk))) = tokio::time::timeout(idle_timeout, chunks.next()).await {
        body.extend_from_slice(&chunk);
        if ERROR_BODY_BYTES_MAX <= body.len() {
            break;
        }
    }
    let message = extract_error_message(&String::from_utf8_lossy(&body));
    let name = status.canonical_reason().unwrap_or("unknown status");
    let detail = if message.is_empty() {
        format!("the model's server answered {} {name}", status.as_u16())
    } else {
        format!("the model's server answered {} {name}: {message}", status.as_u16())
    };
    CallFailure { detail, retry }
}

/// Retry decision by status and `retry-after` headers.
fn retry_for_status(status: StatusCode, headers: &HeaderMap) -> Retry {
    match status.as_u16() {
        400 | 413 | 415 | 422 => return Retry::WithChanges,
        408 | 409 | 429 | 500 | 502 | 503 | 504 | 529 => {}
        _ => return Retry::Never,
    }
    let seconds = |name: &str, unit: f64| {
        let text = headers.get(name)?.to_str().ok()?;
        Some(text.trim().parse::<f64>().ok()? * unit)
    };
    let delay_seconds =
        seconds("retry-after-ms", 0.001).or_else(|| seconds(RETRY_AFTER.as_str(), 1.0));
    match delay_seconds {
        Some(delay) if delay.is_finite() && 0.0 <= delay => {
            Retry::After(Duration::from_secs_f64(delay.min(RETRY_DELAY_MAX.as_secs_f64())))
        }
        _ => Retry::WithBackoff,
    }
}

/// Characters of an error message that are shown.
const ERROR_TEXT_CHARS_MAX: usize = 500;

/// Extracts the message from an error body of any provider.
fn extract_error_message(body: &str) -> String {
    let body = body.trim();
    if body.starts_with('<') {
        return "got a web page instead of a model's reply; check `base`".to_owned();
    }
    let message = serde_json::from_str::<Value>(body).ok().and_then(|value| {
        let value = value.as_array().and_then(|array| array.first()).cloned().unwrap_or(value);
        let places =
            [&value["error"]["message"], &value["error"], &value["message"], &value["detail"]];
        places.iter().find_map(|candidate| candidate.as_str().map(str::to_owned))
    });
    let message = message.unwrap_or_else(|| body.to_owned());
    let mut message: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = message.char_indices().nth(ERROR_TEXT_CHARS_MAX) {
        message.truncate(end);
        message.push('…');
    }
    message
}
