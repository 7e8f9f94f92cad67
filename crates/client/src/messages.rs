//! Messages of the user, and the queue of those that wait for the active run.

use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use crate::request::{read_json, send_and_require_success};
use crate::{GatewayClient, RequestError};

/// Delivery of a message that is sent while a run is active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// It waits in the queue for the end of the run.
    #[default]
    Queue,
    /// It goes into the active run.
    JoinRun,
}

/// A message to send. Its key makes repeated sends one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    pub text: String,
    pub delivery: Delivery,
    pub idempotency_key: String,
}

/// A message in a session's queue.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct QueuedMessage {
    pub id: String,
    pub text: String,
}

#[derive(Deserialize)]
struct MessageAccepted {
    run: String,
}

#[derive(Deserialize)]
struct QueueResponse {
    queue: Vec<QueuedMessage>,
}

impl GatewayClient {
    /// Sends a message and returns the id of its run.
    pub async fn send_message(
        &self,
        session: &str,
        message: &NewMessage,
    ) -> Result<String, RequestError> {
        let body = match message.delivery {
            Delivery::Queue => json!({ "text": message.text }),
            Delivery::JoinRun => json!({ "text": message.text, "join": true }),
        };
        let request =
            self.build_timed_request(Method::POST, &format!("/v1/sessions/{session}/messages"));
        let request = request.header("idempotency-key", &message.idempotency_key).json(&body);
        Ok(read_json::<MessageAccepted>(send_and_require_success(request).await?).await?.run)
    }

    /// Fetches the messages that wait, in order.
    pub async fn fetch_queue(&self, session: &str) -> Result<Vec<QueuedMessage>, RequestError> {
        let path = format!("/v1/sessions/{session}/queue");
        Ok(self.get_json::<QueueResponse>(&path).await?.queue)
    }

    /// Removes messages from the queue and returns the rest, in the same order.
    pub async fn remove_from_queue(
        &self,
        session: &str,
        ids: &[String],
    ) -> Result<Vec<QueuedMessage>, RequestError> {
        let queue = self.fetch_queue(session).await?;
        let (removed, order): (Vec<_>, Vec<_>) =
            queue.into_iter().map(|message| message.id).partition(|id| ids.contains(id));
        let request =
            self.build_timed_request(Method::PUT, &format!("/v1/sessions/{session}/queue"));
        let request = request.json(&json!({ "order": order, "removed": removed }));
        Ok(read_json::<QueueResponse>(send_and_require_success(request).await?).await?.queue)
    }
}
