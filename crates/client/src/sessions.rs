//! Sessions: list, fetch, create, and the page of a view.

use millpond_engine::event::Millis;
use millpond_engine::view::Page;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use crate::request::{read_json, send_and_require_success};
use crate::{GatewayClient, RequestError};

/// A session as the gateway lists it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Session {
    pub id: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub changed_ms: Millis,
    /// Id of the active run.
    #[serde(default)]
    pub run: Option<String>,
    /// Number of open asks.
    #[serde(default)]
    pub asks: u32,
}

#[derive(Deserialize)]
struct SessionsResponse {
    sessions: Vec<Session>,
}

/// Payload of a snapshot event.
#[derive(Deserialize)]
pub(crate) struct Snapshot {
    /// Called `picture` by gateways of version 0.1.
    #[serde(alias = "picture")]
    pub(crate) page: Page,
}

impl GatewayClient {
    /// Lists sessions that match `words`, most recently changed first.
    pub async fn list_sessions(
        &self,
        words: &str,
        limit: usize,
    ) -> Result<Vec<Session>, RequestError> {
        let limit = limit.to_string();
        let mut query = vec![("limit", limit.as_str())];
        if !words.is_empty() {
            query.push(("query", words));
        }
        let request = self.build_timed_request(Method::GET, "/v1/sessions").query(&query);
        Ok(read_json::<SessionsResponse>(send_and_require_success(request).await?).await?.sessions)
    }

    /// Fetches a session.
    pub async fn fetch_session(&self, id: &str) -> Result<Session, RequestError> {
        self.get_json(&format!("/v1/sessions/{id}")).await
    }

    /// Creates a session.
    pub async fn create_session(&self, title: &str) -> Result<Session, RequestError> {
        self.post_json("/v1/sessions", &json!({ "title": title })).await
    }

    /// Returns the URL of a session in the web chat, or of the chat itself.
    pub fn web_url(&self, session: Option<&Session>) -> String {
        match session {
            Some(session) => format!("{}/s/{}", self.base_url(), session.id),
            None => format!("{}/", self.base_url()),
        }
    }
}
