//! `transcript`: everything that happened, item by item, in order of start. The settled part never
//! changes, so a terminal or a log can print it once.
//!
//! Items have the keys 0, 1, 2, ...; none is ever removed. The cost of an event does not depend on
//! the number of items.

mod drafts;
mod messages;
mod notices;
mod requests;
mod settling;
mod sort_names;
mod tools;

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use crate::event::{Citation, Event, MessageId, Record, StepId, TextMode, Usage};

use super::common::{CommonFold, ViewTask};
use super::image_ref::ImageRef;
use super::item::{Item, ItemKey, ItemKind, ItemState};
use super::patch::Patch;
use super::status::StatusDetail;
use super::{Thinking, ViewOptions};

use drafts::OpenDrafts;
use notices::SeenCheckpoints;
use requests::RequestItems;
use settling::{SettlingTracker, TextGrowth};
use tools::OpenTools;

/// State of items that were open when the run ended.
const UNFINISHED_STATE: ItemState = ItemState::Incomplete;

/// Fold of one session into the `transcript` view.
#[derive(Clone, Debug)]
pub struct Transcript {
    base: CommonFold,
    thinking: Thinking,
    settling: SettlingTracker,
    seen_checkpoints: SeenCheckpoints,
    active_run: Box<ActiveRun>,
}

/// State of the active run.
#[derive(Clone, Debug)]
struct ActiveRun {
    text_growth: TextGrowth,
    /// Items by owner, settled ones too, because they may be withdrawn.
    item_keys: BTreeSet<(ItemOwner, ItemKey)>,
    withdrawn: BTreeSet<ItemOwner>,
    /// The message declared final before it has text.
    declared_final: Option<MessageId>,
    tools: OpenTools,
    open_asks: VecDeque<(ItemKey, Item<'static>)>,
    last_actor: LastActor,
    requests: RequestItems,
    run_usage: Option<Usage>,
    notice_count: u32,
    drafts: OpenDrafts,
}

impl Default for ActiveRun {
    fn default() -> ActiveRun {
        ActiveRun {
            text_growth: TextGrowth::Mutable,
            item_keys: BTreeSet::new(),
            withdrawn: BTreeSet::new(),
            declared_final: None,
            tools: OpenTools::default(),
            open_asks: VecDeque::new(),
            last_actor: LastActor::Agent,
            requests: RequestItems::default(),
            run_usage: None,
            notice_count: 0,
            drafts: OpenDrafts::default(),
        }
    }
}

/// Message or step that an item belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ItemOwner {
    Message(MessageId),
    Reasoning(StepId),
    Step(StepId),
}

/// The last party to act; a prompt right after an answer is feedback to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastActor {
    Agent,
    PersonAnswered,
}

