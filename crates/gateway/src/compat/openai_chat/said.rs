//! What a run has said so far, and whether a client that was sent all of it as it came has the truth.

use engine::event::{Ending, Event, MessageId};

use super::Content;

#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    messages: Vec<(MessageId, String)>,
    /// Messages that were changed after they had been sent: the rest of them is not sent.
    changed: Vec<MessageId>,
    is_untrue: bool,
}

impl Said {
    pub(super) fn apply(&mut self, event: &Event<'_>) {
        match event {
            Event::MessageStarted { message, .. } => self.messages.push((*message, String::new())),
            Event::TextAppended { message, text } => {
                if let Some(known) = self.find(*message) {
                    known.push_str(text);
                }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                let Some(known) = self.find(*message) else { return };
                let is_changed = *kept_bytes < known.len();
                known.truncate(known.floor_char_boundary(*kept_bytes));
                known.push_str(text);
                if is_changed {
                    self.is_untrue = true;
                    self.changed.push(*message);
                }
            }
            Event::Withdrawn { messages, .. } => {
                let before = self.messages.len();
                self.messages.retain(|(message, _)| !messages.contains(message));
                self.is_untrue |= self.messages.len() < before;
            }
            _ => {}
        }
    }

    fn find(&mut self, message: MessageId) -> Option<&mut String> {
        self.messages.iter_mut().rev().find(|(known, _)| *known == message).map(|(_, text)| text)
    }

    /// Whether what comes of it goes on from what was sent of it.
    pub(super) fn is_live(&self, message: MessageId) -> bool {
        let is_known = self.messages.iter().rev().any(|(known, _)| *known == message);
        is_known && !self.changed.contains(&message)
    }

    pub(super) fn is_untrue(&self) -> bool {
        self.is_untrue
    }

    /// The answer as it stands.
    pub(super) fn content(&self, content: Content, ending: &Ending<'_>) -> String {
        let texts = self.messages.iter().filter(|(message, text)| match content {
            Content::All => !text.is_empty(),
            Content::Final => Some(*message) == ending.message,
        });
        texts.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n\n")
    }
}
