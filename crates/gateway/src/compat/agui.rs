//! AG-UI 1.0: a run with steps (rounds), text messages, reasoning, tool calls and their results.
//!
//! Ids are the run's own with a suffix, because the client keeps messages of many runs in one list.
//! Nothing but line feeds may end lines, and there is no `[DONE]`: that is the framing's business.
//! What has no event of its own travels as `CUSTOM`, under names that begin with `millpond.`.

use std::collections::BTreeSet;

use engine::event::{
    Citation, Ending, Event, Image, Level, MessageId, Millis, Outcome, Owner, ReasoningOrigin,
    StepId,
};
use serde_json::value::RawValue;

use super::call::Calls;
use super::ending::{code, words};
use super::shown::{is_link, picture};
use super::spent::Spent;
use super::{Out, Protocol, RETOLD_MAX, Reasoning, json};

use event::{Custom, Usage};
use thread::Thread;

mod event;
mod thread;
mod tools;

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The client's thread.
    pub thread: String,
    /// The client's name for the run, where it gave one.
    pub run: Option<String>,
    pub reasoning: Reasoning,
    /// What stands before a kept picture's digest in its address.
    pub picture_prefix: String,
    /// The client's messages, as it sent them.
    pub history: Vec<Box<RawValue>>,
}

#[derive(Clone, Debug, Default)]
pub struct AgUi {
    thread: String,
    run: Option<String>,
    reasoning: Reasoning,
    picture_prefix: String,
    /// What all ids begin with.
    id: String,
    model: Option<String>,
    step: Option<String>,
    text: Option<MessageId>,
    thoughts: BTreeSet<StepId>,
    calls: Calls,
    unanswered: Vec<(StepId, String)>,
    told: Thread,
    retold: u32,
    /// The client has not been told what changed.
    is_stale: bool,
    spent: Spent,
}

impl AgUi {
    pub fn new(options: Options) -> AgUi {
        AgUi {
            thread: options.thread,
            run: options.run,
            reasoning: options.reasoning,
            picture_prefix: options.picture_prefix,
            told: Thread::new(&options.history),
            ..AgUi::default()
        }
    }

    fn message_id(&self, message: MessageId) -> String {
        format!("{}-m{}", self.id, message.0)
    }

    fn step_id(&self, step: StepId) -> String {
        format!("{}-s{}", self.id, step.0)
    }

    fn custom(custom: Custom<'_>, out: Out<'_>) {
        json::say(&event::Event::Custom { custom }, out);
    }

    fn start_round(&mut self, round: u32, out: Out<'_>) {
        self.end_round(out);
        let step_name = format!("round {round}");
        json::say(&event::Event::StepStarted { step_name: &step_name }, out);
        self.step = Some(step_name);
    }

    fn end_round(&mut self, out: Out<'_>) {
        self.end_text(out);
        if let Some(step_name) = self.step.take() {
            json::say(&event::Event::StepFinished { step_name: &step_name }, out);
        }
    }

    fn start_text(&mut self, message: MessageId, out: Out<'_>) {
        self.end_text(out);
        let message_id = self.message_id(message);
        let role = "assistant";
        json::say(&event::Event::TextMessageStart { message_id: &message_id, role }, out);
        self.text = Some(message);
        self.told.start_text(message, message_id);
    }

    fn append_text(&mut self, message: MessageId, delta: &str, out: Out<'_>) {
        if self.text != Some(message) || delta.is_empty() {
            return;
        }
        if let Some((text, message_id)) = self.told.text(message) {
            text.push_str(delta);
            json::say(&event::Event::TextMessageContent { message_id, delta }, out);
        }
    }

    fn rewrite_text(&mut self, message: MessageId, kept: usize, new: &str, out: Out<'_>) {
        if self.text != Some(message) {
            return;
        }
        let Some((text, _)) = self.told.text(message) else { return };
        if kept >= text.len() {
            return self.append_text(message, new, out);
        }
        text.truncate(text.floor_char_boundary(kept));
        text.push_str(new);
        self.retell(out);
    }

    /// Tells the conversation anew.
    fn retell(&mut self, out: Out<'_>) {
        self.is_stale = self.retold >= RETOLD_MAX;
        if !self.is_stale {
            self.retold += 1;
            json::say(&self.told.snapshot(), out);
        }
    }

    fn end_text(&mut self, out: Out<'_>) {
        if let Some(message) = self.text.take() {
            let message_id = self.message_id(message);
            json::say(&event::Event::TextMessageEnd { message_id: &message_id }, out);
        }
    }

    fn start_thought(&mut self, step: StepId, out: Out<'_>) {
        if self.reasoning == Reasoning::Show && self.thoughts.insert(step) {
            let message_id = &*self.step_id(step);
            json::say(&event::Event::ReasoningStart { message_id }, out);
            let role = "reasoning";
            json::say(&event::Event::ReasoningMessageStart { message_id, role }, out);
        }
    }

    fn think(&mut self, step: StepId, delta: &str, out: Out<'_>) {
        self.start_thought(step, out);
        if self.reasoning == Reasoning::Show && !delta.is_empty() {
            let message_id = &*self.step_id(step);
            json::say(&event::Event::ReasoningMessageContent { message_id, delta }, out);
        }
    }

    fn end_thought(&mut self, step: StepId, out: Out<'_>) {
        if self.thoughts.remove(&step) {
            let message_id = &*self.step_id(step);
            json::say(&event::Event::ReasoningMessageEnd { message_id }, out);
            json::say(&event::Event::ReasoningEnd { message_id }, out);
        }
    }

