//! The say and ask messages of Cline, Kilo and Roo.
//!
//! Each has a `ts`, which is its id and the time it began; one that comes again replaces itself.

mod ask;
mod request;
mod step;

use crate::event::{Event, Level, Phase, Stop, UnrecognisedReason};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Text, elements, number, object, string};
use crate::run::Writer;

use super::Unreadable;
use super::openai_chat::image_of_url;
use super::repeated::{Recent, Repeated};

use request::Requests;
use step::Steps;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SayAsk {
    /// The latest time told: a message that comes again carries the time it began.
    clock: u64,
    first: First,
    texts: Repeated,
    thoughts: Repeated,
    /// Messages that are told once.
    told: Recent,
    requests: Requests,
    steps: Steps,
    /// The last ask that nobody is known to have answered.
    waiting: Option<String>,
}

/// A task's first message is the person's, although it looks like the model's: only the request
/// after it tells.
#[derive(Clone, Debug, Default, PartialEq)]
enum First {
    #[default]
    Awaited,
    Held {
        key: String,
        text: String,
    },
    Passed,
}

object! { Message {
    ts: &'a RawValue = "ts",
    id: &'a RawValue = "id",
    kind: Text<'a> = "type",
    say: Text<'a> = "say",
    ask: Text<'a> = "ask",
    text: Text<'a> = "text",
    content: Text<'a> = "content",
    reasoning: Text<'a> = "reasoning",
    images: &'a RawValue = "images",
    partial: bool = "partial",
    is_answered: bool = "isAnswered",
    checkpoint: Text<'a> = "lastCheckpointHash",
    condensed: &'a RawValue = "contextCondense",
    ; skip "conversationHistoryIndex" | "isCheckpointCheckedOut" | "files" | "metadata"
        | "isOperationOutsideWorkspace" | "conversationHistoryDeletedRange" | "progressStatus"
        | "checkpoint" | "isProtected" | "apiProtocol" | "modelInfo" | "commandCompleted"
        | "contextTruncation" | "source" | "multiCommandState"
} }

impl Message<'_> {
    fn is_partial(&self) -> bool {
        self.partial == Some(true)
    }

    fn text(&self) -> &str {
        self.text.as_deref().or(self.content.as_deref()).unwrap_or("")
    }

    /// What tells a message from others: a time alone may be that of two. Empty where it has none.
    fn key(&self) -> String {
        let kind = [&self.say, &self.ask, &self.kind].into_iter().flatten().next();
        let id = self.id.filter(|_| self.say.is_none() && self.ask.is_none()).or(self.ts);
        let id = id.filter(|id| id.get() != "\"\"");
        id.map(|id| format!("{}:{}", id.get(), kind.map_or("", |kind| kind))).unwrap_or_default()
    }
}

impl SayAsk {
    pub(super) fn frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let message: Message<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.unknown_fields(&message.unknown);
        let key = message.key();
        let request = message.say.as_deref() == Some("api_req_started");
        self.release_first(&key, request, out);
        if let Some(ts) = message.ts.and_then(number) {
            self.clock = self.clock.max(ts);
            out.at(self.clock);
        }
        match (message.kind.as_deref().unwrap_or(""), &message.say, &message.ask) {
            ("say", Some(say), _) => self.say(say, &key, &message, frame, out),
            ("ask", _, Some(ask)) => self.ask(ask, &key, &message, out),
            (kind, _, _) => self.plain(kind, &key, &message, frame, out),
        }
        if matches!(self.first, First::Awaited) {
            self.first = First::Passed;
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, out: &mut Writer<'_>) {
        self.release_first("", false, out);
    }

    fn say(
        &mut self,
        say: &str,
        key: &str,
        message: &Message<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        if let Some(thought) = message.reasoning.as_deref().filter(|text| !text.is_empty()) {
            self.thoughts.thought(key, thought, out);
        }
        let text = message.text();
        match say {
            "text" if self.hold_first(key, message) => {}
            "text" => {
                self.steps.end(out);
                self.texts.text(key, text, out);
                self.images(key, message, out);
                if !message.is_partial() {
                    out.end_whole_message();
                }
            }
            "reasoning" => {
                self.steps.end(out);
                self.thoughts.thought(key, text, out);
                if !message.is_partial() {
                    out.end_reasoning();
                }
            }
            "completion_result" => self.completion(key, message, out),
            "task" | "user_feedback" | "user_feedback_diff" => self.prompt(key, message, out),
            "api_req_started" => {
                if self.requests.is_new(key) {
                    self.answered(out);
                }
                self.steps.end(out);
                self.requests.started(key, message, out);
            }
            "checkpoint_saved" | "checkpoint_created" => {
                let hash = Some(text).filter(|text| !text.is_empty());
                let hash = hash.or(message.checkpoint.as_deref()).unwrap_or("");
                if self.told.add(key) {
                    out.note(Event::CheckpointSaved { hash: hash.into() });
                }
            }
            "condense_context" if !message.is_partial() && self.told.add(key) => {
                let summary = message.condensed.and_then(request::summary);
                out.note(Event::HistoryCompacted { summary });
            }
            _ if request::is_retry(say) => self.once(key, message, out, request::retry),
            _ if self.steps.say(say, key, message, out) => {}
            _ => match notice_level(say) {
                Some(level) => self.notice(level, key, message, out),
                None if is_quiet(say) => {}
                None => out.unrecognised(UnrecognisedReason::Frame, frame.data),
            },
        }
    }

