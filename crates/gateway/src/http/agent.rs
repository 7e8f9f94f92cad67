//! Who answers here, and with what.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use tokio::time::timeout;

use super::App;
use super::gate::Owner;
use crate::agent::About;

/// How long its tools may take to be counted.
const ABOUT_WITHIN: Duration = Duration::from_secs(10);

#[derive(Serialize)]
pub(super) struct Told {
    /// Nothing where nobody answers messages.
    agent: Option<&'static str>,
    #[serde(flatten)]
    about: About,
}

pub(super) async fn about(State(gateway): App, _: Owner) -> Json<Told> {
    let Some(agent) = &gateway.agent else {
        return Json(Told { agent: None, about: About::default() });
    };
    let about = timeout(ABOUT_WITHIN, agent.0.about()).await.unwrap_or_else(|_| About {
        missing: vec!["Its tools could not be counted in time.".to_owned()],
        ..About::default()
    });
    Json(Told { agent: Some(agent.0.name()), about })
}
