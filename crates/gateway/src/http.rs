//! The HTTP side: routes, and what every request goes through before it reaches one.

mod agent;
mod attachments;
mod blobs;
mod compat;
mod credentials;
mod error;
mod extract;
mod gate;
mod ingest;
mod live;
mod messages;
mod news;
mod openapi;
mod ops;
mod remote_image;
mod retry;
mod runs;
mod sessions;
mod site;
mod socket;
mod stream;
mod theatre;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, delete, get, post};

use crate::gateway::Gateway;
use crate::limits::{BLOB_BYTES_MAX, BODY_BYTES_MAX};

pub use error::ApiError;

type App = axum::extract::State<Arc<Gateway>>;

type Route = (&'static str, MethodRouter<Arc<Gateway>>);

/// For whoever shows a credential.
fn guarded() -> Vec<Route> {
    vec![
        ("/v1/sessions", post(sessions::create).get(sessions::list)),
        ("/v1/sessions/stream", get(news::stream)),
        (
            "/v1/sessions/{session}",
            get(sessions::show).patch(sessions::change).delete(sessions::delete),
        ),
        ("/v1/sessions/{session}/restore", post(sessions::restore)),
        ("/v1/sessions/{session}/branch", post(sessions::branch)),
        ("/v1/sessions/{session}/messages", post(messages::send)),
        ("/v1/sessions/{session}/queue", get(messages::queue).put(messages::reorder)),
        ("/v1/sessions/{session}/stream", get(stream::events)),
        ("/v1/sessions/{session}/theatre", get(theatre::stream)),
        ("/v1/sessions/{session}/snapshot", get(stream::snapshot)),
        ("/v1/sessions/{session}/log", get(stream::log)),
        (blobs::PATH, post(blobs::upload).layer(DefaultBodyLimit::max(BLOB_BYTES_MAX))),
        ("/v1/sessions/{session}/blobs/{digest}", get(blobs::read)),
        ("/v1/sessions/{session}/shares", post(credentials::create_share).get(credentials::shares)),
        ("/v1/sessions/{session}/shares/{share}", delete(credentials::revoke_share)),
        ("/v1/tokens", post(credentials::create_token).get(credentials::tokens)),
        ("/v1/tokens/{token}", delete(credentials::revoke_token)),
        ("/v1/login-link", post(credentials::link)),
        ("/v1/runs/{run}", get(runs::show)),
        ("/v1/runs/{run}/cancel", post(runs::cancel)),
        ("/v1/runs/{run}/retry", post(retry::retry)),
        ("/v1/runs/{run}/asks/{ask}/answer", post(runs::answer)),
        ("/v1/agent", get(agent::about)),
        ("/v1/ws", get(socket::open)),
        ("/v1/usage", get(sessions::usage)),
        ("/v1/ingest/{dialect}", post(ingest::take)),
        ("/metrics", get(ops::metrics)),
        ("/api/chat", post(compat::chat_ai_sdk)),
        ("/api/chat/{chat}/stream", get(compat::reconnect_ai_sdk).delete(compat::stop_ai_sdk)),
        ("/agui", post(compat::run_agui)),
        ("/v1/chat/completions", post(compat::completions)),
        ("/v1/responses", post(compat::responses)),
    ]
}

/// For anybody.
fn open() -> Vec<Route> {
    vec![
        ("/healthz", get(ops::healthz)),
        ("/readyz", get(ops::readyz)),
        ("/login", get(credentials::login)),
        ("/openapi.json", get(openapi::document)),
    ]
}

/// Every path that is answered, with its parameters in braces.
pub fn paths() -> Vec<&'static str> {
    guarded().into_iter().chain(open()).map(|(path, _)| path).collect()
}

fn together(routes: Vec<Route>) -> Router<Arc<Gateway>> {
    routes.into_iter().fold(Router::new(), |router, (path, route)| router.route(path, route))
}

/// Everything a gateway answers.
pub fn router(gateway: Arc<Gateway>) -> Router {
    let credential = axum::middleware::from_fn_with_state(Arc::clone(&gateway), gate::credential);
    together(open())
        .merge(together(guarded()).layer(credential))
        .method_not_allowed_fallback(extract::wrong_method)
        .fallback(site::page)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&gateway), gate::host_and_origin))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(gateway)
}
