//! What a dialect can say.

mod open;

use crate::event::{
    AnsweredBy, AskKind, AskOption, Citation, Event, Executor, FailureReason, Image, Level,
    MessageId, Millis, Owner, Phase, ReasoningOrigin, Sink, StepId, Stop, TextMode, ToolOutcome,
    UnrecognisedReason, Usage, UsageScope,
};
use crate::ingest::filter::{Filter, Piece};
use crate::limits::{OPEN_ASKS_MAX, UNKNOWN_FIELDS_MAX};

use super::fingerprint::Fingerprint;
use super::tools::{Growth, ToolStart};
use super::{Cut, Ledger, Life, Out, Quirk, Rounds, Run, Verdict};

/// A run, open for writing. Events go to the sink as they are decided.
#[allow(missing_debug_implementations, reason = "borrows a sink that need not have one")]
pub struct Writer<'a> {
    filter: &'a mut Filter,
    ledger: &'a mut Ledger,
    out: Out<'a>,
}

impl Run {
    pub fn writer<'a>(&'a mut self, at: Option<Millis>, sink: &'a mut dyn Sink) -> Writer<'a> {
        Writer { filter: &mut self.filter, ledger: &mut self.ledger, out: Out { sink, at } }
    }
}

/// Time and the run as a whole.
impl Writer<'_> {
    /// The source's own time of what follows; beats the time of arrival.
    pub fn at(&mut self, at: Millis) {
        self.out.at = Some(at);
    }

    pub fn start(&mut self, dialect: &str, mode: TextMode) {
        self.ledger.start(dialect, mode, &mut self.out);
    }

    pub fn rounds(&mut self, rounds: Rounds) {
        self.ledger.rounds = rounds;
    }

    /// The source came to its end. A failure it reported before stands, and so does a limit.
    pub fn complete(&mut self, stop: Stop) {
        if self.ledger.verdict == Verdict::Completed(Stop::Length) {
            return;
        }
        if let Some(round) = &mut self.ledger.round {
            round.stop = Some(stop);
        }
        if matches!(self.ledger.verdict, Verdict::Pending | Verdict::Completed(_)) {
            self.ledger.verdict = Verdict::Completed(stop);
        }
    }

    pub fn fail(&mut self, reason: FailureReason, detail: &str) {
        self.flush();
        if !matches!(self.ledger.verdict, Verdict::Failed { .. }) {
            self.ledger.verdict = Verdict::Failed { reason, detail: detail.to_owned() };
        }
    }

    pub fn cancelled(&mut self, detail: &str) {
        self.flush();
        self.ledger.verdict = Verdict::Cancelled { detail: detail.to_owned() };
    }

    /// No more input comes: closes what is open and gives the run its ending.
    pub fn finish(&mut self, cut: Cut) {
        self.ledger.finish(cut, self.filter, &mut self.out);
    }

    pub fn is_ended(&self) -> bool {
        self.ledger.life == Life::Ended
    }

    /// The source is at its end for now: nothing more is expected.
    pub fn is_settled(&self) -> bool {
        self.ledger.verdict != Verdict::Pending
    }
}

/// Rounds.
impl Writer<'_> {
    /// A model call begins; the one before, if any, is over.
    pub fn round(&mut self, model: Option<&str>, response: Option<&str>) {
        self.ledger.start_round(model, response, self.filter, &mut self.out);
    }

    pub fn ensure_round(&mut self) {
        self.ledger.ensure_round(self.filter, &mut self.out);
    }

    pub fn in_round(&self) -> bool {
        self.ledger.round.is_some()
    }

    /// The model call is over; the run need not be.
    pub fn end_round(&mut self, stop: Option<Stop>) {
        if let Some(round) = &mut self.ledger.round {
            round.stop = stop.or(round.stop);
        }
        self.ledger.end_round(self.filter, &mut self.out);
    }

    /// Tokens and money of the round; numbers that come again replace the older ones.
    pub fn round_usage(&mut self, usage: Usage) {
        match &mut self.ledger.round {
            Some(round) => round.usage.get_or_insert_default().update(usage),
            None => self.out.event(Event::UsageReported { scope: UsageScope::Round, usage }),
        }
    }

    pub fn run_usage(&mut self, usage: Usage) {
        self.out.event(Event::UsageReported { scope: UsageScope::Run, usage });
    }
}

