//! Tools: one item each, with arguments and output; an action has a second item for its result.
//! Calls and output of a sub-agent go into the item of the tool that started it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::{Event, Image, ImageOwner, Record, StepId, ToolKind, ToolOutcome};
use crate::event_family;
use crate::view::image_ref::ImageRef;
use crate::view::item::{Item, ItemKey, ItemKind, step_item_id};
use crate::view::output_limit::OutputLimit;
use crate::view::patch::Patch;

use super::settling::TextGrowth;
use super::{Attachment, ItemOwner, Transcript};

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
    /// Item of an action's result.
    result_key: Option<ItemKey>,
    name: String,
    arguments_state: ArgumentsState,
    arguments_on_page: ArgumentsOnPage,
    /// The item, kept while it may be put again: until its arguments are complete and it has
    /// output.
    item: Option<Item<'static>>,
    /// The step of the last output, and whether that output ended inside a line.
    last_output_step: StepId,
    is_mid_line: bool,
    output_limit: OutputLimit,
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
    fn emit_arguments<'r>(&mut self, out: &mut impl FnMut(Patch<'r>)) {
        if self.arguments_on_page == ArgumentsOnPage::Stale
            && let Some(item) = &self.item
        {
            self.arguments_on_page = ArgumentsOnPage::UpToDate;
            out(Patch::Put { key: self.key, item: item.clone() });
        }
    }

    /// Returns true if the tool is a computer action.
    fn is_action(&self) -> bool {
        self.item.as_ref().map_or(self.result_key.is_some(), |item| item.kind == ItemKind::Action)
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
            Event::ToolStarted { step, .. } => self.start_tool(*step, record, out),
            Event::ArgumentsAppended { step, text } => self.update_arguments(*step, |arguments| {
                arguments.push_str(text);
            }),
            Event::ArgumentsReplaced { step, text } => self.update_arguments(*step, |arguments| {
                text.as_ref().clone_into(arguments);
            }),
            Event::ToolReady { step } => {
                self.emit_sub_agent_call(*step, record, out);
                self.complete_arguments(*step, out);
            }
            Event::OutputAppended { step, text } => {
                self.emit_sub_agent_call(*step, record, out);
                self.append_output(*step, Cow::Borrowed(text), record, out);
            }
            Event::ToolEnded { step, outcome, detail } => {
                self.emit_sub_agent_call(*step, record, out);
                if let Some(detail) = detail.as_deref().filter(|detail| !detail.is_empty()) {
                    // On a new line after the output.
                    let tools = &mut self.active_run.tools;
                    let root = tools.sub_agent_calls.get(step).map_or(*step, |inner| inner.root);
                    if let Some(tool) = tools.open.get_mut(&root)
                        && std::mem::take(&mut tool.is_mid_line)
                    {
                        self.append_output(*step, Cow::Borrowed("\n"), record, out);
                    }
                    self.append_output(*step, Cow::Borrowed(detail), record, out);
                }
                self.end_tool(*step, *outcome, out);
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
    fn start_tool<'r>(
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
        let mut item = Item::new(kind_of_item, &*record.run, step_item_id(step));
        item.at_ms = record.at_ms;
        item.sort = Some(kind.as_str().into());
        item.name = Some(Cow::Borrowed(name));
        item.call = Some(Cow::Borrowed(call));
        item.label = server.as_deref().map(Cow::Borrowed);
        let item = item.into_owned();
        let tools = &mut self.active_run.tools;
        let root =
            parent.map(|parent| tools.sub_agent_calls.get(&parent).map_or(parent, |of| of.root));
        match root.filter(|root| tools.open.contains_key(root)) {
            Some(root) => {
                tools
                    .sub_agent_calls
                    .insert(step, SubAgentCall { root, item, call_display: CallDisplay::Pending });
            }
            None => self.put_tool(step, item, out),
        }
    }

    /// Puts the item of a tool and tracks it as open.
    fn put_tool<'r>(&mut self, step: StepId, item: Item<'static>, out: &mut impl FnMut(Patch<'r>)) {
        let name = item.name.as_deref().unwrap_or_default().to_owned();
        let key =
            self.put_item(Some(ItemOwner::Step(step)), item.clone(), TextGrowth::Mutable, out);
        let tool = OpenTool {
            key,
            result_key: None,
            name,
            arguments_state: ArgumentsState::Streaming,
            arguments_on_page: ArgumentsOnPage::UpToDate,
            item: Some(item),
            last_output_step: step,
            is_mid_line: false,
            output_limit: OutputLimit::default(),
        };
        self.active_run.tools.open.insert(step, tool);
    }

    /// Changes the kept arguments of a tool or a sub-agent's call; emits nothing.
    fn update_arguments(&mut self, step: StepId, change: impl FnOnce(&mut String)) {
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
                self.settling.hold_text(tool.key);
            }
        }
    }

    /// Puts the complete arguments and lets the output settle.
    fn complete_arguments<'r>(&mut self, step: StepId, out: &mut impl FnMut(Patch<'r>)) {
        let Some(tool) = self.active_run.tools.open.get_mut(&step) else { return };
        if std::mem::replace(&mut tool.arguments_state, ArgumentsState::Complete)
            == ArgumentsState::Complete
        {
            return;
        }
        tool.emit_arguments(out);
        if let Some(item) = tool.item.take() {
            self.settling.start_growing(tool.key, &item.text);
            tool.item = Some(item).filter(|item| item.text.is_empty());
        }
    }

    /// Writes a sub-agent's call into its tool's item, once.
    fn emit_sub_agent_call<'r>(
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
        let name = inner.item.name.as_deref().unwrap_or_default();
        let text = match inner.item.arguments.as_deref() {
            None | Some("") => format!("* {name}\n"),
            Some(arguments) => format!("* {name} {arguments}\n"),
        };
        self.append_output(step, Cow::Owned(text), record, out);
    }

    /// Appends output of a tool, or of a call inside it, up to the limit.
    fn append_output<'r>(
        &mut self,
        step: StepId,
        text: Cow<'r, str>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if text.is_empty() {
            return;
        }
        let Some((root, key)) = self.ensure_output_item(step, record, out) else { return };
        let Some(tool) = self.active_run.tools.open.get_mut(&root) else { return };
        let apart = tool.last_output_step != step && tool.is_mid_line;
        tool.last_output_step = step;
        tool.is_mid_line = !text.ends_with('\n');
        let text = tool.output_limit.clip_cow(text);
        if text.is_empty() {
            return;
        }
        for text in apart.then_some(Cow::Borrowed("\n")).into_iter().chain([text]) {
            if let Some(item) = tool.item.as_mut().filter(|_| key == tool.key) {
                item.text.to_mut().push_str(&text);
            }
            self.settling.append_text(key, &text);
            out(Patch::Append { key, text });
        }
    }

    /// Returns the tool and item that output of `step` goes to; puts an item if one is missing.
    fn ensure_output_item<'r>(
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
                self.put_tool(step, inner.item, out);
            }
        }
        let tool = self.active_run.tools.open.get_mut(&root)?;
        if tool.item.as_ref().is_some_and(|item| item.text.is_empty()) {
            tool.emit_arguments(out);
        }
        if !tool.is_action() {
            if tool.arguments_state == ArgumentsState::Complete {
                tool.item = None;
            }
            return Some((root, tool.key));
        }
        if let Some(key) = tool.result_key {
            return Some((root, key));
        }
        let mut item =
            Item::new(ItemKind::Action, &*record.run, format!("{}r", step_item_id(root)));
        item.at_ms = record.at_ms;
        item.sort = Some("result".into());
        item.name = Some(tool.name.clone().into());
        let key = self.put_item(Some(ItemOwner::Step(root)), item, TextGrowth::AppendOnly, out);
        self.active_run.tools.open.get_mut(&root)?.result_key = Some(key);
        Some((root, key))
    }

    /// Attaches an image to its message or tool; puts an item if one is missing.
    pub(super) fn attach_image<'r>(
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
                self.ensure_message_item(message, record, out);
                return self.attach_to_item(
                    ItemOwner::Message(message),
                    Attachment::Image(image),
                    record,
                    out,
                );
            }
        };
        match self.ensure_output_item(step, record, out) {
            Some((root, key)) => {
                let tool = self.active_run.tools.open.get_mut(&root);
                let kept = tool.filter(|tool| tool.key == key).and_then(|tool| tool.item.as_mut());
                if let Some(item) = kept {
                    item.images.push(image.clone().into_owned());
                }
                out(Patch::Attach { key, image });
            }
            None => {
                self.attach_to_item(ItemOwner::Step(step), Attachment::Image(image), record, out);
            }
        }
    }

    /// Completes and closes a tool's items.
    fn end_tool<'r>(
        &mut self,
        step: StepId,
        outcome: ToolOutcome,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.active_run.tools.sub_agent_calls.remove(&step);
        if !self.active_run.tools.open.contains_key(&step) {
            return;
        }
        self.complete_arguments(step, out);
        self.append_omitted_note(step, out);
        let Some(tool) = self.active_run.tools.open.remove(&step) else { return };
        for key in [Some(tool.key), tool.result_key].into_iter().flatten() {
            self.close_item(key, outcome.into(), out);
        }
    }

    /// Appends a note about output beyond the limit.
    fn append_omitted_note<'r>(&mut self, step: StepId, out: &mut impl FnMut(Patch<'r>)) {
        let Some(tool) = self.active_run.tools.open.get(&step) else { return };
        let Some(note) = tool.output_limit.omitted_note() else { return };
        let key = tool.result_key.unwrap_or(tool.key);
        let text = format!("\n{note}");
        self.settling.append_text(key, &text);
        out(Patch::Append { key, text: Cow::Owned(text) });
    }

    /// Stops tracking a withdrawn tool; its items are not changed.
    pub(super) fn remove_tool(&mut self, step: StepId) {
        self.active_run.tools.open.remove(&step);
        self.active_run.tools.sub_agent_calls.remove(&step);
    }

    /// Puts the arguments of the tools that the run left open, and stops tracking them.
    pub(super) fn end_open_tools<'r>(&mut self, out: &mut impl FnMut(Patch<'r>)) {
        let open: Vec<StepId> = self.active_run.tools.open.keys().copied().collect();
        for step in open {
            self.complete_arguments(step, out);
            self.append_omitted_note(step, out);
        }
        self.active_run.tools = OpenTools::default();
    }
}
