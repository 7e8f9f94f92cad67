//! Updates and results of a running tool, as the agent loop receives them.

use millpond_engine::event::{StepId, ToolOutcome};
use tokio::sync::mpsc;

use super::ToolCallError;

/// Output or progress of a running tool.
#[derive(Debug)]
pub struct ToolUpdate {
    /// Step of the call.
    pub step: StepId,
    /// Output, progress or image.
    pub content: UpdateContent,
}

/// Content of a tool update.
#[derive(Debug)]
pub enum UpdateContent {
    Output(String),
    Progress(String),
    Image { media_type: String, base64: String },
}

/// Outcome of a call, with a detail if it did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    /// Outcome.
    pub outcome: ToolOutcome,
    /// Reason, if it did not succeed.
    pub detail: Option<String>,
}

impl CallResult {
    /// A call that succeeded.
    pub fn succeeded() -> CallResult {
        CallResult { outcome: ToolOutcome::Succeeded, detail: None }
    }

    /// A call that failed.
    pub fn failed(detail: impl Into<String>) -> CallResult {
        CallResult { outcome: ToolOutcome::Failed, detail: Some(detail.into()) }
    }

    /// A call that was denied.
    pub fn denied(detail: impl Into<String>) -> CallResult {
        CallResult { outcome: ToolOutcome::Denied, detail: Some(detail.into()) }
    }
}

/// Sends the updates of one step.
#[derive(Clone, Debug)]
pub struct UpdateSender {
    /// Step of the call.
    pub step: StepId,
    /// Channel to the agent loop.
    pub channel: mpsc::Sender<ToolUpdate>,
}

impl UpdateSender {
    /// Sends an update.
    pub async fn send(&self, content: UpdateContent) {
        // A closed channel means that the run is stopping.
        let _stopped = self.channel.send(ToolUpdate { step: self.step, content }).await;
    }

    /// Sends output text.
    pub async fn send_output(&self, text: impl Into<String>) {
        self.send(UpdateContent::Output(text.into())).await;
    }
}

impl UpdateSender {
    /// Sends the text of a result as output; returns its error without sending it.
    pub(super) async fn send_output_unless_error(
        &self,
        result: Result<String, ToolCallError>,
    ) -> Result<(), ToolCallError> {
        self.send_output(result?).await;
        Ok(())
    }
}
