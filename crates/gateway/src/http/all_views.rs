//! `GET /v1/sessions/{session}/theatre`: a session in all views at once, event by event, for the
//! page that compares them.
//!
//! Each reader has its own encoders, so their number is limited. The only cursor is the sequence
//! number of an event.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use millpond_engine::event::{Millis, Record};
use millpond_engine::view::ViewName;
use millpond_engine::wire::{Encoder, FrameFormat, StreamKind};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::access::Caller;
use crate::fold::Framing;
use crate::gateway::Gateway;
use crate::limits::{ALL_VIEWS_READERS_MAX, HEARTBEAT_EVERY};
use millpond_log::LogEnd;
use millpond_log::id::SessionId;
use millpond_log::store::{Chunk, StoreError};

use super::AppState;
use super::access_middleware::AnyCaller;
use super::error::ApiError;
use super::extract::Path;
use super::sessions::find_visible_session;
use super::stream::{FrameSource, build_sse_body_with_closed_event, sse_response};

/// Streams every event with its patches in all views.
pub(super) async fn stream_all_views(
    State(gateway): AppState,
    AnyCaller(caller): AnyCaller,
    Path(raw_id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    // Subscribed first, so that no later change is missed.
    let revoked = gateway.revocations.subscribe();
    if !gateway.is_still_authorised(caller).await {
        return Err(ApiError::not_found());
    }
    let session = find_visible_session(&gateway, caller, &raw_id).await?.id;
    let permit = Arc::clone(&gateway.all_views_permits).try_acquire_owned().map_err(|_| {
        ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "theatre_full",
            format!("{ALL_VIEWS_READERS_MAX} readers follow all views already. Try again later."),
        )
    })?;
    let last_event_id =
        headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse::<u64>().ok());
    let encoder = |view| {
        let kind = StreamKind { format: FrameFormat::Patch, ..StreamKind::new(view) };
        (view, Encoder::new(kind, &session.to_string()))
    };
    let state = AllViewsStream {
        session,
        caller,
        encoders: ViewName::ALL.map(encoder),
        next_seq: 0,
        first_unsent_seq: last_event_id.map_or(0, |seq| seq.saturating_add(1)),
        log_end: gateway.log.watch_log_end(session).await?,
        revocations: revoked,
        stopping: gateway.scheduler.stopping.subscribe(),
        gateway,
        _permit: permit,
    };
    Ok(sse_response(build_sse_body_with_closed_event(state)))
}

/// State of one stream of all views.
struct AllViewsStream {
    session: SessionId,
    caller: Caller,
    encoders: [(ViewName, Encoder); 5],
    /// Sequence number of the next record to read.
    next_seq: u64,
    /// Records before it were already sent; they are only folded.
    first_unsent_seq: u64,
    log_end: LogEnd,
    revocations: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    gateway: Arc<Gateway>,
    _permit: OwnedSemaphorePermit,
}

/// One event with its patches in each view that it changed.
#[derive(Serialize)]
struct EventInViews<'a> {
    seq: u64,
    at_ms: Option<Millis>,
    run: &'a str,
    event: &'a str,
    views: BTreeMap<&'static str, Vec<Box<RawValue>>>,
}

/// The type of an event, parsed from its line.
#[derive(Deserialize)]
struct EventType<'a> {
    r#type: &'a str,
}

/// Why a stream woke up.
enum WakeReason {
    LogGrew,
    /// Access may have been revoked.
    AccessChanged,
    Stopping,
    HeartbeatDue,
}

impl FrameSource for AllViewsStream {
    async fn wait_for_frames(&mut self) -> Result<Bytes, &'static str> {
        self.wait_for_next_frames().await
    }
}

impl AllViewsStream {
    /// Returns the next events, or the reason for closing.
    async fn wait_for_next_frames(&mut self) -> Result<Bytes, &'static str> {
        loop {
            self.log_end.mark_unchanged();
            let bytes = self.read_and_encode_unsent_events().await.map_err(|_| "storage")?;
            if !bytes.is_empty() {
                return Ok(bytes.into());
            }
            let wake_reason = tokio::select! {
                biased;
                _ = self.revocations.changed() => WakeReason::AccessChanged,
                _ = self.stopping.wait_for(|stopping| *stopping) => WakeReason::Stopping,
                changed = self.log_end.changed() => if changed.is_ok() { WakeReason::LogGrew } else { WakeReason::Stopping },
                () = tokio::time::sleep(HEARTBEAT_EVERY) => WakeReason::HeartbeatDue,
            };
            match wake_reason {
                WakeReason::AccessChanged
                    if !self.gateway.is_still_authorised(self.caller).await =>
                {
                    return Err("revoked");
                }
                WakeReason::AccessChanged if self.is_session_known_to_be_deleted().await => {
                    return Err("deleted");
                }
                WakeReason::LogGrew | WakeReason::AccessChanged => {}
                WakeReason::Stopping => return Err("stopping"),
                WakeReason::HeartbeatDue => {
                    return Ok(Framing::ServerSentEvents.heartbeat_frame(self.next_seq).into());
                }
            }
        }
    }

    async fn is_session_known_to_be_deleted(&self) -> bool {
        let id = self.session;
        let found =
            self.gateway.log.call_store(move |store| store.load_session_even_deleted(id)).await;
        // If the lookup fails, the next read reports it.
        found.is_ok_and(|row| row.is_none_or(|session| session.deleted_ms.is_some()))
    }

    /// Reads and encodes new records.
    async fn read_and_encode_unsent_events(&mut self) -> Result<String, StoreError> {
        let mut out = String::new();
        while out.is_empty() {
            let chunks = self.gateway.log.read(self.session, self.next_seq).await?;
            if chunks.last().is_none_or(|chunk| chunk.next_seq() <= self.next_seq) {
                break;
            }
            for chunk in &chunks {
                self.encode_chunk(chunk, &mut out)?;
            }
        }
        Ok(out)
    }

    /// Encodes the records of a chunk that are new.
    fn encode_chunk(&mut self, chunk: &Chunk, out: &mut String) -> Result<(), StoreError> {
        let skipped =
            usize::try_from(self.next_seq.saturating_sub(chunk.first)).unwrap_or(usize::MAX);
        for line in chunk.lines.lines().skip(skipped) {
            let record: Record<'_> =
                serde_json::from_str(line).map_err(|error| StoreError::Damaged {
                    session: self.session,
                    seq: self.next_seq,
                    detail: error.to_string(),
                })?;
            let views = self.encode_patches_by_view(&record);
            self.next_seq = record.seq + 1;
            if record.seq < self.first_unsent_seq {
                continue;
            }
            let event =
                serde_json::from_str::<EventType<'_>>(line).map_or("", |parsed| parsed.r#type);
            let Record { seq, at_ms, run, .. } = &record;
            let row = EventInViews { seq: *seq, at_ms: *at_ms, run, event, views };
            let data = serde_json::to_string(&row).unwrap_or_default();
            out.extend(["id:", &seq.to_string(), "\ndata:", &data, "\n\n"]);
        }
        Ok(())
    }

    /// Applies a record to all encoders and returns the patches.
    fn encode_patches_by_view(
        &mut self,
        record: &Record<'_>,
    ) -> BTreeMap<&'static str, Vec<Box<RawValue>>> {
        let mut views = BTreeMap::<_, Vec<_>>::new();
        for (view, encoder) in &mut self.encoders {
            encoder.push(record, &mut |frame| {
                if let Ok(patch) = RawValue::from_string(frame.data.to_owned()) {
                    views.entry(view.as_str()).or_default().push(patch);
                }
            });
        }
        views
    }
}
