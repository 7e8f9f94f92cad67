//! Health checks and metrics.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::AppState;
use super::access_middleware::OwnerOnly;

/// Responds while the process is alive.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// Ready while new work is accepted and the store can be read.
pub(super) async fn readyz(State(gateway): AppState) -> (StatusCode, &'static str) {
    if *gateway.scheduler.stopping.borrow() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    match gateway.log.call_store(millpond_log::store::Store::list_open_runs).await {
        Ok(_) => (StatusCode::OK, "ready\n"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "store not readable\n"),
    }
}

/// Metrics of the gateway, for owners only.
pub(super) async fn get_metrics(State(gateway): AppState, _: OwnerOnly) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    match gateway.log.metrics().encode_openmetrics(gateway.scheduler.runs.len()) {
        Ok(text) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
