//! Tools: one item each, with arguments and output; an action has a second item for its result, and
//! so has a call that the person was asked about, because its own item becomes the ask's.
//! Calls and output of a sub-agent go into the item of the tool that started it.

mod asked;
mod describe;
mod output;
mod replaced_output;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::{Event, Record, StepId, ToolKind, ToolOutcome};
use crate::event_family;
use crate::tool::ToolDescription;
use crate::view::item::{Item, ItemKey, ItemKind};
use crate::view::output_limit::OutputLimit;
use crate::view::patch::Patch;

use super::settling::TextGrowth;
use super::{ItemOwner, Transcript};
use describe::CallIdentity;
use replaced_output::KeptOutput;

/// Open tools of the active run.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenTools {
    open: BTreeMap<StepId, OpenTool>,
    /// Calls of sub-agents.
    sub_agent_calls: BTreeMap<StepId, SubAgentCall>,
}

/// An open tool and its items.
#[derive(Clone, Debug)]
struct OpenTool {
    key: ItemKey,
    call_item: CallItem,
    /// Item of the result of an action, or of a call that was asked about.
    result_key: Option<ItemKey>,
    call: CallIdentity,
    /// Description of the call, once its arguments are complete.
    description: Option<Box<ToolDescription>>,
    /// Beginning of the output, as far as the description needs it.
    result_start: String,
    arguments_state: ArgumentsState,
    arguments_on_page: ArgumentsOnPage,
    /// The item, kept while it may be put again: until its arguments are complete and it has
    /// output.
    item: Option<Item<'static>>,
    /// The step of the last output, and whether that output ended inside a line.
    last_output_step: StepId,
    is_mid_line: bool,
    output_limit: OutputLimit,
    /// True if the output of calls inside it stands in its own.
    has_output_of_calls: bool,
    /// Newest version of an output that could not be replaced.
    kept_output: Option<KeptOutput>,
}

/// Item of a call on the page: its own, or that of the ask about it.
#[derive(Clone, Debug)]
enum CallItem {
    /// The tool's own.
    OwnItem,
    /// The ask's, which asks about the call; with the beginning of the item of its result.
    AskItem(Box<Item<'static>>),
}

/// Progress of a tool's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArgumentsState {
    Streaming,
    Complete,
}

/// State of the arguments on the page, compared with those received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArgumentsOnPage {
    UpToDate,
    Stale,
}

/// A tool call of a sub-agent.
#[derive(Clone, Debug)]
struct SubAgentCall {
    root: StepId,
    item: Item<'static>,
    identity: CallIdentity,
    call_display: CallDisplay,
}

/// State of a sub-agent's call in its tool's item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallDisplay {
    Pending,
    Shown,
}

impl OpenTool {
    /// Puts the item again if the page lacks arguments.
    fn put_again_if_stale<'r>(&mut self, out: &mut impl FnMut(Patch<'r>)) {
        if self.arguments_on_page == ArgumentsOnPage::Stale
            && let Some(item) = &self.item
        {
            self.arguments_on_page = ArgumentsOnPage::UpToDate;
            out(Patch::Put { key: self.key, item: item.clone() });
        }
    }

    /// Returns true if the tool is a computer action.
    fn is_action(&self) -> bool {
        self.call.kind == ToolKind::Action
    }
}

impl Transcript {
    /// Applies a tool event.
    pub(super) fn apply_tool_event<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match &record.event {
            Event::ToolStarted { step, .. } => {
                self.start_tool_or_sub_agent_call(*step, record, out);
            }
            Event::ArgumentsAppended { step, text } => {
                self.change_stored_arguments(*step, |arguments| {
                    arguments.push_str(text);
                });
            }
            Event::ArgumentsReplaced { step, text } => {
                self.change_stored_arguments(*step, |arguments| {
                    text.as_ref().clone_into(arguments);
                });
            }
            Event::ToolReady { step } => {
                self.append_sub_agent_call_once(*step, record, out);
                self.put_arguments_and_let_output_settle(*step, out);
            }
            Event::OutputAppended { step, text } => {
                self.append_sub_agent_call_once(*step, record, out);
                let text = self.remove_opaque_state(*step, text);
                self.append_output_up_to_limit(*step, text, record, out);
            }
            Event::OutputReplaced { step, text } => {
                self.append_sub_agent_call_once(*step, record, out);
                self.reset_opaque_state(*step);
                let text = self.remove_opaque_state(*step, text);
                self.replace_output_or_keep_until_end(*step, text, record, out);
            }
            Event::ToolEnded { step, outcome, detail } => {
                self.append_sub_agent_call_once(*step, record, out);
                self.append_kept_output_if_any(*step, record, out);
                self.put_result_of_asked_call_if_it_has_one(*step, *outcome, record, out);
                self.describe_result_if_any(*step, *outcome, detail.as_deref(), out);
                if let Some(detail) = detail.as_deref().filter(|detail| !detail.is_empty()) {
                    self.append_output_on_new_line(*step, Cow::Borrowed(detail), record, out);
                }
                self.end_tool_if_open(*step, *outcome, out);
            }
            // Not of a tool, or not shown: progress is no output.
            Event::ImageReceived { .. }
            | Event::ToolProgressed { .. }
            | Event::Withdrawn { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Message)
            | event_family!(Reasoning)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    /// Starts a tool, or a sub-agent's call inside an open tool.
    fn start_tool_or_sub_agent_call<'r>(
        &mut self,
        step: StepId,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Event::ToolStarted { call, name, kind, server, parent, .. } = &record.event else {
            return;
        };
        if !self.can_start_item(ItemOwner::Step(step))
            || self.active_run.tools.sub_agent_calls.contains_key(&step)
        {
            return;
        }
        let kind_of_item =
            if *kind == ToolKind::Action { ItemKind::Action } else { ItemKind::Tool };
        let mut item = Item::new(kind_of_item, &*record.run, self.base.ids().step(step));
        item.at_ms = record.at_ms;
        item.sort = Some(kind.as_str().into());
        item.name = Some(Cow::Borrowed(name));
        item.call = Some(Cow::Borrowed(call));
        item.label = server.as_deref().map(Cow::Borrowed);
        let item = item.into_owned();
        let identity = CallIdentity::new(name, *kind, server.as_deref());
        let tools = &mut self.active_run.tools;
        let root =
            parent.map(|parent| tools.sub_agent_calls.get(&parent).map_or(parent, |of| of.root));
        match root.filter(|root| tools.open.contains_key(root)) {
            Some(root) => {
                tools.sub_agent_calls.insert(
                    step,
                    SubAgentCall { root, item, identity, call_display: CallDisplay::Pending },
                );
            }
            None => self.put_and_track_tool(step, item, identity, out),
        }
    }

