//! Whole `chat.completion` bodies, for clients that do not stream.

use millpond_engine::event::{Ending, Event, Millis, Outcome, StepId};
use millpond_engine::event_family;
use serde::Serialize;

use super::chunk::{Call, Failure, Usage};
use super::{OpenAiChat, Options, finish_reason};
use crate::compat::ending::is_refused;
use crate::compat::{PayloadSink, Protocol, Reasoning, json};

/// Writes one payload, at the end: the body, or the protocol's error object.
#[derive(Clone, Debug, Default)]
pub struct OpenAiChatBody {
    chat: OpenAiChat,
    reasoning: Vec<(StepId, String)>,
    is_answer: bool,
}

impl OpenAiChatBody {
    /// Encoder with these options.
    pub fn new(options: Options) -> OpenAiChatBody {
        OpenAiChatBody { chat: OpenAiChat::new(options), ..OpenAiChatBody::default() }
    }

    /// True if the body is an answer, including a refusal, and not an error.
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
    fn write_run_start(&mut self, run: &str, at: Option<Millis>, _out: PayloadSink<'_>) {
        self.chat.write_run_start(run, at, &mut |_| {});
    }

    fn apply_event(&mut self, event: &Event<'_>, _out: PayloadSink<'_>) {
        self.chat.apply_event(event, &mut |_| {});
        match event {
            Event::ReasoningAppended { step, text } => {
                match self.reasoning.iter_mut().find(|(known_step, _)| known_step == step) {
                    Some((_, reasoning_text)) => reasoning_text.push_str(text),
                    None => self.reasoning.push((*step, text.clone().into_owned())),
                }
            }
            Event::Withdrawn { steps, .. } => {
                self.reasoning.retain(|(step, _)| !steps.contains(step));
            }
            // No part of a body.
            Event::ImageReceived { .. }
            | Event::ReasoningStarted { .. }
            | Event::ReasoningEnded { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Message)
            | event_family!(Tool)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    fn write_run_end(&mut self, ending: &Ending<'_>, out: PayloadSink<'_>) {
        let is_refused = is_refused(ending);
        self.is_answer = ending.outcome == Outcome::Completed || is_refused;
        if !self.is_answer {
            return json::write_payload(&Failure::from_ending(ending), out);
        }
        let pending = self.chat.take_client_calls(ending);
        let content = self.chat.messages.answer_content(self.chat.options.content, ending);
        let reasoning_texts: Vec<_> =
            self.reasoning.iter().map(|(_, step_text)| &**step_text).collect();
        let reasoning = reasoning_texts.join("\n\n");
        let is_shown = self.chat.options.reasoning == Reasoning::Show && !reasoning.is_empty();
        let message = Message {
            role: "assistant",
            content: (!content.is_empty()).then_some(&content),
            refusal: ending.detail.as_deref().filter(|_| is_refused),
            reasoning_content: is_shown.then_some(&reasoning),
            tool_calls: &pending,
        };
        let finish_reason = finish_reason(ending, &pending);
        let completion = Completion {
            id: &self.chat.id,
            object: "chat.completion",
            created: self.chat.options.created,
            model: &self.chat.options.model,
            choices: [Choice { index: 0, message, finish_reason, logprobs: () }],
            usage: self.chat.usage.total().map(Usage::new),
        };
        json::write_payload(&completion, out);
    }
}
