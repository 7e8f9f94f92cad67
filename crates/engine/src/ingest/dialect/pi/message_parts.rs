//! Parts of the assistant message: each is written once, streamed or whole.

use crate::event::{ReasoningOrigin, StepId, UnrecognisedReason};
use crate::ingest::json::{RawValue, array_elements};
use crate::run::{Fingerprint, Writer};

use super::ContentPart;
use super::tools::{build_tool_start, content_member};

/// Parts of one message remembered at once.
const PARTS_MAX: usize = 1 << 10;

/// Started parts of the assistant message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MessageParts(Vec<PartState>);

/// State of one content part.
#[derive(Clone, Debug, PartialEq)]
struct PartState {
    index: u64,
    /// Step of its tool call, once the tool is named.
    step: Option<StepId>,
    /// Its content was written.
    streamed: bool,
    /// The text that was written.
    text: WrittenText,
}

/// Text of a part, as far as its end has to be compared with it.
#[derive(Clone, Debug, Default, PartialEq)]
struct WrittenText {
    bytes: usize,
    fingerprint: Fingerprint,
}

impl WrittenText {
    /// Rest of `whole` after this text; `None` if it does not begin with it.
    fn rest_of<'t>(&self, whole: &'t str) -> Option<&'t str> {
        let (begin, rest) = whole.split_at_checked(self.bytes)?;
        (Fingerprint::from_text(begin) == self.fingerprint).then_some(rest)
    }
}

impl MessageParts {
    /// Forgets all parts, because a new message starts.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// State of a part; adds it if it is new.
    fn get_or_add_state(&mut self, index: u64) -> &mut PartState {
        let known = self.0.iter().position(|part| part.index == index);
        let at = known.unwrap_or_else(|| {
            if PARTS_MAX <= self.0.len() {
                self.0.remove(0);
            }
            let text = WrittenText::default();
            self.0.push(PartState { index, step: None, streamed: false, text });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// Writes a delta of text.
    pub(super) fn append_text(&mut self, index: u64, delta: &str, out: &mut Writer<'_>) {
        let part = self.get_or_add_state(index);
        part.streamed = true;
        part.text.bytes += delta.len();
        part.text.fingerprint.push(delta);
        out.append_text(delta);
    }

    /// Writes a delta of reasoning.
    pub(super) fn append_reasoning(&mut self, index: u64, delta: &str, out: &mut Writer<'_>) {
        self.get_or_add_state(index).streamed = true;
        out.append_reasoning(delta, ReasoningOrigin::Native);
    }

    /// Writes a delta of a call's arguments, if its tool is named.
    pub(super) fn append_arguments_if_started(
        &mut self,
        index: u64,
        delta: &str,
        out: &mut Writer<'_>,
    ) {
        if let PartState { step: Some(step), streamed, .. } = self.get_or_add_state(index) {
            *streamed |= !delta.is_empty();
            out.append_arguments(*step, delta);
        }
    }

    /// Writes what the whole text of a part has after its deltas. Text that they contradict is
    /// recorded as unrecognised.
    pub(super) fn write_rest_of_text(
        &mut self,
        index: u64,
        whole: Option<&str>,
        out: &mut Writer<'_>,
    ) {
        let Some(whole) = whole else { return };
        match self.get_or_add_state(index).text.rest_of(whole).map(str::to_owned) {
            Some(rest) => self.append_text(index, &rest, out),
            None => out.append_unrecognised(UnrecognisedReason::Late, whole),
        }
    }

    /// Writes whole reasoning unless deltas were written.
    pub(super) fn write_and_end_thinking_unless_streamed(
        &mut self,
        index: u64,
        text: Option<&str>,
        out: &mut Writer<'_>,
    ) {
        if !std::mem::replace(&mut self.get_or_add_state(index).streamed, true) {
            out.append_reasoning(text.unwrap_or(""), ReasoningOrigin::Native);
            out.close_reasoning_and_defer_end();
        }
    }

    /// Starts a tool call, if its id and name are known.
    pub(super) fn start_named_tool_call_once(
        &mut self,
        index: u64,
        call: &ContentPart<'_>,
        out: &mut Writer<'_>,
    ) {
        let (id, name) = (call.id.as_deref().unwrap_or(""), call.name.as_deref().unwrap_or(""));
        let part = self.get_or_add_state(index);
        if part.step.is_none() && !id.is_empty() && !name.is_empty() {
            part.step = Some(out.start_tool(build_tool_start(id, name)));
        }
    }

    /// Starts a call and writes its arguments, unless written, and marks it ready.
    pub(super) fn ensure_tool_call_and_emit_ready(
        &mut self,
        index: u64,
        call: &ContentPart<'_>,
        out: &mut Writer<'_>,
    ) {
        self.start_named_tool_call_once(index, call, out);
        let PartState { step: Some(step), streamed, .. } = self.get_or_add_state(index) else {
            return;
        };
        if let Some(arguments) = call.arguments.filter(|_| !*streamed) {
            out.replace_arguments_if_changed(*step, arguments.get());
        }
        *streamed = true;
        out.emit_tool_ready_once(*step);
    }
}

/// Parses part `index` of a partial message, for its id and name.
pub(super) fn parse_part_at(partial: &RawValue, index: u64) -> Option<ContentPart<'_>> {
    let index = usize::try_from(index).ok()?;
    let part = content_member(Some(partial)).map(array_elements)?.get(index).copied()?;
    serde_json::from_str(part.get()).ok()
}
