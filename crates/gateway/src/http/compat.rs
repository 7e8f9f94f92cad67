//! Endpoints of other client protocols: a request becomes a message of a session, and its stream
//! follows the run.

mod agui;
mod ai_sdk;
mod openai;

use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use millpond_engine::event::PromptOrigin;

use crate::compat::{Encoder, Protocol};
use crate::gateway::Gateway;
use crate::run_follower::RunFollower;
use millpond_log::clock::{now_ms, random_bytes};
use millpond_log::id::{OwnerId, QueuedId, RunId, SessionId};
use millpond_log::queue::Delivery;
use millpond_log::store::{QueuedMessage, Session, StoreError};

use super::error::ApiError;

pub(super) use agui::post_run as run_agui;
pub(super) use ai_sdk::{
    post_chat as chat_ai_sdk, reconnect_chat as reconnect_ai_sdk, stop_chat as stop_ai_sdk,
};
pub(super) use openai::{post_completions, post_responses};

/// Finds or creates the session that a client names itself; the same name gives the same session.
async fn find_or_create_named_session(
    gateway: &Gateway,
    owner: OwnerId,
    name: &str,
) -> Result<SessionId, ApiError> {
    let id = SessionId::from_key(&format!("{owner}/{name}"));
    let found = gateway.log.call_store(move |store| store.load_session_even_deleted(id)).await?;
    if found.is_none() {
        let mut session = Session::new(owner, "", now_ms())?;
        session.id = id;
        gateway.log.call_store(move |store| store.create_session(&session)).await?;
    }
    Ok(id)
}

/// A run that a client follows, possibly before it begins.
struct FollowedRun {
    follower: RunFollower,
    /// Completes when the message is removed from the queue and there will be no run.
    message_removed: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl FollowedRun {
    /// Follows a run that began at `from` or will begin later.
    async fn new(
        gateway: &Arc<Gateway>,
        session: SessionId,
        run: RunId,
        from: u64,
    ) -> Result<FollowedRun, StoreError> {
        let follower = RunFollower::new(&gateway.log, session, run, from).await?;
        let scheduler = Arc::clone(&gateway.scheduler);
        let message_removed =
            Box::pin(async move { scheduler.wait_until_removed_before_run(session, run).await });
        Ok(FollowedRun { follower, message_removed })
    }
}

/// Accepts a message and follows its run. The same key is the same message.
async fn enqueue_message_and_follow_run(
    gateway: &Arc<Gateway>,
    session: SessionId,
    key: Option<String>,
    text: String,
) -> Result<FollowedRun, ApiError> {
    if text.trim().is_empty() {
        return Err(ApiError::bad_request("The last user message has no text."));
    }
    let now = now_ms();
    let id = match key {
        Some(key) => QueuedId::from_key(&format!("{session}/{key}")),
        None => QueuedId::new(now, random_bytes().map_err(StoreError::from)?),
    };
    let run = RunId::from(id);
    let start_seq = gateway
        .log
        .call_store(move |store| {
            let first = store.load_run(run)?.map(|row| row.first);
            let head = store
                .load_session_even_deleted(session)?
                .ok_or(StoreError::NoSession(session))?
                .head;
            Ok(first.unwrap_or(head))
        })
        .await?;
    gateway
        .scheduler
        .accept_message_once(
            session,
            QueuedMessage {
                id,
                text,
                images: Vec::new(),
                origin: PromptOrigin::Person,
                accepted_ms: now,
            },
            Delivery::NextRun,
        )
        .await?;
    Ok(FollowedRun::new(gateway, session, run, start_seq).await?)
}

/// Waits for more records of the run and encodes them. Returns false after the end.
async fn wait_and_encode_next<P: Protocol>(
    FollowedRun { follower, message_removed: called_off }: &mut FollowedRun,
    encoder: &mut Encoder<P>,
    write_payload: fn(&str, &mut String),
    bytes: &mut String,
) -> bool {
    if encoder.is_ended() {
        return false;
    }
    let result = tokio::select! {
        biased;
        found = follower.wait_for_next_chunks_of_session() => found,
        () = called_off => Ok(None),
    };
    let mut out = |data: &str| write_payload(data, bytes);
    let Ok(Some((start_seq, chunks))) = result else {
        encoder.end_as_interrupted_unless_ended(&mut out);
        return true;
    };
    for record in chunks.iter().flat_map(|chunk| chunk.records_from(start_seq)) {
        let Ok(record) = record else {
            encoder.end_as_interrupted_unless_ended(&mut out);
            return true;
        };
        if record.run == follower.run_id_text() {
            encoder.push(&record, &mut out);
        }
    }
    true
}

fn write_sse_data(data: &str, out: &mut String) {
    out.push_str("data: ");
    out.push_str(data);
    out.push_str("\n\n");
}

const SSE_HEADERS: [(HeaderName, HeaderValue); 3] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
];

/// Streams the run as server-sent events from its beginning.
fn stream_run_as_sse<P: Protocol + Send + 'static>(
    run: FollowedRun,
    encoder: Encoder<P>,
) -> Response {
    let stream =
        futures_util::stream::unfold((run, encoder), |(mut run, mut encoder)| async move {
            let mut bytes = String::new();
            while bytes.is_empty() {
                if !wait_and_encode_next(&mut run, &mut encoder, write_sse_data, &mut bytes).await {
                    return None;
                }
            }
            Some((Ok::<_, std::io::Error>(Bytes::from(bytes)), (run, encoder)))
        });
    (SSE_HEADERS, Body::from_stream(stream)).into_response()
}

/// Encodes a run to its end. Returns the last payload.
async fn wait_for_last_payload<P: Protocol>(
    mut run: FollowedRun,
    encoder: &mut Encoder<P>,
) -> String {
    let mut last = String::new();
    while wait_and_encode_next(&mut run, encoder, str::clone_into, &mut last).await {}
    last
}
