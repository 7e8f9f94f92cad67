//! `steps`: an overlay shows progress until a round's first text; steps before it are folded under
//! one control, steps after it stand between the texts.
//!
//! Does not show arguments, output or thinking while they grow: a step is put when it starts and
//! once more when it has ended. Keeps only open state: the steps of the round, tools that wait for
//! a result, and the positions of the run's parts.
//!
//! Invariant: nothing from before a round's first text is on the page before the round has ended,
//! and no overlay and no status line is shown after that text. Text settles when its message has
//! ended, a step when it has; but in a round with folded steps nothing settles before their control.
//! The control's row is reserved above the first text and filled when the round has ended. A result
//! that comes after its round is added to its call, in the same row, which settles then.

mod describe;
mod duration;
mod message_parts;
mod messages;
mod open_steps;
mod overlay;
mod results;
mod round;
mod status_line;

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Event, MessageId, Millis, Record, StepId};
use crate::event_family;

use super::common::{CommonFold, ViewTask, item_state_at_run_end};
use super::item::{ItemKey, ItemState};
use super::patch::Patch;
use super::status::StatusDetail;
use super::{Thinking, ViewOptions};

use message_parts::MessageParts;
use open_steps::{OpenSteps, Step, StepPlacement};
use results::AwaitedResults;
use round::{Round, RoundStage};
use status_line::StatusLine;

/// Fold of one session into the `steps` view.
#[derive(Clone, Debug)]
pub struct Steps {
    base: CommonFold,
    thinking: Thinking,
    round: Round,
    /// Messages of the active run.
    messages: BTreeMap<MessageId, MessageParts>,
    /// Messages that have not ended; their last parts are open.
    open_messages: BTreeSet<MessageId>,
    open: OpenSteps,
    /// Items of steps on the page: inline, or an entry.
    placed: BTreeSet<(StepId, ItemKey)>,
    awaited: AwaitedResults,
    status_line: StatusLine,
    suppressed_overlays: u64,
}

impl Steps {
    /// Creates the view before any record.
    pub fn new(options: ViewOptions) -> Steps {
        Steps {
            base: CommonFold::new(StatusDetail::new(options)),
            thinking: options.thinking,
            round: Round::default(),
            messages: BTreeMap::new(),
            open_messages: BTreeSet::new(),
            open: OpenSteps::default(),
            placed: BTreeSet::new(),
            awaited: AwaitedResults::default(),
            status_line: StatusLine::default(),
            suppressed_overlays: 0,
        }
    }

    /// Number of overlay changes after a round's first text, which are not shown.
    pub fn suppressed_overlay_count(&self) -> u64 {
        self.suppressed_overlays
    }

    /// Applies one record and emits the patches it causes.
    pub fn apply<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        let Steps { base, status_line, .. } = self;
        let task = base.apply(record, &mut |patch| {
            if let Some(patch) = status_line.replace_status_beside_text(patch) {
                out(patch);
            }
        });
        match task {
            ViewTask::Skip | ViewTask::ResetRun | ViewTask::ResolveLateAsk => {}
            ViewTask::ApplyEvent => self.apply_event(record, out),
            ViewTask::EndRun => self.end_run(record, out),
        }
        self.base.emit_settled_if_grown(out);
    }

    /// Applies an event of the active run.
    #[allow(clippy::too_many_lines, reason = "one arm per event, nothing else")]
    fn apply_event<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match &record.event {
            Event::RoundStarted { round, .. } => {
                self.close_and_open_round_if_new(*round, record, out);
            }
            Event::RoundEnded { round, .. } if self.round.number == Some(*round) => {
                self.close_round(record, out);
            }
            Event::TextAppended { .. }
            | Event::TextRewritten { .. }
            | Event::MessageEnded { .. }
            | Event::SourceCited { .. } => self.apply_message_event(record, out),
            Event::ImageReceived { owner, image } => {
                self.attach_or_store_image(*owner, image, record, out);
            }
            Event::ReasoningStarted { step, round, origin, interrupts } => match self.thinking {
                Thinking::Hide => self.update_overlay_or_count_suppressed(out),
                Thinking::ViewDefault | Thinking::Latest | Thinking::Show => {
                    if let Some(message) = interrupts {
                        self.interrupt_message_if_open_and_newest(*message, *origin);
                    }
                    self.start_step_unless_known(
                        *step,
                        Step::new_reasoning(*step, *round, record, self.base.ids()),
                        out,
                    );
                }
            },
            Event::ToolStarted { step, parent, .. } => {
                match (Step::from_tool_started(record, self.base.ids()), parent) {
                    (Some(tool), Some(parent)) if !self.is_step_open_or_on_page(*step) => {
                        self.open.insert_nested_if_parent_open(*parent, *step, tool);
                    }
                    (Some(tool), None) => self.start_step_unless_known(*step, tool, out),
                    _ => {}
                }
            }
            // Only the newest increment is shown, in the status.
            Event::ReasoningAppended { .. } if self.thinking == Thinking::Latest => {}
            Event::ReasoningAppended { step, text } => {
                self.open.store_reasoning_delta(*step, text);
            }
            Event::ArgumentsAppended { step, text } => {
                self.open.store_arguments_delta(*step, text);
            }
            Event::ArgumentsReplaced { step, text } => {
                self.open.replace_stored_arguments(*step, text);
            }
            Event::ToolReady { step } => self.open.mark_ready(*step, record.at_ms),
            Event::OutputAppended { step, text } => {
                self.open.store_output_up_to_limit(*step, text);
            }
            Event::OutputReplaced { step, text } => {
                self.open.replace_stored_output(*step, text);
            }
            Event::ReasoningEnded { step, .. } => {
                self.end_step_if_open(
                    *step,
                    ItemState::after_text_end(&record.event),
                    None,
                    record.at_ms,
                    out,
                );
            }
            Event::ToolEnded { step, outcome, detail } => {
                let state = ItemState::from(*outcome);
                self.end_step_if_open(*step, state, detail.as_deref(), record.at_ms, out);
            }
            Event::Withdrawn { messages, steps } => {
                self.withdraw_parts_and_steps(messages, steps, out);
            }
            // Not shown in this view, or shown by the shared fold as prompt, ask or status.
            Event::RoundEnded { .. }
            | Event::MessageStarted { .. }
            | Event::ToolProgressed { .. }
            | Event::FinalDeclared { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    /// Closes everything, emits the entries of open tools and ends the run.
    fn end_run<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        self.close_open_parts(item_state_at_run_end(record), out);
        self.open_messages.clear();
        self.close_round(record, out);
        for step in self.open.steps_outside_rounds() {
            self.take_step_and_emit_result(step, out);
        }
        self.base.settle_and_end_run(record, out);
        self.round = Round::default();
        self.messages.clear();
        self.open = OpenSteps::default();
        self.placed.clear();
        self.awaited = AwaitedResults::default();
    }
}

