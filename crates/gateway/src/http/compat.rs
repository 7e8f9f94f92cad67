//! Other people's clients: their requests become messages of a session, their streams are the run's.

mod agui;
mod ai_sdk;
mod openai;

use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use engine::event::Record;

use crate::clock::{now_ms, random};
use crate::compat::{Encoder, Protocol};
use crate::follow::Follower;
use crate::gateway::{Gateway, new_session, no_chance};
use crate::id::{OwnerId, QueuedId, RunId, SessionId};
use crate::messages::{Turn, accept, called_off};
use crate::store::{Queued, StoreError};

use super::error::ApiError;

pub(super) use agui::run as run_agui;
pub(super) use ai_sdk::{chat as chat_ai_sdk, reconnect as reconnect_ai_sdk, stop as stop_ai_sdk};
pub(super) use openai::{completions, responses};

/// A conversation that a client names itself: the same name is the same session.
async fn session_named(
    gateway: &Gateway,
    owner: OwnerId,
    name: &str,
) -> Result<SessionId, ApiError> {
    let id = SessionId::of_key(&format!("{owner}/{name}"));
    let found = gateway.log.blocking(move |store| store.session(id)).await?;
    if found.is_none() {
        let mut session = new_session(owner, "", now_ms())?;
        session.id = id;
        gateway.log.blocking(move |store| store.create(&session)).await?;
    }
    Ok(id)
}

/// A run that a client waits for, or follows.
struct Followed {
    follower: Follower,
    /// Done when there will be no run.
    called_off: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Followed {
    /// A run that began at `from` or will begin later.
    async fn new(
        gateway: &Arc<Gateway>,
        session: SessionId,
        run: RunId,
        from: u64,
    ) -> Result<Followed, StoreError> {
        let follower = Follower::new(&gateway.log, session, run, from).await?;
        let called_off = Box::pin(called_off(Arc::clone(gateway), session, run));
        Ok(Followed { follower, called_off })
    }
}

/// Accepts a message and follows its run. The same key is the same message.
async fn ask(
    gateway: &Arc<Gateway>,
    session: SessionId,
    key: Option<String>,
    text: String,
) -> Result<Followed, ApiError> {
    if text.trim().is_empty() {
        return Err(ApiError::bad_request("The last message of the user has no text."));
    }
    let now = now_ms();
    let id = match key {
        Some(key) => QueuedId::of_key(&format!("{session}/{key}")),
        None => QueuedId::new(now, random().map_err(no_chance)?),
    };
    let run = RunId::from(id);
    let found = gateway
        .log
        .blocking(move |store| {
            let first = store.run(run)?.map(|row| row.first);
            let head = store.session(session)?.ok_or(StoreError::NoSession(session))?.head;
            Ok(first.unwrap_or(head))
        })
        .await?;
    accept(gateway, session, Queued { id, text, images: Vec::new(), accepted_ms: now }, Turn::Next)
        .await?;
    Ok(Followed::new(gateway, session, run, found).await?)
}

/// Waits for more of the run and hands it to the encoder. Says whether there was more to say.
async fn go_on<P: Protocol>(
    Followed { follower, called_off }: &mut Followed,
    encoder: &mut Encoder<P>,
    spell: fn(&str, &mut String),
    said: &mut String,
) -> bool {
    if encoder.is_ended() {
        return false;
    }
    let found = tokio::select! {
        biased;
        found = follower.next() => found,
        () = called_off => Ok(None),
    };
    let mut out = |data: &str| spell(data, said);
    let Ok(Some((from, chunks))) = found else {
        encoder.finish(&mut out);
        return true;
    };
    for record in chunks.iter().flat_map(|chunk| chunk.records(from)) {
        let Ok(record): Result<Record<'_>, _> = record else {
            encoder.finish(&mut out);
            return true;
        };
        if record.run == follower.run() {
            encoder.push(&record, &mut out);
        }
    }
    true
}

fn as_event(data: &str, said: &mut String) {
    said.push_str("data: ");
    said.push_str(data);
    said.push_str("\n\n");
}

const HEADERS: [(HeaderName, HeaderValue); 3] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
];

/// The run as server-sent events, from its beginning.
fn event_stream<P: Protocol + Send + 'static>(run: Followed, encoder: Encoder<P>) -> Response {
    let stream =
        futures_util::stream::unfold((run, encoder), |(mut run, mut encoder)| async move {
            let mut bytes = String::new();
            while bytes.is_empty() {
                if !go_on(&mut run, &mut encoder, as_event, &mut bytes).await {
                    return None;
                }
            }
            Some((Ok::<_, std::io::Error>(Bytes::from(bytes)), (run, encoder)))
        });
    (HEADERS, Body::from_stream(stream)).into_response()
}

/// Reads a run to its end. Returns the last thing said about it.
async fn run_to_end<P: Protocol>(mut run: Followed, encoder: &mut Encoder<P>) -> String {
    let mut last = String::new();
    while go_on(&mut run, encoder, str::clone_into, &mut last).await {}
    last
}
