//! Chat completions as a server speaks them: `chat.completion.chunk` streams, and whole
//! `chat.completion` bodies ([`body`]).
//!
//! The run is the model. Tools that were run on the way are not the client's, and are not shown;
//! calls that a completed run left without a result are, as `tool_calls`. Content only grows in this
//! protocol: [`Content`] says what that means for a run that speaks more than once.

use engine::event::{Ending, Event, MessageId, Millis, Outcome, StepId, Stop};

use super::call::Unanswered;
use super::ending::is_refused;
use super::spent::Spent;
use super::{DONE, Out, Protocol, Reasoning, json};

use chunk::{Call, Choice, Chunk, Delta, Failure, Spending, Truth, Usage};
use said::Said;

pub mod body;

mod chunk;
mod said;

/// Which of a run's messages are the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// All of them, as they are written, with a blank line between.
    #[default]
    All,
    /// Only the final one, which is known when the run has ended: nothing is sent before.
    Final,
}

/// Whether a chunk with the run's usage is sent (`stream_options.include_usage`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeUsage {
    Yes,
    #[default]
    No,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The model as the client asked for it.
    pub model: String,
    /// Seconds since the Unix epoch, for logs that tell no time.
    pub created: u64,
    pub content: Content,
    pub reasoning: Reasoning,
    pub usage: IncludeUsage,
}

#[derive(Clone, Debug, Default)]
pub struct OpenAiChat {
    options: Options,
    id: String,
    said: Said,
    /// The message or reasoning step whose text was sent last.
    wrote: Option<MessageId>,
    thought: Option<StepId>,
    unanswered: Unanswered,
    spent: Spent,
}

impl OpenAiChat {
    pub fn new(options: Options) -> OpenAiChat {
        OpenAiChat { options, ..OpenAiChat::default() }
    }

    fn chunk(&self, delta: Delta<'_>, finish_reason: Option<&'static str>, out: Out<'_>) {
        let choice = Choice { index: 0, delta, finish_reason, logprobs: () };
        json::say(&self.envelope(&[choice], None, None), out);
    }

    fn envelope<'a>(
        &'a self,
        choices: &'a [Choice<'a>],
        usage: Option<Usage>,
        millpond: Option<Truth<'a>>,
    ) -> Chunk<'a> {
        let usage = match (self.options.usage, usage) {
            (IncludeUsage::No, _) => Spending::Unasked,
            (IncludeUsage::Yes, None) => Spending::Later,
            (IncludeUsage::Yes, Some(usage)) => Spending::Told(usage),
        };
        Chunk {
            id: &self.id,
            object: "chat.completion.chunk",
            created: self.options.created,
            model: &self.options.model,
            choices,
            usage,
            millpond,
        }
    }

    fn append(&mut self, message: MessageId, delta: &str, out: Out<'_>) {
        if self.options.content == Content::All && self.said.is_live(message) {
            let is_new = self.wrote != Some(message);
            if is_new && self.wrote.is_some() {
                self.chunk(Delta::content("\n\n"), None, out);
            }
            self.wrote = Some(message);
            self.chunk(Delta::content(delta), None, out);
        }
    }

    fn think(&mut self, step: StepId, delta: &str, out: Out<'_>) {
        if self.options.reasoning == Reasoning::Hide {
            return;
        }
        if self.thought.is_some_and(|thought| thought != step) {
            self.chunk(Delta::reasoning("\n\n"), None, out);
        }
        self.thought = Some(step);
        self.chunk(Delta::reasoning(delta), None, out);
    }

    /// The calls left to the client.
    fn pending(&mut self, ending: &Ending<'_>) -> Vec<Call> {
        let calls = self.unanswered.take(ending).into_iter();
        calls.map(|(_, call)| Call::new(call.id, call.name, call.arguments)).collect()
    }

    fn fail(ending: &Ending<'_>, out: Out<'_>) {
        json::say(&Failure::of(ending), out);
        out(DONE);
    }

    fn usage(&self, out: Out<'_>) {
        if self.options.usage == IncludeUsage::Yes {
            let usage = Usage::new(self.spent.total().unwrap_or_default());
            json::say(&self.envelope(&[], Some(usage), None), out);
        }
    }
}

impl Protocol for OpenAiChat {
    fn begin(&mut self, run: &str, at: Option<Millis>, out: Out<'_>) {
        self.id = format!("chatcmpl-{run}");
        self.options.created = at.map_or(self.options.created, |at| at / 1000);
        self.chunk(Delta::opening(), None, out);
    }

    fn event(&mut self, event: &Event<'_>, out: Out<'_>) {
        self.spent.apply(event);
        self.said.apply(event);
        self.unanswered.apply(event);
        match event {
            Event::TextAppended { message, text } => self.append(*message, text, out),
            Event::TextRewritten { message, text, .. } if !text.is_empty() => {
                self.append(*message, text, out);
            }
            Event::ReasoningAppended { step, text } => self.think(*step, text, out),
            _ => {}
        }
    }

    fn end(&mut self, ending: &Ending<'_>, out: Out<'_>) {
        let is_refused = is_refused(ending);
        if ending.outcome != Outcome::Completed && !is_refused {
            return OpenAiChat::fail(ending, out);
        }
        let content = self.said.content(self.options.content, ending);
        if self.options.content == Content::Final && !content.is_empty() {
            self.chunk(Delta::content(&content), None, out);
        }
        if let Some(detail) = ending.detail.as_deref().filter(|_| is_refused) {
            self.chunk(Delta::refusal(detail), None, out);
        }
        let pending = self.pending(ending);
        if !pending.is_empty() {
            self.chunk(Delta::calls(&pending), None, out);
        }
        let finish_reason = Some(finish_reason(ending, !pending.is_empty()));
        let is_untrue = self.options.content == Content::All && self.said.is_untrue();
        let truth = is_untrue.then_some(Truth { content: &content });
        let choice = Choice { index: 0, delta: Delta::default(), finish_reason, logprobs: () };
        json::say(&self.envelope(&[choice], None, truth), out);
        self.usage(out);
        out(DONE);
    }
}

fn finish_reason(ending: &Ending<'_>, asks: bool) -> &'static str {
    match ending.stop {
        _ if is_refused(ending) => "content_filter",
        Some(Stop::Length) => "length",
        Some(Stop::Tools) if asks => "tool_calls",
        None | Some(Stop::End | Stop::Tools | Stop::Paused | Stop::Other) => "stop",
    }
}
