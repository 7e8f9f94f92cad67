//! Ingestion of a provider's raw stream as one run.

use millpond_engine::run::SourceOptions;
use reqwest::{Body, Method};
use serde::Deserialize;
use tokio::sync::mpsc;

use crate::request::{read_json, send_and_require_success};
use crate::{GatewayClient, RequestError};

/// The run that a stream has become.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct IngestedRun {
    pub session: String,
    pub run: String,
    pub outcome: String,
}

impl GatewayClient {
    /// Sends chunks as one stream until the channel closes, and returns the run they became.
    pub async fn ingest_stream(
        &self,
        dialect: &str,
        session: Option<&str>,
        options: &SourceOptions,
        chunks: mpsc::Receiver<Vec<u8>>,
    ) -> Result<IngestedRun, RequestError> {
        let body = futures_util::stream::unfold(chunks, |mut chunks| async {
            let chunk = chunks.recv().await?;
            Some((Ok::<_, std::io::Error>(chunk), chunks))
        });
        let request = self.build_untimed_request(Method::POST, &format!("/v1/ingest/{dialect}"));
        let mut query: Vec<_> = session.map(|session| ("session", session)).into_iter().collect();
        query.extend(options.values().map(|(option, value)| (option.as_str(), value)));
        read_json(
            send_and_require_success(request.query(&query).body(Body::wrap_stream(body))).await?,
        )
        .await
    }
}
