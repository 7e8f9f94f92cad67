//! Whole `chat.completion` bodies, for clients that do not stream.

use engine::event::{Ending, Event, Millis, Outcome, StepId};
use serde::Serialize;

use super::chunk::{Call, Failure, Usage};
use super::{OpenAiChat, Options, finish_reason};
use crate::compat::ending::is_refused;
use crate::compat::{Out, Protocol, Reasoning, json};

/// Says one payload, at the end: the body, or the protocol's error object.
#[derive(Clone, Debug, Default)]
pub struct OpenAiChatBody {
    chat: OpenAiChat,
    thoughts: Vec<(StepId, String)>,
    is_answer: bool,
}

impl OpenAiChatBody {
    pub fn new(options: Options) -> OpenAiChatBody {
        OpenAiChatBody { chat: OpenAiChat::new(options), ..OpenAiChatBody::default() }
    }

    /// Whether the body is an answer, also one that says no, and not an error.
    pub fn is_answer(&self) -> bool {
        self.is_answer
    }
}

#[derive(Debug, Serialize)]
struct Completion<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: [Choice<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

#[derive(Debug, Serialize)]
struct Choice<'a> {
    index: u32,
    message: Message<'a>,
    finish_reason: &'static str,
    logprobs: (),
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Option<&'a str>,
    refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tool_calls: &'a [Call],
}

impl Protocol for OpenAiChatBody {
    fn begin(&mut self, run: &str, at: Option<Millis>, _out: Out<'_>) {
        self.chat.begin(run, at, &mut |_| {});
    }

    fn event(&mut self, event: &Event<'_>, _out: Out<'_>) {
        self.chat.event(event, &mut |_| {});
        match event {
            Event::ReasoningAppended { step, text } => {
                match self.thoughts.iter_mut().find(|(known, _)| known == step) {
                    Some((_, thought)) => thought.push_str(text),
                    None => self.thoughts.push((*step, text.clone().into_owned())),
                }
            }
            Event::Withdrawn { steps, .. } => {
                self.thoughts.retain(|(step, _)| !steps.contains(step));
            }
            _ => {}
        }
    }

    fn end(&mut self, ending: &Ending<'_>, out: Out<'_>) {
        let is_refused = is_refused(ending);
        self.is_answer = ending.outcome == Outcome::Completed || is_refused;
        if !self.is_answer {
            return json::say(&Failure::of(ending), out);
        }
        let pending = self.chat.pending(ending);
        let content = self.chat.said.content(self.chat.options.content, ending);
        let thoughts: Vec<_> = self.thoughts.iter().map(|(_, thought)| &**thought).collect();
        let reasoning = thoughts.join("\n\n");
        let shows = self.chat.options.reasoning == Reasoning::Show && !reasoning.is_empty();
        let message = Message {
            role: "assistant",
            content: (!content.is_empty()).then_some(&content),
            refusal: ending.detail.as_deref().filter(|_| is_refused),
            reasoning_content: shows.then_some(&reasoning),
            tool_calls: &pending,
        };
        let finish_reason = finish_reason(ending, !pending.is_empty());
        let completion = Completion {
            id: &self.chat.id,
            object: "chat.completion",
            created: self.chat.options.created,
            model: &self.chat.options.model,
            choices: [Choice { index: 0, message, finish_reason, logprobs: () }],
            usage: self.chat.spent.total().map(Usage::new),
        };
        json::say(&completion, out);
    }
}
