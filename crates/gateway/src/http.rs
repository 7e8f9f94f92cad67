//! The HTTP side: routes, and what every request goes through before it reaches one.

mod compat;
mod credentials;
mod error;
mod extract;
mod gate;
mod ingest;
mod messages;
mod ops;
mod runs;
mod sessions;
mod socket;
mod stream;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{delete, get, post};

use crate::gateway::Gateway;
use crate::limits::BODY_BYTES_MAX;

pub use error::ApiError;

type App = axum::extract::State<Arc<Gateway>>;

/// Everything a gateway answers.
pub fn router(gateway: Arc<Gateway>) -> Router {
    let guarded = Router::new()
        .route("/v1/sessions", post(sessions::create).get(sessions::list))
        .route(
            "/v1/sessions/{session}",
            get(sessions::show).patch(sessions::change).delete(sessions::delete),
        )
        .route("/v1/sessions/{session}/restore", post(sessions::restore))
        .route("/v1/sessions/{session}/branch", post(sessions::branch))
        .route("/v1/sessions/{session}/messages", post(messages::send))
        .route("/v1/sessions/{session}/queue", get(messages::queue).put(messages::reorder))
        .route("/v1/sessions/{session}/stream", get(stream::events))
        .route("/v1/sessions/{session}/snapshot", get(stream::snapshot))
        .route("/v1/sessions/{session}/log", get(stream::log))
        .route(
            "/v1/sessions/{session}/shares",
            post(credentials::create_share).get(credentials::shares),
        )
        .route("/v1/sessions/{session}/shares/{share}", delete(credentials::revoke_share))
        .route("/v1/tokens", post(credentials::create_token).get(credentials::tokens))
        .route("/v1/tokens/{token}", delete(credentials::revoke_token))
        .route("/v1/login-link", post(credentials::link))
        .route("/v1/runs/{run}", get(runs::show))
        .route("/v1/runs/{run}/cancel", post(runs::cancel))
        .route("/v1/runs/{run}/asks/{ask}/answer", post(runs::answer))
        .route("/v1/ws", get(socket::open))
        .route("/v1/usage", get(sessions::usage))
        .route("/v1/ingest/{dialect}", post(ingest::take))
        .route("/api/chat", post(compat::chat_ai_sdk))
        .route("/api/chat/{chat}/stream", get(compat::reconnect_ai_sdk).delete(compat::stop_ai_sdk))
        .route("/agui", post(compat::run_agui))
        .route("/v1/chat/completions", post(compat::completions))
        .route("/v1/responses", post(compat::responses))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&gateway), gate::credential));
    Router::new()
        .route("/healthz", get(ops::healthz))
        .route("/readyz", get(ops::readyz))
        .route("/login", get(credentials::login))
        .merge(guarded)
        .method_not_allowed_fallback(extract::wrong_method)
        .fallback(async || ApiError::not_found())
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&gateway), gate::host_and_origin))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(gateway)
}
