//! Coming in and being let in: login links, tokens, links to share a session.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::event::Millis;
use serde::{Deserialize, Serialize};

use crate::access::Secret;
use crate::clock::{now_ms, random};
use crate::gateway::{Gateway, no_chance};
use crate::id::{ShareId, TokenId};
use crate::store::Share;

use super::App;
use super::error::ApiError;
use super::extract::{Json, Path, Query};
use super::gate::{COOKIE, Owner};
use super::sessions::own;

#[derive(Deserialize)]
pub(super) struct Code {
    code: String,
}

/// Uses a one-time link: the browser gets a credential that no script can read.
pub(super) async fn login(
    State(gateway): App,
    Query(Code { code }): Query<Code>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let owner = Secret::shown(&code).and_then(|code| gateway.links.redeem(&code, Instant::now()));
    let Some(owner) = owner else {
        // A person is told on a page.
        let navigates = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        if navigates && !gateway.site.is_empty() {
            let to = (header::LOCATION, HeaderValue::from_static("/?link=used"));
            return Ok((StatusCode::SEE_OTHER, [to]).into_response());
        }
        return Err(ApiError::new(
            StatusCode::UNAUTHORIZED,
            "link_used",
            "This link was used, is too old or is none. Ask for a new one with `millpond login`.",
        ));
    };
    let (_, secret) = gateway.issue(owner, "browser").await?;
    let secure = if gateway.tls { "; Secure" } else { "" };
    let cookie = format!(
        "{COOKIE}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000{secure}",
        secret.reveal()
    );
    let cookie = HeaderValue::from_str(&cookie).map_err(|_| ApiError::not_found())?;
    let to = (header::LOCATION, HeaderValue::from_static("/"));
    Ok((StatusCode::SEE_OTHER, [(header::SET_COOKIE, cookie), to]).into_response())
}

#[derive(Serialize)]
pub(super) struct Link {
    /// Where to send a browser, below the address of the gateway.
    path: String,
}

pub(super) async fn link(State(gateway): App, Owner(owner): Owner) -> Result<Json<Link>, ApiError> {
    let code = gateway.links.issue(owner, Instant::now()).map_err(no_chance)?;
    Ok(Json(Link { path: format!("/login?code={}", code.reveal()) }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewToken {
    label: String,
}

#[derive(Serialize)]
pub(super) struct GivenToken {
    id: TokenId,
    /// Shown this once.
    token: String,
}

pub(super) async fn create_token(
    State(gateway): App,
    Owner(owner): Owner,
    Json(NewToken { label }): Json<NewToken>,
) -> Result<(StatusCode, Json<GivenToken>), ApiError> {
    let (id, secret) = gateway.issue(owner, &label).await?;
    Ok((StatusCode::CREATED, Json(GivenToken { id, token: secret.reveal().to_owned() })))
}

#[derive(Serialize)]
pub(super) struct ShownToken {
    id: TokenId,
    label: String,
    created_ms: Millis,
}

pub(super) async fn tokens(
    State(gateway): App,
    Owner(owner): Owner,
) -> Result<Json<Vec<ShownToken>>, ApiError> {
    let tokens = gateway.vault(move |vault| vault.tokens(owner)).await?;
    let good = tokens.into_iter().filter(|token| token.revoked_ms.is_none());
    let shown = good.map(|of| ShownToken { id: of.id, label: of.label, created_ms: of.created_ms });
    Ok(Json(shown.collect()))
}

/// From now on the token opens nothing, and what it had opened closes.
pub(super) async fn revoke_token(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
) -> Result<StatusCode, ApiError> {
    let id: TokenId = word.parse().map_err(|_| ApiError::not_found())?;
    let now = now_ms();
    let found = gateway.vault(move |vault| vault.revoke_token(owner, id, now)).await?;
    closed(&gateway, found)
}

fn closed(gateway: &Gateway, found: bool) -> Result<StatusCode, ApiError> {
    if !found {
        return Err(ApiError::not_found());
    }
    gateway.doubt();
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Serialize)]
pub(super) struct GivenShare {
    id: ShareId,
    /// Whoever has it can read the session. Shown this once.
    token: String,
}

pub(super) async fn create_share(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
) -> Result<(StatusCode, Json<GivenShare>), ApiError> {
    let session = own(&gateway, owner, &word).await?;
    let now = now_ms();
    let secret = Secret::new().map_err(no_chance)?;
    let id = ShareId::new(now, random().map_err(no_chance)?);
    let share = Share { id, session: session.id, digest: secret.digest(), created_ms: now };
    gateway.vault(move |vault| vault.put_share(&share)).await?;
    Ok((StatusCode::CREATED, Json(GivenShare { id, token: secret.reveal().to_owned() })))
}

#[derive(Serialize)]
pub(super) struct ShownShare {
    id: ShareId,
    created_ms: Millis,
}

pub(super) async fn shares(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
) -> Result<Json<Vec<ShownShare>>, ApiError> {
    let session = own(&gateway, owner, &word).await?.id;
    let shares = gateway.vault(move |vault| vault.shares(session)).await?;
    let shown = shares.into_iter().map(|of| ShownShare { id: of.id, created_ms: of.created_ms });
    Ok(Json(shown.collect()))
}

pub(super) async fn revoke_share(
    State(gateway): App,
    Owner(owner): Owner,
    Path((word, share)): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    let session = own(&gateway, owner, &word).await?.id;
    let share: ShareId = share.parse().map_err(|_| ApiError::not_found())?;
    let found = gateway.vault(move |vault| vault.revoke_share(session, share)).await?;
    closed(&Arc::clone(&gateway), found)
}
