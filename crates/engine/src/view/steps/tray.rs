//! The steps that may still change: those of the round, and tools that wait for a result.
//!
//! Steps of sub-agents hang under the tool that started them, at most [`STEP_DEPTH_MAX`] deep.
//! What is taken from the tray leaves it with all that hangs under it; later events about it find
//! nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::{Event, Image, Millis, Record, StepId, ToolKind};
use crate::limits::STEP_DEPTH_MAX;
use crate::view::blob::Shown;
use crate::view::item::{Item, Key, Kind, State, step_id};
use crate::view::output::Output;

use super::ran::between;

/// Where a step is to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Under the round's control, when the round has ended.
    Folded,
    Inline(Key),
    /// Under the step whose sub-agent it is of.
    Under(StepId),
    /// In no round: what comes of it is an entry.
    Outside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Open,
    /// The call is whole.
    Ready,
    Ended,
}

/// How much of a step has been handed out while it was open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Nothing,
    Call,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) item: Item<'static>,
    /// Nothing for reasoning.
    pub(super) tool: Option<ToolKind>,
    place: Place,
    life: Life,
    told: Told,
    ready_ms: Option<Millis>,
    ended_ms: Option<Millis>,
    output: Output,
    children: Vec<StepId>,
    depth: usize,
}

/// A step that does not change any more, or its call.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    pub(super) item: Item<'static>,
    pub(super) ended_ms: Option<Millis>,
}

impl Step {
    fn new(kind: Kind, id: StepId, round: u32, record: &Record<'_>) -> Step {
        let mut item = Item::new(kind, record.run.clone().into_owned(), step_id(id));
        item.round = Some(round);
        item.at_ms = record.at_ms;
        Step {
            item,
            tool: None,
            place: Place::Outside,
            life: Life::Open,
            told: Told::Nothing,
            ready_ms: None,
            ended_ms: None,
            output: Output::default(),
            children: Vec::new(),
            depth: 0,
        }
    }

    pub(super) fn reasoning(id: StepId, round: u32, record: &Record<'_>) -> Step {
        Step::new(Kind::Reasoning, id, round, record)
    }

    /// The tool that a record starts.
    pub(super) fn tool(record: &Record<'_>) -> Option<Step> {
        let Event::ToolStarted { step, round, call, name, kind, .. } = &record.event else {
            return None;
        };
        let mut tool = Step::new(Kind::Tool, *step, *round, record);
        tool.tool = Some(*kind);
        tool.item.name = Some(Cow::Owned(name.clone().into_owned()));
        tool.item.sort = Some(Cow::Borrowed(kind.as_str()));
        tool.item.call = Some(Cow::Owned(call.clone().into_owned()));
        Some(tool)
    }

    pub(super) fn is_reasoning(&self) -> bool {
        self.tool.is_none()
    }

    pub(super) fn stand(&mut self, round: Option<u32>, place: Place) {
        self.item.round = round;
        self.place = place;
    }

    /// The call alone. What has come of it so far stays for the entry, where it is said once.
    fn call(&mut self) -> Settled {
        let arguments = self.item.arguments.take();
        let item = Item {
            arguments,
            result: None,
            images: Vec::new(),
            state: if self.life == Life::Open { State::Incomplete } else { State::Called },
            ran_for_ms: between(self.item.at_ms, self.ready_ms),
            ..self.head()
        };
        self.told = Told::Call;
        Settled { item, ended_ms: self.ready_ms }
    }

