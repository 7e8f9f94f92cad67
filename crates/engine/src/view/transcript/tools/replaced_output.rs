//! Output that its source replaces.
//!
//! Settled output stays as it was printed, and so does output between which calls of a sub-agent
//! stand: the newest version follows it when the tool ends.

use std::borrow::Cow;

use crate::event::{Record, StepId};
use crate::view::output_limit::OutputLimit;
use crate::view::patch::Patch;

use super::super::Transcript;

/// Newest version of an output that could not be replaced, as far as a page shows it.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptOutput {
    text: String,
    limit: OutputLimit,
}

impl KeptOutput {
    /// Adds to the end.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(self.limit.clip_and_count(text));
    }
}

impl Transcript {
    /// Replaces the output of a tool, or keeps the new version until the tool ends. That of a call of
    /// a sub-agent follows what the enclosing tool has.
    pub(super) fn replace_output_or_keep_until_end<'r>(
        &mut self,
        step: StepId,
        text: Cow<'r, str>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Some((root, key)) = self.find_or_put_output_item(step, record, out) else { return };
        if root != step {
            return self.append_output_on_new_line(step, text, record, out);
        }
        let is_replaceable =
            self.settling.is_live(key) && self.settling.settled_bytes_of_live_item(key) == 0;
        let Some(tool) = self.active_run.tools.open.get_mut(&root) else { return };
        tool.result_start.clear();
        if !is_replaceable || tool.has_output_of_calls {
            return tool.kept_output.insert(KeptOutput::default()).push(&text);
        }
        tool.output_limit = OutputLimit::default();
        tool.is_mid_line = !text.is_empty() && !text.ends_with('\n');
        tool.keep_result_start(&text);
        let text = tool.output_limit.clip_cow_and_count(text);
        if let Some(item) = tool.item.as_mut().filter(|_| key == tool.key) {
            text.as_ref().clone_into(item.text.to_mut());
        }
        self.settling.stop_settling_text(key);
        out(Patch::Rewrite { key, kept_bytes: 0, text });
    }

    /// Appends the newest version of an output that could not be replaced.
    pub(super) fn append_kept_output_if_any<'r>(
        &mut self,
        step: StepId,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Some(tool) = self.active_run.tools.open.get_mut(&step) else { return };
        let Some(KeptOutput { text, limit }) = tool.kept_output.take() else { return };
        // The limit holds for each version.
        tool.output_limit = OutputLimit::default();
        self.begin_output_line(step, record, out);
        self.set_output_limit(step, OutputLimit::default());
        self.append_output_up_to_limit(step, Cow::Owned(text), record, out);
        self.set_output_limit(step, limit);
    }

    fn set_output_limit(&mut self, step: StepId, limit: OutputLimit) {
        if let Some(tool) = self.active_run.tools.open.get_mut(&step) {
            tool.output_limit = limit;
        }
    }

    /// Appends output of a tool, or of a call inside it, on a line of its own.
    pub(super) fn append_output_on_new_line<'r>(
        &mut self,
        step: StepId,
        text: Cow<'r, str>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.begin_output_line(step, record, out);
        self.append_output_up_to_limit(step, text, record, out);
    }

    /// Ends the line that the output is in, if any.
    fn begin_output_line<'r>(
        &mut self,
        step: StepId,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let tools = &mut self.active_run.tools;
        let root = tools.sub_agent_calls.get(&step).map_or(step, |inner| inner.root);
        if let Some(tool) = tools.open.get_mut(&root)
            && std::mem::take(&mut tool.is_mid_line)
        {
            self.append_output_up_to_limit(step, Cow::Borrowed("\n"), record, out);
        }
    }
}
