//! Errors of the API: a status, a stable code and a sentence.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use millpond_log::store::StoreError;

/// An error response. The code is part of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: String,
}

/// Response extension with the error code, for metrics.
#[derive(Clone, Copy, Debug)]
pub(super) struct RefusalCode(pub(super) &'static str);

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: ErrorDetail<'a>,
}

#[derive(Serialize)]
struct ErrorDetail<'a> {
    code: &'a str,
    message: &'a str,
}

impl ApiError {
    /// An error with this status, code and message.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError { status, code, message: message.into() }
    }

    /// Status 400.
    pub fn bad_request(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// Also for resources of other owners: whether they exist is not revealed.
    pub fn not_found() -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, "not_found", "Not found.")
    }

    /// An internal error; details are in the gateway's log.
    pub fn internal() -> ApiError {
        let message = "Internal error; see the gateway's log.";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// Status 409.
    pub fn conflict(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::CONFLICT, code, message)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let error = ErrorDetail { code: self.code, message: &self.message };
        let mut response = (self.status, Json(ErrorBody { error })).into_response();
        response.extensions_mut().insert(RefusalCode(self.code));
        response
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        let message = error.to_string();
        match error {
            StoreError::NoSession(_) => ApiError::not_found(),
            StoreError::RunEnded(_) => ApiError::conflict("run_ended", "This run has ended."),
            StoreError::Full => ApiError::new(
                StatusCode::INSUFFICIENT_STORAGE,
                "storage_full",
                "The gateway's disk is full. Stored sessions can still be read.",
            ),
            StoreError::Damaged { .. } => ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "damaged",
                "The log of this session is damaged. Run `millpond doctor` to check it.",
            ),
            StoreError::NotAtHead { .. } | StoreError::InUse { .. } | StoreError::Failed(_) => {
                tracing::error!(error = message, "store error");
                ApiError::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "storage",
                    "Store error; see the gateway's log.",
                )
            }
        }
    }
}
