//! Builder of logs, for tests of the views.

use millpond_engine::event::{
    AnsweredBy, AskKind, Ending, Event, Executor, FailureReason, Image, ImageOwner, MessageId,
    MessagePhase, Millis, Outcome, ReasoningOrigin, Record, Reply, StepId, StopReason, TextMode,
    ToolKind, ToolOutcome,
};

use crate::support::RecordedEvents;

/// The log of one run, built event by event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    events: Vec<(Option<Millis>, Event<'static>)>,
    at: Option<Millis>,
    round: u32,
    messages: u32,
    steps: u32,
}

impl Log {
    /// A log with a started run.
    pub(crate) fn new() -> Log {
        let mut log = Log::default();
        log.push(Event::RunStarted {
            version: 1,
            dialect: "test".into(),
            mode: TextMode::Incremental,
        });
        log
    }

    /// Appends an event.
    pub(crate) fn push(&mut self, event: Event<'static>) -> &mut Log {
        self.events.push((self.at, event));
        self
    }

    /// Sets the time of the following events.
    pub(crate) fn set_time(&mut self, ms: Millis) -> &mut Log {
        self.at = Some(ms);
        self
    }

    pub(crate) fn prompt(&mut self, text: &str) -> &mut Log {
        self.push(Event::PromptReceived {
            text: text.to_owned().into(),
            images: Vec::new(),
            origin: millpond_engine::event::PromptOrigin::Person,
        })
    }

    pub(crate) fn start_round(&mut self) -> &mut Log {
        let round = self.round;
        self.round += 1;
        self.push(Event::RoundStarted { round, model: None, response: None })
    }

    pub(crate) fn end_round(&mut self) -> &mut Log {
        let round = self.current_round();
        self.push(Event::RoundEnded { round, stop: Some(StopReason::End), incomplete: false })
    }

    fn current_round(&self) -> u32 {
        self.round.saturating_sub(1)
    }

    /// Appends a whole message in these pieces.
    pub(crate) fn push_message(&mut self, pieces: &[&str]) -> &mut Log {
        self.open_message(pieces).end_message()
    }

    /// Appends a message without its end.
    pub(crate) fn open_message(&mut self, pieces: &[&str]) -> &mut Log {
        self.open_message_in(None, pieces)
    }

    pub(crate) fn open_message_in(
        &mut self,
        phase: Option<MessagePhase>,
        pieces: &[&str],
    ) -> &mut Log {
        let (message, round) = (MessageId(self.messages), self.current_round());
        self.messages += 1;
        self.push(Event::MessageStarted { message, round, phase });
        for piece in pieces {
            self.append_text(piece);
        }
        self
    }

    /// Appends to the last message.
    pub(crate) fn append_text(&mut self, text: &str) -> &mut Log {
        let message = MessageId(self.messages.saturating_sub(1));
        self.push(Event::TextAppended { message, text: text.to_owned().into() })
    }

    pub(crate) fn rewrite(&mut self, kept_bytes: usize, text: &str) -> &mut Log {
        let message = MessageId(self.messages.saturating_sub(1));
        self.push(Event::TextRewritten { message, kept_bytes, text: text.to_owned().into() })
    }

    pub(crate) fn end_message(&mut self) -> &mut Log {
        let message = MessageId(self.messages.saturating_sub(1));
        self.push(Event::MessageEnded { message, incomplete: false })
    }

    pub(crate) fn push_reasoning(&mut self, pieces: &[&str]) -> &mut Log {
        let (step, round) = (StepId(self.steps), self.current_round());
        self.steps += 1;
        self.push(Event::ReasoningStarted {
            step,
            round,
            origin: ReasoningOrigin::Native,
            interrupts: None,
        });
        for piece in pieces {
            self.push(Event::ReasoningAppended { step, text: (*piece).to_owned().into() });
        }
        self.push(Event::ReasoningEnded { step, incomplete: false })
    }

    pub(crate) fn start_tool(&mut self, name: &str) -> &mut Log {
        self.start_tool_of_kind(name, ToolKind::Function)
    }

    /// Starts a tool with its arguments.
    pub(crate) fn start_tool_of_kind(&mut self, name: &str, kind: ToolKind) -> &mut Log {
        let (step, round) = (StepId(self.steps), self.current_round());
        self.steps += 1;
        self.push(Event::ToolStarted {
            step,
            round,
            call: format!("call-{}", step.0).into(),
            name: name.to_owned().into(),
            kind,
            executor: Executor::Client,
            server: None,
            parent: None,
        });
        self.push(Event::ArgumentsAppended { step, text: "{\"secret\":\"argument\"}".into() });
        self.push(Event::ToolReady { step })
    }

    /// Appends output to a tool and ends it as succeeded.
    pub(crate) fn succeed_tool(&mut self, step: u32, text: &str) -> &mut Log {
        let step = StepId(step);
        self.push(Event::OutputAppended { step, text: text.to_owned().into() });
        self.push(Event::ToolEnded { step, outcome: ToolOutcome::Succeeded, detail: None })
    }

    pub(crate) fn open_ask(&mut self, id: &str, text: &str) -> &mut Log {
        self.push(Event::AskOpened {
            ask: id.to_owned().into(),
            kind: AskKind::Tool,
            text: text.to_owned().into(),
            options: Vec::new(),
            step: None,
            digest: None,
            expires_at_ms: None,
        })
    }

    pub(crate) fn answer_ask(&mut self, id: &str, answer: &str) -> &mut Log {
        self.push(Event::AskResolved {
            ask: id.to_owned().into(),
            answer: answer.to_owned().into(),
            by: AnsweredBy::Person,
        })
    }

    pub(crate) fn withdraw(&mut self, messages: &[u32], steps: &[u32]) -> &mut Log {
        let messages = messages.iter().copied().map(MessageId).collect();
        let steps = steps.iter().copied().map(StepId).collect();
        self.push(Event::Withdrawn { messages, steps })
    }

    pub(crate) fn image(&mut self, owner: ImageOwner, base64: &str) -> &mut Log {
        let base64 = base64.to_owned().into();
        let image = Image::Inline { media_type: "image/png".into(), base64 };
        self.push(Event::ImageReceived { owner, image })
    }

    /// Completes the run, with the last message as the final one.
    pub(crate) fn complete_run(&mut self) -> &mut Log {
        let message = self.messages.checked_sub(1).map(MessageId);
        self.end_run(Outcome::Completed, message)
    }

    pub(crate) fn end_run(&mut self, outcome: Outcome, message: Option<MessageId>) -> &mut Log {
        let failed = outcome == Outcome::Failed;
        self.push(Event::RunEnded {
            ending: Ending {
                outcome,
                stop: (outcome == Outcome::Completed).then_some(StopReason::End),
                reason: failed.then_some(FailureReason::Error),
                detail: failed.then(|| "it broke".into()),
                reply: if message.is_some() { Reply::Message } else { Reply::None },
                message,
                incomplete: outcome != Outcome::Completed,
            },
        })
    }

    pub(crate) fn records(&self) -> Vec<Record<'static>> {
        crate::views::to_records(&RecordedEvents(self.events.clone()))
    }
}
