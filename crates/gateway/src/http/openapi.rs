//! The `OpenAPI` document. Written by hand; a test compares it with the routes.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// A JSON object.
pub(super) const DOCUMENT: &str = include_str!("openapi.json");

pub(super) async fn get_openapi_document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
