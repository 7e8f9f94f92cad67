//! Sessions: making, finding, naming, branching and deleting them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use engine::event::Millis;
use serde::{Deserialize, Serialize};

use crate::clock::now_ms;
use crate::gateway::new_session;
use crate::id::{RunId, SessionId};
use crate::limits::{LIST_MAX, TITLE_CHARS_MAX, UNDO_WINDOW};
use crate::messages::work_off;
use crate::runs::closing;
use crate::store::{self, Change, Session};

use super::App;
use super::error::ApiError;
use super::extract::{Json, Path, Query};
use super::gate::{Anyone, Owner};

/// A session as callers see it.
#[derive(Serialize)]
pub(super) struct Shown {
    id: SessionId,
    title: String,
    created_ms: Millis,
    changed_ms: Millis,
    /// How many records its log has.
    head: u64,
    pinned: bool,
    archived: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_ms: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<Parent>,
    /// The run that is going.
    run: Option<RunId>,
    /// How many asks are open in it.
    asks: usize,
}

#[derive(Serialize)]
struct Parent {
    session: SessionId,
    head: u64,
}

pub(super) fn show_session(gateway: &crate::gateway::Gateway, session: Session) -> Shown {
    Shown {
        run: gateway.runs.of(session.id),
        asks: gateway.runs.asks(session.id),
        id: session.id,
        title: session.title,
        created_ms: session.created_ms,
        changed_ms: session.changed_ms,
        head: session.head,
        pinned: session.pinned,
        archived: session.archived,
        deleted_ms: session.deleted_ms,
        parent: session.parent.map(|(session, head)| Parent { session, head }),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct New {
    #[serde(default)]
    title: String,
}

fn check_title(title: &str) -> Result<(), ApiError> {
    if TITLE_CHARS_MAX < title.chars().count() {
        let message = format!("A title has at most {TITLE_CHARS_MAX} characters.");
        return Err(ApiError::bad_request(message));
    }
    Ok(())
}

pub(super) async fn create(
    State(gateway): App,
    Owner(owner): Owner,
    Json(new): Json<New>,
) -> Result<(StatusCode, Json<Shown>), ApiError> {
    check_title(&new.title)?;
    let session = gateway.create(owner, &new.title).await?;
    Ok((StatusCode::CREATED, Json(show_session(&gateway, session))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listing {
    query: Option<String>,
    #[serde(default)]
    archived: bool,
    /// `changed_ms.id` of the last session of the page before.
    before: Option<String>,
    limit: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct Page {
    sessions: Vec<Shown>,
    /// What to send as `before` for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

pub(super) async fn list(
    State(gateway): App,
    Owner(owner): Owner,
    Query(listing): Query<Listing>,
) -> Result<Json<Page>, ApiError> {
    let limit = listing.limit.unwrap_or(LIST_MAX).clamp(1, LIST_MAX);
    let before = listing.before.as_deref().map(parse_before).transpose()?;
    let query = store::Query { words: listing.query, archived: listing.archived, before, limit };
    let found = gateway.log.blocking(move |store| store.sessions(owner, &query)).await?;
    let next = (found.len() == limit)
        .then(|| found.last().map(|last| format!("{}.{}", last.changed_ms, last.id)))
        .flatten();
    let sessions = found.into_iter().map(|session| show_session(&gateway, session)).collect();
    Ok(Json(Page { sessions, next }))
}

fn parse_before(text: &str) -> Result<(Millis, SessionId), ApiError> {
    let parsed =
        text.split_once('.').and_then(|(ms, id)| Some((ms.parse().ok()?, id.parse().ok()?)));
    parsed.ok_or_else(|| ApiError::bad_request("`before` is what a list gave as `next`."))
}

/// A session in the path; one that is no id, or of somebody else, is not there.
pub(super) async fn find(
    gateway: &crate::gateway::Gateway,
    caller: crate::access::Caller,
    word: &str,
) -> Result<Session, ApiError> {
    let id: SessionId = word.parse().map_err(|_| ApiError::not_found())?;
    gateway.session_of(caller, id).await?.ok_or_else(ApiError::not_found)
}

/// A session that the caller owns.
pub(super) async fn own(
    gateway: &crate::gateway::Gateway,
    owner: crate::id::OwnerId,
    word: &str,
) -> Result<Session, ApiError> {
    let id: SessionId = word.parse().map_err(|_| ApiError::not_found())?;
    let found = gateway.log.blocking(move |store| store.session(id)).await?;
    found.filter(|session| session.owner == owner).ok_or_else(ApiError::not_found)
}

/// A session that the caller owns and has not deleted: one that can be added to.
pub(super) async fn live(
    gateway: &crate::gateway::Gateway,
    owner: crate::id::OwnerId,
    word: &str,
) -> Result<Session, ApiError> {
    let session = own(gateway, owner, word).await?;
    if session.deleted_ms.is_some() { Err(ApiError::not_found()) } else { Ok(session) }
}

pub(super) async fn show(
    State(gateway): App,
    Anyone(caller): Anyone,
    Path(word): Path<String>,
) -> Result<Json<Shown>, ApiError> {
    let session = find(&gateway, caller, &word).await?;
    Ok(Json(show_session(&gateway, session)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Changes {
    title: Option<String>,
    pinned: Option<bool>,
    archived: Option<bool>,
}

pub(super) async fn change(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
    Json(changes): Json<Changes>,
) -> Result<Json<Shown>, ApiError> {
    let session = own(&gateway, owner, &word).await?;
    changes.title.as_deref().map_or(Ok(()), check_title)?;
    let change = Change {
        title: changes.title,
        pinned: changes.pinned,
        archived: changes.archived,
        deleted_ms: None,
    };
    apply(&gateway, session.id, change).await?;
    let session = own(&gateway, owner, &word).await?;
    Ok(Json(show_session(&gateway, session)))
}

async fn apply(
    gateway: &crate::gateway::Gateway,
    session: SessionId,
    change: Change,
) -> Result<(), ApiError> {
    let now = now_ms();
    gateway.log.blocking(move |store| store.change(session, &change, now)).await?;
    gateway.log.news().tell(session);
    Ok(())
}

#[derive(Serialize)]
pub(super) struct Deleted {
    /// Until then it can be brought back.
    undo_until_ms: Millis,
}

pub(super) async fn delete(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
) -> Result<Json<Deleted>, ApiError> {
    let session = own(&gateway, owner, &word).await?;
    let now = session.deleted_ms.unwrap_or_else(now_ms);
    apply(&gateway, session.id, Change { deleted_ms: Some(Some(now)), ..Change::default() })
        .await?;
    // Only now: no waiting message may begin in its place.
    if let Some(run) = gateway.runs.of(session.id) {
        gateway.runs.cancel(run);
    }
    gateway.doubt();
    let window = u64::try_from(UNDO_WINDOW.as_millis()).unwrap_or(u64::MAX);
    Ok(Json(Deleted { undo_until_ms: now.saturating_add(window) }))
}

pub(super) async fn restore(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
) -> Result<Json<Shown>, ApiError> {
    let session = own(&gateway, owner, &word).await?;
    apply(&gateway, session.id, Change { deleted_ms: Some(None), ..Change::default() }).await?;
    tokio::spawn(work_off(Arc::clone(&gateway), session.id));
    let session = own(&gateway, owner, &word).await?;
    Ok(Json(show_session(&gateway, session)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Branch {
    /// How many records the branch begins with; all of them if not given.
    head: Option<u64>,
    title: Option<String>,
}

pub(super) async fn branch(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
    Json(wanted): Json<Branch>,
) -> Result<(StatusCode, Json<Shown>), ApiError> {
    let session = own(&gateway, owner, &word).await?;
    let head = wanted.head.unwrap_or(session.head);
    if session.head < head {
        let message = format!("The session has {} records; `head` is beyond them.", session.head);
        return Err(ApiError::bad_request(message));
    }
    let title = wanted.title.unwrap_or_else(|| session.title.clone());
    check_title(&title)?;
    let mut branch = new_session(owner, &title, now_ms())?;
    branch.parent = Some((session.id, head));
    let closing = closing(&gateway.log, session.id, head).await?;
    let (from, kept) = (session.id, branch.clone());
    gateway.log.blocking(move |store| store.branch(from, head, &kept, closing.as_ref())).await?;
    gateway.log.news().tell(branch.id);
    let branch = own(&gateway, owner, &branch.id.to_string()).await?;
    Ok((StatusCode::CREATED, Json(show_session(&gateway, branch))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UsageOf {
    session: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Usage {
    tokens_in: u64,
    tokens_out: u64,
    cost_micro_usd: u64,
}

pub(super) async fn usage(
    State(gateway): App,
    Owner(owner): Owner,
    Query(of): Query<UsageOf>,
) -> Result<Json<Usage>, ApiError> {
    let session = match of.session {
        Some(word) => Some(own(&gateway, owner, &word).await?.id),
        None => None,
    };
    let used = gateway.log.blocking(move |store| store.used(owner, session)).await?;
    Ok(Json(Usage {
        tokens_in: used.tokens_in,
        tokens_out: used.tokens_out,
        cost_micro_usd: used.cost_micro_usd,
    }))
}
