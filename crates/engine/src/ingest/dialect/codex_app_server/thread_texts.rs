//! Texts and reasoning of threads: deltas of items, and the completed items that repeat them.

use crate::event::{MessagePhase, ReasoningOrigin, StepId, UnrecognisedReason};
use crate::run::{Fingerprint, Writer};

use super::super::shared::cli_agent::LastModelOutput;
use super::super::shared::message_drafts::{MessageDrafts, WholeTextEffect};
use super::super::shared::shown_items::{ShownDiff, ShownItemKey, ShownItems};
use super::items::ItemStage;
use super::{CodexAppServer, Params};

/// Text written for messages, reasoning and prompts of the current turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ThreadTexts {
    texts: ShownItems,
    thoughts: ShownItems,
    /// Text of sub-agents; a retry of the main thread does not affect it.
    sub_agent_texts: ShownItems,
    prompts: ShownItems,
    drafts: MessageDrafts<ShownItemKey>,
    /// The message announced or appended to last.
    current_message: Option<ShownItemKey>,
    /// The item whose reasoning is open.
    open_reasoning: Option<ShownItemKey>,
}

impl ThreadTexts {
    /// Clears the state for a new turn, except for sub-agents: ids are per turn.
    pub(super) fn reset_except_sub_agent_texts(&mut self) {
        let agents = std::mem::take(&mut self.sub_agent_texts);
        *self = ThreadTexts { sub_agent_texts: agents, ..ThreadTexts::default() };
    }

    /// Records a prompt; returns true if it is new.
    pub(super) fn record_prompt_if_new(&mut self, id: &str, stage: ItemStage) -> bool {
        let key = Fingerprint::from_text(id);
        if stage == ItemStage::Started && key.is_blank() {
            self.prompts.remove(key);
        }
        let new = !self.prompts.has_begun_item(key);
        self.prompts.ensure_item_and_set_phase(key, None);
        if stage == ItemStage::Completed {
            self.prompts.mark_finished_or_remove_unkeyed(key);
        }
        new
    }

    /// Records an announced message; its text follows.
    pub(super) fn record_announced_message_if_new(
        &mut self,
        id: &str,
        phase: Option<MessagePhase>,
    ) {
        let key = Fingerprint::from_text(id);
        if key.is_blank() {
            self.texts.remove(key);
        } else if self.texts.is_finished(key) || self.texts.has_text(key) {
            return;
        }
        self.texts.ensure_item_and_set_phase(key, phase);
        self.current_message = Some(key);
    }

    /// Appends text to a message.
    fn append_to_message(&mut self, key: ShownItemKey, text: &str, out: &mut Writer<'_>) {
        self.current_message = Some(key);
        self.texts.record_appended_text(key, text);
        self.drafts.resume_or_restate_and_append_text(key, self.texts.phase(key), text, out);
    }

    /// Applies the whole, final text of a message; returns true if any of it was new.
    pub(super) fn complete_message(
        &mut self,
        id: &str,
        phase: Option<MessagePhase>,
        whole: &str,
        out: &mut Writer<'_>,
    ) -> bool {
        let key = Fingerprint::from_text(id);
        let forgotten = self.texts.has_text(key) && self.drafts.text(key).is_none();
        let mut effect = WholeTextEffect::Unchanged;
        if forgotten {
            if let ShownDiff::Appended(rest) = self.texts.diff_whole_text(key, whole) {
                effect = WholeTextEffect::Appended;
                self.append_to_message(key, rest, out);
            }
        } else if !whole.is_empty() {
            self.texts.ensure_item_and_set_phase(key, phase);
            self.texts.record_whole_text(key, whole);
            effect = self.drafts.apply_whole_text(key, self.texts.phase(key), whole, out);
            effect.warn_if_replaced(whole, out);
        }
        self.drafts.finish_and_merge_message(key, out);
        if self.current_message == Some(key) {
            self.current_message = None;
        }
        self.texts.mark_finished_or_remove_unkeyed(key);
        effect != WholeTextEffect::Unchanged
    }

    /// Ends the input: finishes all messages.
    pub(super) fn finish_messages(&mut self, out: &mut Writer<'_>) {
        self.drafts.merge_pieces_and_drop_paused(out);
    }

    /// Pauses the current message: text outside of items follows.
    pub(super) fn end_message_and_pause_draft(&mut self, out: &mut Writer<'_>) {
        self.drafts.leave_message_and_pause_draft(out);
    }

