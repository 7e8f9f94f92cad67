//! Extractors whose rejections are `ApiError`s.

use std::sync::Arc;

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::gateway::Gateway;

use super::error::ApiError;

pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<Gateway>> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, gateway: &Arc<Gateway>) -> Result<Json<T>, ApiError> {
        let parsed = axum::Json::from_request(request, gateway);
        let parsed = tokio::time::timeout(gateway.connection_limits.body_timeout, parsed)
            .await
            .map_err(|_| {
                let message = "Timed out waiting for the request body.";
                ApiError::new(StatusCode::REQUEST_TIMEOUT, "too_slow", message)
            })?;
        parsed.map(|axum::Json(value)| Json(value)).map_err(|rejection: JsonRejection| {
            let code = match rejection.status() {
                StatusCode::UNSUPPORTED_MEDIA_TYPE => "unsupported_media_type",
                StatusCode::PAYLOAD_TOO_LARGE => "too_large",
                _ => "bad_request",
            };
            ApiError::new(rejection.status(), code, rejection.body_text())
        })
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

pub(super) struct Query<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Query<T>, ApiError> {
        let parsed = axum::extract::Query::from_request_parts(parts, state).await;
        parsed
            .map(|axum::extract::Query(value)| Query(value))
            .map_err(|rejection: QueryRejection| ApiError::bad_request(rejection.body_text()))
    }
}

pub(super) struct Path<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Path<T>, ApiError> {
        let parsed = axum::extract::Path::from_request_parts(parts, state).await;
        // An unparsable path is answered with 404.
        parsed.map(|axum::extract::Path(value)| Path(value)).map_err(|_| ApiError::not_found())
    }
}

/// Response to a method that the path does not support.
pub(super) async fn method_not_allowed() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "Method not allowed for this path; see `docs/GATEWAY.md`.",
    )
}
