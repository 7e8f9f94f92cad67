//! Builder of small logs.

use millpond_engine::event::{
    AnsweredBy, AskKind, Ending, Event, Executor, Image, ImageOwner, MessageId, Millis, Outcome,
    ReasoningOrigin, Record, Reply, StepId, TextMode, ToolKind, ToolOutcome,
};

/// The log of one run. Events carry the time set last.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    now: Option<Millis>,
    pub(super) records: Vec<Record<'static>>,
}

impl Log {
    /// A started run.
    pub(super) fn started() -> Log {
        Log::default().push(Event::RunStarted {
            version: 1,
            dialect: "test".into(),
            mode: TextMode::Incremental,
        })
    }

    /// A run with round 0 open.
    pub(super) fn with_round_0() -> Log {
        Log::started().set_time(0).start_round(0)
    }

    /// Appends an event.
    pub(super) fn push(mut self, event: Event<'static>) -> Log {
        let seq = self.records.len() as u64;
        self.records.push(Record { seq, at_ms: self.now, run: "run".into(), event });
        self
    }

    pub(super) fn set_time(mut self, ms: Millis) -> Log {
        self.now = Some(ms);
        self
    }

    pub(super) fn clear_time(mut self) -> Log {
        self.now = None;
        self
    }

    pub(super) fn prompt(self, text: &'static str) -> Log {
        self.push(Event::PromptReceived {
            text: text.into(),
            images: Vec::new(),
            origin: millpond_engine::event::PromptOrigin::Person,
        })
    }

    pub(super) fn start_round(self, round: u32) -> Log {
        self.push(Event::RoundStarted { round, model: None, response: None })
    }

    pub(super) fn end_round(self, round: u32) -> Log {
        self.push(Event::RoundEnded { round, stop: None, incomplete: false })
    }

    pub(super) fn append_text(self, message: u32, text: &'static str) -> Log {
        self.push(Event::TextAppended { message: MessageId(message), text: text.into() })
    }

    pub(super) fn end_message(self, message: u32) -> Log {
        self.push(Event::MessageEnded { message: MessageId(message), incomplete: false })
    }

    pub(super) fn rewrite_text(self, message: u32, kept_bytes: usize, text: &'static str) -> Log {
        let message = MessageId(message);
        self.push(Event::TextRewritten { message, kept_bytes, text: text.into() })
    }

    pub(super) fn start_reasoning(self, step: u32) -> Log {
        let (step, origin) = (StepId(step), ReasoningOrigin::Native);
        self.push(Event::ReasoningStarted { step, round: 0, origin, interrupts: None })
    }

    /// Starts reasoning after or within the text of an open message.
    pub(super) fn interrupt_with_reasoning(
        self,
        message: u32,
        step: u32,
        origin: ReasoningOrigin,
    ) -> Log {
        let (step, interrupts) = (StepId(step), Some(MessageId(message)));
        self.push(Event::ReasoningStarted { step, round: 0, origin, interrupts })
    }

    pub(super) fn finish_reasoning(self, step: u32, text: &'static str) -> Log {
        let step = StepId(step);
        self.push(Event::ReasoningAppended { step, text: text.into() })
            .push(Event::ReasoningEnded { step, incomplete: false })
    }

    pub(super) fn start_tool(self, step: u32, name: &'static str) -> Log {
        self.start_tool_of_kind(ToolKind::Mcp, step, name, None)
    }

    pub(super) fn start_sub_agent_tool(self, step: u32, parent: u32, name: &'static str) -> Log {
        self.start_tool_of_kind(ToolKind::Function, step, name, Some(StepId(parent)))
    }

    pub(super) fn start_tool_of_kind(
        self,
        kind: ToolKind,
        step: u32,
        name: &'static str,
        parent: Option<StepId>,
    ) -> Log {
        self.push(Event::ToolStarted {
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

    pub(super) fn append_arguments(self, step: u32, arguments: &'static str) -> Log {
        let step = StepId(step);
        self.push(Event::ArgumentsAppended { step, text: arguments.into() })
    }

    pub(super) fn mark_ready(self, step: u32) -> Log {
        self.push(Event::ToolReady { step: StepId(step) })
    }

    pub(super) fn append_output(self, step: u32, text: &'static str) -> Log {
        self.push(Event::OutputAppended { step: StepId(step), text: text.into() })
    }

    pub(super) fn end_tool(self, step: u32, outcome: ToolOutcome) -> Log {
        self.push(Event::ToolEnded { step: StepId(step), outcome, detail: None })
    }

    /// Appends output to a tool and ends it as succeeded.
    pub(super) fn output_and_succeed(self, step: u32, text: &'static str) -> Log {
        self.append_output(step, text).end_tool(step, ToolOutcome::Succeeded)
    }

    pub(super) fn push_image(self, owner: ImageOwner, url: &'static str) -> Log {
        self.push(Event::ImageReceived { owner, image: Image::Url { url: url.into() } })
    }

    pub(super) fn withdraw(self, messages: &[u32], steps: &[u32]) -> Log {
        self.push(Event::Withdrawn {
            messages: messages.iter().copied().map(MessageId).collect(),
            steps: steps.iter().copied().map(StepId).collect(),
        })
    }

    pub(super) fn open_ask(self, ask: &'static str) -> Log {
        self.push(Event::AskOpened {
            ask: ask.into(),
            kind: AskKind::Followup,
            text: "May I?".into(),
            options: Vec::new(),
            step: None,
            digest: None,
            expires_at_ms: None,
        })
    }

    pub(super) fn answer_ask(self, ask: &'static str) -> Log {
        let by = AnsweredBy::Person;
        self.push(Event::AskResolved { ask: ask.into(), answer: "yes".into(), by })
    }

    pub(super) fn complete_run(self) -> Log {
        self.end_run(Outcome::Completed)
    }

    pub(super) fn end_run(self, outcome: Outcome) -> Log {
        self.push(Event::RunEnded {
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
