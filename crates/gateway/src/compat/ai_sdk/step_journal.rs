//! Parts of the open step, to resend those that stay after the step is reset.

use millpond_engine::event::{MessageId, StepId};

use super::part::Part;
use crate::compat::{PayloadSink, json};

/// The message or step that a part belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartOwner {
    Message(MessageId),
    Step(StepId),
}

impl From<millpond_engine::event::ImageOwner> for PartOwner {
    fn from(owner: millpond_engine::event::ImageOwner) -> PartOwner {
        match owner {
            millpond_engine::event::ImageOwner::Message(message) => PartOwner::Message(message),
            millpond_engine::event::ImageOwner::Step(step) => PartOwner::Step(step),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct StepJournal {
    parts: Vec<(Option<PartOwner>, String)>,
    /// Owners whose first part is in this step; a call may get its output in a later one.
    owners_begun: Vec<PartOwner>,
}

impl StepJournal {
    pub(super) fn record_part(&mut self, owner: Option<PartOwner>, part: String) {
        self.parts.push((owner, part));
    }

    pub(super) fn record_begun_owner(&mut self, owner: PartOwner) {
        self.owners_begun.push(owner);
    }

    pub(super) fn has_begun_owner(&self, owner: PartOwner) -> bool {
        self.owners_begun.contains(&owner)
    }

    /// Resets the step and resends all parts except those of these owners.
    pub(super) fn reset_step_and_resend_without(
        &mut self,
        owners: &[PartOwner],
        out: PayloadSink<'_>,
    ) {
        json::write_payload(&Part::ResetStep, out);
        self.parts.retain(|(owner, _)| owner.is_none_or(|owner| !owners.contains(&owner)));
        for (_, part) in &self.parts {
            out(part);
        }
    }
}