/// Steps.
impl Steps {
    /// Keys of the items that a step has on the page.
    fn item_keys_of_step(&self, step: StepId) -> impl DoubleEndedIterator<Item = ItemKey> {
        self.placed.range((step, ItemKey(0))..=(step, ItemKey(u32::MAX))).map(|(_, key)| *key)
    }

    /// Returns true if the step is open or has an item on the page.
    fn is_step_open_or_on_page(&self, step: StepId) -> bool {
        self.open.get(step).is_some() || self.item_keys_of_step(step).next().is_some()
    }

    /// Starts a step: folded before the round's first text, inline after it.
    fn start_step_unless_known<'r>(
        &mut self,
        id: StepId,
        mut step: Step,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if self.is_step_open_or_on_page(id) {
            return;
        }
        match self.round.stage {
            // Only tools run between two rounds.
            RoundStage::Closed if step.is_reasoning() => return,
            RoundStage::Closed => {}
            RoundStage::BeforeText { .. } => {
                step.set_round_and_placement(self.round.number, StepPlacement::Folded);
                self.round.folded_steps.push(id);
                self.round.open_folded_steps.insert(id);
            }
            RoundStage::TextStarted { .. } => {
                let key = self.base.allocate_key();
                step.set_round_and_placement(self.round.number, StepPlacement::Inline(key));
                step.item.index = Some(self.round.take_next_index());
                self.round.inline_steps.push(id);
                self.placed.insert((id, key));
                out(Patch::Put { key, item: step.item.clone() });
            }
        }
        self.open.insert(id, step);
        self.update_overlay_or_count_suppressed(out);
    }

    /// Ends a step and updates its item, its entry or the overlay.
    fn end_step_if_open<'r>(
        &mut self,
        id: StepId,
        state: ItemState,
        detail: Option<&str>,
        at_ms: Option<Millis>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match self.open.mark_step_ended(id, state, detail, at_ms) {
            None | Some(StepPlacement::NestedIn(_)) => {}
            Some(StepPlacement::BetweenRounds | StepPlacement::AwaitingResult(_)) => {
                self.take_step_and_emit_result(id, out);
            }
            Some(StepPlacement::Folded) => {
                self.round.open_folded_steps.remove(&id);
                self.update_overlay_or_count_suppressed(out);
            }
            Some(StepPlacement::Inline(key)) => {
                if let Some(settled) = self.open.take_step_with_nested(id) {
                    self.base.allow_item_to_settle(key);
                    out(Patch::Put { key, item: settled.item });
                }
                self.update_overlay_or_count_suppressed(out);
            }
        }
    }

    /// Withdraws the items of messages and steps.
    fn withdraw_parts_and_steps<'r>(
        &mut self,
        messages: &[MessageId],
        steps: &[StepId],
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let mut keys = Vec::new();
        for message in messages {
            keys.extend(
                self.messages
                    .get_mut(message)
                    .map(MessageParts::take_part_keys)
                    .unwrap_or_default(),
            );
        }
        self.open_messages.retain(|open| !messages.contains(open));
        let mut was_open = false;
        for step in steps {
            self.withdraw_result_if_awaited(*step, out);
            self.open.take_step_with_nested(*step);
            was_open |= self.round.open_folded_steps.remove(step);
            let placed: Vec<ItemKey> = self.item_keys_of_step(*step).collect();
            for key in placed {
                self.placed.remove(&(*step, key));
                keys.push(key);
            }
        }
        self.base.allow_items_to_settle(&keys);
        if !keys.is_empty() {
            out(Patch::Withdraw { keys });
        }
        if was_open {
            self.update_overlay_or_count_suppressed(out);
        }
    }
}
