//! Whether the gateway is well, and what it counts.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::App;
use super::gate::Owner;

/// The process answers.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// It takes new work, and its store can be read.
pub(super) async fn readyz(State(gateway): App) -> (StatusCode, &'static str) {
    if *gateway.stopping.borrow() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    match gateway.log.blocking(crate::store::Store::open_runs).await {
        Ok(_) => (StatusCode::OK, "ready\n"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the store cannot be read\n"),
    }
}

/// What the gateway counts. Only for an owner: how much goes on is nobody else's business.
pub(super) async fn metrics(State(gateway): App, _: Owner) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    match gateway.log.metrics().write(gateway.runs.len()) {
        Ok(text) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
