//! Login links for browsers.

use serde::Deserialize;
use serde_json::json;

use crate::{GatewayClient, RequestError};

#[derive(Deserialize)]
struct LoginLinkResponse {
    path: String,
}

impl GatewayClient {
    /// Requests a link that signs a browser in once, and returns its whole URL.
    pub async fn create_login_link(&self) -> Result<String, RequestError> {
        let link: LoginLinkResponse = self.post_json("/v1/login-link", &json!({})).await?;
        Ok(format!("{}{}", self.base_url(), link.path))
    }
}
