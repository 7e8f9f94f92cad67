//! Bodies, queries and paths whose faults are told like every other error.

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
        let read = axum::Json::from_request(request, gateway);
        let read = tokio::time::timeout(gateway.bounds.body_within, read).await.map_err(|_| {
            let message = "The body of the request did not come in time.";
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "too_slow", message)
        })?;
        read.map(|axum::Json(value)| Json(value)).map_err(|fault: JsonRejection| {
            let code = match fault.status() {
                StatusCode::UNSUPPORTED_MEDIA_TYPE => "unsupported_media_type",
                StatusCode::PAYLOAD_TOO_LARGE => "too_large",
                _ => "bad_request",
            };
            ApiError::new(fault.status(), code, fault.body_text())
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
        let read = axum::extract::Query::from_request_parts(parts, state).await;
        read.map(|axum::extract::Query(value)| Query(value))
            .map_err(|fault: QueryRejection| ApiError::bad_request(fault.body_text()))
    }
}

pub(super) struct Path<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Path<T>, ApiError> {
        let read = axum::extract::Path::from_request_parts(parts, state).await;
        // A path that cannot be read names nothing.
        read.map(|axum::extract::Path(value)| Path(value)).map_err(|_| ApiError::not_found())
    }
}

/// A path that is there, but not for this method.
pub(super) async fn wrong_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "This path does not take that method; `docs/GATEWAY.md` lists what it does.",
    )
}
