//! Ending a run because the agent said so, with a control word.
//!
//! Does: tell a word at the edge of its message from one in the middle; let the tools of the same
//! reply run first; then end the run, so that what comes after is late.
//! Does not: find or hide the word; the filter does.

use crate::event::{DroppedReason, MessageId, StepId, Stop, Trace};
use crate::ingest::filter::{Filter, Meaning};

use super::{Cut, Ledger, Life, Out, Verdict};

/// What the words of the message that is open ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Asks {
    #[default]
    Nothing,
    /// The end, if no more text follows the word.
    FinishIfLast,
    Finish,
}

/// What stands before a word in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    Blank,
    Text,
}

impl Before {
    pub(super) fn of(text: &str) -> Before {
        if text.chars().all(char::is_whitespace) { Before::Blank } else { Before::Text }
    }
}

impl Asks {
    pub(super) fn word(&mut self, meaning: Meaning, before: Before) {
        *self = match (meaning, before) {
            (Meaning::NothingToReport, _) => *self,
            (Meaning::Finish, Before::Blank) => Asks::Finish,
            (Meaning::Finish, Before::Text) if *self == Asks::Finish => Asks::Finish,
            (Meaning::Finish, Before::Text) => Asks::FinishIfLast,
        };
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        if *self == Asks::FinishIfLast && !text.chars().all(char::is_whitespace) {
            *self = Asks::Nothing;
        }
    }
}

/// How far a run is that was asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finishing {
    No,
    /// The reply may still ask for tools, or wait for them.
    Asked(Finisher),
    /// The tools it asked for have ended.
    ToolsEnded(Finisher),
}

/// Who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finisher {
    /// The word's message, if anything else was in it.
    message: Option<MessageId>,
    /// The first step of its round.
    first_step: StepId,
}

impl Ledger {
    pub(super) fn control_word(&mut self, meaning: Meaning) {
        let before = if self.message.id().is_some() { Before::Text } else { Before::Blank };
        self.asks.word(meaning, before);
    }

    /// The message ended: what its words ask for is certain.
    pub(super) fn settle_asks(&mut self, message: Option<MessageId>) {
        if std::mem::take(&mut self.asks) != Asks::Nothing
            && let Some(round) = &self.round
        {
            let first_step = StepId(round.first_step);
            self.finishing = Finishing::Asked(Finisher { message, first_step });
        }
    }

    /// Whether all text and reasoning that comes now is too late.
    pub(super) fn is_late(&self) -> bool {
        self.finishing != Finishing::No || self.life == Life::Ended
    }

    pub(super) fn dropped_late(text: &str, out: &mut Out<'_>) {
        let reason = DroppedReason::Late;
        out.sink.trace(Trace::Dropped { bytes: text.len(), reason });
    }

    pub(super) fn tool_started(&mut self) {
        if let Finishing::ToolsEnded(finisher) = self.finishing {
            self.finishing = Finishing::Asked(finisher);
        }
    }

    pub(super) fn tool_ended(&mut self, step: StepId) {
        if let Finishing::Asked(finisher) = self.finishing
            && finisher.first_step <= step
            && !self.tools.any_open_from(finisher.first_step)
        {
            self.finishing = Finishing::ToolsEnded(finisher);
        }
    }

    /// The next reply or prompt is about to begin: ends the run if it was asked to end.
    pub(super) fn finish_if_asked(&mut self, filter: &mut Filter, out: &mut Out<'_>) {
        match (self.finishing, &self.verdict) {
            (Finishing::No, _) => {}
            // The reply broke off: nobody knows what it asked for.
            (Finishing::Asked(_), Verdict::Failed { .. } | Verdict::Cancelled { .. }) => {
                self.finishing = Finishing::No;
            }
            (_, verdict) => {
                if *verdict == Verdict::Pending {
                    self.verdict = Verdict::Completed(Stop::End);
                    out.untold.breaks = self.breaks_off();
                }
                self.finish(Cut::EndOfInput, filter, out);
            }
        }
    }

    /// The person speaks again. A word from the middle of a reply, while tools run, ends nothing.
    pub(super) fn finish_before_prompt(&mut self, filter: &mut Filter, out: &mut Out<'_>) {
        if let Finishing::Asked(finisher) | Finishing::ToolsEnded(finisher) = self.finishing
            && !self.tools.any_open_from(finisher.first_step)
        {
            self.finish_if_asked(filter, out);
        }
    }

    /// Whether the run was asked to end and has done all that it was to do before.
    pub(super) fn has_finished(&self) -> bool {
        matches!(self.finishing, Finishing::ToolsEnded(_))
    }

    /// These messages do not count any more, whatever was said of them.
    pub(super) fn withdraw(&mut self, messages: &[MessageId]) {
        self.withdrawn.extend(messages);
        self.declared = self.declared.filter(|declared| !messages.contains(declared));
    }

    /// Messages were taken back, and with them what they asked for.
    pub(super) fn withdraw_asks(&mut self, messages: &[MessageId]) {
        if let Finishing::Asked(Finisher { message: Some(message), .. })
        | Finishing::ToolsEnded(Finisher { message: Some(message), .. }) = self.finishing
            && messages.contains(&message)
        {
            self.finishing = Finishing::No;
        }
    }
}
