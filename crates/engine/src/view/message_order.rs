//! The texts of messages that are open side by side, one message after the other, for outputs that
//! only append.
//!
//! Text of a message waits until those before it have ended, at most [`FRAME_BYTES_MAX`] bytes.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Event, MessageId};
use crate::limits::FRAME_BYTES_MAX;

/// A change to the text of the message whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderedText<'a> {
    /// New text.
    Appended {
        /// The message.
        message: MessageId,
        /// The text.
        text: &'a str,
    },
    /// Keeps the first `kept_bytes` of the message and appends `text`.
    Rewritten {
        /// The message.
        message: MessageId,
        /// Bytes of its text that stay.
        kept_bytes: usize,
        /// The text after them.
        text: &'a str,
    },
}

/// Orders the texts of one run's messages.
#[derive(Clone, Debug, Default)]
pub struct MessageOrder {
    current: Option<MessageId>,
    /// Messages that have not ended.
    open: BTreeSet<MessageId>,
    waiting: BTreeMap<MessageId, String>,
}

impl MessageOrder {
    /// Applies one event and emits the text whose turn it is.
    pub fn apply(&mut self, event: &Event<'_>, out: &mut impl FnMut(OrderedText<'_>)) {
        if let Event::MessageStarted { message, .. } = event {
            self.open.insert(*message);
        } else if let Event::MessageEnded { message, .. } = event {
            self.open.remove(message);
            self.emit_waiting(out);
        } else if let Event::TextAppended { message, text } = event {
            self.apply_text(*message, text, out);
        } else if let Event::TextRewritten { message, kept_bytes, text } = event {
            if let Some(waiting) = self.waiting.get_mut(message) {
                super::truncate_and_append(waiting, *kept_bytes, text);
            } else {
                self.current = Some(*message);
                out(OrderedText::Rewritten { message: *message, kept_bytes: *kept_bytes, text });
            }
        } else if let Event::Withdrawn { messages, .. } = event {
            self.open.retain(|open| !messages.contains(open));
            self.waiting.retain(|waiting, _| !messages.contains(waiting));
            self.emit_waiting(out);
        } else if let Event::RunEnded { .. } = event {
            self.open.clear();
            self.emit_waiting(out);
        }
    }

    /// True if text of the message is waiting.
    pub fn is_waiting(&self, message: MessageId) -> bool {
        self.waiting.contains_key(&message)
    }

    #[inline]
    fn apply_text(
        &mut self,
        message: MessageId,
        text: &str,
        out: &mut impl FnMut(OrderedText<'_>),
    ) {
        let is_turn =
            self.current.is_none_or(|current| current == message || !self.open.contains(&current));
        if is_turn || !self.has_room_for(text) {
            if let Some(waiting) = self.waiting.remove(&message) {
                out(OrderedText::Appended { message, text: &waiting });
            }
            self.current = Some(message);
            out(OrderedText::Appended { message, text });
        } else {
            self.waiting.entry(message).or_default().push_str(text);
        }
    }

    fn has_room_for(&self, text: &str) -> bool {
        let waiting: usize = self.waiting.values().map(String::len).sum();
        waiting + text.len() <= FRAME_BYTES_MAX
    }

    /// Emits messages that waited for one that has ended, up to one that is open itself.
    fn emit_waiting(&mut self, out: &mut impl FnMut(OrderedText<'_>)) {
        while self.current.is_none_or(|current| !self.open.contains(&current))
            && let Some((message, text)) = self.waiting.pop_first()
        {
            self.current = Some(message);
            out(OrderedText::Appended { message, text: &text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(id: u32) -> Event<'static> {
        Event::MessageStarted { message: MessageId(id), round: 0, phase: None }
    }

    fn ended(id: u32) -> Event<'static> {
        Event::MessageEnded { message: MessageId(id), incomplete: false }
    }

    fn text(id: u32, text: &'static str) -> Event<'static> {
        Event::TextAppended { message: MessageId(id), text: text.into() }
    }

    fn ordered(events: &[Event<'_>]) -> String {
        let (mut order, mut all) = (MessageOrder::default(), String::new());
        for event in events {
            order.apply(event, &mut |ordered| {
                if let OrderedText::Appended { text, .. } = ordered {
                    all.push_str(text);
                }
            });
        }
        all
    }

    #[test]
    fn text_waits_for_the_messages_before_it() {
        let events = [
            started(0),
            text(0, "a"),
            started(1),
            text(1, "b"),
            started(2),
            text(2, "c"),
            ended(2),
            text(0, "A"),
            ended(0),
            text(1, "B"),
            ended(1),
        ];
        assert_eq!(ordered(&events[..4]), "a");
        assert_eq!(ordered(&events[..9]), "aAb");
        assert_eq!(ordered(&events), "aAbBc");
    }

    #[test]
    fn a_withdrawn_message_lets_the_next_one_through_and_never_shows_if_it_waited() {
        let withdrawn = |id| Event::Withdrawn { messages: vec![MessageId(id)], steps: Vec::new() };
        let both = [started(0), text(0, "a"), started(1), text(1, "b")];
        assert_eq!(ordered(&[&both[..], &[withdrawn(0)]].concat()), "ab");
        assert_eq!(ordered(&[&both[..], &[withdrawn(1), ended(0)]].concat()), "a");
    }
}
