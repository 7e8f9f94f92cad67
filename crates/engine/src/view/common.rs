//! The part of the fold that all views share: the active run, its status, prompts, asks and the
//! final message.
//!
//! Records of a run that is not active change nothing except its open asks.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::event::{
    AnsweredBy, Event, MessageId, PromptOrigin, Record, StepId, StopReason, ToolKind,
};
use crate::event_family;
use crate::limits::OPEN_ASKS_MAX;

use super::failure::failure_item;
use super::image_ref::ImageRef;
use super::item::{Item, ItemKey, ItemKind, ItemState};
use super::item_ids::ItemIds;
use super::patch::{Ask, EndedRun, Patch, ResolvedAsk, Status};
use super::reply::{FinalMessage, ReplyCandidates};
use super::settled_keys::SettledKeys;
use super::status::{OpenAskState, StatusDetail, StatusTracker};

/// State that every view keeps of its session.
#[derive(Clone, Debug)]
pub(super) struct CommonFold {
    run: Option<String>,
    ids: ItemIds,
    next_key: u32,
    /// Key of a draft that became the next item.
    reused_key: Option<ItemKey>,
    prompts: u32,
    reply: ReplyCandidates,
    status: StatusTracker,
    /// Image generation steps of the active run, without those of sub-agents.
    image_steps: BTreeSet<StepId>,
    open_asks: Vec<OpenAsk>,
    settled_keys: SettledKeys,
}

/// An open ask; it outlives a run that ended while waiting for the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OpenAsk {
    run: String,
    id: String,
}

/// Result of resolving an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AskResolution {
    Resolved,
    NotOpen,
}

/// Work left for the view after the shared fold has applied a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ViewTask {
    /// Nothing: the record is of another run, or was handled.
    Skip,
    /// A run started; reset the state of the previous one.
    ResetRun,
    /// An ask of an ended run was answered.
    ResolveLateAsk,
    /// Apply the event.
    ApplyEvent,
    /// Close everything and call [`CommonFold::end_run`].
    EndRun,
}

impl CommonFold {
    /// Creates the state before any record.
    pub(super) fn new(telling: StatusDetail) -> CommonFold {
        CommonFold {
            run: None,
            ids: ItemIds::default(),
            next_key: 0,
            reused_key: None,
            prompts: 0,
            reply: ReplyCandidates::default(),
            status: StatusTracker::new(telling),
            image_steps: BTreeSet::new(),
            open_asks: Vec::new(),
            settled_keys: SettledKeys::default(),
        }
    }

    /// Allocates the next item key, or returns the one that the next item takes over.
    pub(super) fn allocate_key(&mut self) -> ItemKey {
        self.reused_key.take().unwrap_or_else(|| {
            let key = ItemKey(self.next_key);
            self.next_key += 1;
            key
        })
    }

    /// Lets the next item take over the key of a draft.
    pub(super) fn reuse_key_for_next_item(&mut self, key: ItemKey) {
        self.reused_key = Some(key);
    }

    /// Returns true if no item was put after this one.
    pub(super) fn is_newest_key(&self, key: ItemKey) -> bool {
        key.0.checked_add(1) == Some(self.next_key)
    }

    /// Marks an item as complete: only a withdrawal can still change it. Emits nothing.
    /// `transcript` settles parts of items and does not read this.
    pub(super) fn allow_item_to_settle(&mut self, key: ItemKey) {
        self.settled_keys.mark_complete(key);
    }

    /// Marks items as complete.
    pub(super) fn allow_items_to_settle(&mut self, keys: &[ItemKey]) {
        for key in keys {
            self.allow_item_to_settle(*key);
        }
    }

