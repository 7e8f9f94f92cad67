//! Saying text and reasoning.

use crate::event::{Citation, Event, Image, MessageId, Owner, Phase, ReasoningOrigin, StepId};
use crate::ingest::filter::Piece;
use crate::limits::CITED_MAX;
use crate::run::fingerprint::Fingerprint;
use crate::run::text::{Message, Reasoning};
use crate::run::{Quirk, Seals};

use super::Writer;

impl Writer<'_> {
    /// New text of the message that is open, or of a new one.
    pub fn text(&mut self, text: &str) {
        if self.ledger.quirks.contains(&Quirk::CumulativeText) {
            if self.ledger.cumulative.is_none() && !text.is_empty() {
                self.note(Event::QuirkActed {
                    quirk: Quirk::CumulativeText.as_str().into(),
                    detail: "reads each text of this message as the whole of it so far".into(),
                });
            }
            return self.text_so_far(text);
        }
        self.ledger.text(text, self.filter, &mut self.out);
    }

    /// The message's whole text so far.
    pub fn text_so_far(&mut self, text: &str) {
        self.ledger.text_so_far(text, self.filter, &mut self.out);
    }

    /// New text of a message whose whole text may come too: it is kept, to tell what is new then.
    pub fn text_kept(&mut self, text: &str) {
        if !text.is_empty() {
            self.ledger.text_kept(text, self.filter, &mut self.out);
        }
    }

    /// Whether this is what the open message has said, by [`Writer::text_kept`] or
    /// [`Writer::text_so_far`].
    pub fn has_said(&self, text: &str) -> bool {
        self.ledger.cumulative.as_ref().is_some_and(|said| said.is(text))
    }

    /// What follows is a message of its own; `phase` says which part it plays, if the source does.
    pub fn begin_message(&mut self, phase: Option<Phase>) {
        self.end_message();
        self.ledger.phase = phase;
    }

    /// The message is over. If the run breaks off before anything else is said, so did it.
    pub fn end_message(&mut self) {
        self.ledger.end_message(self.filter, &mut self.out);
    }

    /// The source says that the message is whole, whatever comes next.
    pub fn end_whole_message(&mut self) {
        self.end_message();
        self.out.tell_over();
    }

    /// New reasoning text; ends the message before it, unless it is blank.
    pub fn reasoning(&mut self, text: &str, origin: ReasoningOrigin) {
        self.ledger.native_reasoning(text, origin, self.filter, &mut self.out);
    }

    pub fn end_reasoning(&mut self) {
        self.ledger.end_reasoning(&mut self.out);
    }

    /// Reasoning the provider keeps to itself.
    pub fn redacted_reasoning(&mut self) {
        self.boundary();
        if self.ledger.is_late() {
            return;
        }
        self.ledger.open_reasoning(ReasoningOrigin::Redacted, &mut self.out);
        self.end_reasoning();
    }

    /// What the provider wants back with the thought that is open. One that is not is a thought
    /// nobody can read.
    pub fn seal_reasoning(&mut self, seal: impl FnOnce() -> String) {
        if self.ledger.seals == Seals::Drop {
            return;
        }
        let open = match self.ledger.reasoning {
            Reasoning::Open { step, .. } => Some(step),
            Reasoning::None | Reasoning::Blank { .. } => None,
        };
        if open.is_none() {
            self.redacted_reasoning();
        }
        let step = open.or_else(|| self.last_step());
        if let Some(step) = step {
            self.seal(step, seal);
        }
    }

    /// The step that began last.
    pub fn last_step(&self) -> Option<StepId> {
        self.ledger.steps.checked_sub(1).map(StepId)
    }

    /// What the provider wants back with a step.
    pub fn seal(&mut self, step: StepId, seal: impl FnOnce() -> String) {
        if self.ledger.seals == Seals::Keep {
            self.out.event(Event::StepSealed { step, seal: seal().into() });
        }
    }

    /// A source for the message that is open, or else for the next one; if none comes in this
    /// round, for the last.
    pub fn cite(&mut self, citation: Citation<'_>) {
        if let Some(message) = self.open_message() {
            self.out.event(Event::SourceCited { message, citation });
        } else if self.ledger.citations.len() < CITED_MAX {
            self.ledger.citations.push(citation.into_owned());
        }
    }

    /// A picture in the reply.
    pub fn image(&mut self, image: Image<'_>) {
        self.ensure_round();
        if self.ledger.is_late() {
            return;
        }
        let message = self.ledger.open_message(&mut self.out);
        self.out.event(Event::ImageReceived { owner: Owner::Message(message), image });
    }

    /// The message that is open, or was last in this round.
    pub fn message(&self) -> Option<MessageId> {
        if let Message::Open { id, .. } = self.ledger.message {
            Some(id)
        } else {
            let round = self.ledger.round.as_ref()?;
            round.last_message.map(|(message, _)| message)
        }
    }

    /// Whether text that comes now goes on with a message.
    pub fn in_message(&self) -> bool {
        !matches!(self.ledger.message, Message::None) || 0 < self.filter.held_bytes()
    }

    /// The source says that a message it has sent is the final one.
    pub fn declare_message(&mut self, message: MessageId) {
        self.ledger.declared = Some(message);
        if let Some(round) = &mut self.ledger.round {
            round.last_final = Some(message);
        }
        self.out.event(Event::FinalDeclared { message });
    }

    /// The source says what the final message is. One that has been shown is named; one that has
    /// not becomes a message.
    pub fn declare_final(&mut self, text: &str) {
        self.end_message();
        let print = self.visible_print(text);
        if print.is_empty() {
            return;
        }
        let last = match &self.ledger.round {
            Some(round) => round.last_message,
            None => self.ledger.last_round_message,
        };
        let message = match last {
            Some((message, shown)) if shown.same_text(&print) => message,
            _ => {
                self.begin_message(Some(Phase::Final));
                self.text(text);
                self.end_message();
                let Some(message) = self.message() else {
                    return;
                };
                message
            }
        };
        self.ledger.declared = Some(message);
        self.out.event(Event::FinalDeclared { message });
    }

    /// Fingerprint of what the filter would leave of a text: what has been shown is compared with it.
    fn visible_print(&self, text: &str) -> Fingerprint {
        let mut filter = self.filter.fresh();
        let mut print = Fingerprint::default();
        let mut visible = |piece: Piece<'_>| {
            if let Piece::Visible(text) = piece {
                print.push(text);
            }
        };
        filter.push(text, &mut visible);
        filter.end_message(&mut visible);
        print
    }

    /// Delivers all text that has come, before something else is said.
    pub(super) fn flush(&mut self) {
        self.end_message();
        self.end_reasoning();
    }

    pub(super) fn boundary(&mut self) {
        self.flush();
        self.ensure_round();
    }
}
