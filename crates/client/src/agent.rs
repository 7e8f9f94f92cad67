//! The agent that answers messages.

use serde::Deserialize;

use crate::{GatewayClient, RequestError};

/// Description of the agent and its tools.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AgentDescription {
    pub agent: Option<String>,
    pub model: Option<String>,
    pub tools: Vec<Tool>,
    /// Tools that could not be set up, with the reason.
    pub missing: Vec<String>,
}

/// A tool of the agent and its approval policy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Tool {
    pub name: String,
    pub about: String,
    pub policy: String,
}

impl GatewayClient {
    /// Fetches the description of the agent.
    pub async fn fetch_agent_description(&self) -> Result<AgentDescription, RequestError> {
        self.get_json("/v1/agent").await
    }
}
