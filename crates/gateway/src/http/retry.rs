//! `POST /v1/runs/{run}/retry`: sends a run's message again as a new run.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use millpond_engine::event::{Event, Image, PromptOrigin};
use millpond_engine::ingest::DialectName;

use crate::gateway::Gateway;
use millpond_log::agent::Prompt;
use millpond_log::queue::Delivery;
use millpond_log::store::{RunRow, StoreError};

use super::AppState;
use super::access_middleware::OwnerOnly;
use super::error::ApiError;
use super::extract::{Json, Path};
use super::messages::{AcceptedMessage, enqueue_message};
use super::runs::find_owned_run;
use super::sessions::find_owned_undeleted_session;

/// Sends the message of an ended run again.
pub(super) async fn post_retry(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
    headers: HeaderMap,
) -> Result<(StatusCode, Json<AcceptedMessage>), ApiError> {
    let run = find_owned_run(&gateway, owner, &raw_id).await?;
    find_owned_undeleted_session(&gateway, owner, &run.session.to_string()).await?;
    if run.ended.is_none() {
        return Err(ApiError::conflict(
            "run_going",
            "This run is still active. Wait for it to end, or cancel it.",
        ));
    }
    let prompt = read_prompt_of_run(&gateway, &run).await?.ok_or_else(|| {
        ApiError::conflict(
            "not_a_message",
            "This run was not started by a person's message, so it cannot be retried.",
        )
    })?;
    enqueue_message(&gateway, run.session, owner, &headers, prompt, Delivery::NextRun).await
}

/// Reads the message of a run; `None` for an ingested run and for one of a heartbeat.
async fn read_prompt_of_run(gateway: &Gateway, run: &RunRow) -> Result<Option<Prompt>, StoreError> {
    let name = run.id.to_string();
    let chunks = gateway.log.read(run.session, run.first).await?;
    let records = chunks.iter().flat_map(|chunk| chunk.records_from(run.first));
    // The run of a message always begins with these two records.
    for record in records.flatten().filter(|record| record.run == name).take(2) {
        match &record.event {
            Event::RunStarted { dialect, .. }
                if *dialect == "unknown" || dialect.parse::<DialectName>().is_ok() =>
            {
                return Ok(None);
            }
            Event::PromptReceived { text, images, origin: PromptOrigin::Person } => {
                let images = images.iter().cloned().map(Image::into_owned).collect();
                return Ok(Some(Prompt { text: text.to_string(), images }));
            }
            _ => {}
        }
    }
    Ok(None)
}
