//! `latest`: one status line or one streaming reply, then only the final message.
//!
//! Thinking, tools and their results never show. Text that turns out not to be final stays until
//! the next text replaces it, below the prompts that came since. So the reply settles when its run
//! has ended.

use std::borrow::Cow;

use crate::event::{Event, Image, ImageOwner, MessageId, Record, StepId};
use crate::event_family;

use super::common::{CommonFold, ViewTask, item_state_at_run_end};
use super::image_ref::ImageRef;
use super::item::{Item, ItemKey, ItemKind};
use super::patch::Patch;
use super::status::{StatusDetail, ToolNames};
use super::{Thinking, ViewOptions};

/// Fold of one session into the `latest` view.
#[derive(Clone, Debug)]
pub struct Latest {
    base: CommonFold,
    /// Key of the run's item, once it has been allocated; a new one after another prompt.
    key: Option<ItemKey>,
    displayed: Displayed,
    /// Images generated in this run; they are shown with the reply.
    images: Vec<(StepId, ImageRef<'static>)>,
}

/// Content of the run's one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Displayed {
    Nothing,
    /// A message of the open round.
    CurrentMessage(MessageId),
    /// A message of an earlier round.
    OlderMessage(MessageId),
    /// Generated images without a message so far.
    Images,
}

impl Displayed {
    /// The displayed message, if any.
    fn message(self) -> Option<MessageId> {
        match self {
            Displayed::CurrentMessage(message) | Displayed::OlderMessage(message) => Some(message),
            Displayed::Nothing | Displayed::Images => None,
        }
    }
}

impl Latest {
    /// Creates the view before any record.
    pub fn new(options: ViewOptions) -> Latest {
        // This view has no item for all of it, only the status.
        let thinking = match options.thinking {
            Thinking::Show | Thinking::Latest => Thinking::Latest,
            Thinking::ViewDefault => Thinking::ViewDefault,
            Thinking::Hide => Thinking::Hide,
        };
        let telling = StatusDetail {
            tools: ToolNames::Hidden,
            ..StatusDetail::new(ViewOptions { thinking })
        };
        Latest {
            base: CommonFold::new(telling),
            key: None,
            displayed: Displayed::Nothing,
            images: Vec::new(),
        }
    }

