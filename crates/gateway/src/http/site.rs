//! Serves the web site: static files under a strict policy.
//!
//! Invariant: the files contain no user data; pages load it from the API with the caller's
//! credential.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

use crate::site::SiteFile;

use super::AppState;
use super::error::ApiError;
use super::remote_image;

/// No inline script or style, no other origin, no framing. Remote images are shown in an iframe
/// with its own policy.
const SITE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
     connect-src 'self'; font-src 'self'; manifest-src 'self'; worker-src 'self'; \
     frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

const OPENER_POLICY_HEADER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const PERMISSIONS_POLICY_HEADER: HeaderName = HeaderName::from_static("permissions-policy");

/// Fallback for paths that are not API routes.
pub(super) async fn serve_site_or_remote_image(
    State(gateway): AppState,
    request: Request,
) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read && request.uri().path() == remote_image::PATH {
        return remote_image::remote_image_page(
            request.uri().query().unwrap_or_default(),
            &gateway.origin_policy,
        );
    }
    match gateway.site.find_file(request.uri().path()) {
        Some(file) if is_read => file_response(file, request.headers()),
        _ => ApiError::not_found().into_response(),
    }
}

fn file_response(file: &SiteFile, headers: &HeaderMap) -> Response {
    let tag = HeaderValue::from_str(&file.etag).unwrap_or(HeaderValue::from_static("\"\""));
    // Pages are revalidated, so that they are never older than the gateway.
    let cache =
        if file.has_hashed_name { "public, max-age=31536000, immutable" } else { "no-cache" };
    let common_headers = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
        (header::CONTENT_SECURITY_POLICY, SITE_POLICY),
        (header::VARY, HeaderValue::from_static("accept-encoding, origin")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (OPENER_POLICY_HEADER, HeaderValue::from_static("same-origin")),
        (
            PERMISSIONS_POLICY_HEADER,
            HeaderValue::from_static("camera=(), microphone=(), geolocation=()"),
        ),
    ];
    if headers.get(header::IF_NONE_MATCH).is_some_and(|value| *value == tag) {
        return (StatusCode::NOT_MODIFIED, common_headers).into_response();
    }
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(file.media_type))];
    let (encoding, bytes) = pick_encoding(file, headers);
    let encoding_header =
        encoding.map(|name| [(header::CONTENT_ENCODING, HeaderValue::from_static(name))]);
    match encoding_header {
        Some(encoding_header) => (common_headers, kind, encoding_header, bytes).into_response(),
        None => (common_headers, kind, bytes).into_response(),
    }
}

/// The smallest encoding that the client accepts.
fn pick_encoding(file: &SiteFile, headers: &HeaderMap) -> (Option<&'static str>, Bytes) {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let is_accepted = |name: &str| {
        accepted.unwrap_or_default().split(',').any(|item| {
            let (name_part, weight) = item.split_once(';').unwrap_or((item, ""));
            name_part.trim() == name
                && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
        })
    };
    let encoded_files = [("br", file.brotli), ("gzip", file.gzip)];
    let found = encoded_files
        .into_iter()
        .find_map(|(name, bytes)| Some((name, bytes.filter(|_| is_accepted(name))?)));
    match found {
        Some((name, bytes)) => (Some(name), Bytes::from_static(bytes)),
        None => (None, file.content()),
    }
}
