//! What threads say and think: pieces of items, and the items that repeat them.

use crate::event::{Phase, ReasoningOrigin, StepId, UnrecognisedReason};
use crate::run::{Fingerprint, Writer};

use super::super::agents::Voice;
use super::super::codex::shown::{Key, News, Shown};
use super::super::draft::{Drafts, Whole};
use super::items::Stage;
use super::{CodexAppServer, Params};

/// What has been shown of the items that speak.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Speech {
    texts: Shown,
    thoughts: Shown,
    /// What sub-agents said; a retry of the main thread does not touch it.
    agents: Shown,
    prompts: Shown,
    drafts: Drafts<Key>,
    /// The message that was announced last, or spoke last.
    writing: Option<Key>,
    /// The item whose reasoning is open.
    thinking: Option<Key>,
}

impl Speech {
    /// Ids of one turn say nothing about the next; sub-agents go on.
    pub(super) fn next_turn(&mut self) {
        let agents = std::mem::take(&mut self.agents);
        *self = Speech { agents, ..Speech::default() };
    }

    /// Whether this prompt has not been shown.
    pub(super) fn is_new_prompt(&mut self, id: &str, stage: Stage) -> bool {
        let key = Fingerprint::of(id);
        if stage == Stage::Started && key.is_empty() {
            self.prompts.forget(key);
        }
        let new = !self.prompts.knows(key);
        self.prompts.begin(key, None);
        if stage == Stage::Completed {
            self.prompts.finish(key);
        }
        new
    }

    /// A message is announced; its text comes later.
    pub(super) fn begin(&mut self, id: &str, phase: Option<Phase>) {
        let key = Fingerprint::of(id);
        if key.is_empty() {
            self.texts.forget(key);
        } else if self.texts.is_over(key) || self.texts.has_shown(key) {
            return;
        }
        self.texts.begin(key, phase);
        self.writing = Some(key);
    }

    /// New text of a message.
    fn say(&mut self, key: Key, text: &str, out: &mut Writer<'_>) {
        self.writing = Some(key);
        self.texts.say(key, text);
        self.drafts.say(key, self.texts.phase(key), text, out);
    }

    /// A message's whole text, which is its source's last word on it. Says whether any was new.
    pub(super) fn complete(
        &mut self,
        id: &str,
        phase: Option<Phase>,
        whole: &str,
        out: &mut Writer<'_>,
    ) -> bool {
        let key = Fingerprint::of(id);
        let forgotten = self.texts.has_shown(key) && self.drafts.said(key).is_none();
        let mut told = Whole::Repeat;
        if forgotten {
            if let News::Rest(rest) = self.texts.news(key, whole) {
                told = Whole::More;
                self.say(key, rest, out);
            }
        } else if !whole.is_empty() {
            self.texts.begin(key, phase);
            self.texts.say_whole(key, whole);
            told = self.drafts.whole(key, self.texts.phase(key), whole, out);
            told.warn(whole, out);
        }
        self.drafts.finish(key, out);
        if self.writing == Some(key) {
            self.writing = None;
        }
        self.texts.finish(key);
        told != Whole::Repeat
    }

    /// No more is said.
    pub(super) fn finish(&mut self, out: &mut Writer<'_>) {
        self.drafts.finish_all(out);
    }

    /// Something speaks that is no item.
    pub(super) fn leave(&mut self, out: &mut Writer<'_>) {
        self.drafts.leave(out);
    }

    fn think(&mut self, id: &str, text: &str, origin: ReasoningOrigin, out: &mut Writer<'_>) {
        let key = Fingerprint::of(id);
        if self.thinking.replace(key).is_some_and(|last| last != key) {
            out.end_reasoning();
        }
        self.thoughts.say(key, text);
        out.reasoning(text, origin);
    }

    /// Reasoning is over; says whether all of it has been shown.
    pub(super) fn end_thought(&mut self, id: &str, out: &mut Writer<'_>) -> bool {
        let key = Fingerprint::of(id);
        let shown = self.thoughts.has_shown(key) || self.thoughts.is_over(key);
        if self.thinking == Some(key) {
            out.end_reasoning();
            self.thinking = None;
        }
        self.thoughts.finish(key);
        shown
    }

    /// The model call is made anew: an item that was cut off comes again under another id, those
    /// that are finished do not.
    pub(super) fn take_back_unfinished(&mut self, out: &mut Writer<'_>) {
        let spoke = self.texts.forget_unfinished();
        let thought = self.thoughts.forget_unfinished();
        self.writing = None;
        self.thinking = None;
        let messages = self.drafts.give_up(out);
        if spoke || thought {
            out.withdraw_unfinished(&messages);
        }
    }
}

impl CodexAppServer {
    pub(super) fn text(
        &mut self,
        params: &Params<'_>,
        delta: &str,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let key = params.item_id.as_deref().map(Fingerprint::of);
        if self.is_main(params) {
            self.voice = Voice::Heard;
            // Text that names no item belongs to the message that is open.
            let key = key.or(self.speech.writing).unwrap_or_default();
            self.speech.say(key, delta, out);
        } else {
            self.speech.agents.say(key.unwrap_or_default(), delta);
            self.agent_text(params, delta, raw, out);
        }
    }

    pub(super) fn reasoning(
        &mut self,
        params: &Params<'_>,
        delta: &str,
        origin: ReasoningOrigin,
        out: &mut Writer<'_>,
    ) {
        // What sub-agents think is left out: the tool they run in has no place for it.
        if self.is_main(params) {
            self.speech.think(params.item_id.as_deref().unwrap_or(""), delta, origin, out);
        }
    }

    /// The whole text of a sub-agent's message.
    pub(super) fn agent_message(
        &mut self,
        params: &Params<'_>,
        id: &str,
        whole: &str,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let key = Fingerprint::of(id);
        match self.speech.agents.news(key, whole) {
            News::First => {
                self.speech.agents.say_whole(key, whole);
                self.agent_text(params, whole, raw, out);
            }
            News::Rest(rest) => {
                self.speech.agents.say_whole(key, whole);
                self.agent_text(params, rest, raw, out);
            }
            News::Nothing => {}
            News::Changed => out.unrecognised(UnrecognisedReason::Late, raw),
        }
        self.speech.agents.finish(key);
    }

    fn agent_text(&self, params: &Params<'_>, text: &str, raw: &str, out: &mut Writer<'_>) {
        match self.agent_step(params) {
            Some(step) if out.is_open(step) => out.output(step, text),
            _ => out.unrecognised(UnrecognisedReason::Late, raw),
        }
    }

    pub(super) fn agent_step(&self, params: &Params<'_>) -> Option<StepId> {
        let thread = Fingerprint::of(params.thread_id.as_deref()?);
        self.agents.iter().rev().find(|(agent, _)| *agent == thread).map(|&(_, step)| step)
    }
}
