//! A session in all views at once, event by event: for the page that shows what the views do.
//!
//! Each reader folds for itself, because there are few, and no more than have a seat; there is no cursor but the number of an event.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use engine::event::{Millis, Record};
use engine::view::ViewName;
use engine::wire::{Encoder, Format, Kind};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::access::Caller;
use crate::fold::Spelling;
use crate::gateway::Gateway;
use crate::id::SessionId;
use crate::limits::{HEARTBEAT_EVERY, THEATRE_SEATS_MAX};
use crate::store::{Chunk, StoreError};

use super::App;
use super::error::ApiError;
use super::extract::Path;
use super::gate::Anyone;
use super::sessions::find;
use super::stream::event_stream;

pub(super) async fn stream(
    State(gateway): App,
    Anyone(caller): Anyone,
    Path(word): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    // Before anything is looked up: whatever changes from here on is noticed.
    let revoked = gateway.revocations.subscribe();
    if !gateway.may_come_in(caller).await {
        return Err(ApiError::not_found());
    }
    let session = find(&gateway, caller, &word).await?.id;
    let seat = Arc::clone(&gateway.theatre_seats).try_acquire_owned().map_err(|_| {
        ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "theatre_full",
            format!("{THEATRE_SEATS_MAX} readers are in the theatre already: come back later."),
        )
    })?;
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse::<u64>().ok());
    let epoch = gateway.log.store().epoch();
    let encoder = |view| {
        let kind = Kind { format: Format::Patch, ..Kind::new(view) };
        (view, Encoder::new(kind, &session.to_string(), epoch))
    };
    let stage = Stage {
        session,
        caller,
        columns: ViewName::ALL.map(encoder),
        next: 0,
        told: last.map_or(0, |last| last.saturating_add(1)),
        end: gateway.log.follow(session).await?,
        revoked,
        stopping: gateway.stopping.subscribe(),
        gateway,
        _seat: seat,
    };
    let bytes = futures_util::stream::unfold(Some(stage), |stage| async move {
        let mut stage = stage?;
        match stage.next().await {
            Ok(bytes) => Some((Ok::<_, std::io::Error>(bytes), Some(stage))),
            Err(reason) => {
                let data = format!("{{\"reason\":\"{reason}\"}}");
                Some((Ok(Spelling::Events.aside("closed", &data).into()), None))
            }
        }
    });
    Ok(event_stream(Body::from_stream(bytes)))
}

struct Stage {
    session: SessionId,
    caller: Caller,
    columns: [(ViewName, Encoder); 5],
    /// The next record to read.
    next: u64,
    /// The next record to tell; what the reader has had is only folded.
    told: u64,
    end: watch::Receiver<u64>,
    revoked: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    gateway: Arc<Gateway>,
    _seat: OwnedSemaphorePermit,
}

/// One event, and what it did in each view that it changed.
#[derive(Serialize)]
struct Told<'a> {
    seq: u64,
    at_ms: Option<Millis>,
    run: &'a str,
    event: &'a str,
    views: BTreeMap<&'static str, Vec<Box<RawValue>>>,
}

/// The kind of an event, read from its line.
#[derive(Deserialize)]
struct Named<'a> {
    r#type: &'a str,
}

enum Next {
    More,
    /// Whoever watches may no longer be allowed to.
    Doubt,
    Stop,
    Nothing,
}

impl Stage {
    /// The next events, or why there are no more.
    async fn next(&mut self) -> Result<Bytes, &'static str> {
        loop {
            self.end.mark_unchanged();
            let told = self.read_on().await.map_err(|_| "storage")?;
            if !told.is_empty() {
                return Ok(told.into());
            }
            let next = tokio::select! {
                biased;
                _ = self.revoked.changed() => Next::Doubt,
                _ = self.stopping.wait_for(|stopping| *stopping) => Next::Stop,
                changed = self.end.changed() => if changed.is_ok() { Next::More } else { Next::Stop },
                () = tokio::time::sleep(HEARTBEAT_EVERY) => Next::Nothing,
            };
            match next {
                Next::Doubt if !self.gateway.may_come_in(self.caller).await => {
                    return Err("revoked");
                }
                Next::Doubt if self.is_deleted().await => return Err("deleted"),
                Next::More | Next::Doubt => {}
                Next::Stop => return Err("stopping"),
                Next::Nothing => return Ok(Spelling::Events.heartbeat(self.next).into()),
            }
        }
    }

    async fn is_deleted(&self) -> bool {
        let id = self.session;
        let found = self.gateway.log.blocking(move |store| store.session(id)).await;
        // What cannot be looked up now is found out by reading.
        found.is_ok_and(|found| found.is_none_or(|found| found.deleted_ms.is_some()))
    }

    /// Folds what is there and tells it.
    async fn read_on(&mut self) -> Result<String, StoreError> {
        let mut told = String::new();
        while told.is_empty() {
            let chunks = self.gateway.log.read(self.session, self.next).await?;
            if chunks.last().is_none_or(|chunk| chunk.end() <= self.next) {
                break;
            }
            for chunk in &chunks {
                self.fold(chunk, &mut told)?;
            }
        }
        Ok(told)
    }

    fn fold(&mut self, chunk: &Chunk, told: &mut String) -> Result<(), StoreError> {
        let skipped = usize::try_from(self.next.saturating_sub(chunk.first)).unwrap_or(usize::MAX);
        for line in chunk.lines.lines().skip(skipped) {
            let record: Record<'_> =
                serde_json::from_str(line).map_err(|error| StoreError::Damaged {
                    session: self.session,
                    seq: self.next,
                    detail: error.to_string(),
                })?;
            let views = self.views(&record);
            self.next = record.seq + 1;
            if record.seq < self.told {
                continue;
            }
            let event = serde_json::from_str::<Named<'_>>(line).map_or("", |named| named.r#type);
            let Record { seq, at_ms, run, .. } = &record;
            let one = Told { seq: *seq, at_ms: *at_ms, run, event, views };
            let data = serde_json::to_string(&one).unwrap_or_default();
            told.extend(["id:", &seq.to_string(), "\ndata:", &data, "\n\n"]);
        }
        Ok(())
    }

    fn views(&mut self, record: &Record<'_>) -> BTreeMap<&'static str, Vec<Box<RawValue>>> {
        let mut views = BTreeMap::<_, Vec<_>>::new();
        for (view, encoder) in &mut self.columns {
            encoder.push(record, &mut |frame| {
                if let Ok(patch) = RawValue::from_string(frame.data.to_owned()) {
                    views.entry(view.as_str()).or_default().push(patch);
                }
            });
        }
        views
    }
}