/// An image or citation of an item.
enum Attachment<'a> {
    Image(ImageRef<'a>),
    Citation(Citation<'a>),
}

impl Transcript {
    /// Creates the view before any record.
    pub fn new(options: ViewOptions) -> Transcript {
        Transcript {
            base: CommonFold::new(StatusDetail::new(options)),
            thinking: options.thinking,
            settling: SettlingTracker::default(),
            seen_checkpoints: SeenCheckpoints::default(),
            active_run: Box::default(),
        }
    }

    /// Applies one record and emits the patches it causes.
    pub fn apply<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        let Transcript { base, settling, active_run: going, .. } = self;
        let rest = base.apply(record, &mut |mut patch| {
            if let Patch::Put { key, item } = &mut patch {
                // The shared fold puts only prompts.
                if std::mem::replace(&mut going.last_actor, LastActor::Agent)
                    == LastActor::PersonAnswered
                {
                    item.sort = Some("feedback".into());
                }
                settling.put_item(*key, item.state, "", TextGrowth::Mutable);
            }
            out(patch);
        });
        match rest {
            ViewTask::Skip => {}
            ViewTask::ResetRun => self.reset_active_run_keeping_asks(record),
            ViewTask::ApplyEvent => self.apply_event(record, out),
            ViewTask::ResolveLateAsk => self.apply_ask_event(record, out),
            ViewTask::EndRun => self.close_items_and_put_ending_notice(record, out),
        }
        if let Some(settled) = self.settling.advance_settled_end() {
            out(Patch::Settle(settled));
        }
        if rest == ViewTask::EndRun {
            self.base.end_run(record, out);
        }
    }

    /// Resets the run state; open asks are kept.
    fn reset_active_run_keeping_asks(&mut self, record: &Record<'_>) {
        let asks = std::mem::take(&mut self.active_run.open_asks);
        *self.active_run = ActiveRun { open_asks: asks, ..ActiveRun::default() };
        let Event::RunStarted { mode, dialect, .. } = &record.event else { return };
        self.active_run.requests = RequestItems::of_dialect(dialect);
        if *mode == TextMode::Incremental {
            self.active_run.text_growth = TextGrowth::AppendOnly;
        }
    }

    /// Applies an event of the active run.
    fn apply_event<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        if let Event::RoundStarted { .. }
        | Event::MessageStarted { .. }
        | Event::ToolStarted { .. }
        | Event::OutputAppended { .. }
        | Event::OutputReplaced { .. }
        | Event::ToolEnded { .. } = record.event
        {
            self.active_run.last_actor = LastActor::Agent;
        }
        match &record.event {
            Event::MessageStarted { .. }
            | Event::TextAppended { .. }
            | Event::TextRewritten { .. }
            | Event::MessageEnded { .. }
            | Event::SourceCited { .. }
            | Event::FinalDeclared { .. } => self.apply_message_event(record, out),
            Event::ReasoningStarted { .. }
            | Event::ReasoningAppended { .. }
            | Event::ReasoningEnded { .. } => self.apply_reasoning_event_if_shown(record, out),
            Event::ToolStarted { .. }
            | Event::ArgumentsAppended { .. }
            | Event::ArgumentsReplaced { .. }
            | Event::ToolReady { .. }
            | Event::OutputAppended { .. }
            | Event::OutputReplaced { .. }
            | Event::ToolEnded { .. } => self.apply_tool_event(record, out),
            Event::ImageReceived { owner, image } => {
                self.ensure_item_and_attach_image(*owner, image, record, out);
            }
            Event::AskOpened { .. } | Event::AskResolved { .. } => {
                self.apply_ask_event(record, out);
            }
            Event::RoundStarted { .. }
            | Event::RoundEnded { .. }
            | Event::RequestStarted { .. }
            | Event::RequestEnded { .. }
            | Event::UsageReported { .. } => self.apply_request_event(record, out),
            Event::CheckpointSaved { .. }
            | Event::RetryScheduled { .. }
            | Event::HistoryCompacted { .. }
            | Event::NoticeGiven { .. } => self.apply_notice_event(record, out),
            Event::DraftReceived { .. } => self.put_or_rewrite_draft(record, out),
            Event::DraftCompleted { draft } => self.reuse_item_of_draft(*draft),
            Event::Withdrawn { messages, steps } => {
                self.withdraw_items_and_put_notice(messages, steps, record, out);
            }
            Event::QuirkActed { .. } => self.active_run.text_growth = TextGrowth::Mutable,
            // The shared fold handles those of these that change the page.
            Event::RunStarted { .. }
            | Event::PromptReceived { .. }
            | Event::StepSealed { .. }
            | Event::SessionNamed { .. }
            | Event::PromptJoined { .. }
            | Event::MarkupHidden { .. }
            | Event::ToolProgressed { .. }
            | Event::Unrecognised { .. }
            | Event::RunEnded { .. } => {}
        }
    }
}

