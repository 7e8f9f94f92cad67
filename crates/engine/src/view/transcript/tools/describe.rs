//! Descriptions of tool calls: put with the complete arguments, and extended at the end by what the
//! result adds.

use std::borrow::Cow;

use crate::event::{StepId, ToolKind, ToolOutcome};
use crate::limits::OUTPUT_BYTES_SHOWN_MAX;
use crate::tool::{OpaqueStateFilter, ToolCall, ToolDescription, ToolResult};
use crate::view::patch::Patch;

use super::super::Transcript;
use super::{ArgumentsOnPage, CallItem, OpenTool};

/// Name, kind and server of a called tool, and the filter of its output.
#[derive(Clone, Debug)]
pub(super) struct CallIdentity {
    pub(super) name: String,
    pub(super) kind: ToolKind,
    server: Option<String>,
    opaque_filter: OpaqueStateFilter,
}

impl CallIdentity {
    /// Keeps what the start of a tool says.
    pub(super) fn new(name: &str, kind: ToolKind, server: Option<&str>) -> CallIdentity {
        CallIdentity {
            name: name.to_owned(),
            kind,
            server: server.map(str::to_owned),
            opaque_filter: OpaqueStateFilter::default(),
        }
    }

    /// Describes the call with its complete arguments.
    pub(super) fn describe(&self, arguments: &str) -> ToolDescription {
        let CallIdentity { name, kind, server, .. } = self;
        ToolCall { name, kind: *kind, server: server.as_deref(), arguments }.describe()
    }
}

impl OpenTool {
    /// Describes the call in its item, which is then stale on the page.
    pub(super) fn describe_call(&mut self) {
        let Some(item) = &mut self.item else { return };
        let description = self.call.describe(item.arguments.as_deref().unwrap_or_default());
        item.description = Some(Box::new(description));
        self.description.clone_from(&item.description);
        self.arguments_on_page = ArgumentsOnPage::Stale;
    }

    /// Keeps the beginning of the output that the description reads.
    pub(super) fn keep_result_start(&mut self, text: &str) {
        let room = self
            .description
            .as_ref()
            .map_or(OUTPUT_BYTES_SHOWN_MAX, |known| known.result_bytes_read());
        let room = room.saturating_sub(self.result_start.len()).min(text.len());
        self.result_start.push_str(&text[..text.floor_char_boundary(room)]);
    }
}

impl Transcript {
    /// Returns the next output of a tool without opaque state.
    pub(super) fn remove_opaque_state<'t>(&mut self, step: StepId, text: &'t str) -> Cow<'t, str> {
        let tools = &mut self.active_run.tools;
        let inner = tools.sub_agent_calls.get_mut(&step).map(|inner| &mut inner.identity);
        match inner.or_else(|| tools.open.get_mut(&step).map(|tool| &mut tool.call)) {
            Some(call) => call.opaque_filter.push(text),
            None => Cow::Borrowed(text),
        }
    }

    /// Begins the output of a tool again.
    pub(super) fn reset_opaque_state(&mut self, step: StepId) {
        let tools = &mut self.active_run.tools;
        let inner = tools.sub_agent_calls.get_mut(&step).map(|inner| &mut inner.identity);
        if let Some(call) = inner.or_else(|| tools.open.get_mut(&step).map(|tool| &mut tool.call)) {
            call.opaque_filter = OpaqueStateFilter::default();
        }
    }

    /// Adds to a tool's description what its result says.
    pub(super) fn describe_result_if_any<'r>(
        &mut self,
        step: StepId,
        outcome: ToolOutcome,
        detail: Option<&str>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.put_arguments_and_let_output_settle(step, out);
        let Some(tool) = self.active_run.tools.open.get_mut(&step) else { return };
        let Some(mut description) = tool.description.clone() else { return };
        description.add_result(ToolResult { output: &tool.result_start, outcome, detail });
        if tool.description.as_ref() == Some(&description) {
            return;
        }
        let key = match tool.call_item {
            CallItem::OwnItem => Some(tool.key),
            CallItem::AskItem(_) => {
                *description = description.of_result_alone();
                tool.result_key
            }
        };
        if let Some(key) = key.filter(|key| self.settling.is_live(*key)) {
            out(Patch::Describe { key, description });
        }
    }
}
