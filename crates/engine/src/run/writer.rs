//! What a dialect can say.

mod again;
mod open;
mod requests;
mod text;
mod tools;

use crate::event::{
    AnsweredBy, AskKind, AskOption, Event, FailureReason, Image, Level, MessageId, Millis, Sink,
    StepId, Stop, TextMode, UnrecognisedReason, Usage, UsageScope,
};
use crate::ingest::filter::Filter;
use crate::limits::{OPEN_ASKS_MAX, UNKNOWN_FIELDS_MAX};

pub(crate) use again::Opening;
pub(super) use requests::unfinished;

use super::fingerprint::Fingerprint;
use super::finish::Finishing;
use super::{Cut, Ledger, Life, Out, Rounds, Run, Verdict};

/// A run, open for writing. Events go to the sink as they are decided.
#[allow(missing_debug_implementations, reason = "borrows a sink that need not have one")]
pub struct Writer<'a> {
    filter: &'a mut Filter,
    ledger: &'a mut Ledger,
    out: Out<'a>,
}

/// What only a person can settle.
#[derive(Clone, Debug)]
pub struct Asking<'a> {
    pub ask: &'a str,
    pub kind: AskKind,
    pub text: &'a str,
    pub options: Vec<AskOption<'a>>,
    pub step: Option<StepId>,
    /// Of exactly what an approval would run.
    pub digest: Option<&'a str>,
    pub expires_at_ms: Option<Millis>,
}

impl Run {
    pub fn writer<'a>(&'a mut self, at: Option<Millis>, sink: &'a mut dyn Sink) -> Writer<'a> {
        let Run { filter, ledger, untold } = self;
        let out = Out { sink, at, life: ledger.life, untold };
        Writer { filter, ledger, out }
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
        self.out.untold.breaks = self.ledger.breaks_off();
    }

    pub fn fail(&mut self, reason: FailureReason, detail: &str) {
        let known = matches!(self.ledger.verdict, Verdict::Failed { .. });
        self.break_off(Verdict::Failed { reason, detail: detail.to_owned() }, known);
    }

    pub fn cancelled(&mut self, detail: &str) {
        self.break_off(Verdict::Cancelled { detail: detail.to_owned() }, false);
    }

    /// The source says that it does not come to its end. A run that was asked to end and has done
    /// so is not broken off by what comes after.
    fn break_off(&mut self, verdict: Verdict, is_known: bool) {
        let before = self.ledger.verdict.clone();
        if !is_known && !self.ledger.has_finished() {
            self.ledger.verdict = verdict;
        }
        self.out.untold.breaks = self.ledger.breaks_off();
        self.flush();
        if self.ledger.has_finished() {
            self.ledger.verdict = before;
            self.out.untold.breaks = self.ledger.breaks_off();
        }
    }

    /// The person stopped the source in what it was saying.
    pub fn broke_off(&mut self) {
        self.out.untold.breaks = true;
        self.flush();
        self.out.tell_over();
        self.out.untold.breaks = self.ledger.breaks_off();
    }

    /// One reply of several is over, with all that is open in it. How it ended is how the run ends
    /// unless another follows; pending if it broke off.
    pub fn end_reply(&mut self) -> Verdict {
        let verdict = self.ledger.verdict.clone();
        if verdict == Verdict::Pending {
            self.ledger.verdict = Verdict::Cancelled { detail: String::new() };
            self.out.untold.breaks = true;
        }
        self.end_round(None);
        self.ledger.verdict.clone_from(&verdict);
        verdict
    }

    /// What the last reply said of its end is past: its tools run, and the run goes on.
    pub fn go_on(&mut self) {
        self.ledger.verdict = Verdict::Pending;
        self.out.untold.breaks = self.ledger.breaks_off();
    }

    /// No more input comes: closes what is open and gives the run its ending.
    pub fn finish(&mut self, cut: Cut) {
        self.ledger.finish(cut, self.filter, &mut self.out);
    }

    pub fn is_ended(&self) -> bool {
        self.ledger.life == Life::Ended
    }

    /// Whether the agent has said that the run is to end, and nothing of its reply is open.
    pub fn asks_to_end(&self) -> bool {
        self.is_ended() || self.ledger.finishing != Finishing::No
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

    /// Tells what is known of the round's usage before its end.
    pub fn tell_round_usage(&mut self) {
        let usage = self.ledger.round.as_mut().and_then(|round| round.usage.take());
        if let Some(usage) = usage {
            self.out.event(Event::UsageReported { scope: UsageScope::Round, usage });
        }
    }

    pub fn run_usage(&mut self, usage: Usage) {
        self.out.event(Event::UsageReported { scope: UsageScope::Run, usage });
    }
}

/// The person, notices, and what nobody understood.
impl Writer<'_> {
    pub fn prompt(&mut self, text: &str) {
        self.prompt_with(text, &[]);
    }

    /// What the person said, and what they showed with it.
    pub fn prompt_with(&mut self, text: &str, images: &[Image<'_>]) {
        self.flush();
        self.ledger.finish_before_prompt(self.filter, &mut self.out);
        self.out.event(Event::PromptReceived { text: text.into(), images: images.to_vec() });
    }

    pub fn ask(
        &mut self,
        ask: &str,
        kind: AskKind,
        text: &str,
        options: Vec<AskOption<'_>>,
        step: Option<StepId>,
    ) {
        self.open_ask(Asking { ask, kind, text, options, step, digest: None, expires_at_ms: None });
    }

    pub fn open_ask(&mut self, asking: Asking<'_>) {
        let Asking { ask, kind, text, options, step, digest, expires_at_ms } = asking;
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
            digest: digest.map(Into::into),
            expires_at_ms,
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
        self.ledger.failure_told |= matches!(event, Event::RetryScheduled { .. });
        self.out.event(event);
    }

    /// Takes back all that the open round has said; what comes next is a new round.
    pub fn withdraw_round(&mut self) {
        self.abandon();
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
        self.ledger.withdraw(&messages);
        self.ledger.finishing = Finishing::No;
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
