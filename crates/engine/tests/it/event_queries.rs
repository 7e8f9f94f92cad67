//! Queries on the events of one stream, for assertions.

use millpond_engine::event::{
    Ending, Event, FailureReason, NoticeLevel, Outcome, Reply, StepId, StopReason, ToolOutcome,
};

use crate::support::{RecordedEvents, fixtures_dir, ingest_whole};

/// Ingests a file of `fixtures/`.
pub(crate) fn ingest_fixture(stream: &str) -> RecordedEvents {
    let path = fixtures_dir().join(stream);
    ingest_whole(
        &std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
}

impl RecordedEvents {
    /// The text deltas of all messages.
    pub(crate) fn text_deltas(&self) -> Vec<&str> {
        let texts = self.events().filter_map(|event| match event {
            Event::TextAppended { text, .. } => Some(text.as_ref()),
            _ => None,
        });
        texts.collect()
    }

    /// All reasoning text, joined.
    pub(crate) fn reasoning_text(&self) -> String {
        self.reasoning_steps().concat()
    }

    /// Reasoning text of each step.
    pub(crate) fn reasoning_steps(&self) -> Vec<String> {
        let mut steps: Vec<(StepId, String)> = Vec::new();
        for event in self.events() {
            match event {
                Event::ReasoningStarted { step, .. } => steps.push((*step, String::new())),
                Event::ReasoningAppended { step, text } => {
                    steps.iter_mut().find(|(id, _)| id == step).unwrap().1.push_str(text);
                }
                _ => {}
            }
        }
        steps.into_iter().map(|(_, text)| text).collect()
    }

    /// Text of the final message.
    pub(crate) fn final_text(&self) -> String {
        let message = self.ending().message;
        let reply = message
            .map(|message| self.message_texts().swap_remove(message.0 as usize))
            .unwrap_or_default();
        assert_eq!(self.ending().reply == Reply::Message, !reply.is_empty());
        reply
    }

    /// Final text of each message.
    pub(crate) fn message_texts(&self) -> Vec<String> {
        let mut messages: Vec<String> = Vec::new();
        for event in self.events() {
            match event {
                Event::MessageStarted { .. } => messages.push(String::new()),
                Event::TextAppended { message, text } => {
                    messages[message.0 as usize].push_str(text);
                }
                Event::TextRewritten { message, kept_bytes, text } => {
                    messages[message.0 as usize].truncate(*kept_bytes);
                    messages[message.0 as usize].push_str(text);
                }
                _ => {}
            }
        }
        messages
    }

    /// Output of one tool.
    pub(crate) fn tool_output(&self, of: StepId) -> String {
        let texts = self.events().filter_map(|event| match event {
            Event::OutputAppended { step, text } if *step == of => Some(text.as_ref()),
            _ => None,
        });
        texts.collect()
    }

    /// Output of all tools, joined.
    pub(crate) fn all_output(&self) -> String {
        let texts = self.events().filter_map(|event| match event {
            Event::OutputAppended { text, .. } | Event::OutputReplaced { text, .. } => {
                Some(text.as_ref())
            }
            _ => None,
        });
        texts.collect()
    }

    /// Texts of the notices of one level.
    pub(crate) fn notice_texts(&self, wanted: NoticeLevel) -> Vec<&str> {
        let notices = self.events().filter_map(|event| match event {
            Event::NoticeGiven { level, text } if *level == wanted => Some(text.as_ref()),
            _ => None,
        });
        notices.collect()
    }

    /// Texts of the prompts.
    pub(crate) fn prompt_texts(&self) -> Vec<&str> {
        let prompts = self.events().filter_map(|event| match event {
            Event::PromptReceived { text, .. } => Some(text.as_ref()),
            _ => None,
        });
        prompts.collect()
    }

    /// Number of rounds.
    pub(crate) fn round_count(&self) -> usize {
        self.count_events(|event| matches!(event, Event::RoundStarted { .. }))
    }

    /// Number of unrecognised frames.
    pub(crate) fn unrecognised_count(&self) -> usize {
        self.count_events(|event| matches!(event, Event::Unrecognised { .. }))
    }

    /// Number of events that satisfy `is_it`.
    pub(crate) fn count_events(&self, is_it: impl Fn(&Event<'static>) -> bool) -> usize {
        self.events().filter(|event| is_it(event)).count()
    }

    /// Name and arguments of every tool call, in order.
    pub(crate) fn tool_calls(&self) -> Vec<(String, String)> {
        let mut tools = Vec::new();
        for event in self.events() {
            match event {
                Event::ToolStarted { step, name, .. } => {
                    tools.push((*step, name.to_string(), String::new()));
                }
                Event::ArgumentsAppended { step, text } => {
                    let tool = tools.iter_mut().find(|(id, ..)| id == step);
                    tool.unwrap().2.push_str(text);
                }
                Event::ArgumentsReplaced { step, text } => {
                    let tool = tools.iter_mut().find(|(id, ..)| id == step);
                    tool.unwrap().2 = text.to_string();
                }
                _ => {}
            }
        }
        tools.into_iter().map(|(_, name, arguments)| (name, arguments)).collect()
    }

    /// Outcome of every tool that has ended.
    pub(crate) fn tool_outcomes(&self) -> Vec<ToolOutcome> {
        let outcomes = self.events().filter_map(|event| match event {
            Event::ToolEnded { outcome, .. } => Some(*outcome),
            _ => None,
        });
        outcomes.collect()
    }

    /// Number of citations.
    pub(crate) fn citation_count(&self) -> usize {
        self.count_events(|event| matches!(event, Event::SourceCited { .. }))
    }

    /// The ending; panics if the run did not end last.
    pub(crate) fn ending(&self) -> &Ending<'static> {
        match self.events().last() {
            Some(Event::RunEnded { ending }) => ending,
            other => panic!("ended with {other:?}"),
        }
    }

    /// Asserts that the run completed with this stop.
    #[track_caller]
    pub(crate) fn assert_completed(&self, stop: StopReason) {
        let ending = self.ending();
        assert_eq!((ending.outcome, ending.stop), (Outcome::Completed, Some(stop)));
    }

    /// Asserts that the run failed with this reason and detail.
    #[track_caller]
    pub(crate) fn assert_failed(&self, reason: FailureReason, words: &str) {
        let ending = self.ending();
        assert_eq!((ending.outcome, ending.reason), (Outcome::Failed, Some(reason)));
        assert_eq!(ending.detail.as_deref(), Some(words));
        assert!(ending.incomplete);
    }

    /// Asserts that the run was truncated.
    #[track_caller]
    pub(crate) fn assert_truncated(&self) {
        assert_eq!(self.ending().outcome, Outcome::Truncated);
        assert!(self.ending().incomplete);
    }
}
