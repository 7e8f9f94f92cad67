//! The parts of the open step, so that a client that can drop the whole step gets back what stays.

use engine::event::{MessageId, StepId};

use super::part::Part;
use crate::compat::{Out, json};

/// Whose part it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Message(MessageId),
    Step(StepId),
}

impl From<engine::event::Owner> for Owner {
    fn from(owner: engine::event::Owner) -> Owner {
        match owner {
            engine::event::Owner::Message(message) => Owner::Message(message),
            engine::event::Owner::Step(step) => Owner::Step(step),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Journal {
    parts: Vec<(Option<Owner>, String)>,
    /// Whose parts began in this step; a call may get its output in a later one.
    begun: Vec<Owner>,
}

impl Journal {
    pub(super) fn note(&mut self, owner: Option<Owner>, part: String) {
        self.parts.push((owner, part));
    }

    pub(super) fn begin(&mut self, owner: Owner) {
        self.begun.push(owner);
    }

    pub(super) fn holds(&self, owner: Owner) -> bool {
        self.begun.contains(&owner)
    }

    /// Drops the step and sends again what is not of these owners.
    pub(super) fn take_back(&mut self, owners: &[Owner], out: Out<'_>) {
        json::say(&Part::ResetStep, out);
        self.parts.retain(|(of, _)| of.is_none_or(|of| !owners.contains(&of)));
        for (_, part) in &self.parts {
            out(part);
        }
    }
}
