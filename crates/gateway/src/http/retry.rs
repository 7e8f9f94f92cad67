//! The same message once more, as a run of its own.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use engine::event::{Event, Image};
use engine::ingest::DialectName;

use crate::agent::Prompt;
use crate::gateway::Gateway;
use crate::messages::Turn;
use crate::store::{RunRow, StoreError};

use super::App;
use super::error::ApiError;
use super::extract::{Json, Path};
use super::gate::Owner;
use super::messages::{Accepted, put};
use super::runs::find;
use super::sessions::live;

pub(super) async fn retry(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
    headers: HeaderMap,
) -> Result<(StatusCode, Json<Accepted>), ApiError> {
    let run = find(&gateway, owner, &word).await?;
    live(&gateway, owner, &run.session.to_string()).await?;
    if run.ended.is_none() {
        return Err(ApiError::conflict(
            "run_going",
            "This run is still going. Wait for its end, or cancel it.",
        ));
    }
    let prompt = message_of(&gateway, &run).await?.ok_or_else(|| {
        ApiError::conflict(
            "not_a_message",
            "This run came from a stream that was sent in, not from a message: there is nothing to \
             send again.",
        )
    })?;
    put(&gateway, run.session, owner, &headers, prompt, Turn::Next).await
}

/// The message that a run worked on; nothing if its stream was taken in from elsewhere.
async fn message_of(gateway: &Gateway, run: &RunRow) -> Result<Option<Prompt>, StoreError> {
    let name = run.id.to_string();
    let chunks = gateway.log.read(run.session, run.first).await?;
    let records = chunks.iter().flat_map(|chunk| chunk.records(run.first));
    // The gateway begins a message's run with these two, whatever its agent does then.
    for record in records.flatten().filter(|record| record.run == name).take(2) {
        match record.event {
            Event::RunStarted { dialect, .. }
                if dialect == "unknown" || dialect.parse::<DialectName>().is_ok() =>
            {
                return Ok(None);
            }
            Event::PromptReceived { text, images } => {
                let images = images.into_iter().map(Image::into_owned).collect();
                return Ok(Some(Prompt { text: text.into_owned(), images }));
            }
            _ => {}
        }
    }
    Ok(None)
}