/// Items.
impl Transcript {
    /// Puts a new item and returns its key.
    fn put_item<'r>(
        &mut self,
        owner: Option<ItemOwner>,
        item: Item<'r>,
        growth: TextGrowth,
        out: &mut impl FnMut(Patch<'r>),
    ) -> ItemKey {
        let key = self.base.allocate_key();
        if let Some(owner) = owner {
            self.active_run.item_keys.insert((owner, key));
        }
        self.settling.put_item(key, item.state, &item.text, growth);
        out(Patch::Put { key, item });
        key
    }

    /// Replaces a live item with its final version.
    fn replace_and_complete_if_live<'r>(
        &mut self,
        key: ItemKey,
        item: Item<'r>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if self.settling.is_live(key) {
            self.settling.mark_complete(key);
            out(Patch::Put { key, item });
        }
    }

    /// Sets the final state of a live item.
    fn close_item_if_live<'r>(
        &mut self,
        key: ItemKey,
        state: ItemState,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if self.settling.is_live(key) {
            self.settling.mark_complete(key);
            out(Patch::Close { key, state });
        }
    }

    /// Key of the owner's newest item.
    fn newest_key_of_owner(&self, owner: ItemOwner) -> Option<ItemKey> {
        let keys = (owner, ItemKey(0))..=(owner, ItemKey(u32::MAX));
        self.active_run.item_keys.range(keys).next_back().map(|(_, key)| *key)
    }

    /// Returns true if the owner has no item and is not withdrawn.
    fn can_start_item(&self, owner: ItemOwner) -> bool {
        self.newest_key_of_owner(owner).is_none() && !self.active_run.withdrawn.contains(&owner)
    }

    /// Key of the owner's newest item, if it is live.
    fn live_key_of_owner(&mut self, owner: ItemOwner) -> Option<ItemKey> {
        let key = self.newest_key_of_owner(owner)?;
        self.settling.is_live(key).then_some(key)
    }

    /// Adds an image or citation to the owner's newest item, or as a notice if that is settled.
    fn attach_or_put_notice_unless_withdrawn<'r>(
        &mut self,
        owner: ItemOwner,
        extra: Attachment<'r>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if self.active_run.withdrawn.contains(&owner) {
            return;
        }
        if let Some(key) =
            self.newest_key_of_owner(owner).filter(|key| !self.settling.is_settled(*key))
        {
            out(match extra {
                Attachment::Image(image) => Patch::Attach { key, image },
                Attachment::Citation(citation) => Patch::Cite { key, citation },
            });
            return;
        }
        // Its owner is settled: a later notice names the owner.
        let mut item = self.allocate_id_and_build_notice(ItemKind::Notice, "attachment", record);
        item.label = Some(match owner {
            ItemOwner::Message(message) => self.base.ids().message(message).into(),
            ItemOwner::Reasoning(step) | ItemOwner::Step(step) => self.base.ids().step(step).into(),
        });
        match extra {
            Attachment::Image(image) => item.images.push(image),
            Attachment::Citation(citation) => item.citations.push(citation),
        }
        self.put_item(None, item, TextGrowth::Mutable, out);
    }

    /// Builds a complete notice item with the next notice id.
    fn allocate_id_and_build_notice<'r>(
        &mut self,
        kind: ItemKind,
        sort: &'static str,
        record: &'r Record<'_>,
    ) -> Item<'r> {
        let id = self.base.ids().notice(self.active_run.notice_count);
        self.active_run.notice_count += 1;
        let mut item = Item::new(kind, &*record.run, id);
        item.at_ms = record.at_ms;
        item.state = ItemState::Done;
        item.sort = Some(sort.into());
        item
    }

    /// Puts a notice item with a text.
    fn put_notice<'r>(
        &mut self,
        kind: ItemKind,
        sort: &'static str,
        text: impl Into<Cow<'r, str>>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let mut item = self.allocate_id_and_build_notice(kind, sort, record);
        item.text = text.into();
        self.put_item(None, item, TextGrowth::Mutable, out);
    }
}
