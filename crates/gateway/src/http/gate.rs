//! What every request goes through: the host it names, the page it comes from, its credential.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::access::{Caller, Secret, Stranger, is_foreign};
use crate::gateway::Gateway;
use crate::id::OwnerId;

use super::App;
use super::error::{ApiError, Refusal};

/// The cookie that holds a browser's credential.
pub(super) const COOKIE: &str = "millpond";

pub(super) async fn host_and_origin(State(gateway): App, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    // The path as it is routed: what stands in the place of its parameters may be a secret.
    let route = request.extensions().get::<MatchedPath>().cloned();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let (mut response, reader) = match gateway.allowed.check(request.uri(), request.headers()) {
        Ok(()) if asks_first(&request) => (StatusCode::NO_CONTENT.into_response(), origin),
        Ok(()) => (next.run(request).await, origin),
        // Nobody who is refused may read why.
        Err(stranger) => (refuse(stranger).into_response(), None),
    };
    let code = response.extensions().get().map(|Refusal(code)| *code);
    if let Some(code) = code {
        gateway.log.metrics().refused(code);
    }
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    tracing::debug!(%method, route, status = response.status().as_u16(), code, "answered");
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Some(reader) = reader {
        let_read(headers, reader);
    }
    response
}

/// Whether a browser asks what a page of another, allowed site may do.
fn asks_first(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Lets a page of an allowed site read the answer. It has to show a token: cookies count only for
/// our own pages.
fn let_read(headers: &mut HeaderMap, origin: HeaderValue) {
    const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE");
    const HEADERS: HeaderValue =
        HeaderValue::from_static("authorization, content-type, idempotency-key, last-event-id");
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}

fn refuse(stranger: Stranger) -> ApiError {
    let message = match stranger {
        Stranger::Host => {
            "This gateway is not known by that host name. Use 127.0.0.1 or localhost with its port, \
             or allow the name with `hosts`."
        }
        Stranger::Origin => {
            "Pages of another site may not use this gateway. Allow the site with `origins`."
        }
    };
    ApiError::new(StatusCode::FORBIDDEN, "forbidden", message)
}

/// Looks who is asking, and puts it where the endpoints find it.
pub(super) async fn credential(
    State(gateway): App,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let shown = shown(request.headers());
    if shown.from_cookie && changes(request.method()) && !no_form_sends(&request) {
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "Send `content-type: application/json`.",
        ));
    }
    let unrest = gateway.unrest();
    let caller = match &shown.secret {
        Some(secret) => gateway.caller(secret).await?,
        None => None,
    };
    let Some(caller) = caller else {
        return Err(turn_away(&gateway, &request, shown.anything));
    };
    request.extensions_mut().insert(Checked { caller, unrest });
    Ok(next.run(request).await)
}

/// What a request shows of a credential.
struct Shown {
    secret: Option<Secret>,
    anything: bool,
    from_cookie: bool,
}

/// A cookie counts only for our own pages: a browser sends it also with requests of other pages on
/// this machine, whatever their port.
fn shown(headers: &HeaderMap) -> Shown {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let secret = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
        let secret = secret.and_then(|secret| Secret::shown(secret.trim()));
        return Shown { secret, anything: true, from_cookie: false };
    }
    let cookie = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
        .filter(|_| !is_foreign(headers));
    Shown {
        secret: cookie.and_then(Secret::shown),
        anything: cookie.is_some(),
        from_cookie: cookie.is_some(),
    }
}

fn changes(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether no form of another site can send this: JSON anywhere, and files, but for the kinds that
/// forms have, where files go.
fn no_form_sends(request: &Request) -> bool {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let Some(kind) = kind else { return false };
    let is =
        |known: &str| kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(known);
    let path = request.extensions().get::<MatchedPath>();
    if path.is_some_and(|path| path.as_str() == super::blobs::PATH) {
        return !FORM_KINDS.iter().any(|form| is(form));
    }
    is("application/json")
}

const FORM_KINDS: [&str; 3] =
    ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

fn turn_away(gateway: &Gateway, request: &Request, guessed: bool) -> ApiError {
    let from = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    if guessed
        && let Some(from) = from
        && gateway.attempts.wrong(from, Instant::now())
    {
        return ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_attempts",
            "Too many wrong credentials came from there. Wait a minute.",
        );
    }
    ApiError::new(
        StatusCode::UNAUTHORIZED,
        "unauthorised",
        "Send `Authorization: Bearer …` with a token of this gateway, or open its login link.",
    )
}

/// An owner; a guest with a link is not one.
pub(super) struct Owner(pub(super) OwnerId);

impl FromRequestParts<Arc<Gateway>> for Owner {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Gateway>) -> Result<Owner, ApiError> {
        match checked(parts)?.caller {
            Caller::Owner { owner, .. } => Ok(Owner(owner)),
            // A guest is not told that there is more than its session.
            Caller::Guest { .. } => Err(ApiError::not_found()),
        }
    }
}

/// Anybody who may come in.
pub(super) struct Anyone(pub(super) Caller);

impl FromRequestParts<Arc<Gateway>> for Anyone {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Gateway>) -> Result<Anyone, ApiError> {
        checked(parts).map(|Checked { caller, .. }| Anyone(caller))
    }
}

/// Anybody who may come in, and as of when: a stream looks again when something has changed since.
#[derive(Clone, Copy)]
pub(super) struct Checked {
    pub(super) caller: Caller,
    pub(super) unrest: u64,
}

impl FromRequestParts<Arc<Gateway>> for Checked {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Gateway>) -> Result<Checked, ApiError> {
        checked(parts)
    }
}

fn checked(parts: &Parts) -> Result<Checked, ApiError> {
    parts.extensions.get::<Checked>().copied().ok_or_else(ApiError::not_found)
}
