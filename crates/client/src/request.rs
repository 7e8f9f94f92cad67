//! The client and the plumbing of its requests.

use reqwest::{Method, RequestBuilder, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Refusal, RequestError};
use crate::limits::REQUEST_TIMEOUT;

/// HTTP client of one gateway; cheap to clone.
#[derive(Clone)]
pub struct GatewayClient {
    base_url: String,
    token: String,
    http: reqwest::Client,
}

impl std::fmt::Debug for GatewayClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the token.
        f.debug_struct("GatewayClient").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// Body of an error response.
#[derive(Deserialize)]
struct ErrorResponse {
    error: ErrorDetail,
}

#[derive(Deserialize)]
struct ErrorDetail {
    code: String,
    message: String,
}

impl GatewayClient {
    /// Creates a client of the gateway at `base_url`. Connects to nothing yet.
    pub fn new(base_url: &str, token: &str) -> Result<GatewayClient, RequestError> {
        let is_http = |url: &reqwest::Url| matches!(url.scheme(), "http" | "https");
        if !reqwest::Url::parse(base_url).is_ok_and(|url| is_http(&url)) {
            return Err(RequestError::InvalidUrl(base_url.to_owned()));
        }
        // A gateway is on this machine or named on purpose; a proxy would only break it.
        let http = reqwest::Client::builder().no_proxy().build();
        Ok(GatewayClient {
            base_url: base_url.trim_end_matches('/').to_owned(),
            token: token.to_owned(),
            http: http.map_err(|error| RequestError::from_transport_error(&error))?,
        })
    }

    /// URL of the gateway, without a slash at its end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Builds a request with the usual timeout.
    pub(crate) fn build_timed_request(&self, method: Method, path: &str) -> RequestBuilder {
        self.build_untimed_request(method, path).timeout(REQUEST_TIMEOUT)
    }

    /// Builds a request without a timeout, for a stream.
    pub(crate) fn build_untimed_request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.token)
    }

    pub(crate) async fn get_json<T: DeserializeOwned>(
        &self,
        path: &str,
    ) -> Result<T, RequestError> {
        read_json(send_and_require_success(self.build_timed_request(Method::GET, path)).await?)
            .await
    }

    pub(crate) async fn post_json<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, RequestError> {
        read_json(
            send_and_require_success(self.build_timed_request(Method::POST, path).json(body))
                .await?,
        )
        .await
    }
}

/// Sends a request; a status that is not a success is an error.
pub(crate) async fn send_and_require_success(
    request: RequestBuilder,
) -> Result<Response, RequestError> {
    let response =
        request.send().await.map_err(|error| RequestError::from_transport_error(&error))?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let status = status.as_u16();
    let detail = response.json::<ErrorResponse>().await.map(|response| response.error);
    let ErrorDetail { code, message } = detail.unwrap_or_else(|_| ErrorDetail {
        code: String::new(),
        message: format!("the gateway returned HTTP {status}"),
    });
    let refusal = Refusal { status, code, message };
    Err(RequestError::from_refusal(refusal))
}

/// Reads the body of a response as JSON.
pub(crate) async fn read_json<T: DeserializeOwned>(response: Response) -> Result<T, RequestError> {
    let body =
        response.bytes().await.map_err(|error| RequestError::from_transport_error(&error))?;
    serde_json::from_slice(&body).map_err(|error| RequestError::InvalidResponse(error.to_string()))
}