    /// All that is known of a step from its start.
    fn head(&self) -> Item<'static> {
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

/// Whether anything is to be said of a step whose call has been.
fn says_something(item: &Item<'_>) -> bool {
    let came = item.result.is_some() || !item.images.is_empty() || !item.steps.is_empty();
    came || !matches!(item.state, State::Incomplete | State::Called)
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tray {
    steps: BTreeMap<StepId, Step>,
}

/// Steps come, grow and end.
impl Tray {
    pub(super) fn get(&self, id: StepId) -> Option<&Step> {
        self.steps.get(&id)
    }

    pub(super) fn place(&self, id: StepId) -> Option<Place> {
        self.get(id).map(|step| step.place)
    }

    pub(super) fn insert(&mut self, id: StepId, step: Step) {
        self.steps.insert(id, step);
    }

    /// Hangs a step under its parent. Without one it is nobody's, and is not kept.
    pub(super) fn nest(&mut self, parent: StepId, id: StepId, mut step: Step) {
        let Some(above) = self.get(parent) else { return };
        let parent = match above.place {
            Place::Under(upper) if STEP_DEPTH_MAX <= above.depth => upper,
            _ => parent,
        };
        let Some(above) = self.steps.get_mut(&parent) else { return };
        above.children.push(id);
        step.depth = above.depth + 1;
        step.stand(above.item.round, Place::Under(parent));
        self.insert(id, step);
    }

    fn open(&mut self, id: StepId) -> Option<&mut Step> {
        self.steps.get_mut(&id).filter(|step| step.life != Life::Ended)
    }

    pub(super) fn think(&mut self, id: StepId, text: &str) {
        if let Some(step) = self.open(id) {
            step.item.text.to_mut().push_str(text);
        }
    }

    pub(super) fn argue(&mut self, id: StepId, text: &str) {
        if let Some(step) = self.open(id) {
            step.item.arguments.get_or_insert_default().to_mut().push_str(text);
        }
    }

    pub(super) fn argue_anew(&mut self, id: StepId, text: &str) {
        if let Some(step) = self.open(id) {
            step.item.arguments = Some(Cow::Owned(text.to_owned()));
        }
    }

    pub(super) fn put_out(&mut self, id: StepId, text: &str) {
        if let Some(step) = self.open(id) {
            let shown = step.output.take(text);
            step.item.result.get_or_insert_default().to_mut().push_str(shown);
        }
    }

    pub(super) fn attach(&mut self, id: StepId, image: &Image<'_>) {
        if let Some(step) = self.steps.get_mut(&id) {
            step.item.images.push(Shown::of(image).into_owned());
        }
    }

    pub(super) fn ready(&mut self, id: StepId, at_ms: Option<Millis>) {
        if let Some(step) = self.open(id)
            && step.life == Life::Open
        {
            step.life = Life::Ready;
            step.ready_ms = at_ms;
        }
    }

    /// Tells where the step is, if it was open.
    pub(super) fn end(
        &mut self,
        id: StepId,
        state: State,
        detail: Option<&str>,
        at_ms: Option<Millis>,
    ) -> Option<Place> {
        let step = self.open(id)?;
        step.life = Life::Ended;
        step.ended_ms = at_ms;
        step.item.state = state;
        step.item.label = detail.map(|detail| Cow::Owned(detail.to_owned()));
        Some(step.place)
    }
}

/// Steps go.
impl Tray {
    /// Those that are in no round.
    pub(super) fn outside(&self) -> Vec<StepId> {
        let outside = self.steps.iter().filter(|(_, step)| step.place == Place::Outside);
        outside.map(|(id, _)| *id).collect()
    }

    /// The step as it stands, with all that hangs under it.
    pub(super) fn take(&mut self, id: StepId) -> Option<Settled> {
        let Step { mut item, life, told, ready_ms, ended_ms, output, children, .. } =
            self.steps.remove(&id)?;
        if let (Some(note), Some(result)) = (output.note(), &mut item.result) {
            result.to_mut().extend(["\n", &note]);
        }
        if life != Life::Ended {
            item.state = State::Incomplete;
        }
        let start = match told {
            Told::Nothing => item.at_ms,
            Told::Call => ready_ms.or(item.at_ms),
        };
        item.ran_for_ms = between(start, ended_ms);
        for child in children {
            if self.place(child) != Some(Place::Under(id)) {
                continue;
            }
            let told = self.get(child).map(|step| step.told);
            if let Some(Settled { item: child, .. }) = self.take(child)
                && (told == Some(Told::Nothing) || says_something(&child))
            {
                item.steps.push(child);
            }
        }
        Some(Settled { item, ended_ms })
    }

    /// The step as its round leaves it: whole if it has ended, else its call, and it stays.
    pub(super) fn settle(&mut self, id: StepId) -> Option<Settled> {
        let step = self.steps.get_mut(&id)?;
        if step.life == Life::Ended || step.is_reasoning() {
            return self.take(id);
        }
        let mut settled = step.call();
        if !matches!(step.place, Place::Under(_)) {
            step.place = Place::Outside;
        }
        let mut stay = Vec::new();
        for child in std::mem::take(&mut step.children) {
            if self.place(child) == Some(Place::Under(id))
                && let Some(call) = self.settle(child)
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

    /// What came of a tool outside any round; nothing if nothing came.
    pub(super) fn take_entry(&mut self, id: StepId) -> Option<Item<'static>> {
        let told = self.get(id)?.told;
        let mut item = self.take(id)?.item;
        if told == Told::Call && !says_something(&item) {
            return None;
        }
        item.kind = Kind::Entry;
        // The call may stand on the same page under the step's own name.
        item.id = Cow::Owned(format!("e{}", id.0));
        item.index = None;
        item.text = item.result.take().unwrap_or_default();
        Some(item)
    }
}
