//! Messages, reasoning, asks and withdrawals.

use std::borrow::Cow;

use crate::event::{AnsweredBy, Event, MessageId, MessagePhase, Record, StepId};
use crate::event_family;
use crate::limits::OPEN_ASKS_MAX;
use crate::view::Thinking;
use crate::view::item::{Item, ItemKey, ItemKind, ItemState};
use crate::view::patch::Patch;

use super::settling::TextGrowth;
use super::{Attachment, ItemOwner, LastActor, Transcript, sort_names};

impl Transcript {
    /// Applies a message event.
    pub(super) fn apply_message_event<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match &record.event {
            Event::MessageStarted { message, phase: Some(MessagePhase::Final), .. } => {
                self.active_run.declared_final = Some(*message);
            }
            Event::FinalDeclared { message }
                if self.newest_key_of_owner(ItemOwner::Message(*message)).is_none() =>
            {
                self.active_run.declared_final = Some(*message);
            }
            Event::TextAppended { message, text } => {
                let owner = ItemOwner::Message(*message);
                if let Some(key) = self.live_key_of_owner(owner) {
                    self.settling.count_appended_text(key, text);
                    out(Patch::Append { key, text: Cow::Borrowed(text) });
                } else if self.can_start_item(owner) && !text.is_empty() {
                    let (id, growth) =
                        (self.base.ids().message(*message), self.active_run.text_growth);
                    self.put_message(*message, id, Cow::Borrowed(text), growth, record, out);
                }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                self.rewrite_or_replace_live_message(*message, *kept_bytes, text, record, out);
            }
            Event::MessageEnded { message, .. } => {
                if let Some(key) = self.newest_key_of_owner(ItemOwner::Message(*message)) {
                    self.close_item_if_live(key, ItemState::after_text_end(&record.event), out);
                }
            }
            Event::SourceCited { message, citation } => {
                let extra = Attachment::Citation(citation.clone());
                self.attach_or_put_notice_unless_withdrawn(
                    ItemOwner::Message(*message),
                    extra,
                    record,
                    out,
                );
            }
            // Not of a message, or without effect on its item. Named one by one, as in the other views.
            Event::MessageStarted { .. }
            | Event::ImageReceived { .. }
            | Event::FinalDeclared { .. }
            | Event::Withdrawn { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Reasoning)
            | event_family!(Tool)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    /// Puts the item of a message.
    fn put_message<'r>(
        &mut self,
        message: MessageId,
        id: String,
        text: Cow<'r, str>,
        growth: TextGrowth,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let mut item = Item::new(ItemKind::Text, &*record.run, id);
        item.at_ms = record.at_ms;
        item.text = text;
        if self.active_run.declared_final == Some(message) {
            item.sort = Some("final".into());
        }
        self.put_item(Some(ItemOwner::Message(message)), item, growth, out);
    }

    /// Puts an empty item for a message that starts with an image, unless it has one.
    pub(super) fn ensure_message_item_unless_withdrawn<'r>(
        &mut self,
        message: MessageId,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if self.can_start_item(ItemOwner::Message(message)) {
            let (id, growth) = (self.base.ids().message(message), self.active_run.text_growth);
            self.put_message(message, id, Cow::Borrowed(""), growth, record, out);
        }
    }

    /// Rewrites a message in place, or in a new item if the change reaches its settled text.
    fn rewrite_or_replace_live_message<'r>(
        &mut self,
        message: MessageId,
        kept_bytes: usize,
        text: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Some(key) = self.live_key_of_owner(ItemOwner::Message(message)) else { return };
        if self.settling.settled_bytes_of_live_item(key) <= kept_bytes {
            self.settling.stop_settling_text(key);
            out(Patch::Rewrite { key, kept_bytes, text: Cow::Borrowed(text) });
            return;
        }
        // The rewrite reaches settled text: the whole message goes into a new item.
        let whole = self.base.reply_candidate_text(message).unwrap_or(text).to_owned();
        self.truncate_to_settled_and_close(key, out);
        self.put_withdrawal_notice(&[key], record, out);
        let id = format!("{}-{}", self.base.ids().message(message), key.0 + 1);
        self.put_message(message, id, Cow::Owned(whole), TextGrowth::Mutable, record, out);
    }

    /// Applies a reasoning event, if thinking is shown.
    pub(super) fn apply_reasoning_event_if_shown<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match (&record.event, self.thinking) {
            (Event::ReasoningAppended { step, text }, Thinking::Show) => {
                let owner = ItemOwner::Reasoning(*step);
                if let Some(key) = self.live_key_of_owner(owner) {
                    self.settling.count_appended_text(key, text);
                    out(Patch::Append { key, text: Cow::Borrowed(text) });
                } else if self.can_start_item(owner) {
                    let mut item =
                        Item::new(ItemKind::Reasoning, &*record.run, self.base.ids().step(*step));
                    item.at_ms = record.at_ms;
                    item.text = Cow::Borrowed(text);
                    self.put_item(Some(owner), item, self.active_run.text_growth, out);
                }
            }
            (Event::ReasoningEnded { step, .. }, Thinking::Show) => {
                if let Some(key) = self.newest_key_of_owner(ItemOwner::Reasoning(*step)) {
                    self.close_item_if_live(key, ItemState::after_text_end(&record.event), out);
                }
            }
            _ => {}
        }
    }

    /// Opens or resolves an ask.
    pub(super) fn apply_ask_event<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match &record.event {
            Event::AskOpened { ask, kind, text, step, .. } => {
                let mut item = Item::new(ItemKind::Ask, &*record.run, &**ask);
                item.at_ms = record.at_ms;
                item.sort = Some(sort_names::ask_kind_name(*kind).into());
                item.text = Cow::Borrowed(text);
                let call = step.and_then(|step| self.take_call_item_for_ask(step));
                if let Some((_, call)) = &call {
                    add_call_to_ask(call, &mut item);
                }
                let kept = item.clone().into_owned();
                let key = if let Some((key, _)) = call {
                    out(Patch::Put { key, item });
                    key
                } else {
                    self.put_item(None, item, TextGrowth::Mutable, out)
                };
                self.active_run.open_asks.push_back((key, kept));
                if OPEN_ASKS_MAX < self.active_run.open_asks.len() {
                    self.close_oldest_ask_as_unanswered(out);
                }
            }
            Event::AskResolved { ask, answer, by } => {
                let at = self
                    .active_run
                    .open_asks
                    .iter()
                    .position(|(_, item)| item.id == *ask && item.run == record.run);
                let Some((key, mut item)) = at.and_then(|at| self.active_run.open_asks.remove(at))
                else {
                    return;
                };
                item.state = match by {
                    AnsweredBy::Person | AnsweredBy::Policy => ItemState::Done,
                    AnsweredBy::Nobody => ItemState::Incomplete,
                };
                item.result = Some(answer.to_string().into());
                self.replace_and_complete_if_live(key, item, out);
                if *by == AnsweredBy::Person {
                    self.active_run.last_actor = LastActor::PersonAnswered;
                }
            }
            // Not of an ask.
            Event::ImageReceived { .. }
            | Event::Withdrawn { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Message)
            | event_family!(Reasoning)
            | event_family!(Tool)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }
}

