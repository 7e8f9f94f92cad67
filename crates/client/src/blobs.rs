//! Blobs of a session: images by their digests.

use reqwest::Method;

use crate::limits::BLOB_BYTES_MAX;
use crate::request::send_and_require_success;
use crate::{GatewayClient, RequestError};

/// Error of a download.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    #[error("the image is larger than {BLOB_BYTES_MAX} bytes")]
    TooLarge,
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl DownloadError {
    /// Returns true if the same download may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            DownloadError::TooLarge => false,
            DownloadError::Request(error) => error.is_transient(),
        }
    }
}

impl GatewayClient {
    /// Downloads a blob by its digest, up to [`BLOB_BYTES_MAX`] bytes.
    pub async fn download_blob(
        &self,
        session: &str,
        digest: &str,
    ) -> Result<Vec<u8>, DownloadError> {
        let path = format!("/v1/sessions/{session}/blobs/{digest}");
        let mut response =
            send_and_require_success(self.build_timed_request(Method::GET, &path)).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| RequestError::from_transport_error(&error))?
        {
            if BLOB_BYTES_MAX < bytes.len() + chunk.len() {
                return Err(DownloadError::TooLarge);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}
