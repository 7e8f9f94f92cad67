//! The tool calls of one round while they run or wait for approval.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use millpond_engine::event::{Millis, StepId};
use millpond_engine::run::InputEnd;
use millpond_log::clock::now_ms;
use millpond_log::runs::Answer;
use tokio::sync::mpsc;

use crate::conversation::Call;
use crate::tool_output::ToolOutputBuffer;
use crate::tools::{CallResult, ToolAction, ToolUpdate, Toolbox, UpdateSender};

/// A call that waits for a person's approval.
pub(super) struct CallAwaitingApproval {
    pub(super) call: Call,
    /// Digest of the action shown to the person.
    pub(super) approved_digest: String,
    pub(super) expires_at_ms: Millis,
}

/// The calls of one round that are running or awaiting approval.
pub(super) struct CallBatch {
    pub(super) awaiting_approval: BTreeMap<String, CallAwaitingApproval>,
    pub(super) running: FuturesUnordered<BoxFuture<'static, (StepId, CallResult)>>,
    pub(super) outputs: BTreeMap<StepId, ToolOutputBuffer>,
    pub(super) updates: mpsc::Receiver<ToolUpdate>,
    pub(super) update_sender: mpsc::Sender<ToolUpdate>,
    /// Open only during the batch, so that answers at other times are rejected at once.
    pub(super) answers: mpsc::Receiver<Answer>,
}

/// Next event of a batch.
pub(super) enum BatchEvent {
    Stop(InputEnd),
    ToolUpdate(ToolUpdate),
    CallDone(StepId, CallResult),
    Answer(Answer),
    AskExpired,
}

impl CallBatch {
    pub(super) fn push_call_future(&mut self, toolbox: &Toolbox, step: StepId, action: ToolAction) {
        let (toolbox, updates) =
            (toolbox.clone(), UpdateSender { step, channel: self.update_sender.clone() });
        self.running
            .push(Box::pin(async move { (step, toolbox.run_action(action, updates).await) }));
    }

    pub(super) fn time_to_next_approval_expiry_or_max(&self) -> Duration {
        let next_expiry = self.awaiting_approval.values().map(|call| call.expires_at_ms).min();
        Duration::from_millis(next_expiry.unwrap_or(u64::MAX).saturating_sub(now_ms()))
    }
}