    /// Puts the item of a tool and tracks it as open.
    fn put_and_track_tool<'r>(
        &mut self,
        step: StepId,
        item: Item<'static>,
        call: CallIdentity,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let key =
            self.put_item(Some(ItemOwner::Step(step)), item.clone(), TextGrowth::Mutable, out);
        let tool = OpenTool {
            key,
            call_item: CallItem::OwnItem,
            result_key: None,
            call,
            description: None,
            result_start: String::new(),
            arguments_state: ArgumentsState::Streaming,
            arguments_on_page: ArgumentsOnPage::UpToDate,
            item: Some(item),
            last_output_step: step,
            is_mid_line: false,
            output_limit: OutputLimit::default(),
            has_output_of_calls: false,
            kept_output: None,
        };
        self.active_run.tools.open.insert(step, tool);
    }

    /// Changes the kept arguments of a tool or a sub-agent's call; emits nothing.
    fn change_stored_arguments(&mut self, step: StepId, change: impl FnOnce(&mut String)) {
        if let Some(inner) = self.active_run.tools.sub_agent_calls.get_mut(&step) {
            return change(inner.item.arguments.get_or_insert_default().to_mut());
        }
        let Some(tool) = self.active_run.tools.open.get_mut(&step) else { return };
        if let Some(item) = &mut tool.item {
            change(item.arguments.get_or_insert_default().to_mut());
            tool.arguments_on_page = ArgumentsOnPage::Stale;
            if std::mem::replace(&mut tool.arguments_state, ArgumentsState::Streaming)
                == ArgumentsState::Complete
            {
                self.settling.stop_settling_text(tool.key);
            }
        }
    }

    /// Puts the complete arguments and lets the output settle.
    fn put_arguments_and_let_output_settle<'r>(
        &mut self,
        step: StepId,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Some(tool) = self.active_run.tools.open.get_mut(&step) else { return };
        if std::mem::replace(&mut tool.arguments_state, ArgumentsState::Complete)
            == ArgumentsState::Complete
        {
            return;
        }
        tool.describe_call();
        tool.put_again_if_stale(out);
        if let Some(item) = tool.item.take() {
            self.settling.mark_append_only_if_none_settled(tool.key, &item.text);
            tool.item = Some(item).filter(|item| item.text.is_empty());
        }
    }

    /// Completes and closes a tool's items.
    fn end_tool_if_open<'r>(
        &mut self,
        step: StepId,
        outcome: ToolOutcome,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.active_run.tools.sub_agent_calls.remove(&step);
        if !self.active_run.tools.open.contains_key(&step) {
            return;
        }
        self.put_arguments_and_let_output_settle(step, out);
        self.append_omitted_note_if_any(step, out);
        let Some(tool) = self.active_run.tools.open.remove(&step) else { return };
        let call_key = match tool.call_item {
            CallItem::OwnItem => Some(tool.key),
            // It waits for the answer.
            CallItem::AskItem(_) => None,
        };
        for key in [call_key, tool.result_key].into_iter().flatten() {
            self.close_item_if_live(key, outcome.into(), out);
        }
    }

    /// Stops tracking a withdrawn tool; its items are not changed.
    pub(super) fn stop_tracking_tool(&mut self, step: StepId) {
        self.active_run.tools.open.remove(&step);
        self.active_run.tools.sub_agent_calls.remove(&step);
    }

    /// Puts the arguments of the tools that the run left open, and stops tracking them.
    pub(super) fn put_arguments_and_forget_open_tools<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let open: Vec<StepId> = self.active_run.tools.open.keys().copied().collect();
        for step in open {
            self.append_kept_output_if_any(step, record, out);
            self.describe_result_if_any(step, ToolOutcome::Cut, None, out);
            self.append_omitted_note_if_any(step, out);
        }
        self.active_run.tools = OpenTools::default();
    }
}
