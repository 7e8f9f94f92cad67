//! Login links, tokens and shared links.

use std::time::Instant;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use millpond_engine::event::Millis;
use serde::{Deserialize, Serialize};

use crate::access::{Scheme, Secret};
use crate::gateway::Gateway;
use millpond_log::clock::{now_ms, random_bytes};
use millpond_log::id::{ShareId, TokenId};
use millpond_log::store::{Share, StoreError};

use super::AppState;
use super::access_middleware::{COOKIE_NAME, OwnerOnly};
use super::error::ApiError;
use super::extract::{Json, Path, Query};
use super::sessions::find_owned_session;

#[derive(Deserialize)]
pub(super) struct LoginQuery {
    code: String,
}

/// Redeems a login link: the browser gets a token in a cookie that scripts cannot read.
pub(super) async fn redeem_login_link(
    State(gateway): AppState,
    Query(LoginQuery { code }): Query<LoginQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let owner =
        Secret::parse(&code).and_then(|code| gateway.login_links.redeem(&code, Instant::now()));
    let Some(owner) = owner else {
        // A navigation gets a page instead of JSON.
        let is_navigation = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        if is_navigation && !gateway.site.is_empty() {
            let location = (header::LOCATION, HeaderValue::from_static("/?link=used"));
            return Ok((StatusCode::SEE_OTHER, [location]).into_response());
        }
        return Err(ApiError::new(
            StatusCode::UNAUTHORIZED,
            "link_used",
            "This login link is used, expired or invalid. Run `millpond login` for a new one.",
        ));
    };
    let (_, secret) = gateway.issue_token(owner, "browser").await?;
    let secure = match gateway.scheme {
        Scheme::Https => "; Secure",
        Scheme::Http => "",
    };
    let cookie = format!(
        "{COOKIE_NAME}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000{secure}",
        secret.reveal()
    );
    let cookie = HeaderValue::from_str(&cookie).map_err(|_| ApiError::not_found())?;
    let location = (header::LOCATION, HeaderValue::from_static("/"));
    Ok((StatusCode::SEE_OTHER, [(header::SET_COOKIE, cookie), location]).into_response())
}

#[derive(Serialize)]
pub(super) struct LoginLinkResponse {
    /// URL path for the browser.
    path: String,
}

pub(super) async fn create_login_link(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
) -> Result<Json<LoginLinkResponse>, ApiError> {
    let code = gateway.login_links.issue(owner, Instant::now()).map_err(StoreError::from)?;
    Ok(Json(LoginLinkResponse { path: format!("/login?code={}", code.reveal()) }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewToken {
    label: String,
}

#[derive(Serialize)]
pub(super) struct CreatedToken {
    id: TokenId,
    /// Shown only once.
    token: String,
}

pub(super) async fn create_token(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Json(NewToken { label }): Json<NewToken>,
) -> Result<(StatusCode, Json<CreatedToken>), ApiError> {
    let (id, secret) = gateway.issue_token(owner, &label).await?;
    Ok((StatusCode::CREATED, Json(CreatedToken { id, token: secret.reveal().to_owned() })))
}

#[derive(Serialize)]
pub(super) struct ListedToken {
    id: TokenId,
    label: String,
    created_ms: Millis,
}

pub(super) async fn list_tokens(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
) -> Result<Json<Vec<ListedToken>>, ApiError> {
    let tokens =
        gateway.call_credential_store(move |store| store.owner_tokens_even_revoked(owner)).await?;
    let active = tokens.into_iter().filter(|token| token.revoked_ms.is_none());
    let listed = active.map(|token| ListedToken {
        id: token.id,
        label: token.label,
        created_ms: token.created_ms,
    });
    Ok(Json(listed.collect()))
}

/// Revokes a token and closes its streams.
pub(super) async fn revoke_token(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let id: TokenId = raw_id.parse().map_err(|_| ApiError::not_found())?;
    let now = now_ms();
    let is_revoked = gateway
        .call_credential_store(move |store| store.revoke_token_of_owner(owner, id, now))
        .await?;
    if is_revoked {
        Ok(make_streams_recheck_and_respond(&gateway))
    } else {
        Err(ApiError::not_found())
    }
}

/// Makes open streams check their access again, and answers a revocation.
fn make_streams_recheck_and_respond(gateway: &Gateway) -> StatusCode {
    gateway.make_streams_recheck_access();
    StatusCode::NO_CONTENT
}

#[derive(Serialize)]
pub(super) struct CreatedShare {
    id: ShareId,
    /// Grants read access to the session. Shown only once.
    token: String,
}

pub(super) async fn create_share(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
) -> Result<(StatusCode, Json<CreatedShare>), ApiError> {
    let session = find_owned_session(&gateway, owner, &raw_id).await?;
    let now = now_ms();
    let secret = Secret::generate().map_err(StoreError::from)?;
    let id = ShareId::new(now, random_bytes().map_err(StoreError::from)?);
    let share = Share { id, session: session.id, digest: secret.digest(), created_ms: now };
    gateway.call_credential_store(move |store| store.store_share(&share)).await?;
    Ok((StatusCode::CREATED, Json(CreatedShare { id, token: secret.reveal().to_owned() })))
}

#[derive(Serialize)]
pub(super) struct ListedShare {
    id: ShareId,
    created_ms: Millis,
}

pub(super) async fn list_shares(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
) -> Result<Json<Vec<ListedShare>>, ApiError> {
    let session = find_owned_session(&gateway, owner, &raw_id).await?.id;
    let shares = gateway.call_credential_store(move |store| store.session_shares(session)).await?;
    let listed =
        shares.into_iter().map(|share| ListedShare { id: share.id, created_ms: share.created_ms });
    Ok(Json(listed.collect()))
}

pub(super) async fn revoke_share(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path((raw_id, share)): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    let session = find_owned_session(&gateway, owner, &raw_id).await?.id;
    let share: ShareId = share.parse().map_err(|_| ApiError::not_found())?;
    let is_revoked = gateway
        .call_credential_store(move |store| store.delete_share_of_session(session, share))
        .await?;
    if is_revoked {
        Ok(make_streams_recheck_and_respond(&gateway))
    } else {
        Err(ApiError::not_found())
    }
}