/// Text and reasoning.
impl Writer<'_> {
    /// New text of the message that is open, or of a new one.
    pub fn text(&mut self, text: &str) {
        if self.ledger.quirks.contains(&Quirk::CumulativeText) {
            if self.ledger.cumulative.is_none() && !text.is_empty() {
                self.note(Event::QuirkActed {
                    quirk: Quirk::CumulativeText.as_str().into(),
                    detail: "reads each text of this message as the whole of it so far".into(),
                });
            }
            return self.text_so_far(text);
        }
        self.ledger.text(text, self.filter, &mut self.out);
    }

    /// The message's whole text so far.
    pub fn text_so_far(&mut self, text: &str) {
        self.ledger.text_so_far(text, self.filter, &mut self.out);
    }

    /// New text of a message whose whole text may come too: it is kept, to tell what is new then.
    pub fn text_kept(&mut self, text: &str) {
        if !text.is_empty() {
            self.ledger.text_kept(text, self.filter, &mut self.out);
        }
    }

    /// Whether this is what the open message has said, by [`Writer::text_kept`] or
    /// [`Writer::text_so_far`].
    pub fn has_said(&self, text: &str) -> bool {
        self.ledger.cumulative.as_ref().is_some_and(|said| said.is(text))
    }

    /// What follows is a message of its own; `phase` says which part it plays, if the source does.
    pub fn begin_message(&mut self, phase: Option<Phase>) {
        self.end_message();
        self.ledger.phase = phase;
    }

    pub fn end_message(&mut self) {
        self.ledger.end_message(self.filter, &mut self.out);
    }

    /// New reasoning text; ends the message before it, unless it is blank.
    pub fn reasoning(&mut self, text: &str, origin: ReasoningOrigin) {
        self.ledger.native_reasoning(text, origin, self.filter, &mut self.out);
    }

    pub fn end_reasoning(&mut self) {
        self.ledger.end_reasoning(&mut self.out);
    }

    /// Reasoning the provider keeps to itself.
    pub fn redacted_reasoning(&mut self) {
        self.boundary();
        self.ledger.open_reasoning(ReasoningOrigin::Redacted, &mut self.out);
        self.end_reasoning();
    }

    /// A source for the message that is open, or the last one.
    pub fn cite(&mut self, citation: Citation<'_>) {
        if let Some(message) = self.message() {
            self.out.event(Event::SourceCited { message, citation });
        }
    }

    /// A picture in the reply.
    pub fn image(&mut self, image: Image<'_>) {
        self.ensure_round();
        let message = self.ledger.open_message(&mut self.out);
        self.out.event(Event::ImageReceived { owner: Owner::Message(message), image });
    }

    /// The message that is open, or was last in this round.
    pub fn message(&self) -> Option<MessageId> {
        if let super::text::Message::Open { id, .. } = self.ledger.message {
            Some(id)
        } else {
            let round = self.ledger.round.as_ref()?;
            round.last_message.map(|(message, _)| message)
        }
    }

    /// Whether text that comes now goes on with a message.
    pub fn in_message(&self) -> bool {
        !matches!(self.ledger.message, super::text::Message::None) || 0 < self.filter.held_bytes()
    }

    /// The source says that a message it has sent is the final one.
    pub fn declare_message(&mut self, message: MessageId) {
        self.ledger.declared = Some(message);
        if let Some(round) = &mut self.ledger.round {
            round.last_final = Some(message);
        }
        self.out.event(Event::FinalDeclared { message });
    }

    /// The source says what the final message is. One that has been shown is named; one that has
    /// not becomes a message.
    pub fn declare_final(&mut self, text: &str) {
        self.end_message();
        let print = self.visible_print(text);
        if print.is_empty() {
            return;
        }
        let last = match &self.ledger.round {
            Some(round) => round.last_message,
            None => self.ledger.last_round_message,
        };
        let message = match last {
            Some((message, shown)) if shown.same_text(&print) => message,
            _ => {
                self.begin_message(Some(Phase::Final));
                self.text(text);
                self.end_message();
                let Some(message) = self.message() else {
                    return;
                };
                message
            }
        };
        self.ledger.declared = Some(message);
        self.out.event(Event::FinalDeclared { message });
    }

    /// Fingerprint of what the filter would leave of a text: what has been shown is compared with it.
    fn visible_print(&self, text: &str) -> Fingerprint {
        let mut filter = self.filter.fresh();
        let mut print = Fingerprint::default();
        let mut visible = |piece: Piece<'_>| {
            if let Piece::Visible(text) = piece {
                print.push(text);
            }
        };
        filter.push(text, &mut visible);
        filter.end_message(&mut visible);
        print
    }

    /// Delivers all text that has come, before something else is said.
    fn flush(&mut self) {
        self.end_message();
        self.end_reasoning();
    }

    fn boundary(&mut self) {
        self.ensure_round();
        self.flush();
    }
}

