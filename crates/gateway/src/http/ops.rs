//! Whether the gateway is well.

use axum::extract::State;
use axum::http::StatusCode;

use super::App;

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
