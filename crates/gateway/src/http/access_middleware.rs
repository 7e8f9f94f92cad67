//! Middleware and extractors for access: host and origin checks, CORS, credentials.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::access::{Caller, RejectedHeader, Secret, has_cross_origin_fetch_site};
use crate::gateway::Gateway;
use millpond_log::id::OwnerId;

use super::AppState;
use super::error::{ApiError, RefusalCode};

/// Name of the cookie with a browser's token.
pub(super) const COOKIE_NAME: &str = "millpond";

/// Checks host and origin, counts refusals, and adds security headers.
pub(super) async fn check_origin_and_add_headers(
    State(gateway): AppState,
    request: Request,
    next: Next,
) -> Response {
    let method = request.method().clone();
    // The route pattern, not the path: parameters may be secrets.
    let route = request.extensions().get::<MatchedPath>().cloned();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let (mut response, reader) =
        match gateway.origin_policy.check_request(request.uri(), request.headers()) {
            Ok(()) if is_preflight(&request) => (StatusCode::NO_CONTENT.into_response(), origin),
            Ok(()) => (next.run(request).await, origin),
            // A rejected origin may not read the reason.
            Err(rejected) => (rejected_header_error(rejected).into_response(), None),
        };
    let code = response.extensions().get().map(|RefusalCode(code)| *code);
    if let Some(code) = code {
        gateway.log.metrics().record_error_response(code);
    }
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    tracing::debug!(%method, route, status = response.status().as_u16(), code, "answered");
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Some(reader) = reader {
        add_cors_headers(headers, reader);
    }
    response
}

/// True for a CORS preflight request.
fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Lets a page of an allowed origin read the response. It needs a token: cookies count only for our
/// own pages.
fn add_cors_headers(headers: &mut HeaderMap, origin: HeaderValue) {
    const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE");
    const HEADERS: HeaderValue =
        HeaderValue::from_static("authorization, content-type, idempotency-key, last-event-id");
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}

fn rejected_header_error(rejected: RejectedHeader) -> ApiError {
    let message = match rejected {
        RejectedHeader::Host => {
            "Host not allowed. Use 127.0.0.1 or localhost with the gateway's port, or add the name \
             to `hosts`."
        }
        RejectedHeader::Origin => "Origin not allowed. Add the site to `origins`.",
    };
    ApiError::new(StatusCode::FORBIDDEN, "forbidden", message)
}

/// Authenticates the caller and stores it in the request's extensions.
pub(super) async fn authenticate_and_attach_caller(
    State(gateway): AppState,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let credential = extract_credential(request.headers());
    if credential.is_cookie
        && is_mutating_method(request.method())
        && !has_json_or_upload_media_type(&request)
    {
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "Send `content-type: application/json`.",
        ));
    }
    let access_epoch = gateway.access_epoch();
    let caller = match &credential.secret {
        Some(secret) => gateway.authenticate(secret).await?,
        None => None,
    };
    let Some(caller) = caller else {
        return Err(count_wrong_credential_and_build_error(&gateway, &request, &credential));
    };
    request.extensions_mut().insert(CheckedCaller { caller, access_epoch });
    Ok(next.run(request).await)
}

/// The credential in a request.
struct PresentedCredential {
    secret: Option<Secret>,
    is_present: bool,
    is_cookie: bool,
}

/// Reads the token or cookie. A cookie counts only for our own pages: browsers also send it with
/// requests of pages on other ports.
fn extract_credential(headers: &HeaderMap) -> PresentedCredential {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let secret = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
        let secret = secret.and_then(|secret| Secret::parse(secret.trim()));
        return PresentedCredential { secret, is_present: true, is_cookie: false };
    }
    let cookie = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .find_map(|pair| pair.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='))
        .filter(|_| !has_cross_origin_fetch_site(headers));
    PresentedCredential {
        secret: cookie.and_then(Secret::parse),
        is_present: cookie.is_some(),
        is_cookie: cookie.is_some(),
    }
}

/// True for methods that may change state.
fn is_mutating_method(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// True if no form of another site can send this: JSON, or for uploads any type that forms do not
/// have.
fn has_json_or_upload_media_type(request: &Request) -> bool {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let Some(kind) = kind else { return false };
    let has_type = |expected: &str| {
        kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(expected)
    };
    let path = request.extensions().get::<MatchedPath>();
    if path.is_some_and(|path| path.as_str() == super::blobs::UPLOAD_PATH) {
        return !FORM_MEDIA_TYPES.iter().any(|form| has_type(form));
    }
    has_type("application/json")
}

const FORM_MEDIA_TYPES: [&str; 3] =
    ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

/// Counts a wrong credential and builds the error.
fn count_wrong_credential_and_build_error(
    gateway: &Gateway,
    request: &Request,
    credential: &PresentedCredential,
) -> ApiError {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    if credential.is_present
        && let Some(peer) = peer
        && gateway.failed_attempts.record_failure_and_is_over_limit(peer, Instant::now())
    {
        return ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_attempts",
            "Too many wrong credentials from this address. Wait a minute.",
        );
    }
    ApiError::new(
        StatusCode::UNAUTHORIZED,
        "unauthorised",
        "Send `Authorization: Bearer …` with a token, or open a login link.",
    )
}

/// Extractor of an owner; rejects guests.
pub(super) struct OwnerOnly(pub(super) OwnerId);

impl FromRequestParts<Arc<Gateway>> for OwnerOnly {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        _: &Arc<Gateway>,
    ) -> Result<OwnerOnly, ApiError> {
        match caller_from_extensions(parts)?.caller {
            Caller::Owner { owner, .. } => Ok(OwnerOnly(owner)),
            // A guest does not learn that other resources exist.
            Caller::Guest { .. } => Err(ApiError::not_found()),
        }
    }
}

/// Extractor of any authenticated caller.
pub(super) struct AnyCaller(pub(super) Caller);

impl FromRequestParts<Arc<Gateway>> for AnyCaller {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        _: &Arc<Gateway>,
    ) -> Result<AnyCaller, ApiError> {
        caller_from_extensions(parts).map(|CheckedCaller { caller, .. }| AnyCaller(caller))
    }
}

/// Extractor of any authenticated caller, with the access epoch of the check: a stream checks again
/// when it changes.
#[derive(Clone, Copy)]
pub(super) struct CheckedCaller {
    pub(super) caller: Caller,
    pub(super) access_epoch: u64,
}

impl FromRequestParts<Arc<Gateway>> for CheckedCaller {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        _: &Arc<Gateway>,
    ) -> Result<CheckedCaller, ApiError> {
        caller_from_extensions(parts)
    }
}

fn caller_from_extensions(parts: &Parts) -> Result<CheckedCaller, ApiError> {
    parts.extensions.get::<CheckedCaller>().copied().ok_or_else(ApiError::not_found)
}