/// Withdrawals.
impl Transcript {
    /// Closes the oldest open ask as unanswered.
    fn close_oldest_ask_as_unanswered<'r>(&mut self, out: &mut impl FnMut(Patch<'r>)) {
        if let Some((key, mut item)) = self.active_run.open_asks.pop_front() {
            item.state = ItemState::Incomplete;
            item.result = Some("".into());
            self.replace_and_complete_if_live(key, item, out);
        }
    }

    /// Withdraws the items of messages and steps; settled ones are named in a notice.
    pub(super) fn withdraw_items_and_put_notice<'r>(
        &mut self,
        messages: &[MessageId],
        steps: &[StepId],
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let messages = messages.iter().copied().map(ItemOwner::Message);
        let (mut gone, mut printed) = (Vec::new(), Vec::new());
        let steps =
            steps.iter().flat_map(|step| [ItemOwner::Reasoning(*step), ItemOwner::Step(*step)]);
        for owner in messages.chain(steps) {
            if !self.active_run.withdrawn.insert(owner) {
                continue;
            }
            if let ItemOwner::Step(step) = owner {
                self.stop_tracking_tool(step);
            }
            let keys = (owner, ItemKey(0))..=(owner, ItemKey(u32::MAX));
            for (_, key) in self.active_run.item_keys.range(keys) {
                let untouched = self.settling.settled_bytes_of_live_item(*key) == 0;
                let free = !self.settling.is_settled(*key) && untouched;
                if free { &mut gone } else { &mut printed }.push(*key);
            }
        }
        for key in &gone {
            self.settling.mark_complete(*key);
        }
        for key in &printed {
            self.truncate_to_settled_and_close(*key, out);
        }
        if !gone.is_empty() {
            out(Patch::Withdraw { keys: gone });
        }
        self.put_withdrawal_notice(&printed, record, out);
    }

    /// Truncates a live item to its settled text and closes it.
    fn truncate_to_settled_and_close<'r>(&mut self, key: ItemKey, out: &mut impl FnMut(Patch<'r>)) {
        if self.settling.is_live(key) {
            let kept_bytes = self.settling.settled_bytes_of_live_item(key);
            out(Patch::Rewrite { key, kept_bytes, text: Cow::Borrowed("") });
            self.close_item_if_live(key, ItemState::Incomplete, out);
        }
    }

    /// Puts a notice that lists withdrawn items whose text is settled.
    fn put_withdrawal_notice<'r>(
        &mut self,
        keys: &[ItemKey],
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if !keys.is_empty() {
            let indexes: Vec<String> = keys.iter().map(|key| key.0.to_string()).collect();
            let text = format!("[{}]", indexes.join(","));
            self.put_notice(ItemKind::Withdrawal, "withdrawal", text, record, out);
        }
    }
}

/// Adds to an ask's item the call that it is about; arguments that the question has already are not
/// repeated.
fn add_call_to_ask(call: &Item<'static>, ask: &mut Item<'_>) {
    ask.at_ms = call.at_ms;
    ask.name.clone_from(&call.name);
    ask.call.clone_from(&call.call);
    ask.description.clone_from(&call.description);
    let is_missing = |arguments: &&Cow<'static, str>| !ask.text.contains(&***arguments);
    ask.arguments = call.arguments.as_ref().filter(is_missing).cloned();
}
