//! Steps that may still change: those of the round, and tools that wait for a result.
//!
//! Steps of sub-agents are nested under the tool that started them, at most [`STEP_DEPTH_MAX`]
//! deep. Taking a step removes it with everything nested in it; later events about these are
//! ignored.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::{Event, Image, Millis, Record, StepId, ToolKind};
use crate::limits::STEP_DEPTH_MAX;
use crate::tool::OpaqueStateFilter;
use crate::view::image_ref::ImageRef;
use crate::view::item::{Item, ItemKey, ItemKind, ItemState};
use crate::view::item_ids::ItemIds;
use crate::view::output_limit::OutputLimit;

use super::duration::elapsed_ms;

/// Position of a step on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepPlacement {
    /// Under the round's control, once the round has ended.
    Folded,
    Inline(ItemKey),
    /// Under the step that started its sub-agent.
    NestedIn(StepId),
    /// Outside any round: it becomes an entry.
    BetweenRounds,
    /// Its round has ended, and its call is on the page, in this item; its result is expected.
    AwaitingResult(ItemKey),
}

/// Progress of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepState {
    Open,
    /// The call is complete.
    Ready,
    Ended,
}

/// Part of a step that was emitted while it was open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EmittedPart {
    Nothing,
    /// The call, which keeps this state if it gets no result.
    Call(ItemState),
}

/// A step that may still change.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) item: Item<'static>,
    /// `None` for reasoning.
    pub(super) tool_kind: Option<ToolKind>,
    /// MCP server of the tool.
    pub(super) server: Option<String>,
    placement: StepPlacement,
    state: StepState,
    emitted: EmittedPart,
    ready_ms: Option<Millis>,
    ended_ms: Option<Millis>,
    opaque_filter: OpaqueStateFilter,
    output_limit: OutputLimit,
    children: Vec<StepId>,
    depth: usize,
}

/// Final item of a step, or of its call.
#[derive(Clone, Debug)]
pub(super) struct FinishedStep {
    pub(super) item: Item<'static>,
    pub(super) ended_ms: Option<Millis>,
}

impl Step {
    /// Creates an open step outside any round.
    fn new(kind: ItemKind, id: String, round: u32, record: &Record<'_>) -> Step {
        let mut item = Item::new(kind, record.run.clone().into_owned(), id);
        item.round = Some(round);
        item.at_ms = record.at_ms;
        Step {
            item,
            tool_kind: None,
            server: None,
            placement: StepPlacement::BetweenRounds,
            state: StepState::Open,
            emitted: EmittedPart::Nothing,
            ready_ms: None,
            ended_ms: None,
            opaque_filter: OpaqueStateFilter::default(),
            output_limit: OutputLimit::default(),
            children: Vec::new(),
            depth: 0,
        }
    }

    /// Creates a reasoning step.
    pub(super) fn new_reasoning(id: StepId, round: u32, record: &Record<'_>, ids: ItemIds) -> Step {
        Step::new(ItemKind::Reasoning, ids.step(id), round, record)
    }

    /// Creates the tool step that a `ToolStarted` record starts.
    pub(super) fn from_tool_started(record: &Record<'_>, ids: ItemIds) -> Option<Step> {
        let Event::ToolStarted { step, round, call, name, kind, server, .. } = &record.event else {
            return None;
        };
        let mut tool = Step::new(ItemKind::Tool, ids.step(*step), *round, record);
        tool.tool_kind = Some(*kind);
        tool.server = server.as_deref().map(str::to_owned);
        tool.item.name = Some(Cow::Owned(name.clone().into_owned()));
        tool.item.sort = Some(Cow::Borrowed(kind.as_str()));
        tool.item.call = Some(Cow::Owned(call.clone().into_owned()));
        Some(tool)
    }

    /// Returns true for reasoning, false for a tool.
    pub(super) fn is_reasoning(&self) -> bool {
        self.tool_kind.is_none()
    }

    /// Sets the step's round and where it is shown.
    pub(super) fn set_round_and_placement(&mut self, round: Option<u32>, place: StepPlacement) {
        self.item.round = round;
        self.placement = place;
    }

    /// Takes the item of the call alone and marks it as emitted; the result is kept.
    fn take_call_item(&mut self) -> FinishedStep {
        self.describe_call_once();
        let unanswered =
            if self.state == StepState::Open { ItemState::Incomplete } else { ItemState::Called };
        let arguments = self.item.arguments.take();
        let item = Item {
            arguments,
            description: self.item.description.clone(),
            result: None,
            images: Vec::new(),
            state: unanswered,
            ran_for_ms: elapsed_ms(self.item.at_ms, self.ready_ms),
            ..self.item_with_start_fields()
        };
        self.emitted = EmittedPart::Call(unanswered);
        FinishedStep { item, ended_ms: self.ready_ms }
    }

