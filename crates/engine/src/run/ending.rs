//! How a run ends: once, in pairs, and as its source says or as its input broke off.

use crate::event::{Ending, Event, FailureReason, MessageId, Outcome, Reply, Stop};
use crate::ingest::filter::Filter;

use super::{Cut, Ledger, Life, Out, writer};

/// What the source has said of its end so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Pending,
    Completed(Stop),
    Failed { reason: FailureReason, detail: String },
    Cancelled { detail: String },
}

impl Ledger {
    pub(super) fn finish(&mut self, cut: Cut, filter: &mut Filter, out: &mut Out<'_>) {
        if self.life == Life::Ended {
            return;
        }
        self.life = Life::Ending;
        out.untold.breaks = self.breaks_off();
        self.end_round(filter, out);
        self.tools.close_all(out);
        let ending = self.ending(cut);
        let waits = ending.stop.is_some_and(Stop::leaves_asks_open);
        for ask in std::mem::take(&mut self.open_asks).into_iter().filter(|_| !waits) {
            out.event(Event::AskResolved {
                ask: ask.into(),
                answer: "".into(),
                by: crate::event::AnsweredBy::Nobody,
            });
        }
        for request in std::mem::take(&mut self.open_requests) {
            out.event(writer::unfinished(request));
        }
        self.life = Life::Ended;
        out.event(Event::RunEnded { ending });
        out.life = Life::Ended;
    }

    fn ending(&mut self, cut: Cut) -> Ending<'static> {
        let verdict = std::mem::replace(&mut self.verdict, Verdict::Pending);
        let (outcome, stop, reason, detail) = match (verdict, cut) {
            (Verdict::Completed(stop), _) => (Outcome::Completed, Some(stop), None, None),
            (Verdict::Failed { reason, detail }, _) => {
                (Outcome::Failed, None, Some(reason), Some(detail))
            }
            (Verdict::Cancelled { detail }, _) => (Outcome::Cancelled, None, None, Some(detail)),
            (Verdict::Pending, _) if self.has_finished() => {
                (Outcome::Completed, Some(Stop::End), None, None)
            }
            (Verdict::Pending, Cut::EndOfInput) => (Outcome::Truncated, None, None, None),
            (Verdict::Pending, Cut::Cancelled) => (Outcome::Cancelled, None, None, None),
            (Verdict::Pending, Cut::Stalled) => (Outcome::Stalled, None, None, None),
            (Verdict::Pending, Cut::Interrupted) => (Outcome::Interrupted, None, None, None),
            (Verdict::Pending, Cut::TooLong) => {
                let detail = "the stream is longer than what is taken".to_owned();
                (Outcome::Failed, None, Some(FailureReason::Limit), Some(detail))
            }
        };
        let message = self.reply();
        Ending {
            outcome,
            stop,
            reason,
            detail: detail.filter(|detail| !detail.is_empty()).map(Into::into),
            reply: if message.is_some() { Reply::Message } else { Reply::None },
            message,
            incomplete: outcome != Outcome::Completed || stop == Some(Stop::Length),
        }
    }

    /// Whether what ends now ends because its source failed or broke off.
    pub(super) fn is_broken_off(&self) -> bool {
        match self.verdict {
            Verdict::Pending => self.life == Life::Ending && !self.has_finished(),
            Verdict::Completed(_) => false,
            Verdict::Failed { .. } | Verdict::Cancelled { .. } => true,
        }
    }

    /// Whether a message that ends now is not whole: the reply broke off, or is as long as it may be.
    pub(super) fn breaks_off(&self) -> bool {
        self.verdict == Verdict::Completed(Stop::Length) || self.is_broken_off()
    }

    /// The message a source declared final, else the last of the last round.
    fn reply(&self) -> Option<MessageId> {
        self.declared
            .or(self.last_round_message.map(|(message, _)| message))
            .filter(|message| !self.withdrawn.contains(message))
    }
}
