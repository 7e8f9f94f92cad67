//! Asks: approvals and questions for a person.

use crate::event::{AnsweredBy, AskKind, AskOption, Event, Millis, StepId};
use crate::limits::OPEN_ASKS_MAX;

use super::Writer;

/// An approval or question for a person, to be opened.
#[derive(Clone, Debug)]
pub struct NewAsk<'a> {
    /// Id of the ask; unique among open asks.
    pub id: &'a str,
    /// Subject of the ask.
    pub kind: AskKind,
    /// The question.
    pub text: &'a str,
    /// The answers it offers; none for a free-form answer.
    pub options: Vec<AskOption<'a>>,
    /// Step that waits for the answer.
    pub step: Option<StepId>,
    /// Digest of exactly what an approval would run.
    pub digest: Option<&'a str>,
    /// Time at which it counts as denied.
    pub expires_at_ms: Option<Millis>,
}

impl Writer<'_> {
    /// Opens an ask without digest and expiry.
    pub fn open_simple_ask_unless_open(
        &mut self,
        ask: &str,
        kind: AskKind,
        text: &str,
        options: Vec<AskOption<'_>>,
        step: Option<StepId>,
    ) {
        self.open_ask_unless_open(NewAsk {
            id: ask,
            kind,
            text,
            options,
            step,
            digest: None,
            expires_at_ms: None,
        });
    }

    /// Ends the open text and opens an ask; does nothing if it is open.
    pub fn open_ask_unless_open(&mut self, asking: NewAsk<'_>) {
        let NewAsk { id: ask, kind, text, options, step, digest, expires_at_ms } = asking;
        self.end_or_suspend_text_for_step();
        if self.state.open_asks.iter().any(|open| open == ask) {
            return;
        }
        if OPEN_ASKS_MAX <= self.state.open_asks.len() {
            let oldest = self.state.open_asks[0].clone();
            self.resolve_ask_if_open(&oldest, "", AnsweredBy::Nobody);
        }
        self.state.open_asks.push(ask.to_owned());
        self.emitter.emit_after_deferred_ends(Event::AskOpened {
            ask: ask.into(),
            kind,
            text: text.into(),
            options,
            step,
            digest: digest.map(Into::into),
            expires_at_ms,
        });
    }

    /// Resolves an open ask; does nothing if it is not open.
    pub fn resolve_ask_if_open(&mut self, ask: &str, answer: &str, by: AnsweredBy) {
        let Some(at) = self.state.open_asks.iter().position(|open| open == ask) else {
            return;
        };
        self.state.open_asks.remove(at);
        self.emitter.emit_after_deferred_ends(Event::AskResolved {
            ask: ask.into(),
            answer: answer.into(),
            by,
        });
    }
}
