//! What changes in the list of sessions, as it happens: for other tabs.
//!
//! There is no cursor: `relist` comes first and whenever some were missed, and whoever gets it lists
//! again. So nothing is kept for anybody.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{broadcast, watch};

use crate::access::Caller;
use crate::fold::Spelling;
use crate::gateway::Gateway;
use crate::id::{OwnerId, SessionId};
use crate::limits::{HEARTBEAT_EVERY, NEWS_WINDOW};
use crate::news::Tidings;
use crate::store::Session;

use super::App;
use super::error::ApiError;
use super::gate::{Anyone, Owner};
use super::sessions::show_session;
use super::stream::event_stream;

pub(super) async fn stream(
    State(gateway): App,
    Owner(owner): Owner,
    Anyone(caller): Anyone,
) -> Result<Response, ApiError> {
    let listener = Listener {
        owner,
        caller,
        heard: Heard { relist: true, changed: BTreeSet::new() },
        tidings: gateway.log.news().listen(),
        revoked: gateway.revocations.subscribe(),
        stopping: gateway.stopping.subscribe(),
        gateway,
    };
    let bytes = futures_util::stream::unfold(Some(listener), |listener| async move {
        let mut listener = listener?;
        match listener.next().await {
            Ok(bytes) => Some((Ok::<_, std::io::Error>(bytes), Some(listener))),
            Err(reason) => {
                let data = format!("{{\"reason\":\"{reason}\"}}");
                Some((Ok(Spelling::Events.aside("closed", &data).into()), None))
            }
        }
    });
    Ok(event_stream(Body::from_stream(bytes)))
}

struct Listener {
    owner: OwnerId,
    caller: Caller,
    heard: Heard,
    tidings: broadcast::Receiver<Tidings>,
    revoked: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    gateway: Arc<Gateway>,
}

/// What came and was not told yet.
#[derive(Default)]
struct Heard {
    relist: bool,
    changed: BTreeSet<SessionId>,
}

impl Heard {
    fn hear(&mut self, tidings: Tidings) {
        match tidings {
            Tidings::Changed(session) => {
                self.changed.insert(session);
            }
            Tidings::Erased => self.relist = true,
        }
    }
}

enum Next {
    Tidings(Result<Tidings, RecvError>),
    /// Whoever listens may no longer be allowed to.
    Doubt,
    Stop,
    Nothing,
}

impl Listener {
    /// The next frames, or why there are no more.
    async fn next(&mut self) -> Result<Bytes, &'static str> {
        loop {
            let heard = std::mem::take(&mut self.heard);
            let told = self.tell(heard).await?;
            if !told.is_empty() {
                return Ok(told.into());
            }
            let next = tokio::select! {
                biased;
                _ = self.revoked.changed() => Next::Doubt,
                _ = self.stopping.wait_for(|stopping| *stopping) => Next::Stop,
                tidings = self.tidings.recv() => Next::Tidings(tidings),
                () = tokio::time::sleep(HEARTBEAT_EVERY) => Next::Nothing,
            };
            match next {
                Next::Doubt if self.gateway.may_come_in(self.caller).await => continue,
                Next::Doubt => return Err("revoked"),
                Next::Stop | Next::Tidings(Err(RecvError::Closed)) => return Err("stopping"),
                Next::Tidings(Ok(tidings)) => self.heard.hear(tidings),
                Next::Tidings(Err(RecvError::Lagged(_))) => self.heard.relist = true,
                Next::Nothing => return Ok(Bytes::from_static(b":\n\n")),
            }
            self.hear_more().await;
        }
    }

    /// What comes within one window is told together.
    async fn hear_more(&mut self) {
        tokio::time::sleep(NEWS_WINDOW).await;
        loop {
            match self.tidings.try_recv() {
                Ok(tidings) => self.heard.hear(tidings),
                Err(TryRecvError::Lagged(_)) => self.heard.relist = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }

    async fn tell(&self, heard: Heard) -> Result<String, &'static str> {
        let mut told = String::new();
        if heard.relist {
            // Whoever lists again has all that changed before.
            told.push_str(&Spelling::Events.aside("relist", "{}"));
            return Ok(told);
        }
        if heard.changed.is_empty() {
            return Ok(told);
        }
        for session in self.own(heard.changed).await? {
            let shown = show_session(&self.gateway, session);
            let data = serde_json::to_string(&shown).map_err(|_| "internal")?;
            told.push_str(&Spelling::Events.aside("session", &data));
        }
        Ok(told)
    }

    /// Those of this owner, as they stand now.
    async fn own(&self, changed: BTreeSet<SessionId>) -> Result<Vec<Session>, &'static str> {
        let owner = self.owner;
        let found = self.gateway.log.blocking(move |store| {
            let found = changed.into_iter().filter_map(|id| store.session(id).transpose());
            found.collect::<Result<Vec<_>, _>>()
        });
        let found = found.await.map_err(|_| "storage")?;
        Ok(found.into_iter().filter(|session| session.owner == owner).collect())
    }
}
