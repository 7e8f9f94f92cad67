//! The HTTP API: routes, and the checks in front of them.

mod access_middleware;
mod agent;
mod all_views;
mod attachments;
mod blobs;
mod compat;
mod credentials;
mod error;
mod extract;
mod health_and_metrics;
mod ingest;
mod lingering_body;
mod live_stream;
mod messages;
mod openapi;
mod remote_image;
mod retry;
mod runs;
mod session_list_stream;
mod sessions;
mod site;
mod socket;
mod stream;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::routing::{MethodRouter, delete, get, post};

use crate::gateway::Gateway;
use crate::limits::BODY_BYTES_MAX;
use millpond_log::limits::BLOB_BYTES_MAX;

pub use error::ApiError;

type AppState = axum::extract::State<Arc<Gateway>>;

type Route = (&'static str, MethodRouter<Arc<Gateway>>);

/// Routes that need a credential.
fn authenticated_routes() -> Vec<Route> {
    vec![
        ("/v1/sessions", post(sessions::post_session).get(sessions::list_sessions)),
        ("/v1/sessions/stream", get(session_list_stream::stream_session_list_changes)),
        (
            "/v1/sessions/{session}",
            get(sessions::get_session)
                .patch(sessions::patch_session)
                .delete(sessions::soft_delete_session_and_cancel_run),
        ),
        ("/v1/sessions/{session}/restore", post(sessions::restore_session_and_run_queue)),
        ("/v1/sessions/{session}/branch", post(sessions::branch_session)),
        ("/v1/sessions/{session}/messages", post(messages::post_message)),
        ("/v1/sessions/{session}/queue", get(messages::get_queue).put(messages::put_queue)),
        ("/v1/sessions/{session}/stream", get(stream::stream_view)),
        ("/v1/sessions/{session}/theatre", get(all_views::stream_all_views)),
        ("/v1/sessions/{session}/snapshot", get(stream::get_snapshot)),
        ("/v1/sessions/{session}/log", get(stream::get_log)),
        (blobs::UPLOAD_PATH, post(blobs::upload_blob).layer(DefaultBodyLimit::max(BLOB_BYTES_MAX))),
        ("/v1/sessions/{session}/blobs/{digest}", get(blobs::get_blob)),
        (
            "/v1/sessions/{session}/shares",
            post(credentials::create_share).get(credentials::list_shares),
        ),
        ("/v1/sessions/{session}/shares/{share}", delete(credentials::revoke_share)),
        ("/v1/tokens", post(credentials::create_token).get(credentials::list_tokens)),
        ("/v1/tokens/{token}", delete(credentials::revoke_token)),
        ("/v1/login-link", post(credentials::create_login_link)),
        ("/v1/runs/{run}", get(runs::get_run)),
        ("/v1/runs/{run}/cancel", post(runs::cancel_and_wait_for_ending)),
        ("/v1/runs/{run}/retry", post(retry::post_retry)),
        ("/v1/runs/{run}/asks/{ask}/answer", post(runs::post_answer)),
        ("/v1/agent", get(agent::get_agent)),
        ("/v1/ws", get(socket::open_socket)),
        ("/v1/usage", get(sessions::get_usage_of_owner_or_session)),
        ("/v1/ingest/{dialect}", post(ingest::post_ingest)),
        ("/metrics", get(health_and_metrics::get_metrics)),
        ("/api/chat", post(compat::chat_ai_sdk)),
        ("/api/chat/{chat}/stream", get(compat::reconnect_ai_sdk).delete(compat::stop_ai_sdk)),
        ("/agui", post(compat::run_agui)),
        ("/v1/chat/completions", post(compat::post_completions)),
        ("/v1/responses", post(compat::post_responses)),
    ]
}

/// Routes that need no credential.
fn public_routes() -> Vec<Route> {
    vec![
        ("/healthz", get(health_and_metrics::healthz)),
        ("/readyz", get(health_and_metrics::readyz)),
        // A link checker's HEAD must not use the link up.
        ("/login", get(credentials::redeem_login_link).head(async || StatusCode::NO_CONTENT)),
        ("/openapi.json", get(openapi::get_openapi_document)),
    ]
}

/// Every route, with its parameters in braces.
pub fn route_paths() -> Vec<&'static str> {
    authenticated_routes().into_iter().chain(public_routes()).map(|(path, _)| path).collect()
}

fn router_from_routes(routes: Vec<Route>) -> Router<Arc<Gateway>> {
    routes.into_iter().fold(Router::new(), |router, (path, route)| router.route(path, route))
}

/// The router of the whole gateway.
pub fn build_gateway_router(gateway: Arc<Gateway>) -> Router {
    let credential = axum::middleware::from_fn_with_state(
        Arc::clone(&gateway),
        access_middleware::authenticate_and_attach_caller,
    );
    router_from_routes(public_routes())
        .merge(router_from_routes(authenticated_routes()).layer(credential))
        .method_not_allowed_fallback(extract::method_not_allowed)
        .fallback(site::serve_site_or_remote_image)
        .layer(axum::middleware::from_fn_with_state(
            Arc::clone(&gateway),
            access_middleware::check_origin_and_add_headers,
        ))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(axum::middleware::from_fn(lingering_body::linger_on_unread_body))
        .with_state(gateway)
}
