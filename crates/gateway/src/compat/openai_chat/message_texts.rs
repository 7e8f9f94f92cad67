//! Texts of a run's messages, and whether sent text has changed since.

use millpond_engine::event::{Ending, Event, MessageId};
use millpond_engine::event_family;

use super::Content;

#[derive(Clone, Debug, Default)]
pub(super) struct MessageTexts {
    messages: Vec<(MessageId, String)>,
    /// Messages rewritten after they were sent; the rest of them is not sent.
    changed_after_sending: Vec<MessageId>,
    has_changed_sent_text: bool,
}

impl MessageTexts {
    pub(super) fn track_event(&mut self, event: &Event<'_>) {
        match event {
            Event::MessageStarted { message, .. } => self.messages.push((*message, String::new())),
            Event::TextAppended { message, text } => {
                if let Some(message_text) = self.find_text_mut(*message) {
                    message_text.push_str(text);
                }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                let Some(message_text) = self.find_text_mut(*message) else { return };
                let is_changed = *kept_bytes < message_text.len();
                message_text.truncate(message_text.floor_char_boundary(*kept_bytes));
                message_text.push_str(text);
                if is_changed {
                    self.has_changed_sent_text = true;
                    self.changed_after_sending.push(*message);
                }
            }
            Event::Withdrawn { messages, .. } => {
                let count_before = self.messages.len();
                self.messages.retain(|(message, _)| !messages.contains(message));
                self.has_changed_sent_text |= self.messages.len() < count_before;
            }
            // Not text.
            Event::MessageEnded { .. }
            | Event::SourceCited { .. }
            | Event::ImageReceived { .. }
            | Event::FinalDeclared { .. }
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

    fn find_text_mut(&mut self, message: MessageId) -> Option<&mut String> {
        self.messages.iter_mut().rev().find(|(id, _)| *id == message).map(|(_, text)| text)
    }

    /// True if the next delta of a message continues the text that was sent.
    pub(super) fn can_append(&self, message: MessageId) -> bool {
        let is_known = self.messages.iter().rev().any(|(id, _)| *id == message);
        is_known && !self.changed_after_sending.contains(&message)
    }

    pub(super) fn has_changed_sent_text(&self) -> bool {
        self.has_changed_sent_text
    }

    /// The answer: all texts, or the final message.
    pub(super) fn answer_content(&self, content: Content, ending: &Ending<'_>) -> String {
        let texts = self.messages.iter().filter(|(message, text)| match content {
            Content::All => !text.is_empty(),
            Content::Final => Some(*message) == ending.message,
        });
        texts.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n\n")
    }
}
