//! What the agent says and thinks, what it asks, and what it takes back.

use std::borrow::Cow;

use crate::event::{AnsweredBy, Event, MessageId, Phase, Record, StepId};
use crate::limits::OPEN_ASKS_MAX;
use crate::view::Thinking;
use crate::view::base::message_id;
use crate::view::item::{Item, Key, Kind, State, step_id};
use crate::view::patch::Patch;

use super::settling::Growth;
use super::{Extra, Of, Spoken, Transcript, words};

impl Transcript {
    pub(super) fn speech<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match &record.event {
            Event::MessageStarted { message, phase: Some(Phase::Final), .. } => {
                self.going.declared = Some(*message);
            }
            Event::FinalDeclared { message } if self.newest(Of::Message(*message)).is_none() => {
                self.going.declared = Some(*message);
            }
            Event::TextAppended { message, text } => {
                let of = Of::Message(*message);
                if let Some(key) = self.live(of) {
                    self.settling.grow(key, text);
                    out(Patch::Append { key, text: Cow::Borrowed(text) });
                } else if self.is_unheard(of) && !text.is_empty() {
                    let (id, growth) = (message_id(*message), self.going.growth);
                    self.show(*message, id, Cow::Borrowed(text), growth, record, out);
                }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                self.rewrite(*message, *kept_bytes, text, record, out);
            }
            Event::MessageEnded { message, incomplete } => {
                if let Some(key) = self.newest(Of::Message(*message)) {
                    self.close(key, State::of_text(*incomplete), out);
                }
            }
            Event::SourceCited { message, citation } => {
                let extra = Extra::Citation(citation.clone());
                self.attach(Of::Message(*message), extra, record, out);
            }
            _ => {}
        }
    }

    fn show<'r>(
        &mut self,
        message: MessageId,
        id: String,
        text: Cow<'r, str>,
        growth: Growth,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let mut item = Item::new(Kind::Text, &*record.run, id);
        item.at_ms = record.at_ms;
        item.text = text;
        if self.going.declared == Some(message) {
            item.sort = Some("final".into());
        }
        self.put(Some(Of::Message(message)), item, growth, out);
    }

    /// A message may begin with a picture.
    pub(super) fn show_pictured<'r>(
        &mut self,
        message: MessageId,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if self.is_unheard(Of::Message(message)) {
            let (id, growth) = (message_id(message), self.going.growth);
            self.show(message, id, Cow::Borrowed(""), growth, record, out);
        }
    }

    fn rewrite<'r>(
        &mut self,
        message: MessageId,
        kept_bytes: usize,
        text: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Some(key) = self.live(Of::Message(message)) else { return };
        if self.settling.bytes_of(key) <= kept_bytes {
            self.settling.hold(key);
            out(Patch::Rewrite { key, kept_bytes, text: Cow::Borrowed(text) });
            return;
        }
        // The source changed what has been printed: it is said anew, in an item of its own.
        let whole = self.base.text_of(message).unwrap_or(text).to_owned();
        self.cut_back(key, out);
        self.name_withdrawn(&[key], record, out);
        let id = format!("{}-{}", message_id(message), key.0 + 1);
        self.show(message, id, Cow::Owned(whole), Growth::MayChange, record, out);
    }

    pub(super) fn reasoning<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match (&record.event, self.thinking) {
            (Event::ReasoningAppended { step, text }, Thinking::Show) => {
                let of = Of::Thought(*step);
                if let Some(key) = self.live(of) {
                    self.settling.grow(key, text);
                    out(Patch::Append { key, text: Cow::Borrowed(text) });
                } else if self.is_unheard(of) {
                    let mut item = Item::new(Kind::Reasoning, &*record.run, step_id(*step));
                    item.at_ms = record.at_ms;
                    item.text = Cow::Borrowed(text);
                    self.put(Some(of), item, Growth::Grows, out);
                }
            }
            (Event::ReasoningEnded { step, incomplete }, Thinking::Show) => {
                if let Some(key) = self.newest(Of::Thought(*step)) {
                    self.close(key, State::of_text(*incomplete), out);
                }
            }
            _ => {}
        }
    }

    pub(super) fn ask<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match &record.event {
            Event::AskOpened { ask, kind, text, .. } => {
                let mut item = Item::new(Kind::Ask, &*record.run, &**ask);
                item.at_ms = record.at_ms;
                item.sort = Some(words::ask(*kind).into());
                item.text = Cow::Borrowed(text);
                let kept = item.clone().into_owned();
                let key = self.put(None, item, Growth::MayChange, out);
                self.going.asks.push_back((key, kept));
                if OPEN_ASKS_MAX < self.going.asks.len() {
                    self.give_up_ask(out);
                }
            }
            Event::AskResolved { ask, answer, by } => {
                let at = self
                    .going
                    .asks
                    .iter()
                    .position(|(_, item)| item.id == *ask && item.run == record.run);
                let Some((key, mut item)) = at.and_then(|at| self.going.asks.remove(at)) else {
                    return;
                };
                item.state = match by {
                    AnsweredBy::Person | AnsweredBy::Policy => State::Done,
                    AnsweredBy::Nobody => State::Incomplete,
                };
                item.result = Some(answer.to_string().into());
                self.replace(key, item, out);
                if *by == AnsweredBy::Person {
                    self.going.spoken = Spoken::PersonAnswered;
                }
            }
            _ => {}
        }
    }
}

