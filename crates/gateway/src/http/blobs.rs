//! Blobs of a session: images of its streams, and uploads.
//!
//! Invariant: uploaded bytes are never served as a page. Listed media types are shown inline, all
//! others are downloads, and neither may run scripts.

use axum::body::{Bytes, HttpBody};
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use millpond_log::digest::Digest;
use millpond_log::limits::BLOB_BYTES_MAX;

use super::AppState;
use super::access_middleware::{AnyCaller, OwnerOnly};
use super::error::ApiError;
use super::extract::{Json, Path};
use super::sessions::{find_owned_undeleted_session, find_visible_session};

/// Path of uploads. A browser may send them with its cookie although they are not JSON.
pub(super) const UPLOAD_PATH: &str = "/v1/sessions/{session}/blobs";

/// Media types shown inline. Not SVG: it can run scripts.
const INLINE_MEDIA_TYPES: [&str; 6] =
    ["image/avif", "image/gif", "image/jpeg", "image/png", "image/webp", "text/plain"];

const DOWNLOAD_MEDIA_TYPE: &str = "application/octet-stream";

/// Characters of a media type.
const MEDIA_TYPE_CHARS_MAX: usize = 100;

#[derive(Serialize)]
pub(super) struct BlobResponse {
    digest: String,
    media_type: String,
    bytes: usize,
    /// URL path to read it.
    path: String,
}

pub(super) async fn upload_blob(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<BlobResponse>), ApiError> {
    let session = find_owned_undeleted_session(&gateway, owner, &raw_id).await?.id;
    let kind = parse_media_type_or_default(request.headers())?;
    // Rejected before the body is read if its declared length is too large.
    if request.body().size_hint().lower() > BLOB_BYTES_MAX as u64 {
        return Err(too_large_error());
    }
    let body = Bytes::from_request(request, &()).await.map_err(|error| body_error(&error))?;
    if body.is_empty() {
        return Err(ApiError::bad_request("The file is empty."));
    }
    let (digest, bytes) = (Digest::sha256(&body), body.len());
    let media_type = kind.clone();
    gateway
        .log
        .call_store(move |store| {
            store.store_blob_for_session(session, digest.0, &media_type, &body)
        })
        .await?;
    let path = format!("/v1/sessions/{session}/blobs/{digest}");
    let response = BlobResponse { digest: digest.to_string(), media_type: kind, bytes, path };
    Ok((StatusCode::CREATED, Json(response)))
}

fn body_error(error: &BytesRejection) -> ApiError {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return too_large_error();
    }
    ApiError::bad_request("Cannot read the body.")
}

fn too_large_error() -> ApiError {
    let message = format!("The file is larger than {BLOB_BYTES_MAX} bytes.");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
}

/// The declared media type, without parameters.
fn parse_media_type_or_default(headers: &HeaderMap) -> Result<String, ApiError> {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else {
        return Ok(DOWNLOAD_MEDIA_TYPE.to_owned());
    };
    let kind = kind.to_str().ok().and_then(|kind| kind.split(';').next()).map(str::trim);
    let is_token = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let kind = kind.filter(|kind| kind.len() <= MEDIA_TYPE_CHARS_MAX);
    let kind = kind.filter(|kind| {
        kind.split_once('/').is_some_and(|(main_type, name)| is_token(main_type) && is_token(name))
    });
    kind.map(str::to_ascii_lowercase)
        .ok_or_else(|| ApiError::bad_request("Send a `content-type` such as `image/png`, or none."))
}

pub(super) async fn get_blob(
    State(gateway): AppState,
    AnyCaller(caller): AnyCaller,
    Path((raw_id, digest)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let session = find_visible_session(&gateway, caller, &raw_id).await?.id;
    let digest: Digest = digest.parse().map_err(|_| ApiError::not_found())?;
    let found =
        gateway.log.call_store(move |store| store.load_blob_of_session(session, digest.0)).await?;
    let (kind, bytes) = found.ok_or_else(ApiError::not_found)?;
    let tag = HeaderValue::from_str(&format!("\"{digest}\"")).map_err(|_| ApiError::not_found())?;
    let cache_headers = [
        (header::ETAG, tag.clone()),
        // The bytes never change, but access may: clients must revalidate.
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
    ];
    let if_none_match = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    if if_none_match.is_some_and(|tags| has_matching_etag(&tag, tags)) {
        return Ok((StatusCode::NOT_MODIFIED, cache_headers).into_response());
    }
    let inline_type = INLINE_MEDIA_TYPES.iter().find(|media_type| **media_type == kind);
    let disposition = if inline_type.is_some() { "inline" } else { "attachment" };
    let content_headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static(inline_type.copied().unwrap_or(DOWNLOAD_MEDIA_TYPE)),
        ),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static(disposition)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    ];
    Ok((cache_headers, content_headers, bytes).into_response())
}

/// True if an `If-None-Match` list contains the tag.
fn has_matching_etag(tag: &HeaderValue, if_none_match: &str) -> bool {
    let tag = tag.to_str().unwrap_or_default();
    if_none_match.split(',').map(str::trim).any(|candidate| {
        candidate == "*" || candidate.strip_prefix("W/").unwrap_or(candidate) == tag
    })
}
