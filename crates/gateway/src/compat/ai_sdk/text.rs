//! Text parts: one per message, and another each time the source rewrites its text or goes on after
//! the end of its round.

use std::collections::BTreeMap;

use millpond_engine::event::MessageId;

use super::part::{Part, ProviderMetadata};
use super::step_journal::PartOwner;
use super::{AiSdk, Version};
use crate::compat::PayloadSink;

#[derive(Clone, Debug, Default)]
pub(super) struct TextParts {
    open_texts: Vec<OpenText>,
    /// How often a message's part was restarted.
    restart_counts: BTreeMap<MessageId, u32>,
}

#[derive(Clone, Debug)]
struct OpenText {
    message: MessageId,
    part: TextPart,
    text: String,
    /// True if it changed too often; it is resent when it ends.
    is_held: bool,
}

/// The newest part of an open message.
#[derive(Clone, Debug)]
enum TextPart {
    /// None: the message is empty.
    None,
    Open(String),
    /// It ended with its round, but its message did not.
    Ended(String),
}

impl TextParts {
    /// Id of the newest part of a message.
    pub(super) fn newest_part_id(&self, message: MessageId) -> String {
        match self.restart_counts.get(&message) {
            None => format!("m{}", message.0),
            Some(turn) => format!("m{}.{turn}", message.0),
        }
    }

    fn position(&self, message: MessageId) -> Option<usize> {
        self.open_texts.iter().rposition(|open| open.message == message)
    }
}

impl AiSdk {
    pub(super) fn start_text(&mut self, message: MessageId, out: PayloadSink<'_>) {
        if self.texts.position(message).is_some() {
            return;
        }
        let part = TextPart::None;
        self.texts.open_texts.push(OpenText { message, part, text: String::new(), is_held: false });
        self.start_text_part(self.texts.open_texts.len() - 1, out);
    }

    fn start_text_part(&mut self, at: usize, out: PayloadSink<'_>) {
        let message = self.texts.open_texts[at].message;
        let id = self.texts.newest_part_id(message);
        let part = Part::TextStart { id: &id, provider_metadata: ProviderMetadata::new(&id) };
        self.write_part_and_mark_owner_begun(PartOwner::Message(message), &part, out);
        self.texts.open_texts[at].part = TextPart::Open(id);
    }

    pub(super) fn append_text(&mut self, message: MessageId, delta: &str, out: PayloadSink<'_>) {
        let Some(at) = self.texts.position(message).filter(|_| !delta.is_empty()) else { return };
        let open = &mut self.texts.open_texts[at];
        open.text.push_str(delta);
        match open.part {
            _ if open.is_held => {}
            TextPart::Open(_) => self.write_text_delta(at, delta, out),
            TextPart::None => {
                self.start_text_part(at, out);
                self.write_text_delta(at, delta, out);
            }
            TextPart::Ended(_) => self.restart_text_part(at, out),
        }
    }

    fn write_text_delta(&mut self, at: usize, delta: &str, out: PayloadSink<'_>) {
        let open = &self.texts.open_texts[at];
        let TextPart::Open(id) = &open.part else { return };
        let (id, owner) = (id.clone(), PartOwner::Message(open.message));
        self.write_resendable_part(Some(owner), &Part::TextDelta { id: &id, delta }, out);
    }

    /// Ends the part of a message that has ended or was withdrawn.
    pub(super) fn end_text(&mut self, message: MessageId, out: PayloadSink<'_>) {
        let Some(at) = self.texts.position(message) else { return };
        self.resend_text_if_held(at, out);
        self.end_text_part(at, out);
        self.texts.open_texts.remove(at);
    }

    /// Sends the whole text of a message that changed too often to be sent each time.
    fn resend_text_if_held(&mut self, at: usize, out: PayloadSink<'_>) {
        if self.texts.open_texts[at].is_held {
            self.restart_text_part(at, out);
            self.texts.open_texts[at].is_held = false;
        }
    }

    /// Ends all open parts: a step is finished.
    pub(super) fn end_text_parts(&mut self, out: PayloadSink<'_>) {
        for at in 0..self.texts.open_texts.len() {
            self.resend_text_if_held(at, out);
            self.end_text_part(at, out);
        }
    }

    fn end_text_part(&mut self, at: usize, out: PayloadSink<'_>) {
        let open = &mut self.texts.open_texts[at];
        let TextPart::Open(id) = &open.part else { return };
        let (id, owner) = (id.clone(), PartOwner::Message(open.message));
        open.part = TextPart::Ended(id.clone());
        self.write_resendable_part(Some(owner), &Part::TextEnd { id: &id }, out);
    }

    pub(super) fn rewrite_text(
        &mut self,
        message: MessageId,
        kept_bytes: usize,
        text: &str,
        out: PayloadSink<'_>,
    ) {
        let Some(at) = self.texts.position(message) else { return };
        let open = &mut self.texts.open_texts[at];
        if kept_bytes >= open.text.len() {
            return self.append_text(message, text, out);
        }
        let kept_len = open.text.floor_char_boundary(kept_bytes);
        open.text.truncate(kept_len);
        open.text.push_str(text);
        if self.count_resend_if_allowed() {
            self.restart_text_part(at, out);
        } else {
            self.texts.open_texts[at].is_held = true;
        }
    }

    /// Withdraws the outdated part and starts another with the whole text.
    fn restart_text_part(&mut self, at: usize, out: PayloadSink<'_>) {
        let open = &mut self.texts.open_texts[at];
        let (message, text, is_held) = (open.message, open.text.clone(), open.is_held);
        let owner = PartOwner::Message(message);
        match std::mem::replace(&mut open.part, TextPart::None) {
            TextPart::None => {}
            TextPart::Open(_) if self.options.version == Version::V7 && !is_held => {
                self.journal.reset_step_and_resend_without(&[owner], out);
                *self.texts.restart_counts.entry(message).or_default() += 1;
            }
            part @ (TextPart::Open(_) | TextPart::Ended(_)) => {
                let is_open = matches!(part, TextPart::Open(_));
                let (TextPart::Open(id) | TextPart::Ended(id)) = part else { return };
                if is_open {
                    self.write_resendable_part(Some(owner), &Part::TextEnd { id: &id }, out);
                }
                self.withdrawn_ids.push(id);
                if !is_held {
                    self.write_withdrawn_ids(out);
                }
                *self.texts.restart_counts.entry(message).or_default() += 1;
            }
        }
        if !text.is_empty() {
            self.start_text_part(at, out);
            self.write_text_delta(at, &text, out);
        }
    }
}