/// Tools.
impl Writer<'_> {
    /// A tool is called; ends the message before it.
    pub fn tool(&mut self, tool: ToolStart<'_>) -> StepId {
        if tool.parent.is_none() {
            self.boundary();
        }
        let step = StepId(self.ledger.steps);
        self.ledger.steps += 1;
        let round = self.ledger.current_round();
        self.ledger.tools.start(step, round, tool, &mut self.out);
        step
    }

    /// The open tool of this call id.
    pub fn step_of(&self, call: &str) -> Option<StepId> {
        self.ledger.tools.step_of(call)
    }

    pub fn is_open(&self, step: StepId) -> bool {
        self.ledger.tools.is_open(step)
    }

    /// New text of a tool's arguments.
    pub fn arguments(&mut self, step: StepId, text: &str) {
        self.ledger.tools.arguments(step, text, &mut self.out);
    }

    /// A tool's whole arguments; nothing happens if they have been sent already.
    pub fn whole_arguments(&mut self, step: StepId, text: &str) {
        self.ledger.tools.whole_arguments(step, text, &mut self.out);
    }

    /// The arguments are complete.
    pub fn ready(&mut self, step: StepId) {
        self.ledger.tools.ready(step, &mut self.out);
    }

    pub fn progress(&mut self, step: StepId, text: &str) {
        if self.is_open(step) {
            self.out.event(Event::ToolProgressed { step, text: text.into() });
        }
    }

    /// New text of a tool's output.
    pub fn output(&mut self, step: StepId, text: &str) {
        self.ledger.tools.output(step, text, &mut self.out);
    }

    /// A tool's whole output; nothing happens if any has been sent already.
    pub fn whole_output(&mut self, step: StepId, text: &str) {
        self.ledger.tools.whole_output(step, text, &mut self.out);
    }

    /// A tool's output so far, from a source that repeats it; only what is new is recorded.
    pub fn output_so_far(&mut self, step: StepId, whole: &str) -> Growth {
        self.ledger.tools.output_so_far(step, whole, &mut self.out)
    }

    /// A tool's final output, from a source that repeated it; recorded anew if it has changed.
    pub fn settled_output(&mut self, step: StepId, whole: &str) {
        if self.output_so_far(step, whole) == Growth::Changed {
            self.output(step, whole);
        }
    }

    pub fn output_image(&mut self, step: StepId, image: Image<'_>) {
        self.out.event(Event::ImageReceived { owner: Owner::Step(step), image });
    }

    pub fn end_tool(&mut self, step: StepId, outcome: ToolOutcome, detail: Option<&str>) {
        let executor = self.ledger.tools.end(step, outcome, detail, &mut self.out);
        // What the provider ran stays inside its round.
        self.ledger.result_seen |= executor == Some(Executor::Client);
    }
}

/// The person, notices, and what nobody understood.
impl Writer<'_> {
    pub fn prompt(&mut self, text: &str) {
        self.flush();
        self.out.event(Event::PromptReceived { text: text.into() });
    }

    pub fn ask(
        &mut self,
        ask: &str,
        kind: AskKind,
        text: &str,
        options: Vec<AskOption<'_>>,
        step: Option<StepId>,
    ) {
        self.flush();
        if self.ledger.open_asks.iter().any(|open| open == ask) {
            return;
        }
        if OPEN_ASKS_MAX <= self.ledger.open_asks.len() {
            let oldest = self.ledger.open_asks[0].clone();
            self.resolve_ask(&oldest, "", AnsweredBy::Nobody);
        }
        self.ledger.open_asks.push(ask.to_owned());
        self.out.event(Event::AskOpened {
            ask: ask.into(),
            kind,
            text: text.into(),
            options,
            step,
            digest: None,
            expires_at_ms: None,
        });
    }

    /// The first answer counts; an ask that is not open is left alone.
    pub fn resolve_ask(&mut self, ask: &str, answer: &str, by: AnsweredBy) {
        let Some(at) = self.ledger.open_asks.iter().position(|open| open == ask) else {
            return;
        };
        self.ledger.open_asks.remove(at);
        self.out.event(Event::AskResolved { ask: ask.into(), answer: answer.into(), by });
    }

    pub fn notice(&mut self, level: Level, text: &str) {
        self.out.event(Event::NoticeGiven { level, text: text.into() });
    }

    /// Any other event that changes nothing about what is open.
    pub fn note(&mut self, event: Event<'_>) {
        self.out.event(event);
    }

    /// Takes back all that the open round has said; what comes next is a new round.
    pub fn withdraw_round(&mut self) {
        self.flush();
        let Some(round) = &mut self.ledger.round else {
            return;
        };
        let messages: Vec<MessageId> =
            (round.first_message..self.ledger.messages).map(MessageId).collect();
        let steps: Vec<StepId> = (round.first_step..self.ledger.steps).map(StepId).collect();
        let first_step = StepId(round.first_step);
        round.last_message = None;
        round.last_final = None;
        self.ledger.tools.close_from(first_step, &mut self.out);
        self.ledger.withdrawn.extend(&messages);
        if !messages.is_empty() || !steps.is_empty() {
            self.out.event(Event::Withdrawn { messages, steps });
        }
        self.end_round(None);
    }

    /// Fields nobody has seen, each recorded the first time it comes.
    pub(crate) fn unknown_fields(&mut self, fields: &[(String, &serde_json::value::RawValue)]) {
        for (name, value) in fields {
            let known = &mut self.ledger.unknown_fields;
            let print = Fingerprint::of(name);
            if known.len() < UNKNOWN_FIELDS_MAX && !known.contains(&print) {
                known.push(print);
                let raw = format!("{name:?}:{value}");
                self.unrecognised(UnrecognisedReason::Field, &raw);
            }
        }
    }

    pub fn unrecognised(&mut self, reason: UnrecognisedReason, raw: &str) {
        self.out.event(Event::Unrecognised { reason, raw: raw.into() });
    }
}
