//! `GET /v1/sessions/stream`: changes of the session list as server-sent events.
//!
//! There is no cursor: `relist` is sent first and whenever changes were missed, and the client
//! lists again.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{broadcast, watch};

use crate::access::Caller;
use crate::fold::Framing;
use crate::gateway::Gateway;
use crate::limits::{HEARTBEAT_EVERY, SESSION_CHANGES_WINDOW};
use millpond_log::id::{OwnerId, SessionId};
use millpond_log::session_changes::SessionChange;
use millpond_log::store::Session;

use super::AppState;
use super::access_middleware::{AnyCaller, OwnerOnly};
use super::error::ApiError;
use super::sessions::session_response;
use super::stream::{FrameSource, build_sse_body_with_closed_event, sse_response};

/// Streams changes of the owner's sessions.
pub(super) async fn stream_session_list_changes(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    AnyCaller(caller): AnyCaller,
) -> Result<Response, ApiError> {
    let listener = SessionListStream {
        owner,
        caller,
        pending: PendingChanges { needs_relist: true, changed: BTreeSet::new() },
        changes: gateway.log.session_changes().subscribe(),
        revocations: gateway.revocations.subscribe(),
        stopping: gateway.scheduler.stopping.subscribe(),
        gateway,
    };
    Ok(sse_response(build_sse_body_with_closed_event(listener)))
}

/// State of one session-list stream.
struct SessionListStream {
    owner: OwnerId,
    caller: Caller,
    pending: PendingChanges,
    changes: broadcast::Receiver<SessionChange>,
    revocations: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    gateway: Arc<Gateway>,
}

/// Changes received and not sent yet.
#[derive(Default)]
struct PendingChanges {
    needs_relist: bool,
    changed: BTreeSet<SessionId>,
}

impl PendingChanges {
    fn record_change(&mut self, change: SessionChange) {
        match change {
            SessionChange::Changed(session) => {
                self.changed.insert(session);
            }
            SessionChange::Erased => self.needs_relist = true,
        }
    }
}

/// Why a stream woke up.
enum WakeReason {
    SessionChange(Result<SessionChange, RecvError>),
    /// Access may have been revoked.
    AccessChanged,
    Stopping,
    HeartbeatDue,
}

impl FrameSource for SessionListStream {
    async fn wait_for_frames(&mut self) -> Result<Bytes, &'static str> {
        self.wait_for_next_frames().await
    }
}

impl SessionListStream {
    /// Returns the next frames, or the reason for closing.
    async fn wait_for_next_frames(&mut self) -> Result<Bytes, &'static str> {
        loop {
            let pending = std::mem::take(&mut self.pending);
            let bytes = self.load_and_encode_changes(pending).await?;
            if !bytes.is_empty() {
                return Ok(bytes.into());
            }
            let wake_reason = tokio::select! {
                biased;
                _ = self.revocations.changed() => WakeReason::AccessChanged,
                _ = self.stopping.wait_for(|stopping| *stopping) => WakeReason::Stopping,
                tidings = self.changes.recv() => WakeReason::SessionChange(tidings),
                () = tokio::time::sleep(HEARTBEAT_EVERY) => WakeReason::HeartbeatDue,
            };
            match wake_reason {
                WakeReason::AccessChanged
                    if self.gateway.is_still_authorised(self.caller).await =>
                {
                    continue;
                }
                WakeReason::AccessChanged => return Err("revoked"),
                WakeReason::Stopping | WakeReason::SessionChange(Err(RecvError::Closed)) => {
                    return Err("stopping");
                }
                WakeReason::SessionChange(Ok(change)) => self.pending.record_change(change),
                WakeReason::SessionChange(Err(RecvError::Lagged(_))) => {
                    self.pending.needs_relist = true;
                }
                WakeReason::HeartbeatDue => return Ok(Bytes::from_static(b":\n\n")),
            }
            self.wait_and_collect_changes().await;
        }
    }

    /// Waits for one window and collects its changes, to send them together.
    async fn wait_and_collect_changes(&mut self) {
        tokio::time::sleep(SESSION_CHANGES_WINDOW).await;
        loop {
            match self.changes.try_recv() {
                Ok(change) => self.pending.record_change(change),
                Err(TryRecvError::Lagged(_)) => self.pending.needs_relist = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }

    async fn load_and_encode_changes(
        &self,
        pending: PendingChanges,
    ) -> Result<String, &'static str> {
        let mut out = String::new();
        if pending.needs_relist {
            // A new list includes all earlier changes.
            out.push_str(&Framing::ServerSentEvents.format_event_without_cursor("relist", "{}"));
            return Ok(out);
        }
        if pending.changed.is_empty() {
            return Ok(out);
        }
        for session in self.load_changed_sessions_of_owner(pending.changed).await? {
            let response = session_response(&self.gateway, session);
            let data = serde_json::to_string(&response).map_err(|_| "internal")?;
            out.push_str(&Framing::ServerSentEvents.format_event_without_cursor("session", &data));
        }
        Ok(out)
    }

    /// Loads the sessions of this owner among those changed.
    async fn load_changed_sessions_of_owner(
        &self,
        changed: BTreeSet<SessionId>,
    ) -> Result<Vec<Session>, &'static str> {
        let owner = self.owner;
        let found = self.gateway.log.call_store(move |store| {
            let found = changed
                .into_iter()
                .filter_map(|id| store.load_session_even_deleted(id).transpose());
            found.collect::<Result<Vec<_>, _>>()
        });
        let found = found.await.map_err(|_| "storage")?;
        Ok(found.into_iter().filter(|session| session.owner == owner).collect())
    }
}