/// Taking back.
impl Transcript {
    /// Nobody will answer the oldest ask that is open.
    fn give_up_ask<'r>(&mut self, out: &mut impl FnMut(Patch<'r>)) {
        if let Some((key, mut item)) = self.going.asks.pop_front() {
            item.state = State::Incomplete;
            item.result = Some("".into());
            self.replace(key, item, out);
        }
    }

    pub(super) fn withdraw<'r>(
        &mut self,
        messages: &[MessageId],
        steps: &[StepId],
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let messages = messages.iter().copied().map(Of::Message);
        let (mut gone, mut printed) = (Vec::new(), Vec::new());
        let steps = steps.iter().flat_map(|step| [Of::Thought(*step), Of::Step(*step)]);
        for of in messages.chain(steps) {
            if !self.going.withdrawn.insert(of) {
                continue;
            }
            if let Of::Step(step) = of {
                self.forget_tool(step);
            }
            let keys = (of, Key(0))..=(of, Key(u32::MAX));
            for (_, key) in self.going.items.range(keys) {
                let untouched = self.settling.bytes_of(*key) == 0;
                let free = !self.settling.is_settled(*key) && untouched;
                if free { &mut gone } else { &mut printed }.push(*key);
            }
        }
        for key in &gone {
            self.settling.complete(*key);
        }
        for key in &printed {
            self.cut_back(*key, out);
        }
        if !gone.is_empty() {
            out(Patch::Withdraw { keys: gone });
        }
        self.name_withdrawn(&printed, record, out);
    }

    /// Takes back what is not settled of an item, and ends it.
    fn cut_back<'r>(&mut self, key: Key, out: &mut impl FnMut(Patch<'r>)) {
        if self.settling.is_live(key) {
            let kept_bytes = self.settling.bytes_of(key);
            out(Patch::Rewrite { key, kept_bytes, text: Cow::Borrowed("") });
            self.close(key, State::Incomplete, out);
        }
    }

    /// Says which items do not count although they have been printed.
    fn name_withdrawn<'r>(
        &mut self,
        keys: &[Key],
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if !keys.is_empty() {
            let indexes: Vec<String> = keys.iter().map(|key| key.0.to_string()).collect();
            let text = format!("[{}]", indexes.join(","));
            self.notice(Kind::Withdrawal, "withdrawal", text, record, out);
        }
    }
}