    /// Emits the end of the settled part if it has grown.
    #[inline]
    pub(super) fn emit_settled_if_grown<'r>(&mut self, out: &mut impl FnMut(Patch<'r>)) {
        if let Some(settled) = self.settled_keys.take_moved_end() {
            out(Patch::Settle(settled));
        }
    }

    /// Puts the run's failure, settles all items, because nothing changes those of an ended run, and
    /// ends the run.
    pub(super) fn settle_and_end_run<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if let Some(item) = failure_item(record, self.ids) {
            out(Patch::Put { key: self.allocate_key(), item });
        }
        self.settled_keys.settle_all_below(self.next_key);
        self.emit_settled_if_grown(out);
        self.end_run(record, out);
    }

    /// Applies a record to the shared state; returns what is left for the view.
    pub(super) fn apply<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> ViewTask {
        let Some(run) = &self.run else {
            let Event::RunStarted { .. } = record.event else {
                return self.apply_inactive_run_record(record, out);
            };
            self.run = Some(record.run.clone().into_owned());
            self.ids = self.ids.of_next_run();
            self.prompts = 0;
            self.reply = ReplyCandidates::default();
            self.status = self.status.new_with_same_detail(self.ids);
            self.image_steps.clear();
            out(Patch::Status(Status::Queued));
            out(Patch::Status(Status::Started));
            return ViewTask::ResetRun;
        };
        if *run != record.run {
            return self.apply_inactive_run_record(record, out);
        }
        self.reply.apply(&record.event);
        let rest = self.apply_active_run_event(record, out);
        if rest == ViewTask::ApplyEvent {
            let is_asked = self.open_asks.iter().any(|ask| ask.run == record.run);
            let asked = if is_asked { OpenAskState::SomeOpen } else { OpenAskState::NoneOpen };
            self.status.apply(&record.event, asked, out);
        }
        rest
    }

    /// Applies an event of the active run: prompts, asks and image generation. Returns what is left
    /// for the view.
    fn apply_active_run_event<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> ViewTask {
        match &record.event {
            Event::RunStarted { .. }
            | Event::PromptReceived { origin: PromptOrigin::Heartbeat, .. } => ViewTask::Skip,
            Event::PromptReceived { text, images, origin: PromptOrigin::Person } => {
                let id = self.ids.prompt(self.prompts);
                self.prompts += 1;
                let mut item = Item::new(ItemKind::User, &*record.run, id);
                item.at_ms = record.at_ms;
                item.state = ItemState::Done;
                item.text = Cow::Borrowed(text);
                item.images = images.iter().map(ImageRef::from_image).collect();
                let key = self.allocate_key();
                self.allow_item_to_settle(key);
                out(Patch::Put { key, item });
                ViewTask::Skip
            }
            Event::ToolStarted { step, kind: ToolKind::ImageGeneration, parent: None, .. } => {
                self.image_steps.insert(*step);
                ViewTask::ApplyEvent
            }
            Event::AskOpened { .. } => self.open_ask_unless_open(record, out),
            Event::AskResolved { .. } => match self.resolve_ask_if_open(record, out) {
                AskResolution::Resolved => ViewTask::ApplyEvent,
                AskResolution::NotOpen => ViewTask::Skip,
            },
            Event::RunEnded { .. } => ViewTask::EndRun,
            // The view decides.
            Event::ImageReceived { .. }
            | Event::PromptJoined { .. }
            | Event::Withdrawn { .. }
            | event_family!(Round)
            | event_family!(Message)
            | event_family!(Reasoning)
            | event_family!(Tool)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => ViewTask::ApplyEvent,
        }
    }

    /// Opens an ask that is not open yet, resolving the oldest one beyond `OPEN_ASKS_MAX`.
    fn open_ask_unless_open<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> ViewTask {
        let Event::AskOpened { ask, kind, text, options, digest, expires_at_ms, .. } =
            &record.event
        else {
            return ViewTask::Skip;
        };
        if self.ask_position(record, ask).is_some() {
            return ViewTask::Skip;
        }
        if OPEN_ASKS_MAX <= self.open_asks.len() {
            let OpenAsk { run, id } = self.open_asks.remove(0);
            out(Patch::Resolve(ResolvedAsk {
                run: Cow::Owned(run),
                id: Cow::Owned(id),
                answer: Cow::Borrowed(""),
                by: AnsweredBy::Nobody,
            }));
        }
        self.open_asks.push(OpenAsk { run: record.run.to_string(), id: ask.to_string() });
        out(Patch::Ask(Ask {
            run: Cow::Borrowed(&record.run),
            id: Cow::Borrowed(ask),
            kind: *kind,
            text: Cow::Borrowed(text),
            options: options.clone(),
            digest: digest.as_deref().map(Cow::Borrowed),
            expires_at: *expires_at_ms,
        }));
        ViewTask::ApplyEvent
    }

    /// Position of an open ask of the record's run.
    fn ask_position(&self, record: &Record<'_>, ask: &str) -> Option<usize> {
        self.open_asks.iter().position(|open| open.run == record.run && open.id == ask)
    }

    /// Resolves an open ask, if the record does so.
    fn resolve_ask_if_open<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> AskResolution {
        let Event::AskResolved { ask, answer, by } = &record.event else {
            return AskResolution::NotOpen;
        };
        let Some(at) = self.ask_position(record, ask) else { return AskResolution::NotOpen };
        self.open_asks.remove(at);
        out(Patch::Resolve(ResolvedAsk {
            run: Cow::Borrowed(&record.run),
            id: Cow::Borrowed(ask),
            answer: Cow::Borrowed(answer),
            by: *by,
        }));
        AskResolution::Resolved
    }

    /// Resolves the run's open asks as unanswered.
    fn resolve_run_asks_as_unanswered<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let of_run = |ask: &mut OpenAsk| ask.run == record.run;
        for ask in self.open_asks.extract_if(.., of_run) {
            out(Patch::Resolve(ResolvedAsk {
                run: Cow::Borrowed(&record.run),
                id: Cow::Owned(ask.id),
                answer: Cow::Borrowed(""),
                by: AnsweredBy::Nobody,
            }));
        }
    }

    /// Applies a record of a run that is not active: only its asks can change.
    fn apply_inactive_run_record<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> ViewTask {
        match self.resolve_ask_if_open(record, out) {
            AskResolution::Resolved => ViewTask::ResolveLateAsk,
            AskResolution::NotOpen => ViewTask::Skip,
        }
    }

    /// Builds the ids of the run's items.
    pub(super) fn ids(&self) -> ItemIds {
        self.ids
    }

    /// Id of the active run.
    pub(super) fn active_run(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// Text so far of a message of the open round.
    pub(super) fn reply_candidate_text(&self, message: MessageId) -> Option<&str> {
        self.reply.message_text(message)
    }

    /// The final message named by a `RunEnded` record; call before [`CommonFold::end_run`].
    pub(super) fn final_message_of_ending(&self, record: &Record<'_>) -> Option<FinalMessage> {
        let Event::RunEnded { ending } = &record.event else { return None };
        self.reply.final_message_of_ending(ending)
    }

    /// Returns true if the step generates images for the user, which are part of the reply.
    pub(super) fn is_image_generation_step(&self, step: StepId) -> bool {
        self.image_steps.contains(&step)
    }

    /// Emits the ending and clears the active run; resolves its asks unless they may stay open.
    pub(super) fn end_run<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        let Event::RunEnded { ending } = &record.event else { return };
        let content = self.reply.take_final_text(ending);
        self.run = None;
        self.reused_key = None;
        if !ending.stop.is_some_and(StopReason::can_leave_asks_open) {
            self.resolve_run_asks_as_unanswered(record, out);
        }
        out(Patch::Ended(EndedRun {
            run: Cow::Borrowed(&record.run),
            outcome: ending.outcome,
            stop: ending.stop,
            reason: ending.reason,
            detail: ending.detail.as_deref().map(Cow::Borrowed),
            reply: ending.reply,
            incomplete: ending.incomplete,
            content: Some(Cow::Owned(content.unwrap_or_default())),
        }));
    }
}

/// Final state of an item that was open when the run ended.
pub(super) fn item_state_at_run_end(record: &Record<'_>) -> ItemState {
    if let Event::RunEnded { ending } = &record.event
        && !ending.incomplete
    {
        ItemState::Done
    } else {
        ItemState::Incomplete
    }
}
