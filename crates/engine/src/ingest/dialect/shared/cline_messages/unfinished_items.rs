//! Prompts, notices and questions that their source is still writing: drafts until they are complete.
//! The end of the input writes what there is of them.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::event::{AskKind, DraftId, DraftKind};
use crate::limits::SUSPENDED_MESSAGES_MAX;
use crate::run::Writer;

use super::super::bounded::push_bounded;
use super::ask;

/// Items that are not complete, oldest first, at most [`SUSPENDED_MESSAGES_MAX`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct UnfinishedItems {
    items: VecDeque<UnfinishedItem>,
    next_draft: u32,
}

/// An item that is not complete.
#[derive(Clone, Debug, PartialEq)]
struct UnfinishedItem {
    key: String,
    kind: DraftKind,
    text: String,
    draft: DraftId,
    /// The text of the draft, which is a part of `text` if that is an object.
    shown: String,
}

impl UnfinishedItem {
    /// Writes what is new of the item's text.
    fn write_draft(&mut self, out: &mut Writer<'_>) {
        let text = match self.kind {
            DraftKind::Question => ask::parse_question(&self.text).0,
            DraftKind::Prompt | DraftKind::Notice(_) => Cow::Borrowed(&*self.text),
        };
        // An object that is not whole yet.
        if text.is_empty() || self.kind == DraftKind::Question && text.starts_with('{') {
            return;
        }
        let kept_bytes = common_prefix_bytes(&self.shown, &text);
        if kept_bytes < self.shown.len() || kept_bytes < text.len() {
            out.append_draft(self.draft, self.kind, kept_bytes, &text[kept_bytes..]);
            self.shown = text.into_owned();
        }
    }
}

/// Writes an item, which is complete.
fn write_item(kind: DraftKind, key: &str, text: &str, out: &mut Writer<'_>) {
    match kind {
        DraftKind::Prompt => out.append_prompt_unless_finish_requested(text),
        DraftKind::Notice(level) => out.append_notice(level, text),
        DraftKind::Question => {
            let (text, options) = ask::parse_question(text);
            out.open_simple_ask_unless_open(key, AskKind::Followup, &text, options, None);
        }
    }
}

impl UnfinishedItems {
    /// Records the text so far of an item and writes what is new of it; an older, shorter version
    /// changes nothing. An item without a key has no later version to wait for, and cannot be told
    /// from others.
    pub(super) fn record_text_so_far(
        &mut self,
        key: &str,
        kind: DraftKind,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        if key.is_empty() || text.is_empty() {
            return;
        }
        let at = self.items.iter().position(|item| item.key == key).unwrap_or_else(|| {
            let draft = DraftId(self.next_draft);
            self.next_draft += 1;
            let item = UnfinishedItem {
                key: key.to_owned(),
                kind,
                text: String::new(),
                draft,
                shown: String::new(),
            };
            push_bounded(&mut self.items, item, SUSPENDED_MESSAGES_MAX);
            self.items.len() - 1
        });
        let Some(item) = self.items.get_mut(at) else { return };
        if !item.text.starts_with(text) {
            text.clone_into(&mut item.text);
            item.write_draft(out);
        }
    }

    /// Writes a prompt or notice, which is complete.
    pub(super) fn complete_and_write(
        &mut self,
        key: &str,
        kind: DraftKind,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        self.complete(key, out);
        write_item(kind, key, text, out);
    }

    /// Completes the draft of an item, if it has one. The item comes next.
    pub(super) fn complete(&mut self, key: &str, out: &mut Writer<'_>) {
        let Some(at) = self.items.iter().position(|item| item.key == key) else { return };
        if let Some(UnfinishedItem { draft, shown, .. }) = self.items.remove(at)
            && !shown.is_empty()
        {
            out.complete_draft(draft);
        }
    }

    /// Writes all items as far as they go: nothing completes them any more.
    pub(super) fn write_all(&mut self, out: &mut Writer<'_>) {
        while let Some(UnfinishedItem { key, kind, text, .. }) = self.items.front().cloned() {
            self.complete_and_write(&key, kind, &text, out);
        }
    }
}

/// Length of the longest common beginning.
fn common_prefix_bytes(left: &str, right: &str) -> usize {
    let same = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    left.floor_char_boundary(same)
}
