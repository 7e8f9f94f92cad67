//! Small logs, written by hand.

use engine::event::{
    AnsweredBy, AskKind, Ending, Event, Executor, Image, MessageId, Millis, Outcome, Owner,
    ReasoningOrigin, Record, Reply, StepId, TextMode, ToolKind, ToolOutcome,
};

/// The log of one run. Events carry the time last set by [`Log::at`].
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    now: Option<Millis>,
    pub(super) records: Vec<Record<'static>>,
}

impl Log {
    pub(super) fn run() -> Log {
        Log::default().and(Event::RunStarted {
            version: 1,
            dialect: "test".into(),
            mode: TextMode::Incremental,
        })
    }

    /// A run that has one round open.
    pub(super) fn round_0() -> Log {
        Log::run().at(0).round(0)
    }

    pub(super) fn and(mut self, event: Event<'static>) -> Log {
        let seq = self.records.len() as u64;
        self.records.push(Record { seq, at_ms: self.now, run: "run".into(), event });
        self
    }

    pub(super) fn at(mut self, ms: Millis) -> Log {
        self.now = Some(ms);
        self
    }

    pub(super) fn untimed(mut self) -> Log {
        self.now = None;
        self
    }

    pub(super) fn prompt(self, text: &'static str) -> Log {
        self.and(Event::PromptReceived { text: text.into(), images: Vec::new() })
    }

    pub(super) fn round(self, round: u32) -> Log {
        self.and(Event::RoundStarted { round, model: None, response: None })
    }

    pub(super) fn round_ends(self, round: u32) -> Log {
        self.and(Event::RoundEnded { round, stop: None, incomplete: false })
    }

    pub(super) fn says(self, message: u32, text: &'static str) -> Log {
        self.and(Event::TextAppended { message: MessageId(message), text: text.into() })
    }

    pub(super) fn said(self, message: u32) -> Log {
        self.and(Event::MessageEnded { message: MessageId(message), incomplete: false })
    }

    pub(super) fn rewrites(self, message: u32, kept_bytes: usize, text: &'static str) -> Log {
        let message = MessageId(message);
        self.and(Event::TextRewritten { message, kept_bytes, text: text.into() })
    }

    pub(super) fn thinks(self, step: u32) -> Log {
        let (step, origin) = (StepId(step), ReasoningOrigin::Native);
        self.and(Event::ReasoningStarted { step, round: 0, origin })
    }

    pub(super) fn thought(self, step: u32, text: &'static str) -> Log {
        let step = StepId(step);
        self.and(Event::ReasoningAppended { step, text: text.into() })
            .and(Event::ReasoningEnded { step, incomplete: false })
    }

    pub(super) fn calls(self, step: u32, name: &'static str) -> Log {
        self.calls_a(ToolKind::Mcp, step, name, None)
    }

    pub(super) fn sub_calls(self, step: u32, parent: u32, name: &'static str) -> Log {
        self.calls_a(ToolKind::Function, step, name, Some(StepId(parent)))
    }

    pub(super) fn calls_a(
        self,
        kind: ToolKind,
        step: u32,
        name: &'static str,
        parent: Option<StepId>,
    ) -> Log {
        self.and(Event::ToolStarted {
            step: StepId(step),
            round: 0,
            call: format!("call_{step}").into(),
            name: name.into(),
            kind,
            executor: Executor::Provider,
            server: None,
            parent,
        })
    }

    pub(super) fn with(self, step: u32, arguments: &'static str) -> Log {
        let step = StepId(step);
        self.and(Event::ArgumentsAppended { step, text: arguments.into() })
    }

    pub(super) fn ready(self, step: u32) -> Log {
        self.and(Event::ToolReady { step: StepId(step) })
    }

    pub(super) fn puts_out(self, step: u32, text: &'static str) -> Log {
        self.and(Event::OutputAppended { step: StepId(step), text: text.into() })
    }

    pub(super) fn ends_as(self, step: u32, outcome: ToolOutcome) -> Log {
        self.and(Event::ToolEnded { step: StepId(step), outcome, detail: None })
    }

    /// The tool puts out a text and succeeds.
    pub(super) fn gives(self, step: u32, text: &'static str) -> Log {
        self.puts_out(step, text).ends_as(step, ToolOutcome::Succeeded)
    }

    pub(super) fn pictures(self, owner: Owner, url: &'static str) -> Log {
        self.and(Event::ImageReceived { owner, image: Image::Url { url: url.into() } })
    }

    pub(super) fn withdraws(self, messages: &[u32], steps: &[u32]) -> Log {
        self.and(Event::Withdrawn {
            messages: messages.iter().copied().map(MessageId).collect(),
            steps: steps.iter().copied().map(StepId).collect(),
        })
    }

    pub(super) fn asks(self, ask: &'static str) -> Log {
        self.and(Event::AskOpened {
            ask: ask.into(),
            kind: AskKind::Followup,
            text: "May I?".into(),
            options: Vec::new(),
            step: None,
            digest: None,
            expires_at_ms: None,
        })
    }

    pub(super) fn answers(self, ask: &'static str) -> Log {
        let by = AnsweredBy::Person;
        self.and(Event::AskResolved { ask: ask.into(), answer: "yes".into(), by })
    }

    pub(super) fn ends(self) -> Log {
        self.ends_with(Outcome::Completed)
    }

    pub(super) fn ends_with(self, outcome: Outcome) -> Log {
        self.and(Event::RunEnded {
            ending: Ending {
                outcome,
                stop: None,
                reason: None,
                detail: None,
                reply: Reply::None,
                message: None,
                incomplete: outcome != Outcome::Completed,
            },
        })
    }
}
