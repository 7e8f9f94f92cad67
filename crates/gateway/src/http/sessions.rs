//! Endpoints for sessions: create, list, update, branch, delete.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use millpond_engine::event::Millis;
use serde::{Deserialize, Serialize};

use crate::limits::TITLE_CHARS_MAX;
use millpond_log::clock::now_ms;
use millpond_log::id::{RunId, SessionId};
use millpond_log::limits::{LISTED_SESSIONS_MAX, UNDO_WINDOW};
use millpond_log::recovery::read_log_and_build_closing_chunk;
use millpond_log::store::{self, Session, SessionUpdate};

use super::AppState;
use super::access_middleware::{AnyCaller, OwnerOnly};
use super::error::ApiError;
use super::extract::{Json, Path, Query};

/// A session in responses.
#[derive(Serialize)]
pub(super) struct SessionResponse {
    id: SessionId,
    title: String,
    created_ms: Millis,
    changed_ms: Millis,
    /// Number of records in its log.
    head: u64,
    pinned: bool,
    archived: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_ms: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<ParentResponse>,
    /// The active run.
    run: Option<RunId>,
    /// Open asks in the active run.
    asks: usize,
}

#[derive(Serialize)]
struct ParentResponse {
    session: SessionId,
    head: u64,
}

pub(super) fn session_response(
    gateway: &crate::gateway::Gateway,
    session: Session,
) -> SessionResponse {
    SessionResponse {
        run: gateway.scheduler.runs.active_run_of_session(session.id),
        asks: gateway.scheduler.runs.open_ask_count_of_session(session.id),
        id: session.id,
        title: session.title,
        created_ms: session.created_ms,
        changed_ms: session.changed_ms,
        head: session.head,
        pinned: session.pinned,
        archived: session.archived,
        deleted_ms: session.deleted_ms,
        parent: session.parent.map(|(session, head)| ParentResponse { session, head }),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewSession {
    #[serde(default)]
    title: String,
}

fn validate_title_length(title: &str) -> Result<(), ApiError> {
    if TITLE_CHARS_MAX < title.chars().count() {
        let message = format!("The title is longer than {TITLE_CHARS_MAX} characters.");
        return Err(ApiError::bad_request(message));
    }
    Ok(())
}

pub(super) async fn post_session(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Json(request): Json<NewSession>,
) -> Result<(StatusCode, Json<SessionResponse>), ApiError> {
    validate_title_length(&request.title)?;
    let session = gateway.create_session_and_notify(owner, &request.title).await?;
    Ok((StatusCode::CREATED, Json(session_response(&gateway, session))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    query: Option<String>,
    #[serde(default)]
    archived: bool,
    /// `changed_ms.id` of the last session of the previous page.
    before: Option<String>,
    limit: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct SessionList {
    sessions: Vec<SessionResponse>,
    /// Value of `before` for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

pub(super) async fn list_sessions(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Query(listing): Query<ListQuery>,
) -> Result<Json<SessionList>, ApiError> {
    let limit = listing.limit.unwrap_or(LISTED_SESSIONS_MAX).clamp(1, LISTED_SESSIONS_MAX);
    let cursor = listing.before.as_deref().map(parse_list_cursor).transpose()?;
    let query = store::SessionQuery {
        words: listing.query,
        archived: listing.archived,
        before: cursor,
        limit,
    };
    let found = gateway
        .log
        .call_store(move |store| store.list_sessions_of_owner_by_query(owner, &query))
        .await?;
    let next_cursor = (found.len() == limit)
        .then(|| found.last().map(|last| format!("{}.{}", last.changed_ms, last.id)))
        .flatten();
    let sessions = found.into_iter().map(|session| session_response(&gateway, session)).collect();
    Ok(Json(SessionList { sessions, next: next_cursor }))
}

fn parse_list_cursor(text: &str) -> Result<(Millis, SessionId), ApiError> {
    let parsed =
        text.split_once('.').and_then(|(ms, id)| Some((ms.parse().ok()?, id.parse().ok()?)));
    parsed.ok_or_else(|| ApiError::bad_request("`before` must be the `next` of a previous page."))
}

/// Finds a session that the caller may see; else 404.
pub(super) async fn find_visible_session(
    gateway: &crate::gateway::Gateway,
    caller: crate::access::Caller,
    raw_id: &str,
) -> Result<Session, ApiError> {
    let id: SessionId = raw_id.parse().map_err(|_| ApiError::not_found())?;
    gateway.load_visible_session(caller, id).await?.ok_or_else(ApiError::not_found)
}

/// Finds a session of this owner, also a deleted one.
pub(super) async fn find_owned_session(
    gateway: &crate::gateway::Gateway,
    owner: millpond_log::id::OwnerId,
    raw_id: &str,
) -> Result<Session, ApiError> {
    let id: SessionId = raw_id.parse().map_err(|_| ApiError::not_found())?;
    let found = gateway.log.call_store(move |store| store.load_session_even_deleted(id)).await?;
    found.filter(|session| session.owner == owner).ok_or_else(ApiError::not_found)
}

/// Finds a session of this owner that is not deleted.
pub(super) async fn find_owned_undeleted_session(
    gateway: &crate::gateway::Gateway,
    owner: millpond_log::id::OwnerId,
    raw_id: &str,
) -> Result<Session, ApiError> {
    let session = find_owned_session(gateway, owner, raw_id).await?;
    if session.deleted_ms.is_some() { Err(ApiError::not_found()) } else { Ok(session) }
}

pub(super) async fn get_session(
    State(gateway): AppState,
    AnyCaller(caller): AnyCaller,
    Path(raw_id): Path<String>,
) -> Result<Json<SessionResponse>, ApiError> {
    let session = find_visible_session(&gateway, caller, &raw_id).await?;
    Ok(Json(session_response(&gateway, session)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateRequest {
    title: Option<String>,
    pinned: Option<bool>,
    archived: Option<bool>,
}

pub(super) async fn patch_session(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
    Json(changes): Json<UpdateRequest>,
) -> Result<Json<SessionResponse>, ApiError> {
    let session = find_owned_session(&gateway, owner, &raw_id).await?;
    changes.title.as_deref().map_or(Ok(()), validate_title_length)?;
    let change = SessionUpdate {
        title: changes.title,
        pinned: changes.pinned,
        archived: changes.archived,
        deleted_ms: None,
    };
    store_update_and_notify(&gateway, session.id, change).await?;
    let session = find_owned_session(&gateway, owner, &raw_id).await?;
    Ok(Json(session_response(&gateway, session)))
}

async fn store_update_and_notify(
    gateway: &crate::gateway::Gateway,
    session: SessionId,
    change: SessionUpdate,
) -> Result<(), ApiError> {
    let now = now_ms();
    gateway.log.call_store(move |store| store.update_session(session, &change, now)).await?;
    gateway.log.session_changes().notify_changed(session);
    Ok(())
}

#[derive(Serialize)]
pub(super) struct DeleteResponse {
    /// End of the undo window.
    undo_until_ms: Millis,
}

pub(super) async fn soft_delete_session_and_cancel_run(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
) -> Result<Json<DeleteResponse>, ApiError> {
    let session = find_owned_session(&gateway, owner, &raw_id).await?;
    let now = session.deleted_ms.unwrap_or_else(now_ms);
    store_update_and_notify(
        &gateway,
        session.id,
        SessionUpdate { deleted_ms: Some(Some(now)), ..SessionUpdate::default() },
    )
    .await?;
    // After the deletion, so that no queued message starts instead.
    if let Some(run) = gateway.scheduler.runs.active_run_of_session(session.id) {
        gateway.scheduler.runs.request_cancel(run);
    }
    gateway.make_streams_recheck_access();
    let undo_ms = u64::try_from(UNDO_WINDOW.as_millis()).unwrap_or(u64::MAX);
    Ok(Json(DeleteResponse { undo_until_ms: now.saturating_add(undo_ms) }))
}

pub(super) async fn restore_session_and_run_queue(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
) -> Result<Json<SessionResponse>, ApiError> {
    let session = find_owned_session(&gateway, owner, &raw_id).await?;
    store_update_and_notify(
        &gateway,
        session.id,
        SessionUpdate { deleted_ms: Some(None), ..SessionUpdate::default() },
    )
    .await?;
    tokio::spawn(Arc::clone(&gateway.scheduler).run_queue_of_session(session.id));
    let session = find_owned_session(&gateway, owner, &raw_id).await?;
    Ok(Json(session_response(&gateway, session)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BranchRequest {
    /// Number of records the branch starts with; all if missing.
    head: Option<u64>,
    title: Option<String>,
}

pub(super) async fn branch_session(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
    Json(request): Json<BranchRequest>,
) -> Result<(StatusCode, Json<SessionResponse>), ApiError> {
    let session = find_owned_session(&gateway, owner, &raw_id).await?;
    let head = request.head.unwrap_or(session.head);
    if session.head < head {
        let message = format!("`head` is beyond the session's {} records.", session.head);
        return Err(ApiError::bad_request(message));
    }
    let title = request.title.unwrap_or_else(|| session.title.clone());
    validate_title_length(&title)?;
    let mut branch = Session::new(owner, &title, now_ms())?;
    branch.parent = Some((session.id, head));
    let closing_chunk = read_log_and_build_closing_chunk(&gateway.log, session.id, head).await?;
    let (parent, stored) = (session.id, branch.clone());
    gateway
        .log
        .call_store(move |store| {
            store.branch_session(parent, head, &stored, closing_chunk.as_ref())
        })
        .await?;
    gateway.log.session_changes().notify_changed(branch.id);
    let branch = find_owned_session(&gateway, owner, &branch.id.to_string()).await?;
    Ok((StatusCode::CREATED, Json(session_response(&gateway, branch))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UsageQuery {
    session: Option<String>,
}

#[derive(Serialize)]
pub(super) struct UsageResponse {
    tokens_in: u64,
    tokens_out: u64,
    cost_micro_usd: u64,
}

pub(super) async fn get_usage_of_owner_or_session(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Query(query): Query<UsageQuery>,
) -> Result<Json<UsageResponse>, ApiError> {
    let session = match query.session {
        Some(raw_id) => Some(find_owned_session(&gateway, owner, &raw_id).await?.id),
        None => None,
    };
    let used = gateway
        .log
        .call_store(move |store| store.usage_of_owner_or_session(owner, session))
        .await?;
    Ok(Json(UsageResponse {
        tokens_in: used.tokens_in,
        tokens_out: used.tokens_out,
        cost_micro_usd: used.cost_micro_usd,
    }))
}
