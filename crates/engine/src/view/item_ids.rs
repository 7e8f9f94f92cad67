//! Ids of items, each unique among the items of its kind in the session (F7).
//!
//! An id is made from what the log has: the number of a message or step in its run, or the id that
//! the source gave. In the session's first run it is only that; in the run number N it begins with
//! `N.`, so `m0` of the second run is `2.m0`. The ids of asks are their own, because answers name
//! them together with their run.

use std::fmt::{Arguments, Write};

use crate::event::{DraftId, MessageId, StepId};

/// Builds the ids of one run's items.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ItemIds {
    /// Number of the run in its session, from 1; 0 before the first one.
    run_number: u32,
}

impl ItemIds {
    /// Ids of the session's next run.
    pub(super) fn of_next_run(self) -> ItemIds {
        ItemIds { run_number: self.run_number.saturating_add(1) }
    }

    /// Id of a message's item.
    pub(super) fn message(self, message: MessageId) -> String {
        self.build(format_args!("m{}", message.0))
    }

    /// Id of a part of a message's text, named by `part`.
    pub(super) fn message_part(self, message: MessageId, part: Arguments<'_>) -> String {
        self.build(format_args!("m{}.{part}", message.0))
    }

    /// Id of a step's item.
    pub(super) fn step(self, step: StepId) -> String {
        self.build(format_args!("s{}", step.0))
    }

    /// Id of the item of a step's result.
    pub(super) fn step_result(self, step: StepId) -> String {
        self.build(format_args!("s{}r", step.0))
    }

    /// Id of the entry of a step's result.
    pub(super) fn entry(self, step: StepId) -> String {
        self.build(format_args!("e{}", step.0))
    }

    /// Id of the item of a round: its request, or the control of its steps.
    pub(super) fn round(self, round: u32) -> String {
        self.build(format_args!("r{round}"))
    }

    /// Id of the run's prompt with this number, from 0.
    pub(super) fn prompt(self, number: u32) -> String {
        self.build(format_args!("u{number}"))
    }

    /// Id of the run's notice with this number, from 0.
    pub(super) fn notice(self, number: u32) -> String {
        self.build(format_args!("n{number}"))
    }

    /// Id of a draft, until it is whole.
    pub(super) fn draft(self, draft: DraftId) -> String {
        self.build(format_args!("d{}", draft.0))
    }

    /// Id of an item that its source names.
    pub(super) fn of_source(self, id: &str) -> String {
        self.build(format_args!("{id}"))
    }

    /// Id of the run's failure.
    pub(super) fn failure(self) -> String {
        self.build(format_args!("end"))
    }

    /// Adds the run's number, unless it is the first.
    fn build(self, id: Arguments<'_>) -> String {
        let mut whole = String::new();
        // Writing to a string does not fail.
        let _ = match self.run_number {
            0 | 1 => whole.write_fmt(id),
            number => write!(whole, "{number}.{id}"),
        };
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_the_first_run_have_no_number_and_those_of_later_runs_begin_with_it() {
        let first = ItemIds::default().of_next_run();
        let (message, part) = (MessageId(3), format_args!("{}", 1));
        assert_eq!(first.message(message), "m3");
        assert_eq!(first.of_next_run().message(message), "2.m3");
        assert_eq!(first.of_next_run().of_next_run().message_part(message, part), "3.m3.1");
    }
}
