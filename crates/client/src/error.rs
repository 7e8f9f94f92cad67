//! Errors of requests, by HTTP status.

/// Error response of the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// Code of the protocol; empty if the response has none.
    pub code: String,
    /// Sentence for people.
    pub message: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// Error of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The URL of the gateway is not an HTTP URL.
    #[error("`{0}` is not the URL of a gateway: use http://HOST:PORT")]
    InvalidUrl(String),
    /// No response: the gateway is not there, or the connection broke.
    #[error("cannot reach the gateway: {0}")]
    Unreachable(String),
    /// 408, 429 or 5xx: the gateway cannot respond now.
    #[error("{0}")]
    Unavailable(Refusal),
    /// 401: the token is missing, wrong or revoked.
    #[error("{0}")]
    Unauthorized(Refusal),
    /// 404: it does not exist, or belongs to another owner.
    #[error("{0}")]
    NotFound(Refusal),
    /// 409: the state of the session or run does not allow it.
    #[error("{0}")]
    Conflict(Refusal),
    /// Any other status that is not a success.
    #[error("{0}")]
    Refused(Refusal),
    /// The response is not what the protocol defines.
    #[error("unreadable response of the gateway: {0}")]
    InvalidResponse(String),
}

impl RequestError {
    /// Returns the error of a refusal, by its status.
    pub(crate) fn from_refusal(refusal: Refusal) -> RequestError {
        match refusal.status {
            401 => RequestError::Unauthorized(refusal),
            404 => RequestError::NotFound(refusal),
            408 | 429 | 500.. => RequestError::Unavailable(refusal),
            409 => RequestError::Conflict(refusal),
            _ => RequestError::Refused(refusal),
        }
    }

    /// Returns the error of a request without a response.
    pub(crate) fn from_transport_error(error: &reqwest::Error) -> RequestError {
        RequestError::Unreachable(innermost_message(error))
    }

    /// Returns true if the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            RequestError::Unreachable(_) | RequestError::Unavailable(_) => true,
            RequestError::InvalidUrl(_)
            | RequestError::Unauthorized(_)
            | RequestError::NotFound(_)
            | RequestError::Conflict(_)
            | RequestError::Refused(_)
            | RequestError::InvalidResponse(_) => false,
        }
    }

    /// Returns true if the gateway refused because of a conflict with this code.
    pub(crate) fn is_conflict_with_code(&self, code: &str) -> bool {
        matches!(self, RequestError::Conflict(refusal) if refusal.code == code)
    }
}

/// Returns the message of the innermost error, which names the cause.
fn innermost_message(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