    /// Appends text to a reasoning item.
    fn append_reasoning(
        &mut self,
        id: &str,
        text: &str,
        origin: ReasoningOrigin,
        out: &mut Writer<'_>,
    ) {
        let key = Fingerprint::from_text(id);
        if self.open_reasoning.replace(key).is_some_and(|last| last != key) {
            out.close_reasoning_and_defer_end();
        }
        self.thoughts.record_appended_text(key, text);
        out.append_reasoning(text, origin);
    }

    /// Ends a reasoning item; returns true if its text was written.
    pub(super) fn end_reasoning_and_check_if_written(
        &mut self,
        id: &str,
        out: &mut Writer<'_>,
    ) -> bool {
        let key = Fingerprint::from_text(id);
        let shown = self.thoughts.has_text(key) || self.thoughts.is_finished(key);
        if self.open_reasoning == Some(key) {
            out.close_reasoning_and_defer_end();
            self.open_reasoning = None;
        }
        self.thoughts.mark_finished_or_remove_unkeyed(key);
        shown
    }

    /// Withdraws unfinished items before a retry: they are sent again under other ids, finished
    /// ones are not.
    pub(super) fn withdraw_unfinished_and_end_round(&mut self, out: &mut Writer<'_>) {
        let had_text = self.texts.remove_unfinished_and_detect_text();
        let had_reasoning = self.thoughts.remove_unfinished_and_detect_text();
        self.current_message = None;
        self.open_reasoning = None;
        let messages = self.drafts.discard_all_and_return_ids(out);
        if had_text || had_reasoning {
            out.withdraw_unfinished_and_end_round(&messages);
        }
    }
}

impl CodexAppServer {
    /// Applies a text delta of the main thread or of a sub-agent.
    pub(super) fn apply_text_delta(
        &mut self,
        params: &Params<'_>,
        delta: &str,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let key = params.item_id.as_deref().map(Fingerprint::from_text);
        if self.is_about_main_or_unnamed_thread(params) {
            self.last_output = LastModelOutput::Text;
            // Text without an item id belongs to the current message.
            let key = key.or(self.thread_texts.current_message).unwrap_or_default();
            self.thread_texts.append_to_message(key, delta, out);
        } else {
            self.thread_texts.sub_agent_texts.record_appended_text(key.unwrap_or_default(), delta);
            self.append_sub_agent_output_or_unrecognised(params, delta, raw, out);
        }
    }

    /// Applies a reasoning delta of the main thread; ignores sub-agents.
    pub(super) fn apply_main_thread_reasoning_delta(
        &mut self,
        params: &Params<'_>,
        delta: &str,
        origin: ReasoningOrigin,
        out: &mut Writer<'_>,
    ) {
        if self.is_about_main_or_unnamed_thread(params) {
            self.thread_texts.append_reasoning(
                params.item_id.as_deref().unwrap_or(""),
                delta,
                origin,
                out,
            );
        }
    }

    /// Writes the new part of a sub-agent's whole message.
    pub(super) fn write_rest_of_sub_agent_message(
        &mut self,
        params: &Params<'_>,
        id: &str,
        whole: &str,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let key = Fingerprint::from_text(id);
        match self.thread_texts.sub_agent_texts.diff_whole_text(key, whole) {
            ShownDiff::New => {
                self.thread_texts.sub_agent_texts.record_whole_text(key, whole);
                self.append_sub_agent_output_or_unrecognised(params, whole, raw, out);
            }
            ShownDiff::Appended(rest) => {
                self.thread_texts.sub_agent_texts.record_whole_text(key, whole);
                self.append_sub_agent_output_or_unrecognised(params, rest, raw, out);
            }
            ShownDiff::Unchanged => {}
            ShownDiff::Changed => out.append_unrecognised(UnrecognisedReason::Late, raw),
        }
        self.thread_texts.sub_agent_texts.mark_finished_or_remove_unkeyed(key);
    }

    /// Writes text of a sub-agent as output of its step.
    fn append_sub_agent_output_or_unrecognised(
        &self,
        params: &Params<'_>,
        text: &str,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        match self.find_sub_agent_step(params) {
            Some(step) if out.is_tool_open(step) => out.append_output_if_open(step, text),
            _ => out.append_unrecognised(UnrecognisedReason::Late, raw),
        }
    }

    /// Step of the sub-agent whose thread a message names.
    pub(super) fn find_sub_agent_step(&self, params: &Params<'_>) -> Option<StepId> {
        let thread = Fingerprint::from_text(params.thread_id.as_deref()?);
        self.sub_agents.iter().rev().find(|(agent, _)| *agent == thread).map(|&(_, step)| step)
    }
}
