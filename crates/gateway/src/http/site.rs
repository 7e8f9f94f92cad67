//! Serving the web site: files that never differ from caller to caller, under a strict policy.
//!
//! Invariant: nothing that anybody wrote is in them; what a page shows it asks the API for, with the
//! caller's credential.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::site::File;

use super::App;
use super::error::ApiError;
use super::remote_image;

/// No inline script or style, nothing from elsewhere, no frame around it. Pictures from elsewhere
/// are shown in a frame that has a policy of its own.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
     connect-src 'self'; font-src 'self'; manifest-src 'self'; worker-src 'self'; \
     frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");

/// Whatever is no endpoint of the API.
pub(super) async fn page(State(gateway): App, request: Request) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if reads && request.uri().path() == remote_image::PATH {
        return remote_image::page(request.uri().query().unwrap_or_default(), &gateway.allowed);
    }
    match gateway.site.find(request.uri().path()) {
        Some(file) if reads => serve(file, request.headers()),
        _ => ApiError::not_found().into_response(),
    }
}

fn serve(file: &File, asked: &HeaderMap) -> Response {
    let tag = HeaderValue::from_str(&file.tag).unwrap_or(HeaderValue::from_static("\"\""));
    // A page is asked for every time, so that it is never older than the gateway.
    let cache =
        if file.named_after_content { "public, max-age=31536000, immutable" } else { "no-cache" };
    let common = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::VARY, HeaderValue::from_static("accept-encoding, origin")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (OPENER, HeaderValue::from_static("same-origin")),
        (PERMISSIONS, HeaderValue::from_static("camera=(), microphone=(), geolocation=()")),
    ];
    if asked.get(header::IF_NONE_MATCH).is_some_and(|known| *known == tag) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(file.kind))];
    let (packing, bytes) = packed(file, asked);
    let packing = packing.map(|name| [(header::CONTENT_ENCODING, HeaderValue::from_static(name))]);
    match packing {
        Some(packing) => (common, kind, packing, bytes).into_response(),
        None => (common, kind, bytes).into_response(),
    }
}

/// The smallest form that the caller can read.
fn packed(file: &File, asked: &HeaderMap) -> (Option<&'static str>, &'static [u8]) {
    let accepted = asked.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let accepts = |name: &str| {
        accepted.unwrap_or_default().split(',').any(|word| {
            let (word, weight) = word.split_once(';').unwrap_or((word, ""));
            word.trim() == name && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
        })
    };
    let forms = [("br", file.brotli), ("gzip", file.gzip)];
    let found =
        forms.into_iter().find_map(|(name, bytes)| Some((name, bytes.filter(|_| accepts(name))?)));
    found.map_or((None, file.bytes), |(name, bytes)| (Some(name), bytes))
}
