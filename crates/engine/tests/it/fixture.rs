//! Asking what came of one stream, as those in `fixtures/`.

use engine::event::{
    Ending, Event, FailureReason, Level, Outcome, Reply, StepId, Stop, ToolOutcome,
};

use crate::support::{Kept, fixtures_dir, ingest_whole};

pub(crate) fn told(stream: &str) -> Kept {
    let path = fixtures_dir().join(stream);
    ingest_whole(
        &std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
}

impl Kept {
    /// The text of each message, in the pieces it came in.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let texts = self.events().filter_map(|event| match event {
            Event::TextAppended { text, .. } => Some(text.as_ref()),
            _ => None,
        });
        texts.collect()
    }

    pub(crate) fn reasoning(&self) -> String {
        self.thoughts().concat()
    }

    /// The reasoning, step by step.
    pub(crate) fn thoughts(&self) -> Vec<String> {
        let mut steps: Vec<String> = Vec::new();
        for event in self.events() {
            match event {
                Event::ReasoningStarted { .. } => steps.push(String::new()),
                Event::ReasoningAppended { text, .. } => steps.last_mut().unwrap().push_str(text),
                _ => {}
            }
        }
        steps
    }

    /// The text of the final message.
    pub(crate) fn reply(&self) -> String {
        let message = self.ending().message;
        let reply = message
            .map(|message| self.messages().swap_remove(message.0 as usize))
            .unwrap_or_default();
        assert_eq!(self.ending().reply == Reply::Message, !reply.is_empty());
        reply
    }

    /// The text of each message, as it was in the end.
    pub(crate) fn messages(&self) -> Vec<String> {
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

    /// What one tool put out.
    pub(crate) fn output(&self, of: StepId) -> String {
        let texts = self.events().filter_map(|event| match event {
            Event::OutputAppended { step, text } if *step == of => Some(text.as_ref()),
            _ => None,
        });
        texts.collect()
    }

    /// What all tools put out.
    pub(crate) fn outputs(&self) -> String {
        let texts = self.events().filter_map(|event| match event {
            Event::OutputAppended { text, .. } => Some(text.as_ref()),
            _ => None,
        });
        texts.collect()
    }

    pub(crate) fn notices(&self, wanted: Level) -> Vec<&str> {
        let notices = self.events().filter_map(|event| match event {
            Event::NoticeGiven { level, text } if *level == wanted => Some(text.as_ref()),
            _ => None,
        });
        notices.collect()
    }

    pub(crate) fn prompts(&self) -> Vec<&str> {
        let prompts = self.events().filter_map(|event| match event {
            Event::PromptReceived { text, .. } => Some(text.as_ref()),
            _ => None,
        });
        prompts.collect()
    }

    pub(crate) fn rounds(&self) -> usize {
        self.count(|event| matches!(event, Event::RoundStarted { .. }))
    }

    pub(crate) fn unrecognised(&self) -> usize {
        self.count(|event| matches!(event, Event::Unrecognised { .. }))
    }

    pub(crate) fn count(&self, is_it: impl Fn(&Event<'static>) -> bool) -> usize {
        self.events().filter(|event| is_it(event)).count()
    }

    /// Name and arguments of every tool, in order.
    pub(crate) fn tools(&self) -> Vec<(String, String)> {
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
                _ => {}
            }
        }
        tools.into_iter().map(|(_, name, arguments)| (name, arguments)).collect()
    }

    pub(crate) fn outcomes(&self) -> Vec<ToolOutcome> {
        let outcomes = self.events().filter_map(|event| match event {
            Event::ToolEnded { outcome, .. } => Some(*outcome),
            _ => None,
        });
        outcomes.collect()
    }

    pub(crate) fn cited(&self) -> usize {
        self.count(|event| matches!(event, Event::SourceCited { .. }))
    }

    pub(crate) fn ending(&self) -> &Ending<'static> {
        match self.events().last() {
            Some(Event::RunEnded { ending }) => ending,
            other => panic!("ended with {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn completed(&self, stop: Stop) {
        let ending = self.ending();
        assert_eq!((ending.outcome, ending.stop), (Outcome::Completed, Some(stop)));
    }

    #[track_caller]
    pub(crate) fn failed(&self, reason: FailureReason, words: &str) {
        let ending = self.ending();
        assert_eq!((ending.outcome, ending.reason), (Outcome::Failed, Some(reason)));
        assert_eq!(ending.detail.as_deref(), Some(words));
        assert!(ending.incomplete);
    }

    #[track_caller]
    pub(crate) fn truncated(&self) {
        assert_eq!(self.ending().outcome, Outcome::Truncated);
        assert!(self.ending().incomplete);
    }
}
