//! Files of a session: pictures that came in its streams, and what was uploaded to it.
//!
//! Invariant: bytes that somebody sent are never a page. What may be shown in a browser is on a list;
//! all else is a download, and neither may run anything.

use axum::body::{Bytes, HttpBody};
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::digest::Digest;
use crate::limits::BLOB_BYTES_MAX;

use super::App;
use super::error::ApiError;
use super::extract::{Json, Path};
use super::gate::{Anyone, Owner};
use super::sessions::{find, live};

/// The path of uploads; a browser may send them with its cookie though they are no JSON.
pub(super) const PATH: &str = "/v1/sessions/{session}/blobs";

/// Kinds that a browser may show. Not SVG: it is a document that can run scripts.
const SHOWN: [&str; 6] =
    ["image/avif", "image/gif", "image/jpeg", "image/png", "image/webp", "text/plain"];

const DOWNLOAD: &str = "application/octet-stream";

/// Characters of a media type.
const KIND_CHARS_MAX: usize = 100;

#[derive(Serialize)]
pub(super) struct Kept {
    digest: String,
    media_type: String,
    bytes: usize,
    /// Where it can be read.
    path: String,
}

pub(super) async fn upload(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<Kept>), ApiError> {
    let session = live(&gateway, owner, &word).await?.id;
    let kind = media_type(request.headers())?;
    // Not waited for if it says by itself that it is too large.
    if request.body().size_hint().lower() > BLOB_BYTES_MAX as u64 {
        return Err(too_large());
    }
    let body = Bytes::from_request(request, &()).await.map_err(|fault| unreadable(&fault))?;
    if body.is_empty() {
        return Err(ApiError::bad_request("A file has at least one byte."));
    }
    let (digest, bytes) = (Digest::of(&body), body.len());
    let kept = kind.clone();
    gateway.log.blocking(move |store| store.put_blob(session, digest.0, &kept, &body)).await?;
    let path = format!("/v1/sessions/{session}/blobs/{digest}");
    let kept = Kept { digest: digest.to_string(), media_type: kind, bytes, path };
    Ok((StatusCode::CREATED, Json(kept)))
}

fn unreadable(fault: &BytesRejection) -> ApiError {
    if fault.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return too_large();
    }
    ApiError::bad_request("The body could not be read.")
}

fn too_large() -> ApiError {
    let message = format!("A file is at most {BLOB_BYTES_MAX} bytes.");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
}

/// What the caller says it is, without parameters.
fn media_type(headers: &HeaderMap) -> Result<String, ApiError> {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else { return Ok(DOWNLOAD.to_owned()) };
    let kind = kind.to_str().ok().and_then(|kind| kind.split(';').next()).map(str::trim);
    let is_token = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let kind = kind.filter(|kind| kind.len() <= KIND_CHARS_MAX);
    let kind = kind.filter(|kind| {
        kind.split_once('/').is_some_and(|(sort, name)| is_token(sort) && is_token(name))
    });
    kind.map(str::to_ascii_lowercase)
        .ok_or_else(|| ApiError::bad_request("Send a `content-type` such as `image/png`, or none."))
}

pub(super) async fn read(
    State(gateway): App,
    Anyone(caller): Anyone,
    Path((word, digest)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let session = find(&gateway, caller, &word).await?.id;
    let digest: Digest = digest.parse().map_err(|_| ApiError::not_found())?;
    let found = gateway.log.blocking(move |store| store.blob(session, digest.0)).await?;
    let (kind, bytes) = found.ok_or_else(ApiError::not_found)?;
    let tag = HeaderValue::from_str(&format!("\"{digest}\"")).map_err(|_| ApiError::not_found())?;
    let common = [
        (header::ETAG, tag.clone()),
        // It never changes, but whether the caller may see it can: it is asked for every time.
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
    ];
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    if known.is_some_and(|known| is_one_of(&tag, known)) {
        return Ok((StatusCode::NOT_MODIFIED, common).into_response());
    }
    let shown = SHOWN.iter().find(|known| **known == kind);
    let disposition = if shown.is_some() { "inline" } else { "attachment" };
    let about = [
        (header::CONTENT_TYPE, HeaderValue::from_static(shown.copied().unwrap_or(DOWNLOAD))),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static(disposition)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    ];
    Ok((common, about, bytes).into_response())
}

/// Whether a tag is on the list that a client has.
fn is_one_of(tag: &HeaderValue, known: &str) -> bool {
    let tag = tag.to_str().unwrap_or_default();
    known
        .split(',')
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}
