//! The description of this API, for machines: kept by hand beside the routes, and held against them
//! by a test.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// A JSON object.
pub(super) const DOCUMENT: &str = include_str!("openapi.json");

pub(super) async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
