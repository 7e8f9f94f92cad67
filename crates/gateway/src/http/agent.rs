//! `GET /v1/agent`: the agent, its model and tools.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use tokio::time::timeout;

use super::AppState;
use super::access_middleware::OwnerOnly;
use millpond_log::agent::AgentDescription;

/// How long the agent may take to describe itself.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Serialize)]
pub(super) struct AgentResponse {
    /// `None` without an agent.
    agent: Option<&'static str>,
    #[serde(flatten)]
    about: AgentDescription,
}

pub(super) async fn get_agent(State(gateway): AppState, _: OwnerOnly) -> Json<AgentResponse> {
    let Some(agent) = &gateway.scheduler.agent else {
        return Json(AgentResponse { agent: None, about: AgentDescription::default() });
    };
    let description = timeout(DESCRIBE_TIMEOUT, agent.0.connect_tools_and_describe())
        .await
        .unwrap_or_else(|_| AgentDescription {
            missing: vec!["Tools could not be listed in time.".to_owned()],
            ..AgentDescription::default()
        });
    Json(AgentResponse { agent: Some(agent.0.name()), about: description })
}
