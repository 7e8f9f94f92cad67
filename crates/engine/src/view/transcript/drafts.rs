//! Items that their source is still writing: prompts, notices and questions.
//!
//! A draft has its place among the items from its first text on; what it becomes replaces it there.

use std::collections::VecDeque;

use crate::event::{DraftId, DraftKind, Event, NoticeLevel, Record};
use crate::limits::SUSPENDED_MESSAGES_MAX;
use crate::view::item::{Item, ItemKey, ItemKind, ItemState};
use crate::view::patch::Patch;

use super::settling::TextGrowth;
use super::{Transcript, UNFINISHED_STATE, sort_names};

/// The open drafts of a run, oldest first.
pub(super) type OpenDrafts = VecDeque<(DraftId, ItemKey)>;

impl Transcript {
    /// Puts a new draft, or changes the text of a known one.
    pub(super) fn put_or_rewrite_draft<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Event::DraftReceived { draft, kind, kept_bytes, text } = &record.event else { return };
        let drafts = &self.active_run.drafts;
        if let Some((_, key)) = drafts.iter().find(|(known, _)| known == draft) {
            let (key, kept_bytes) = (*key, *kept_bytes);
            out(Patch::Rewrite { key, kept_bytes, text: text.as_ref().into() });
            return;
        }
        let (kind, sort) = kind_and_sort(*kind);
        let mut item = Item::new(kind, &*record.run, self.base.ids().draft(*draft));
        item.at_ms = record.at_ms;
        item.state = ItemState::Draft;
        item.sort = sort.map(Into::into);
        item.text = text.as_ref().into();
        let key = self.put_item(None, item, TextGrowth::Mutable, out);
        self.active_run.drafts.push_back((*draft, key));
        if SUSPENDED_MESSAGES_MAX < self.active_run.drafts.len()
            && let Some((_, oldest)) = self.active_run.drafts.pop_front()
        {
            self.close_item_if_live(oldest, UNFINISHED_STATE, out);
        }
    }

    /// Gives the item of a draft to what the draft became: the next item.
    pub(super) fn reuse_item_of_draft(&mut self, draft: DraftId) {
        let drafts = &mut self.active_run.drafts;
        if let Some(at) = drafts.iter().position(|(known, _)| *known == draft)
            && let Some((_, key)) = drafts.remove(at)
        {
            self.base.reuse_key_for_next_item(key);
        }
    }
}

/// Kind and sort of the item of a draft.
fn kind_and_sort(kind: DraftKind) -> (ItemKind, Option<&'static str>) {
    match kind {
        DraftKind::Prompt => (ItemKind::User, None),
        DraftKind::Question => (ItemKind::Ask, Some("followup")),
        DraftKind::Notice(level @ NoticeLevel::Error) => {
            (ItemKind::Error, Some(sort_names::level_name(level)))
        }
        DraftKind::Notice(level) => (ItemKind::Notice, Some(sort_names::level_name(level))),
    }
}