    /// Applies one record and emits the patches it causes.
    pub fn apply<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match self.base.apply(record, out) {
            ViewTask::Skip | ViewTask::ResolveLateAsk => {}
            ViewTask::ResetRun => {
                self.key = None;
                self.displayed = Displayed::Nothing;
                self.images.clear();
            }
            ViewTask::ApplyEvent => self.apply_event(record, out),
            ViewTask::EndRun => self.end_run_with_reply_or_images(record, out),
        }
        self.base.emit_settled_if_grown(out);
    }

    /// Applies an event of the active run.
    fn apply_event<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match &record.event {
            Event::RoundStarted { .. } => {
                if let Some(message) = self.displayed.message() {
                    self.displayed = Displayed::OlderMessage(message);
                }
            }
            Event::TextAppended { message, text } => {
                self.append_or_show_text(*message, text, record, out);
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                if let Some(key) = self.key_if_message_displayed(*message) {
                    let text = Cow::Borrowed(&**text);
                    out(Patch::Rewrite { key, kept_bytes: *kept_bytes, text });
                }
            }
            // An image of an older message is shown with it if that turns out to be final.
            Event::ImageReceived { owner: ImageOwner::Message(message), image }
                if self.displayed.message() <= Some(*message) =>
            {
                let key = self.show_message_unless_displayed(*message, "", record, out);
                out(Patch::Attach { key, image: ImageRef::from_image(image) });
            }
            Event::ImageReceived { owner: ImageOwner::Step(step), image }
                if self.base.is_image_generation_step(*step) =>
            {
                self.images.push((*step, ImageRef::from_image(image).into_owned()));
                self.attach_or_show_stored_image(*step, image, record, out);
            }
            Event::SourceCited { message, citation } => {
                if let Some(key) = self.key_if_message_displayed(*message) {
                    out(Patch::Cite { key, citation: citation.clone() });
                }
            }
            Event::Withdrawn { messages, steps } => {
                self.withdraw_images_and_item_if_displayed(messages, steps, out);
            }
            // Never shown, or only in the status, which the shared fold sets.
            Event::RoundEnded { .. }
            | Event::MessageStarted { .. }
            | Event::MessageEnded { .. }
            | Event::ImageReceived { .. }
            | Event::FinalDeclared { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Reasoning)
            | event_family!(Tool)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    /// Key of the item, if it displays this message.
    fn key_if_message_displayed(&self, message: MessageId) -> Option<ItemKey> {
        self.key.filter(|_| self.displayed.message() == Some(message))
    }

    /// Appends text to the message, or displays it in place of an older one; drops text of an older
    /// message.
    fn append_or_show_text<'r>(
        &mut self,
        message: MessageId,
        text: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match self.key_if_message_displayed(message) {
            Some(key) => out(Patch::Append { key, text: Cow::Borrowed(text) }),
            // An older message goes on beside the displayed one.
            None if Some(message) < self.displayed.message() => {}
            None => {
                self.show_message_unless_displayed(message, text, record, out);
            }
        }
    }

    /// Displays a message in place of the previous one, unless it is displayed already.
    fn show_message_unless_displayed<'r>(
        &mut self,
        message: MessageId,
        text: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> ItemKey {
        if let Some(key) = self.key_if_message_displayed(message) {
            return key;
        }
        let key = self.key_below_prompts(out);
        self.displayed = Displayed::CurrentMessage(message);
        let mut item = Item::new(ItemKind::Text, &*record.run, self.base.ids().message(message));
        item.at_ms = record.at_ms;
        // The message may have text already, if the one that hid it was withdrawn.
        let so_far = self.base.reply_candidate_text(message);
        item.text = match so_far.filter(|so_far| text.len() < so_far.len()) {
            Some(so_far) => Cow::Owned(so_far.to_owned()),
            None => Cow::Borrowed(text),
        };
        out(Patch::Put { key, item });
        self.emit_generated_image_attachments(key, out);
        key
    }

    /// Key of the item for other content than the displayed: below the prompts, so an item above a
    /// later prompt is removed.
    fn key_below_prompts<'r>(&mut self, out: &mut impl FnMut(Patch<'r>)) -> ItemKey {
        let Latest { base, key, .. } = self;
        if let Some(above) = key.take_if(|key| !base.is_newest_key(*key)) {
            base.allow_item_to_settle(above);
            out(Patch::Remove { key: above });
        }
        *key.get_or_insert_with(|| base.allocate_key())
    }

    /// Attaches all images generated in the run to the item.
    fn emit_generated_image_attachments<'r>(&self, key: ItemKey, out: &mut impl FnMut(Patch<'r>)) {
        for (_, image) in &self.images {
            out(Patch::Attach { key, image: image.clone() });
        }
    }

    /// Attaches a generated image to the current message, or displays it in place of an older one.
    fn attach_or_show_stored_image<'r>(
        &mut self,
        step: StepId,
        image: &'r Image<'_>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if let (Displayed::CurrentMessage(_) | Displayed::Images, Some(key)) =
            (self.displayed, self.key)
        {
            out(Patch::Attach { key, image: ImageRef::from_image(image) });
            return;
        }
        let key = self.key_below_prompts(out);
        self.displayed = Displayed::Images;
        let mut item = Item::new(ItemKind::Text, &*record.run, self.base.ids().step(step));
        item.at_ms = record.at_ms;
        out(Patch::Put { key, item });
        self.emit_generated_image_attachments(key, out);
    }

    /// Withdraws the item if its message or its images were withdrawn.
    fn withdraw_images_and_item_if_displayed<'r>(
        &mut self,
        messages: &[MessageId],
        steps: &[StepId],
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let before = self.images.len();
        self.images.retain(|(step, _)| !steps.contains(step));
        let lost_pictures = self.images.len() < before;
        let is_gone = match self.displayed {
            Displayed::Nothing => false,
            Displayed::Images => lost_pictures,
            Displayed::CurrentMessage(message) | Displayed::OlderMessage(message) => {
                messages.contains(&message)
            }
        };
        if let Some(key) = self.key.filter(|_| is_gone) {
            self.displayed = Displayed::Nothing;
            out(Patch::Withdraw { keys: vec![key] });
        }
    }

    /// Displays the final message with its images and citations, and ends the run.
    fn end_run_with_reply_or_images<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let state = item_state_at_run_end(record);
        let reply = self.base.final_message_of_ending(record);
        match (reply, self.key) {
            (Some(reply), Some(key)) if self.displayed.message() == Some(reply.message) => {
                out(Patch::Close { key, state });
            }
            (Some(reply), _) => {
                let key = self.key_below_prompts(out);
                let mut item =
                    Item::new(ItemKind::Text, &*record.run, self.base.ids().message(reply.message));
                item.at_ms = record.at_ms;
                item.text = Cow::Owned(reply.text);
                item.state = state;
                out(Patch::Put { key, item });
                for image in reply.images {
                    out(Patch::Attach { key, image });
                }
                for citation in reply.citations {
                    out(Patch::Cite { key, citation });
                }
                self.emit_generated_image_attachments(key, out);
            }
            (None, Some(key)) => self.remove_item_or_keep_only_images(key, record, out),
            (None, None) => {}
        }
        self.base.settle_and_end_run(record, out);
    }

    /// Removes text that is no reply; keeps generated images.
    fn remove_item_or_keep_only_images<'r>(
        &self,
        key: ItemKey,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match self.images.first() {
            None => out(Patch::Remove { key }),
            Some(_) if self.displayed == Displayed::Images => {
                out(Patch::Close { key, state: item_state_at_run_end(record) });
            }
            Some((step, _)) => {
                let mut item = Item::new(ItemKind::Text, &*record.run, self.base.ids().step(*step));
                item.at_ms = record.at_ms;
                item.state = item_state_at_run_end(record);
                out(Patch::Put { key, item });
                self.emit_generated_image_attachments(key, out);
            }
        }
    }
}