    fn cite(&self, message: MessageId, citation: &Citation<'_>, out: Out<'_>) {
        let custom = Custom::Source {
            message_id: &self.message_id(message),
            url: citation.url.as_deref().filter(|url| is_link(url)),
            title: citation.title.as_deref(),
            quote: citation.quote.as_deref(),
        };
        AgUi::custom(custom, out);
    }

    fn show(&self, owner: Owner, image: &Image<'_>, out: Out<'_>) {
        let id = match owner {
            Owner::Message(message) => self.message_id(message),
            Owner::Step(step) => {
                self.calls.id(step).map_or_else(|| self.step_id(step), str::to_owned)
            }
        };
        if let Some(picture) = picture(image, &self.picture_prefix) {
            let (url, media_type) = (&*picture.url, picture.media_type);
            AgUi::custom(Custom::Image { id: &id, url, media_type }, out);
        }
    }

    /// Closes what was taken back, says so, and tells the conversation anew without it.
    fn withdraw(&mut self, messages: &[MessageId], steps: &[StepId], out: Out<'_>) {
        if self.text.is_some_and(|open| messages.contains(&open)) {
            self.end_text(out);
        }
        for &step in steps {
            self.end_thought(step, out);
            self.withdraw_call(step, out);
        }
        let mut ids = self.told.withdraw(messages, steps);
        let thoughts = steps.iter().filter(|&&step| self.calls.id(step).is_none());
        ids.extend(thoughts.map(|&step| self.step_id(step)));
        AgUi::custom(Custom::Withdrawn { ids: &ids }, out);
        self.retell(out);
    }
}

impl Protocol for AgUi {
    fn begin(&mut self, run: &str, _at: Option<Millis>, out: Out<'_>) {
        run.clone_into(&mut self.id);
        let event = event::Event::RunStarted {
            thread_id: &self.thread,
            run_id: self.run.as_deref().unwrap_or(run),
            protocol_version: "1.0",
        };
        json::say(&event, out);
    }

    fn event(&mut self, event: &Event<'_>, out: Out<'_>) {
        self.spent.apply(event);
        match event {
            Event::RoundStarted { round, model, .. } => {
                if let Some(model) = model {
                    self.model = Some(model.clone().into_owned());
                }
                self.start_round(*round, out);
            }
            Event::RoundEnded { .. } => self.end_round(out),
            Event::MessageStarted { message, .. } => self.start_text(*message, out),
            Event::TextAppended { message, text } => self.append_text(*message, text, out),
            Event::TextRewritten { message, kept_bytes, text } => {
                self.rewrite_text(*message, *kept_bytes, text, out);
            }
            Event::MessageEnded { .. } => self.end_text(out),
            Event::SourceCited { message, citation } => self.cite(*message, citation, out),
            Event::ImageReceived { owner, image } => self.show(*owner, image, out),
            Event::ReasoningStarted { step, origin, .. } => {
                if *origin != ReasoningOrigin::Redacted {
                    self.start_thought(*step, out);
                }
            }
            Event::ReasoningAppended { step, text } => self.think(*step, text, out),
            Event::ReasoningEnded { step, .. } => self.end_thought(*step, out),
            Event::Withdrawn { messages, steps } => self.withdraw(messages, steps, out),
            Event::NoticeGiven { level, text } => {
                AgUi::custom(Custom::Notice { level: *level, text }, out);
            }
            Event::RetryScheduled { reason, .. } => {
                AgUi::custom(Custom::Notice { level: Level::Warning, text: reason }, out);
            }
            Event::ToolStarted { .. }
            | Event::ArgumentsAppended { .. }
            | Event::ArgumentsReplaced { .. }
            | Event::ToolReady { .. }
            | Event::ToolProgressed { .. }
            | Event::OutputAppended { .. }
            | Event::ToolEnded { .. }
            | Event::AskOpened { .. }
            | Event::AskResolved { .. } => self.tool(event, out),
            Event::RunStarted { .. }
            | Event::RunEnded { .. }
            | Event::PromptReceived { .. }
            | Event::StepSealed { .. }
            | Event::SessionNamed { .. }
            | Event::PromptJoined { .. }
            | Event::MarkupHidden { .. }
            | Event::RequestStarted { .. }
            | Event::RequestEnded { .. }
            | Event::CheckpointSaved { .. }
            | Event::HistoryCompacted { .. }
            | Event::UsageReported { .. }
            | Event::FinalDeclared { .. }
            | Event::QuirkActed { .. }
            | Event::Unrecognised { .. } => {}
        }
    }

    fn end(&mut self, ending: &Ending<'_>, out: Out<'_>) {
        self.end_text(out);
        for step in std::mem::take(&mut self.thoughts) {
            self.thoughts.insert(step);
            self.end_thought(step, out);
        }
        let pending = self.end_calls(ending, out);
        self.end_round(out);
        if self.is_stale {
            json::say(&self.told.snapshot(), out);
        }
        let usage = self.spent.total().map(|usage| [Usage::new(usage, self.model.as_deref())]);
        let outcome = match ending.outcome {
            Outcome::Completed => event::Outcome::Success { pending_tool_call_ids: &pending },
            Outcome::Cancelled => event::Outcome::Cancelled,
            Outcome::Failed | Outcome::Truncated | Outcome::Stalled | Outcome::Interrupted => {
                let (message, code) = (&*words(ending), code(ending));
                return json::say(&event::Event::RunError { message, code, usage }, out);
            }
        };
        let reply = ending.message.map(|message| self.message_id(message));
        let event = event::Event::RunFinished {
            thread_id: &self.thread,
            run_id: self.run.as_deref().unwrap_or(&self.id),
            result: event::Result {
                message_id: reply.as_deref(),
                stop: ending.stop,
                incomplete: ending.incomplete,
            },
            outcome,
            usage,
        };
        json::say(&event, out);
    }
}
