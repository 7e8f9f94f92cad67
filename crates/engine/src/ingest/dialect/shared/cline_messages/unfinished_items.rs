//! Prompts, notices and questions that their source is still writing. They have no event before they
//! are complete; the end of the input writes what there is of them.

use std::collections::VecDeque;

use crate::event::{AskKind, NoticeLevel};
use crate::limits::SUSPENDED_MESSAGES_MAX;
use crate::run::Writer;

use super::super::bounded::push_bounded;
use super::ask;

/// Items that are not complete, oldest first, at most [`SUSPENDED_MESSAGES_MAX`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct UnfinishedItems(VecDeque<UnfinishedItem>);

/// An item that is not complete.
#[derive(Clone, Debug, PartialEq)]
struct UnfinishedItem {
    key: String,
    kind: UnfinishedKind,
    text: String,
}

/// Kind of an item that is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnfinishedKind {
    Prompt,
    Notice(NoticeLevel),
    Question,
}

impl UnfinishedKind {
    /// Writes the item's event.
    pub(super) fn write(self, key: &str, text: &str, out: &mut Writer<'_>) {
        match self {
            UnfinishedKind::Prompt => out.append_prompt_unless_finish_requested(text),
            UnfinishedKind::Notice(level) => out.append_notice(level, text),
            UnfinishedKind::Question => {
                let (text, options) = ask::parse_question(text);
                out.open_simple_ask_unless_open(key, AskKind::Followup, &text, options, None);
            }
        }
    }
}

impl UnfinishedItems {
    /// Records the text so far of an item; an older, shorter version changes nothing. An item
    /// without a key has no later version to wait for, and cannot be told from others.
    pub(super) fn record_text_so_far(&mut self, key: &str, kind: UnfinishedKind, text: &str) {
        if key.is_empty() || text.is_empty() {
            return;
        }
        match self.0.iter_mut().find(|item| item.key == key) {
            Some(item) if item.text.starts_with(text) => {}
            Some(item) => text.clone_into(&mut item.text),
            None => {
                let item = UnfinishedItem { key: key.to_owned(), kind, text: text.to_owned() };
                push_bounded(&mut self.0, item, SUSPENDED_MESSAGES_MAX);
            }
        }
    }

    /// Forgets an item, which is complete.
    pub(super) fn forget(&mut self, key: &str) {
        self.0.retain(|item| item.key != key);
    }

    /// Writes all items as far as they go: nothing completes them any more.
    pub(super) fn write_all(&mut self, out: &mut Writer<'_>) {
        for item in self.0.drain(..) {
            item.kind.write(&item.key, &item.text, out);
        }
    }
}
