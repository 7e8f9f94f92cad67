//! Health checks and metrics.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use millpond_log::store::{Store, StoreError};

use super::AppState;
use super::access_middleware::OwnerOnly;

/// Responds while the process is alive.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// Ready while new work is accepted and the store can be read and written.
pub(super) async fn readyz(State(gateway): AppState) -> (StatusCode, &'static str) {
    let unready = |reason| (StatusCode::SERVICE_UNAVAILABLE, reason);
    if *gateway.scheduler.stopping.borrow() {
        return unready("stopping\n");
    }
    if gateway.log.call_store(Store::list_open_runs).await.is_err() {
        return unready("store not readable\n");
    }
    match gateway.log.call_store(Store::check_writable).await {
        Ok(()) => (StatusCode::OK, "ready\n"),
        Err(StoreError::Full) => unready("disk full\n"),
        Err(_) => unready("store not writable\n"),
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