    /// Messages that are neither said nor asked by the agent's own machinery.
    fn plain(
        &mut self,
        kind: &str,
        key: &str,
        message: &Message<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        match kind {
            "user" => self.prompt(key, message, out),
            "assistant" => self.texts.text(key, message.text(), out),
            "system" => self.notice(Level::Info, key, message, out),
            "error" => self.notice(Level::Error, key, message, out),
            "welcome" | "empty" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
    }

    fn completion(&mut self, key: &str, message: &Message<'_>, out: &mut Writer<'_>) {
        // Cline's mark for its own screen: there is something to compare.
        const HAS_CHANGES: &str = "HAS_CHANGES";
        self.steps.end(out);
        let text = message.text();
        let text = text.strip_suffix(HAS_CHANGES).unwrap_or(text);
        self.texts.phased_text(key, Some(Phase::Final), text, out);
        if !message.is_partial() {
            out.end_whole_message();
            out.complete(Stop::End);
        }
    }

    fn prompt(&mut self, key: &str, message: &Message<'_>, out: &mut Writer<'_>) {
        self.once(key, message, out, |text, out| out.prompt(text));
    }

    fn notice(&mut self, level: Level, key: &str, message: &Message<'_>, out: &mut Writer<'_>) {
        self.once(key, message, out, |text, out| out.notice(level, text));
    }

    /// Tells a message when it is whole, and not again.
    fn once(
        &mut self,
        key: &str,
        message: &Message<'_>,
        out: &mut Writer<'_>,
        tell: impl FnOnce(&str, &mut Writer<'_>),
    ) {
        if !message.is_partial() && self.told.add(key) {
            tell(message.text(), out);
        }
    }

    fn images(&mut self, key: &str, message: &Message<'_>, out: &mut Writer<'_>) {
        let images = message.images.map(elements).unwrap_or_default();
        let mut again = || !key.is_empty() && !self.told.add(&format!("{key}:images"));
        if images.is_empty() || again() {
            return;
        }
        for url in images.into_iter().filter_map(string) {
            out.image(image_of_url(url));
        }
    }

    fn hold_first(&mut self, key: &str, message: &Message<'_>) -> bool {
        let hold = matches!(self.first, First::Awaited) && message.partial.is_none();
        if hold {
            self.first = First::Held { key: key.to_owned(), text: message.text().to_owned() };
        }
        hold
    }

    fn release_first(&mut self, key: &str, request: bool, out: &mut Writer<'_>) {
        if matches!(self.first, First::Held { .. }) && self.clock != 0 {
            out.at(self.clock);
        }
        match std::mem::replace(&mut self.first, First::Passed) {
            First::Held { key: held, .. } if held == key && !key.is_empty() => {}
            First::Held { key: held, text } if request => {
                self.told.add(&held);
                out.prompt(&text);
            }
            First::Held { key: held, text } => self.texts.text(&held, &text, out),
            First::Awaited => self.first = First::Awaited,
            First::Passed => {}
        }
    }
}

fn notice_level(say: &str) -> Option<Level> {
    match say {
        "error"
        | "diff_error"
        | "condense_context_error"
        | "clineignore_error"
        | "rooignore_error" => Some(Level::Error),
        "shell_integration_warning" | "too_many_tools_warning" => Some(Level::Warning),
        "info" => Some(Level::Info),
        _ => None,
    }
}

/// Messages that are for the agent's own screen.
fn is_quiet(say: &str) -> bool {
    matches!(
        say,
        "api_req_finished"
            | "api_req_deleted"
            | "deleted_api_reqs"
            | "load_mcp_documentation"
            | "task_progress"
            | "mcp_server_request_started"
            | "api_req_rate_limit_wait"
            | "user_edit_todos"
            | "mcp_notification"
            | "sliding_window_truncation"
    )
}
