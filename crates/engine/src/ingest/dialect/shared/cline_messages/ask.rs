//! Ask messages: approvals and questions to the user, and their options.

use std::borrow::Cow;

use crate::event::{
    AnsweredBy, AskKind, AskOption, DraftKind, FailureReason, StopReason, ToolKind,
};
use crate::ingest::json::{RawValue, array_elements, as_string, object};
use crate::limits::OPEN_ASKS_MAX;
use crate::run::Writer;

use super::super::bounded::push_bounded;
use super::completion::completion_text;
use super::{ClineMessage, ClineMessages};

impl ClineMessages {
    /// Applies an `ask` message.
    pub(super) fn apply_ask(
        &mut self,
        ask: &str,
        key: &str,
        message: &ClineMessage<'_>,
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
            // Only places for the user to reply; they ask nothing, but may have the text.
            ("command_output", _) => {
                if !message.text().is_empty() {
                    self.steps.try_apply_say(ask, key, message, out);
                }
            }
            ("completion_result", _) => {
                let text = completion_text(message.text());
                let is_same = text.trim() == self.completion_text.trim()
                    || message.is_partial() && self.is_completion_prefix(message);
                if !text.is_empty() && !is_same {
                    self.apply_completion(key, message, out);
                } else if !message.is_partial() {
                    self.steps.end_complete_steps(out);
                    out.report_completed_unless_failed(StopReason::End);
                }
            }
            (_, Some((kind, tool))) => {
                let step = self.steps.try_begin_or_update_asked_step(tool, key, message, out);
                self.open_ask_once_and_resolve_answered((ask, kind), key, message, step, out);
            }
            ("followup" | "plan_mode_respond", None) => {
                self.steps.end_complete_steps(out);
                self.open_ask_once_and_resolve_answered(
                    (ask, AskKind::Followup),
                    key,
                    message,
                    None,
                    out,
                );
            }
            ("api_req_failed", None) => {
                // Fail first, so that the open message is interrupted before the ask.
                if !message.is_partial() && message.is_answered != Some(true) {
                    out.report_failed_and_end_text(FailureReason::Error, message.text());
                }
                self.open_ask_once_and_resolve_answered(
                    (ask, AskKind::Other),
                    key,
                    message,
                    None,
                    out,
                );
            }
            (_, None) => self.open_ask_once_and_resolve_answered(
                (ask, AskKind::Other),
                key,
                message,
                None,
                out,
            ),
        }
    }

    /// Writes an ask once, when it is complete, and resolves it if it is answered.
    fn open_ask_once_and_resolve_answered(
        &mut self,
        (ask, kind): (&str, AskKind),
        key: &str,
        message: &ClineMessage<'_>,
        step: Option<crate::event::StepId>,
        out: &mut Writer<'_>,
    ) {
        if message.is_partial() {
            if kind == AskKind::Followup && !self.written_keys.contains(key) {
                let question = DraftKind::Question;
                self.unfinished.record_text_so_far(key, question, message.text(), out);
            }
            return;
        }
        if self.written_keys.insert(key) {
            self.unfinished.complete(key, out);
            let (text, options) = match kind {
                AskKind::Followup => parse_question(message.text()),
                AskKind::Tool | AskKind::Command | AskKind::Mcp | AskKind::Browser => {
                    (Cow::Borrowed(message.text()), approval_options())
                }
                AskKind::Other => default_text_and_options(ask, message.text()),
            };
            out.open_simple_ask_unless_open(key, kind, &text, options, step);
            push_bounded(&mut self.pending_asks, key.to_owned(), OPEN_ASKS_MAX);
        }
        if message.is_answered == Some(true) {
            resolve_as_answered(key, out);
        }
    }

    /// Resolves the pending asks: the agent continued, so they were answered.
    pub(super) fn resolve_pending_asks(&mut self, out: &mut Writer<'_>) {
        self.steps.resolve_pending_asks(out);
        for key in self.pending_asks.drain(..) {
            resolve_as_answered(&key, out);
        }
    }
}

/// Resolves an ask as answered; the answer itself arrives as user feedback, if at all.
pub(super) fn resolve_as_answered(key: &str, out: &mut Writer<'_>) {
    out.resolve_ask_if_open(key, "answered", AnsweredBy::Person);
}

/// Answer id of the approve button.
const YES_BUTTON: &str = "yesButtonClicked";

fn ask_option(id: &'static str, label: &'static str) -> AskOption<'static> {
    AskOption { id: id.into(), label: label.into() }
}

/// Options of an approval, with the answer ids that the agent accepts.
fn approval_options() -> Vec<AskOption<'static>> {
    vec![ask_option(YES_BUTTON, "Approve"), ask_option("noButtonClicked", "Reject")]
}

/// Text and options of an ask that is neither approval nor question, with the UI's default text.
fn default_text_and_options<'a>(
    ask: &str,
    text: &'a str,
) -> (Cow<'a, str>, Vec<AskOption<'static>>) {
    match ask {
        "resume_task" | "resume_completed_task" => {
            let text = if text.is_empty() { "Resume the task?" } else { text };
            (text.into(), vec![ask_option(YES_BUTTON, "Resume")])
        }
        "api_req_failed" => (text.into(), vec![ask_option(YES_BUTTON, "Retry")]),
        _ => (text.into(), Vec::new()),
    }
}

/// Parses a question: plain text, or JSON with suggested answers.
pub(super) fn parse_question(text: &str) -> (Cow<'_, str>, Vec<AskOption<'_>>) {
    object! { Question { question, response, suggest, options; skip _ } }
    let read = Question::parse(text).unwrap_or_default();
    let Question { question, response, suggest, options } = read;
    let Some(words) = question.or(response).and_then(as_string) else {
        return (text.into(), Vec::new());
    };
    let answers = suggest.or(options).map(array_elements).unwrap_or_default();
    let answers = answers.into_iter().filter_map(parse_suggested_answer);
    (words, answers.map(|label| AskOption { id: label.clone(), label }).collect())
}

/// Parses a suggested answer: a string or an object.
fn parse_suggested_answer(raw: &RawValue) -> Option<Cow<'_, str>> {
    object! { AnswerFields { answer; skip _ } }
    as_string(raw).or_else(|| AnswerFields::from_raw(raw)?.answer.and_then(as_string))
}
