//! What a caller is told when something does not work: a stable code and a sentence.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::store::StoreError;

/// Every way in which a request can fail. The code is part of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: String,
}

/// Left in a response, so that refusals can be counted where all of them pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal(pub(super) &'static str);

#[derive(Serialize)]
struct Body<'a> {
    error: Error<'a>,
}

#[derive(Serialize)]
struct Error<'a> {
    code: &'a str,
    message: &'a str,
}

impl ApiError {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError { status, code, message: message.into() }
    }

    pub fn bad_request(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// Also for what belongs to somebody else: whether it exists is not told.
    pub fn not_found() -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, "not_found", "There is nothing here by that name.")
    }

    /// Something here broke that is no caller's fault; the gateway's own log says what.
    pub fn internal() -> ApiError {
        let message = "The gateway could not finish this; its own log says why.";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    pub fn conflict(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::CONFLICT, code, message)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let error = Error { code: self.code, message: &self.message };
        let mut response = (self.status, Json(Body { error })).into_response();
        response.extensions_mut().insert(Refusal(self.code));
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
                "No room is left on the disk of the gateway. What was kept can still be read.",
            ),
            StoreError::Damaged { .. } => ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "damaged",
                "The log of this session is damaged; `millpond doctor` says where.",
            ),
            StoreError::NotAtHead { .. } | StoreError::Failed(_) => {
                tracing::error!(error = message, "the store failed");
                ApiError::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "storage",
                    "The gateway could not reach its store; its own log says why.",
                )
            }
        }
    }
}
