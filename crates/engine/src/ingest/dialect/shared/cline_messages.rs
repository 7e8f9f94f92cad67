//! Parser of the say and ask messages of Cline, Kilo and Roo.
//!
//! Each message has a `ts`, which is its id and start time; a repeated one replaces the earlier.

mod ask;
mod completion;
mod request;
mod say_types;
mod step;
mod texts;
mod unfinished_items;

use std::collections::VecDeque;

use crate::event::{DraftKind, Event, MessagePhase, NoticeLevel, UnrecognisedReason};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Text, array_elements, as_scalar, as_string, object};
use crate::run::{MessageLifetime, Writer};

use super::dedup::RecentIds;
use super::thought_drafts::ThoughtDrafts;
use crate::ingest::dialect::Unreadable;
use crate::ingest::dialect::openai_chat::image_from_url;

use request::ModelRequests;
use step::ToolSteps;
use texts::MessageTexts;
use unfinished_items::UnfinishedItems;

/// Incremental parser of say and ask messages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClineMessages {
    /// Latest time seen: a repeated message carries its start time.
    latest_time: u64,
    first_message: FirstMessage,
    texts: MessageTexts,
    thoughts: ThoughtDrafts,
    /// Keys of messages that are written once.
    written_keys: RecentIds,
    requests: ModelRequests,
    steps: ToolSteps,
    unfinished: UnfinishedItems,
    /// Keys of the asks without a known answer.
    pending_asks: VecDeque<String>,
    /// Newest version of the final message.
    completion_text: String,
    /// Key of the partial message that began last after the final one: the task goes on.
    partial_after_completion: Option<String>,
}

/// First message of a task: the user's prompt if a model request follows it, else model text.
#[derive(Clone, Debug, Default, PartialEq)]
enum FirstMessage {
    #[default]
    Awaited,
    Held {
        key: String,
        text: String,
    },
    Passed,
}

/// Input after the first message: a model request makes that message a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextInput {
    ModelRequest,
    Partial,
    Other,
}

object! { ClineMessage {
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
    model: &'a RawValue = "modelInfo",
    ; skip "conversationHistoryIndex" | "isCheckpointCheckedOut" | "files" | "metadata"
        | "isOperationOutsideWorkspace" | "conversationHistoryDeletedRange" | "progressStatus"
        | "checkpoint" | "isProtected" | "apiProtocol" | "commandCompleted"
        | "contextTruncation" | "source" | "multiCommandState"
} }

impl ClineMessage<'_> {
    fn is_partial(&self) -> bool {
        self.partial == Some(true)
    }

    fn text(&self) -> &str {
        self.text.as_deref().or(self.content.as_deref()).unwrap_or("")
    }

    /// Id with the message type, because two messages may share a `ts`; empty without an id.
    fn dedup_key(&self) -> String {
        let kind = [&self.say, &self.ask, &self.kind].into_iter().flatten().next();
        let id = self.id.filter(|_| self.say.is_none() && self.ask.is_none()).or(self.ts);
        let id = id.filter(|id| id.get() != "\"\"");
        id.map(|id| format!("{}:{}", id.get(), kind.map_or("", |kind| kind))).unwrap_or_default()
    }
}

impl Default for ClineMessages {
    fn default() -> ClineMessages {
        ClineMessages {
            latest_time: 0,
            first_message: FirstMessage::default(),
            texts: MessageTexts::default(),
            thoughts: ThoughtDrafts::with_lifetime(MessageLifetime::Completion),
            written_keys: RecentIds::default(),
            requests: ModelRequests::default(),
            steps: ToolSteps::default(),
            unfinished: UnfinishedItems::default(),
            pending_asks: VecDeque::new(),
            completion_text: String::new(),
            partial_after_completion: None,
        }
    }
}