    /// Returns a new item with the fields that are known from the step's start.
    fn item_with_start_fields(&self) -> Item<'static> {
        let mut head = Item::new(self.item.kind, self.item.run.clone(), self.item.id.clone());
        head.round = self.item.round;
        head.index = self.item.index;
        head.at_ms = self.item.at_ms;
        head.name.clone_from(&self.item.name);
        head.sort.clone_from(&self.item.sort);
        head.call.clone_from(&self.item.call);
        head
    }
}

/// Returns true if a step whose call was emitted has a result, images, nested steps or an outcome.
fn has_result_or_outcome(item: &Item<'_>) -> bool {
    let came = item.result.is_some() || !item.images.is_empty() || !item.steps.is_empty();
    came || !matches!(item.state, ItemState::Incomplete | ItemState::Called)
}

/// Open steps by id.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenSteps {
    steps: BTreeMap<StepId, Step>,
}

/// Adding and changing steps.
impl OpenSteps {
    /// Returns a step.
    pub(super) fn get(&self, id: StepId) -> Option<&Step> {
        self.steps.get(&id)
    }

    /// Returns the position of a step.
    pub(super) fn placement(&self, id: StepId) -> Option<StepPlacement> {
        self.get(id).map(|step| step.placement)
    }

    /// Adds a step.
    pub(super) fn insert(&mut self, id: StepId, step: Step) {
        self.steps.insert(id, step);
    }

    /// Adds a step under its parent, or beside the parent if that is at the depth limit; dropped if
    /// the parent is unknown.
    pub(super) fn insert_nested_if_parent_open(
        &mut self,
        parent: StepId,
        id: StepId,
        mut step: Step,
    ) {
        let Some(above) = self.get(parent) else { return };
        let mut parent = parent;
        if let StepPlacement::NestedIn(upper) = above.placement
            && STEP_DEPTH_MAX <= above.depth
        {
            parent = upper;
        }
        let Some(above) = self.steps.get_mut(&parent) else { return };
        above.children.push(id);
        step.depth = above.depth + 1;
        step.set_round_and_placement(above.item.round, StepPlacement::NestedIn(parent));
        self.insert(id, step);
    }

    /// Returns a step that has not ended.
    fn find_open_step_mut(&mut self, id: StepId) -> Option<&mut Step> {
        self.steps.get_mut(&id).filter(|step| step.state != StepState::Ended)
    }

    /// Appends reasoning text.
    pub(super) fn store_reasoning_delta(&mut self, id: StepId, text: &str) {
        if let Some(step) = self.find_open_step_mut(id) {
            step.item.text.to_mut().push_str(text);
        }
    }

    /// Appends to a tool's arguments.
    pub(super) fn store_arguments_delta(&mut self, id: StepId, text: &str) {
        if let Some(step) = self.find_open_step_mut(id) {
            step.item.arguments.get_or_insert_default().to_mut().push_str(text);
        }
    }

    /// Replaces a tool's arguments.
    pub(super) fn replace_stored_arguments(&mut self, id: StepId, text: &str) {
        if let Some(step) = self.find_open_step_mut(id) {
            step.item.arguments = Some(Cow::Owned(text.to_owned()));
        }
    }

    /// Appends to a tool's output, up to the limit.
    pub(super) fn store_output_up_to_limit(&mut self, id: StepId, text: &str) {
        if let Some(step) = self.find_open_step_mut(id) {
            let text = step.opaque_filter.push(text);
            let shown = step.output_limit.clip_and_count(&text);
            step.item.result.get_or_insert_default().to_mut().push_str(shown);
        }
    }

    /// Replaces a tool's output, up to the limit.
    pub(super) fn replace_stored_output(&mut self, id: StepId, text: &str) {
        if let Some(step) = self.find_open_step_mut(id) {
            step.item.result = None;
            step.opaque_filter = OpaqueStateFilter::default();
            step.output_limit = OutputLimit::default();
        }
        self.store_output_up_to_limit(id, text);
    }

    /// Keeps an image with its step; emits nothing.
    pub(super) fn store_step_image(&mut self, id: StepId, image: &Image<'_>) {
        if let Some(step) = self.steps.get_mut(&id) {
            step.item.images.push(ImageRef::from_image(image).into_owned());
        }
    }

