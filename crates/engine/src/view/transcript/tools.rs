//! Tools: one item each, with the arguments and what came of it; an action has a second one for
//! its result. What a sub-agent calls, and what comes of it, stands in the item of the tool that
//! started it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::{Event, Image, Owner, Record, StepId, ToolKind, ToolOutcome};
use crate::view::blob::Shown;
use crate::view::item::{Item, Key, Kind, step_id};
use crate::view::output::Output;
use crate::view::patch::Patch;

use super::settling::Growth;
use super::{Extra, Of, Transcript};

#[derive(Clone, Debug, Default)]
pub(super) struct Tools {
    open: BTreeMap<StepId, Tool>,
    /// Those of sub-agents.
    inner: BTreeMap<StepId, Inner>,
}

#[derive(Clone, Debug)]
struct Tool {
    key: Key,
    /// Where an action's result stands.
    result: Option<Key>,
    name: String,
    arguments: Arguments,
    page: Page,
    /// The item, while it may have to be put again: until its arguments are whole and there is
    /// output.
    item: Option<Item<'static>>,
    /// Which tool the last output came from, and whether that ended its line.
    last: StepId,
    in_line: bool,
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arguments {
    Coming,
    Whole,
}

/// Whether the page has the arguments as far as they have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    HasThem,
    Lacks,
}

#[derive(Clone, Debug)]
struct Inner {
    root: StepId,
    item: Item<'static>,
    call: Call,
}

/// Whether a sub-agent's call stands in the item of its tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Coming,
    Told,
}

impl Tool {
    fn tell_arguments<'r>(&mut self, out: &mut impl FnMut(Patch<'r>)) {
        if self.page == Page::Lacks
            && let Some(item) = &self.item
        {
            self.page = Page::HasThem;
            out(Patch::Put { key: self.key, item: item.clone() });
        }
    }

    fn is_action(&self) -> bool {
        self.item.as_ref().map_or(self.result.is_some(), |item| item.kind == Kind::Action)
    }
}