impl ClineMessages {
    /// Parses one message and writes its events.
    pub(crate) fn push_frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let message: ClineMessage<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.append_unknown_fields_once(&message.unknown);
        if let Some(model) = message.model.and_then(request::parse_model_name) {
            out.declare_model(&model);
        }
        let key = message.dedup_key();
        let next = match message.say.as_deref() {
            Some("api_req_started") => NextInput::ModelRequest,
            _ if message.is_partial() => NextInput::Partial,
            _ => NextInput::Other,
        };
        self.write_or_drop_held_first_message(&key, next, out);
        if let Some(ts) = message.ts.and_then(as_scalar) {
            self.latest_time = self.latest_time.max(ts);
            out.set_timestamp(self.latest_time);
        }
        self.track_partial_after_completion(&key, &message, out);
        match (message.kind.as_deref().unwrap_or(""), &message.say, &message.ask) {
            ("say", Some(say), _) => self.apply_say(say, &key, &message, frame, out),
            ("ask", _, Some(ask)) => self.apply_ask(ask, &key, &message, out),
            (kind, _, _) => self.apply_plain_message(kind, &key, &message, frame, out),
        }
        if matches!(self.first_message, FirstMessage::Awaited) {
            self.first_message = FirstMessage::Passed;
        }
        Ok(())
    }

    /// Ends the input: writes what is held, and what its source has not finished.
    pub(crate) fn finish(&mut self, out: &mut Writer<'_>) {
        self.write_or_drop_held_first_message("", NextInput::Other, out);
        if self.partial_after_completion.is_some() && out.has_reported_completion() {
            out.clear_reported_end();
        }
        self.steps.finish(out);
        self.unfinished.write_all(out);
    }

    /// Applies a `say` message.
    fn apply_say(
        &mut self,
        say: &str,
        key: &str,
        message: &ClineMessage<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        if let Some(thought) = message.reasoning.as_deref().filter(|text| !text.is_empty()) {
            self.apply_reasoning_text(key, thought, message, out);
        }
        // A browser acts only once the person has allowed it.
        if matches!(say, "browser_action" | "browser_action_result") {
            self.resolve_pending_asks(out);
        }
        match say {
            "text" if self.try_hold_first_message(key, message) => {}
            "text" => self.apply_text(key, message, out),
            "reasoning" => self.apply_reasoning(key, message, out),
            "completion_result" => self.apply_completion(key, message, out),
            "task" | "user_feedback" | "user_feedback_diff" => {
                self.write_prompt_once_when_complete(key, message, out);
            }
            "api_req_started" => {
                if self.requests.is_new(key) {
                    self.resolve_pending_asks(out);
                }
                self.steps.end_complete_steps(out);
                self.requests.apply_request(key, message, out);
            }
            "checkpoint_saved" | "checkpoint_created" => {
                let hash = Some(message.text()).filter(|text| !text.is_empty());
                let hash = hash.or(message.checkpoint.as_deref()).unwrap_or("");
                if self.written_keys.insert(key) {
                    out.append_stateless_event(Event::CheckpointSaved { hash: hash.into() });
                }
            }
            "condense_context" if !message.is_partial() && self.written_keys.insert(key) => {
                let summary = message.condensed.and_then(request::parse_compaction_summary);
                out.append_stateless_event(Event::HistoryCompacted { summary });
            }
            _ if request::is_retry_message(say) => {
                if !message.is_partial() && self.written_keys.insert(key) {
                    request::write_retry(message.text(), out);
                }
            }
            _ if self.steps.try_apply_say(say, key, message, out) => {}
            _ => match say_types::notice_level(say) {
                Some(level) => self.write_notice_once_when_complete(level, key, message, out),
                None if say_types::is_ui_only(say) => {}
                None => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
            },
        }
    }

    /// Writes the text and images of a message.
    fn apply_text(&mut self, key: &str, message: &ClineMessage<'_>, out: &mut Writer<'_>) {
        self.steps.end_complete_steps(out);
        self.write_text_and_end_if_complete(key, None, message.text(), message, out);
    }

    /// Writes a message's text so far and its images; ends it unless it is partial.
    fn write_text_and_end_if_complete(
        &mut self,
        key: &str,
        phase: Option<MessagePhase>,
        text: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) {
        self.texts.push_text_so_far(key, phase, text, out);
        if !self.texts.is_complete(key) {
            self.write_images_once(key, message, out);
        }
        if !message.is_partial() {
            self.texts.end_message(key, text, out);
        }
    }

    /// Writes the reasoning of a message.
    fn apply_reasoning(&mut self, key: &str, message: &ClineMessage<'_>, out: &mut Writer<'_>) {
        self.steps.end_complete_steps(out);
        self.apply_reasoning_text(key, message.text(), message, out);
    }

    /// Writes the new part of a reasoning text so far; ends it unless its message is partial.
    fn apply_reasoning_text(
        &mut self,
        key: &str,
        thought: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) {
        if message.is_partial() {
            self.thoughts.push_text_so_far(key, thought, out);
        } else {
            self.thoughts.push_whole_and_finish(key, thought, out);
        }
    }

    /// Applies a message that is neither `say` nor `ask`.
    fn apply_plain_message(
        &mut self,
        kind: &str,
        key: &str,
        message: &ClineMessage<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        match kind {
            "user" => self.write_prompt_once_when_complete(key, message, out),
            "assistant" => {
                self.write_text_and_end_if_complete(key, None, message.text(), message, out);
            }
            "system" => self.write_notice_once_when_complete(NoticeLevel::Info, key, message, out),
            "error" => self.write_notice_once_when_complete(NoticeLevel::Error, key, message, out),
            "welcome" | "empty" => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
        }
    }

    fn write_prompt_once_when_complete(
        &mut self,
        key: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) {
        self.write_item_once_when_complete(DraftKind::Prompt, key, message, out);
    }

    fn write_notice_once_when_complete(
        &mut self,
        level: NoticeLevel,
        key: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) {
        self.write_item_once_when_complete(DraftKind::Notice(level), key, message, out);
    }

    /// Writes a prompt or notice once, when it is complete.
    fn write_item_once_when_complete(
        &mut self,
        kind: DraftKind,
        key: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) {
        if message.is_partial() {
            if !self.written_keys.contains(key) {
                self.unfinished.record_text_so_far(key, kind, message.text(), out);
            }
        } else if self.written_keys.insert(key) {
            self.unfinished.complete_and_write(key, kind, message.text(), out);
        }
    }

    /// Writes the images of a message, once.
    fn write_images_once(&mut self, key: &str, message: &ClineMessage<'_>, out: &mut Writer<'_>) {
        let images = message.images.map(array_elements).unwrap_or_default();
        let mut again = || !key.is_empty() && !self.written_keys.insert(&format!("{key}:images"));
        if images.is_empty() || again() {
            return;
        }
        for url in images.into_iter().filter_map(as_string) {
            out.append_message_image(image_from_url(url));
        }
    }

    /// Holds the task's first message; returns true if it was held.
    fn try_hold_first_message(&mut self, key: &str, message: &ClineMessage<'_>) -> bool {
        let hold = matches!(self.first_message, FirstMessage::Awaited) && message.partial.is_none();
        if hold {
            self.first_message =
                FirstMessage::Held { key: key.to_owned(), text: message.text().to_owned() };
        }
        hold
    }

    /// Writes the held first message as a prompt if a model request follows, else as text.
    fn write_or_drop_held_first_message(
        &mut self,
        key: &str,
        next: NextInput,
        out: &mut Writer<'_>,
    ) {
        if matches!(self.first_message, FirstMessage::Held { .. }) && self.latest_time != 0 {
            out.set_timestamp(self.latest_time);
        }
        match std::mem::replace(&mut self.first_message, FirstMessage::Passed) {
            // A complete message replaces the held one; a partial one is older.
            FirstMessage::Held { key: held, text } if held == key && !key.is_empty() => {
                if next == NextInput::Partial {
                    self.write_first_message_as_text(&held, &text, out);
                }
            }
            FirstMessage::Held { key: held, text } if next == NextInput::ModelRequest => {
                self.written_keys.insert(&held);
                out.append_prompt_unless_finish_requested(&text);
            }
            FirstMessage::Held { key: held, text } => {
                self.write_first_message_as_text(&held, &text, out);
            }
            FirstMessage::Awaited => self.first_message = FirstMessage::Awaited,
            FirstMessage::Passed => {}
        }
    }
}

impl ClineMessages {
    /// Writes the first message, which is complete, as text of the model.
    fn write_first_message_as_text(&mut self, key: &str, text: &str, out: &mut Writer<'_>) {
        self.texts.push_text_so_far(key, None, text, out);
        self.texts.end_message(key, text, out);
    }
}
