//! Text parts: one per message, and another each time the source rewrites its text.

use std::collections::BTreeMap;

use millpond_engine::event::MessageId;

use super::part::{Part, ProviderMetadata};
use super::step_journal::PartOwner;
use super::{AiSdk, Version};
use crate::compat::PayloadSink;

#[derive(Clone, Debug, Default)]
pub(super) struct TextParts {
    open_text: Option<OpenText>,
    /// How often a message's part was restarted.
    restart_counts: BTreeMap<MessageId, u32>,
}

#[derive(Clone, Debug)]
struct OpenText {
    message: MessageId,
    /// The open part; `None` for an emptied message.
    part_id: Option<String>,
    text: String,
    /// True if it changed too often; it is resent when it ends.
    is_held: bool,
}

impl TextParts {
    /// Id of the newest part of a message.
    pub(super) fn newest_part_id(&self, message: MessageId) -> String {
        match self.restart_counts.get(&message) {
            None => format!("m{}", message.0),
            Some(turn) => format!("m{}.{turn}", message.0),
        }
    }

    pub(super) fn is_open(&self, message: MessageId) -> bool {
        self.open_text.as_ref().is_some_and(|open| open.message == message)
    }
}

impl AiSdk {
    pub(super) fn start_text(&mut self, message: MessageId, out: PayloadSink<'_>) {
        self.end_text(out);
        let id = self.texts.newest_part_id(message);
        self.texts.open_text =
            Some(OpenText { message, part_id: None, text: String::new(), is_held: false });
        self.start_text_part(&id, out);
    }

    fn start_text_part(&mut self, id: &str, out: PayloadSink<'_>) {
        let Some(open) = &mut self.texts.open_text else { return };
        open.part_id = Some(id.to_owned());
        let owner = PartOwner::Message(open.message);
        let part = Part::TextStart { id, provider_metadata: ProviderMetadata::new(id) };
        self.write_part_and_mark_owner_begun(owner, &part, out);
    }

    pub(super) fn append_text(&mut self, message: MessageId, delta: &str, out: PayloadSink<'_>) {
        let Some(open) = self.texts.open_text.as_mut().filter(|open| open.message == message)
        else {
            return;
        };
        if delta.is_empty() {
            return;
        }
        open.text.push_str(delta);
        if open.is_held {
            return;
        }
        if open.part_id.is_none() {
            let id = self.texts.newest_part_id(message);
            self.start_text_part(&id, out);
        }
        self.write_text_delta(delta, out);
    }

    fn write_text_delta(&mut self, delta: &str, out: PayloadSink<'_>) {
        let Some(open) = &self.texts.open_text else { return };
        let (Some(id), owner) = (open.part_id.clone(), PartOwner::Message(open.message)) else {
            return;
        };
        self.write_resendable_part(Some(owner), &Part::TextDelta { id: &id, delta }, out);
    }

    pub(super) fn end_text(&mut self, out: PayloadSink<'_>) {
        if self.texts.open_text.as_ref().is_some_and(|open| open.is_held) {
            self.restart_text_part(out);
        }
        let Some(open) = self.texts.open_text.take() else { return };
        if let Some(id) = open.part_id {
            self.write_resendable_part(
                Some(PartOwner::Message(open.message)),
                &Part::TextEnd { id: &id },
                out,
            );
        }
    }

    pub(super) fn rewrite_text(
        &mut self,
        message: MessageId,
        kept_bytes: usize,
        text: &str,
        out: PayloadSink<'_>,
    ) {
        let Some(open) = self.texts.open_text.as_mut().filter(|open| open.message == message)
        else {
            return;
        };
        if kept_bytes >= open.text.len() {
            return self.append_text(message, text, out);
        }
        let kept_len = open.text.floor_char_boundary(kept_bytes);
        open.text.truncate(kept_len);
        open.text.push_str(text);
        if self.count_resend_if_allowed() {
            self.restart_text_part(out);
        } else if let Some(open) = &mut self.texts.open_text {
            open.is_held = true;
        }
    }

    /// Ends the outdated part and starts another with the whole text.
    fn restart_text_part(&mut self, out: PayloadSink<'_>) {
        let Some(open) = &mut self.texts.open_text else { return };
        let (message, text, is_held) = (open.message, open.text.clone(), open.is_held);
        if let Some(id) = open.part_id.take() {
            if self.options.version == Version::V7 && !is_held {
                self.journal.reset_step_and_resend_without(&[PartOwner::Message(message)], out);
            } else {
                self.write_resendable_part(
                    Some(PartOwner::Message(message)),
                    &Part::TextEnd { id: &id },
                    out,
                );
                self.withdrawn_ids.push(id);
                if !is_held {
                    self.write_withdrawn_ids(out);
                }
            }
            *self.texts.restart_counts.entry(message).or_default() += 1;
        }
        if !text.is_empty() {
            let id = self.texts.newest_part_id(message);
            self.start_text_part(&id, out);
            self.write_text_delta(&text, out);
        }
    }
}