    /// Marks a tool's call as complete.
    pub(super) fn mark_ready(&mut self, id: StepId, at_ms: Option<Millis>) {
        if let Some(step) = self.find_open_step_mut(id)
            && step.state == StepState::Open
        {
            step.state = StepState::Ready;
            step.ready_ms = at_ms;
        }
    }

    /// Marks an open step as ended, which stays until it is taken; returns where it is shown.
    pub(super) fn mark_step_ended(
        &mut self,
        id: StepId,
        state: ItemState,
        detail: Option<&str>,
        at_ms: Option<Millis>,
    ) -> Option<StepPlacement> {
        let step = self.find_open_step_mut(id)?;
        step.state = StepState::Ended;
        step.ended_ms = at_ms;
        step.item.state = state;
        step.item.label = detail.map(|detail| Cow::Owned(detail.to_owned()));
        Some(step.placement)
    }
}

/// Taking steps.
impl OpenSteps {
    /// Ids of the steps whose round has ended, or that have none.
    pub(super) fn steps_outside_rounds(&self) -> Vec<StepId> {
        let outside = self.steps.iter().filter(|(_, step)| match step.placement {
            StepPlacement::BetweenRounds | StepPlacement::AwaitingResult(_) => true,
            StepPlacement::Folded | StepPlacement::Inline(_) | StepPlacement::NestedIn(_) => false,
        });
        outside.map(|(id, _)| *id).collect()
    }

    /// Removes a step; returns its final item with everything nested in it.
    pub(super) fn take_step_with_nested(&mut self, id: StepId) -> Option<FinishedStep> {
        let mut step = self.steps.remove(&id)?;
        step.describe_call_and_result();
        let Step {
            mut item,
            state: life,
            emitted: told,
            ready_ms,
            ended_ms,
            output_limit: output,
            children,
            ..
        } = step;
        if let (Some(note), Some(result)) = (output.omitted_note(), &mut item.result) {
            result.to_mut().extend(["\n", &note]);
        }
        if life != StepState::Ended {
            item.state = ItemState::Incomplete;
        }
        let start = match told {
            EmittedPart::Nothing => item.at_ms,
            EmittedPart::Call(_) => ready_ms.or(item.at_ms),
        };
        item.ran_for_ms = elapsed_ms(start, ended_ms);
        for child in children {
            if self.placement(child) != Some(StepPlacement::NestedIn(id)) {
                continue;
            }
            let told = self.get(child).map(|step| step.emitted);
            if let Some(FinishedStep { item: child, .. }) = self.take_step_with_nested(child)
                && (told == Some(EmittedPart::Nothing) || has_result_or_outcome(&child))
            {
                item.steps.push(child);
            }
        }
        Some(FinishedStep { item, ended_ms })
    }

    /// Returns a step's item in `row` at the end of its round: complete and removed if it has
    /// ended, else only its call, and the step stays.
    pub(super) fn take_step_or_its_call(
        &mut self,
        id: StepId,
        row: ItemKey,
    ) -> Option<FinishedStep> {
        let step = self.steps.get_mut(&id)?;
        if step.state == StepState::Ended || step.is_reasoning() {
            return self.take_step_with_nested(id);
        }
        let mut settled = step.take_call_item();
        if !matches!(step.placement, StepPlacement::NestedIn(_)) {
            step.placement = StepPlacement::AwaitingResult(row);
            if settled.item.state == ItemState::Called {
                settled.item.state = ItemState::Pending;
            }
        }
        let mut stay = Vec::new();
        for child in std::mem::take(&mut step.children) {
            if self.placement(child) == Some(StepPlacement::NestedIn(id))
                && let Some(call) = self.take_step_or_its_call(child, row)
            {
                settled.item.steps.push(call.item);
                stay.push(child);
            }
        }
        if let Some(step) = self.steps.get_mut(&id) {
            step.children = stay;
        }
        Some(settled)
    }

    /// Removes a step; returns its result as an entry. Without a result the entry has the state that
    /// the call keeps.
    pub(super) fn remove_step_and_build_entry(
        &mut self,
        id: StepId,
        ids: ItemIds,
    ) -> Option<Item<'static>> {
        let told = self.get(id)?.emitted;
        let mut item = self.take_step_with_nested(id)?.item;
        if let EmittedPart::Call(unanswered) = told
            && !has_result_or_outcome(&item)
        {
            item.state = unanswered;
            item.ran_for_ms = None;
            item.arguments = None;
            item.description = None;
            item.label = None;
        }
        item.kind = ItemKind::Entry;
        // The call may be on the same page under the step's id.
        item.id = Cow::Owned(ids.entry(id));
        item.index = None;
        item.text = item.result.take().unwrap_or_default();
        Some(item)
    }
}
