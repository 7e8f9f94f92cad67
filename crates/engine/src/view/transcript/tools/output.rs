//! Output of tools: text and images, and the calls of sub-agents inside them, up to a limit.

use std::borrow::Cow;

use crate::event::{Image, ImageOwner, Record, StepId};
use crate::view::image_ref::ImageRef;
use crate::view::item::{Item, ItemKey, ItemKind};
use crate::view::patch::Patch;

use super::super::{Attachment, ItemOwner, Transcript};
use super::{ArgumentsState, CallDisplay, CallItem};

impl Transcript {
    /// Writes a sub-agent's call into its tool's item, once.
    pub(super) fn append_sub_agent_call_once<'r>(
        &mut self,
        step: StepId,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let tools = &mut self.active_run.tools;
        let Some(inner) = tools.sub_agent_calls.get_mut(&step) else { return };
        let is_told =
            std::mem::replace(&mut inner.call_display, CallDisplay::Shown) == CallDisplay::Shown;
        if is_told || !tools.open.contains_key(&inner.root) {
            return;
        }
        let arguments = inner.item.arguments.as_deref().unwrap_or_default();
        let description = inner.identity.describe(arguments);
        let line = description.summary_line();
        // Only its item would have the lines of a change or a list, and this call has none.
        let is_whole = description.covers_arguments
            && description.diffs.is_empty()
            && description.todos.is_empty();
        let text = match arguments {
            arguments if is_whole || arguments.is_empty() => format!("* {line}\n"),
            arguments => format!("* {line} {arguments}\n"),
        };
        self.append_output_up_to_limit(step, Cow::Owned(text), record, out);
    }

    /// Appends output of a tool, or of a call inside it, up to the limit.
    pub(super) fn append_output_up_to_limit<'r>(
        &mut self,
        step: StepId,
        text: Cow<'r, str>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if text.is_empty() {
            return;
        }
        let Some((root, key)) = self.find_or_put_output_item(step, record, out) else { return };
        let Some(tool) = self.active_run.tools.open.get_mut(&root) else { return };
        if let Some(kept) = tool.kept_output.as_mut().filter(|_| step == root) {
            return kept.push(&text);
        }
        tool.has_output_of_calls |= step != root;
        let apart = tool.last_output_step != step && tool.is_mid_line;
        tool.last_output_step = step;
        tool.is_mid_line = !text.ends_with('\n');
        if step == root {
            tool.keep_result_start(&text);
        }
        let text = tool.output_limit.clip_cow_and_count(text);
        if text.is_empty() {
            return;
        }
        for text in apart.then_some(Cow::Borrowed("\n")).into_iter().chain([text]) {
            if let Some(item) = tool.item.as_mut().filter(|_| key == tool.key) {
                item.text.to_mut().push_str(&text);
            }
            self.settling.count_appended_text(key, &text);
            out(Patch::Append { key, text });
        }
    }

    /// Returns the tool and item that output of `step` goes to; puts an item if one is missing.
    pub(super) fn find_or_put_output_item<'r>(
        &mut self,
        step: StepId,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> Option<(StepId, ItemKey)> {
        if self.active_run.withdrawn.contains(&ItemOwner::Step(step)) {
            return None;
        }
        let tools = &mut self.active_run.tools;
        let mut root = step;
        if let Some(inner) = tools.sub_agent_calls.get(&step) {
            root = inner.root;
            if !tools.open.contains_key(&root) {
                // The enclosing tool has ended: the call gets a separate item.
                root = step;
                let inner = tools.sub_agent_calls.remove(&step)?;
                self.put_and_track_tool(step, inner.item, inner.identity, out);
            }
        }
        let tool = self.active_run.tools.open.get_mut(&root)?;
        if tool.item.as_ref().is_some_and(|item| item.text.is_empty()) {
            tool.put_again_if_stale(out);
        }
        if matches!(tool.call_item, CallItem::OwnItem) && !tool.is_action() {
            if tool.arguments_state == ArgumentsState::Complete {
                tool.item = None;
            }
            return Some((root, tool.key));
        }
        Some((root, self.ensure_result_item(root, record, out)?))
    }

    /// Returns the item of a tool's result that is apart from its call; puts it if it is missing.
    pub(super) fn ensure_result_item<'r>(
        &mut self,
        root: StepId,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> Option<ItemKey> {
        let id = self.base.ids().step_result(root);
        let tool = self.active_run.tools.open.get_mut(&root)?;
        if tool.result_key.is_some() {
            return tool.result_key;
        }
        let mut item = match &tool.call_item {
            CallItem::AskItem(result) if !tool.is_action() => (**result).clone(),
            CallItem::AskItem(_) | CallItem::OwnItem => {
                let mut item = Item::new(ItemKind::Action, record.run.to_string(), id);
                item.sort = Some("result".into());
                item.name = Some(tool.call.name.clone().into());
                item
            }
        };
        item.at_ms = record.at_ms;
        let key =
            self.put_item(Some(ItemOwner::Step(root)), item, self.active_run.text_growth, out);
        self.active_run.tools.open.get_mut(&root)?.result_key = Some(key);
        Some(key)
    }

    /// Attaches an image to its message or tool; puts an item if one is missing.
    pub(in crate::view::transcript) fn ensure_item_and_attach_image<'r>(
        &mut self,
        owner: ImageOwner,
        image: &'r Image<'_>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let image = ImageRef::from_image(image);
        let step = match owner {
            ImageOwner::Step(step) => step,
            ImageOwner::Message(message) => {
                self.ensure_message_item_unless_withdrawn(message, record, out);
                return self.attach_or_put_notice_unless_withdrawn(
                    ItemOwner::Message(message),
                    Attachment::Image(image),
                    record,
                    out,
                );
            }
        };
        match self.find_or_put_output_item(step, record, out) {
            Some((root, key)) => {
                let tool = self.active_run.tools.open.get_mut(&root);
                let kept = tool.filter(|tool| tool.key == key).and_then(|tool| tool.item.as_mut());
                if let Some(item) = kept {
                    item.images.push(image.clone().into_owned());
                }
                out(Patch::Attach { key, image });
            }
            None => {
                self.attach_or_put_notice_unless_withdrawn(
                    ItemOwner::Step(step),
                    Attachment::Image(image),
                    record,
                    out,
                );
            }
        }
    }

    /// Appends a note about output beyond the limit.
    pub(super) fn append_omitted_note_if_any<'r>(
        &mut self,
        step: StepId,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Some(tool) = self.active_run.tools.open.get(&step) else { return };
        let Some(note) = tool.output_limit.omitted_note() else { return };
        let key = tool.result_key.unwrap_or(tool.key);
        let text = format!("\n{note}");
        self.settling.count_appended_text(key, &text);
        out(Patch::Append { key, text: Cow::Owned(text) });
    }
}