impl Transcript {
    pub(super) fn tool_event<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match &record.event {
            Event::ToolStarted { step, .. } => self.start_tool(*step, record, out),
            Event::ArgumentsAppended { step, text } => self.arguments(*step, |arguments| {
                arguments.push_str(text);
            }),
            Event::ArgumentsReplaced { step, text } => self.arguments(*step, |arguments| {
                text.as_ref().clone_into(arguments);
            }),
            Event::ToolReady { step } => {
                self.tell_call(*step, record, out);
                self.ready(*step, out);
            }
            Event::OutputAppended { step, text } => {
                self.tell_call(*step, record, out);
                self.output(*step, Cow::Borrowed(text), record, out);
            }
            Event::ToolEnded { step, outcome, detail } => {
                self.tell_call(*step, record, out);
                if let Some(detail) = detail.as_deref().filter(|detail| !detail.is_empty()) {
                    // Beside the output, and not in the middle of its last line.
                    let tools = &mut self.going.tools;
                    let root = tools.inner.get(step).map_or(*step, |inner| inner.root);
                    if let Some(tool) = tools.open.get_mut(&root)
                        && std::mem::take(&mut tool.in_line)
                    {
                        self.output(*step, Cow::Borrowed("\n"), record, out);
                    }
                    self.output(*step, Cow::Borrowed(detail), record, out);
                }
                self.end_tool(*step, *outcome, out);
            }
            _ => {}
        }
    }

    fn start_tool<'r>(
        &mut self,
        step: StepId,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Event::ToolStarted { call, name, kind, server, parent, .. } = &record.event else {
            return;
        };
        if !self.is_unheard(Of::Step(step)) || self.going.tools.inner.contains_key(&step) {
            return;
        }
        let kind_of_item = if *kind == ToolKind::Action { Kind::Action } else { Kind::Tool };
        let mut item = Item::new(kind_of_item, &*record.run, step_id(step));
        item.at_ms = record.at_ms;
        item.sort = Some(kind.as_str().into());
        item.name = Some(Cow::Borrowed(name));
        item.call = Some(Cow::Borrowed(call));
        item.label = server.as_deref().map(Cow::Borrowed);
        let item = item.into_owned();
        let tools = &mut self.going.tools;
        let root = parent.map(|parent| tools.inner.get(&parent).map_or(parent, |of| of.root));
        match root.filter(|root| tools.open.contains_key(root)) {
            Some(root) => {
                tools.inner.insert(step, Inner { root, item, call: Call::Coming });
            }
            None => self.put_tool(step, item, out),
        }
    }

    fn put_tool<'r>(&mut self, step: StepId, item: Item<'static>, out: &mut impl FnMut(Patch<'r>)) {
        let name = item.name.as_deref().unwrap_or_default().to_owned();
        let key = self.put(Some(Of::Step(step)), item.clone(), Growth::MayChange, out);
        let tool = Tool {
            key,
            result: None,
            name,
            arguments: Arguments::Coming,
            page: Page::HasThem,
            item: Some(item),
            last: step,
            in_line: false,
            output: Output::default(),
        };
        self.going.tools.open.insert(step, tool);
    }

    fn arguments(&mut self, step: StepId, change: impl FnOnce(&mut String)) {
        if let Some(inner) = self.going.tools.inner.get_mut(&step) {
            return change(inner.item.arguments.get_or_insert_default().to_mut());
        }
        let Some(tool) = self.going.tools.open.get_mut(&step) else { return };
        if let Some(item) = &mut tool.item {
            change(item.arguments.get_or_insert_default().to_mut());
            tool.page = Page::Lacks;
            if std::mem::replace(&mut tool.arguments, Arguments::Coming) == Arguments::Whole {
                self.settling.hold(tool.key);
            }
        }
    }

    /// The arguments are whole: what the tool puts out can settle after them.
    fn ready<'r>(&mut self, step: StepId, out: &mut impl FnMut(Patch<'r>)) {
        let Some(tool) = self.going.tools.open.get_mut(&step) else { return };
        if std::mem::replace(&mut tool.arguments, Arguments::Whole) == Arguments::Whole {
            return;
        }
        tool.tell_arguments(out);
        if let Some(item) = tool.item.take() {
            self.settling.let_grow(tool.key, &item.text);
            tool.item = Some(item).filter(|item| item.text.is_empty());
        }
    }

    /// Says in the item of a sub-agent's tool what the sub-agent calls, once it is whole.
    fn tell_call<'r>(
        &mut self,
        step: StepId,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let tools = &mut self.going.tools;
        let Some(inner) = tools.inner.get_mut(&step) else { return };
        let is_told = std::mem::replace(&mut inner.call, Call::Told) == Call::Told;
        if is_told || !tools.open.contains_key(&inner.root) {
            return;
        }
        let name = inner.item.name.as_deref().unwrap_or_default();
        let text = match inner.item.arguments.as_deref() {
            None | Some("") => format!("* {name}\n"),
            Some(arguments) => format!("* {name} {arguments}\n"),
        };
        self.output(step, Cow::Owned(text), record, out);
    }

    /// What a tool, or one inside it, put out.
    fn output<'r>(
        &mut self,
        step: StepId,
        text: Cow<'r, str>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if text.is_empty() {
            return;
        }
        let Some((root, key)) = self.place(step, record, out) else { return };
        let Some(tool) = self.going.tools.open.get_mut(&root) else { return };
        let apart = tool.last != step && tool.in_line;
        tool.last = step;
        tool.in_line = !text.ends_with('\n');
        let text = tool.output.take_of(text);
        if text.is_empty() {
            return;
        }
        for text in apart.then_some(Cow::Borrowed("\n")).into_iter().chain([text]) {
            if let Some(item) = tool.item.as_mut().filter(|_| key == tool.key) {
                item.text.to_mut().push_str(&text);
            }
            self.settling.grow(key, &text);
            out(Patch::Append { key, text });
        }
    }

    /// Where a tool's output stands, and whose it is.
    fn place<'r>(
        &mut self,
        step: StepId,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> Option<(StepId, Key)> {
        if self.going.withdrawn.contains(&Of::Step(step)) {
            return None;
        }
        let tools = &mut self.going.tools;
        let mut root = step;
        if let Some(inner) = tools.inner.get(&step) {
            root = inner.root;
            if !tools.open.contains_key(&root) {
                // The tool around it is over: it stands for itself.
                root = step;
                let inner = tools.inner.remove(&step)?;
                self.put_tool(step, inner.item, out);
            }
        }
        let tool = self.going.tools.open.get_mut(&root)?;
        if tool.item.as_ref().is_some_and(|item| item.text.is_empty()) {
            tool.tell_arguments(out);
        }
        if !tool.is_action() {
            if tool.arguments == Arguments::Whole {
                tool.item = None;
            }
            return Some((root, tool.key));
        }
        if let Some(key) = tool.result {
            return Some((root, key));
        }
        let mut item = Item::new(Kind::Action, &*record.run, format!("{}r", step_id(root)));
        item.at_ms = record.at_ms;
        item.sort = Some("result".into());
        item.name = Some(tool.name.clone().into());
        let key = self.put(Some(Of::Step(root)), item, Growth::Grows, out);
        self.going.tools.open.get_mut(&root)?.result = Some(key);
        Some((root, key))
    }

    pub(super) fn image<'r>(
        &mut self,
        owner: Owner,
        image: &'r Image<'_>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let image = Shown::of(image);
        let step = match owner {
            Owner::Step(step) => step,
            Owner::Message(message) => {
                self.show_pictured(message, record, out);
                return self.attach(Of::Message(message), Extra::Image(image), record, out);
            }
        };
        match self.place(step, record, out) {
            Some((root, key)) => {
                let tool = self.going.tools.open.get_mut(&root);
                let kept = tool.filter(|tool| tool.key == key).and_then(|tool| tool.item.as_mut());
                if let Some(item) = kept {
                    item.images.push(image.clone().into_owned());
                }
                out(Patch::Attach { key, image });
            }
            None => self.attach(Of::Step(step), Extra::Image(image), record, out),
        }
    }

    fn end_tool<'r>(
        &mut self,
        step: StepId,
        outcome: ToolOutcome,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.going.tools.inner.remove(&step);
        if !self.going.tools.open.contains_key(&step) {
            return;
        }
        self.ready(step, out);
        self.note_cut(step, out);
        let Some(tool) = self.going.tools.open.remove(&step) else { return };
        for key in [Some(tool.key), tool.result].into_iter().flatten() {
            self.close(key, outcome.into(), out);
        }
    }

    /// Says how much of a tool's output is not on the page.
    fn note_cut<'r>(&mut self, step: StepId, out: &mut impl FnMut(Patch<'r>)) {
        let Some(tool) = self.going.tools.open.get(&step) else { return };
        let Some(note) = tool.output.note() else { return };
        let key = tool.result.unwrap_or(tool.key);
        let text = format!("\n{note}");
        self.settling.grow(key, &text);
        out(Patch::Append { key, text: Cow::Owned(text) });
    }

    /// The source took the tool back; says nothing of its items.
    pub(super) fn forget_tool(&mut self, step: StepId) {
        self.going.tools.open.remove(&step);
        self.going.tools.inner.remove(&step);
    }

    /// Tools that the run left open keep what is known of their arguments.
    pub(super) fn end_tools<'r>(&mut self, out: &mut impl FnMut(Patch<'r>)) {
        let open: Vec<StepId> = self.going.tools.open.keys().copied().collect();
        for step in open {
            self.ready(step, out);
            self.note_cut(step, out);
        }
        self.going.tools = Tools::default();
    }
}
