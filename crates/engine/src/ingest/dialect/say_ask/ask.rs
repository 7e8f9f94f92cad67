//! Asks: what only a person can settle.

use std::borrow::Cow;

use crate::event::{AnsweredBy, AskKind, AskOption, FailureReason, Stop, ToolKind};
use crate::ingest::json::{RawValue, Shape, elements, string};
use crate::run::Writer;

use super::{Message, SayAsk};

impl SayAsk {
    pub(super) fn ask(
        &mut self,
        ask: &str,
        key: &str,
        message: &Message<'_>,
        out: &mut Writer<'_>,
    ) {
        let tool = match ask {
            "tool" => Some((AskKind::Tool, ToolKind::Function)),
            "command" => Some((AskKind::Command, ToolKind::Command)),
            "use_mcp_server" => Some((AskKind::Mcp, ToolKind::Mcp)),
            "browser_action_launch" => Some((AskKind::Browser, ToolKind::Action)),
            _ => None,
        };
        match (ask, tool) {
            // Their ask is only a place to answer at.
            ("command_output", _) => {}
            ("completion_result", _) => {
                if !message.is_partial() {
                    self.steps.end(out);
                    out.complete(Stop::End);
                }
            }
            (_, Some((kind, tool))) => {
                let step = self.steps.asked(tool, key, message, out);
                self.open_ask((ask, kind), key, message, step, out);
            }
            ("followup" | "plan_mode_respond", None) => {
                self.steps.end(out);
                self.open_ask((ask, AskKind::Followup), key, message, None, out);
            }
            ("api_req_failed", None) => {
                // First, because what was being said then breaks off.
                if !message.is_partial() && message.is_answered != Some(true) {
                    out.fail(FailureReason::Error, message.text());
                }
                self.open_ask((ask, AskKind::Other), key, message, None, out);
            }
            (_, None) => self.open_ask((ask, AskKind::Other), key, message, None, out),
        }
    }

    fn open_ask(
        &mut self,
        (ask, kind): (&str, AskKind),
        key: &str,
        message: &Message<'_>,
        step: Option<crate::event::StepId>,
        out: &mut Writer<'_>,
    ) {
        if message.is_partial() {
            return;
        }
        if self.told.add(key) {
            let (text, options) = match kind {
                AskKind::Followup => question(message.text()),
                AskKind::Tool | AskKind::Command | AskKind::Mcp | AskKind::Browser => {
                    (Cow::Borrowed(message.text()), buttons())
                }
                AskKind::Other => offer(ask, message.text()),
            };
            out.ask(key, kind, &text, options, step);
            self.waiting = Some(key.to_owned());
        }
        if message.is_answered == Some(true) {
            resolve(key, out);
        }
    }

    /// The agent goes on: what it waited for has been answered.
    pub(super) fn answered(&mut self, out: &mut Writer<'_>) {
        self.steps.answered(out);
        if let Some(key) = self.waiting.take() {
            resolve(&key, out);
        }
    }
}

/// What the answer was comes as the person's feedback, if at all.
pub(super) fn resolve(key: &str, out: &mut Writer<'_>) {
    out.resolve_ask(key, "answered", AnsweredBy::Person);
}

const YES: &str = "yesButtonClicked";

fn option(id: &'static str, label: &'static str) -> AskOption<'static> {
    AskOption { id: id.into(), label: label.into() }
}

/// What a person may say to an approval, in the words of the answer that the agent takes.
fn buttons() -> Vec<AskOption<'static>> {
    vec![option(YES, "Approve"), option("noButtonClicked", "Reject")]
}

/// The screens put words of their own to asks that have none.
fn offer<'a>(ask: &str, text: &'a str) -> (Cow<'a, str>, Vec<AskOption<'static>>) {
    match ask {
        "resume_task" | "resume_completed_task" => {
            let text = if text.is_empty() { "Resume the task?" } else { text };
            (text.into(), vec![option(YES, "Resume")])
        }
        "api_req_failed" => (text.into(), vec![option(YES, "Retry")]),
        _ => (text.into(), Vec::new()),
    }
}

/// A question is plain text, or JSON with the answers it suggests.
fn question(text: &str) -> (Cow<'_, str>, Vec<AskOption<'_>>) {
    const QUESTION: Shape<4> =
        Shape { read: ["question", "response", "suggest", "options"], skip: &[] };
    let read = QUESTION.read(text).map(|question| question.read).unwrap_or_default();
    let [question, response, suggest, options] = read;
    let Some(words) = question.or(response).and_then(string) else {
        return (text.into(), Vec::new());
    };
    let answers = suggest.or(options).map(elements).unwrap_or_default();
    let answers = answers.into_iter().filter_map(answer);
    (words, answers.map(|label| AskOption { id: label.clone(), label }).collect())
}

fn answer(raw: &RawValue) -> Option<Cow<'_, str>> {
    const ANSWER: Shape<1> = Shape { read: ["answer"], skip: &[] };
    string(raw).or_else(|| ANSWER.read(raw.get())?.read[0].and_then(string))
}
