//! The run machine: which event may follow which.
//!
//! Does: number rounds, messages and steps; open and close them in pairs; hold blank text until it
//! is known to be a message; pass text through the filter; give every run exactly one ending.
//! Does not: know any provider's words, or keep the text it has passed on.
//!
//! Dialects speak to it through a [`Writer`]; whatever they say, in whatever order, the events are
//! well formed.

mod cumulative;
mod ending;
mod fingerprint;
mod finish;
pub mod grammar;
mod recall;
mod text;
mod tools;
pub mod unfinished;
mod writer;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::{
    Citation, Event, Level, MarkupClass, MessageId, Millis, Phase, Sink, StepId, Stop, TextMode,
    Trace, Usage, UsageScope,
};
use crate::ingest::filter::{ControlWord, Filter, StartsIn, TagTable};

use cumulative::Cumulative;
pub use ending::Verdict;
pub(crate) use fingerprint::Fingerprint;
use finish::{Asks, Finishing};
use text::{Message, Reasoning};
use tools::Tools;
pub use tools::{Growth, ToolStart};
pub(crate) use writer::Opening;
pub use writer::{Asking, Writer};

/// What a profile says about a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOptions {
    pub tags: Arc<TagTable>,
    pub starts_in: StartsIn,
    pub quirks: Vec<Quirk>,
    /// Words by which the agent speaks to whoever runs it. None unless asked for.
    pub control_words: Vec<ControlWord>,
    pub seals: Seals,
}

/// Whether the log keeps what a provider wants back when the conversation goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seals {
    #[default]
    Drop,
    Keep,
}

/// A way in which a source is known to lie. Off unless asked for; the log says when one acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quirk {
    /// The dialect is incremental, but this source repeats its whole text each time.
    CumulativeText,
}

impl Quirk {
    pub const ALL: &'static [Quirk] = &[Quirk::CumulativeText];

    pub fn as_str(self) -> &'static str {
        match self {
            Quirk::CumulativeText => "cumulative-text",
        }
    }
}

/// A name that no quirk has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownQuirk(pub String);

impl std::str::FromStr for Quirk {
    type Err = UnknownQuirk;

    fn from_str(text: &str) -> Result<Quirk, UnknownQuirk> {
        let known = Quirk::ALL.iter().copied().find(|quirk| quirk.as_str() == text);
        known.ok_or_else(|| UnknownQuirk(text.to_owned()))
    }
}

/// How a source marks where one model call ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// It says so.
    Marked,
    /// It does not: what the model says after a tool's result is a new round.
    AfterResults,
}

/// Why no more input comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The stream ended by itself.
    EndOfInput,
    Cancelled,
    Stalled,
    Interrupted,
    /// More came than whoever reads it takes.
    TooLong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    New,
    Open,
    /// No more input comes; what is open is being closed.
    Ending,
    Ended,
}

/// One run, from its first event to its ending.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    filter: Filter,
    ledger: Ledger,
    untold: Untold,
}

/// What is told with the next event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Untold {
    /// What is over, and since when: if the run breaks off next, so did this.
    over: Vec<(Over, Option<Millis>)>,
    /// Whether the run breaks off.
    breaks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Message(MessageId),
    Reasoning(StepId),
}

/// All of a run's state but the filter, which writes into it.
#[derive(Clone, Debug, PartialEq)]
struct Ledger {
    life: Life,
    rounds: Rounds,
    round_number: u32,
    round: Option<Round>,
    /// A tool's result has come since the model last spoke.
    result_seen: bool,
    messages: u32,
    steps: u32,
    message: Message,
    /// How often what was being said has come to an end, whether or not it was a message.
    messages_closed: u64,
    /// What a source that repeats itself has said in the message that is open.
    cumulative: Option<Cumulative>,
    /// What the source said about the message to come.
    phase: Option<Phase>,
    reasoning: Reasoning,
    tools: Tools,
    open_asks: Vec<String>,
    /// Requests the source has listed and not ended.
    open_requests: VecDeque<String>,
    declared: Option<MessageId>,
    /// The last message of the last round that ended.
    last_round_message: Option<(MessageId, Fingerprint)>,
    /// Why the last round that ended did.
    last_stop: Option<Stop>,
    withdrawn: Vec<MessageId>,
    /// Sources that came before the message they are for.
    citations: Vec<Citation<'static>>,
    unknown_fields: Vec<Fingerprint>,
    verdict: Verdict,
    /// Whether it is in the log why the source failed, and tries again.
    failure_told: bool,
    /// What the open message asks for.
    asks: Asks,
    finishing: Finishing,
    quirks: Vec<Quirk>,
    seals: Seals,
}

#[derive(Clone, Debug, PartialEq)]
struct Round {
    first_message: u32,
    first_step: u32,
    spoke: bool,
    stop: Option<Stop>,
    usage: Option<Usage>,
    last_message: Option<(MessageId, Fingerprint)>,
    last_final: Option<MessageId>,
}

impl Run {
    pub fn new(options: &RunOptions) -> Run {
        Run {
            filter: Filter::with_words(
                Arc::clone(&options.tags),
                options.starts_in,
                &options.control_words,
            ),
            ledger: Ledger {
                life: Life::New,
                rounds: Rounds::Marked,
                round_number: 0,
                round: None,
                result_seen: false,
                messages: 0,
                steps: 0,
                message: Message::None,
                messages_closed: 0,
                cumulative: None,
                phase: None,
                reasoning: Reasoning::None,
                tools: Tools::default(),
                open_asks: Vec::new(),
                open_requests: VecDeque::new(),
                declared: None,
                last_round_message: None,
                last_stop: None,
                withdrawn: Vec::new(),
                citations: Vec::new(),
                unknown_fields: Vec::new(),
                verdict: Verdict::Pending,
                failure_told: false,
                asks: Asks::Nothing,
                finishing: Finishing::No,
                quirks: options.quirks.clone(),
                seals: options.seals,
            },
            untold: Untold::default(),
        }
    }

    pub fn is_ended(&self) -> bool {
        self.ledger.life == Life::Ended
    }
}

/// Where a ledger's events go, and the time they carry.
struct Out<'a> {
    sink: &'a mut dyn Sink,
    at: Option<Millis>,
    /// Whether the run goes on: after its ending nothing is said, whatever a dialect says.
    life: Life,
    untold: &'a mut Untold,
}

impl Out<'_> {
    // Inlined, because an event is large and would be moved once more.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "worth 1 % of ingest")]
    fn event(&mut self, event: Event<'_>) {
        if !self.untold.over.is_empty() {
            self.tell_over();
        }
        if self.life != Life::Ended {
            self.sink.event(self.at, event);
        }
    }

    #[cold]
    fn tell_over(&mut self) {
        let incomplete = self.untold.breaks;
        for (over, at) in self.untold.over.drain(..) {
            let event = match over {
                Over::Message(message) => Event::MessageEnded { message, incomplete },
                Over::Reasoning(step) => Event::ReasoningEnded { step, incomplete },
            };
            self.sink.event(at, event);
        }
    }

    fn is_over(&mut self, over: Over) {
        // What is over after the end is nobody's business.
        if self.life != Life::Ended {
            self.untold.over.push((over, self.at));
        }
    }

    /// Records markup that was taken out of the text.
    fn hidden(&mut self, class: MarkupClass, text: &str) {
        self.sink.trace(Trace::Hidden { bytes: text.len(), class });
        self.event(Event::MarkupHidden { class, text: text.into() });
    }
}

impl Ledger {
    fn start(&mut self, dialect: &str, mode: TextMode, out: &mut Out<'_>) {
        if self.life == Life::New {
            self.life = Life::Open;
            out.event(Event::RunStarted {
                version: crate::event::EVENT_VERSION,
                dialect: dialect.into(),
                mode,
            });
        }
    }

    /// Opens a round if none is open, or if the one that is has had its tools answered.
    fn ensure_round(&mut self, filter: &mut Filter, out: &mut Out<'_>) {
        if self.round.is_none() || self.is_answered() {
            // What was said about the message to come holds in the round it opens.
            let phase = self.phase.take();
            self.start_round(None, None, filter, out);
            self.phase = phase;
        }
    }

    /// Whether what the model says now belongs to a new round. A message that is open goes on in
    /// its own, whatever comes back meanwhile.
    fn is_answered(&self) -> bool {
        self.rounds == Rounds::AfterResults && self.result_seen && self.message.id().is_none()
    }

    fn start_round(
        &mut self,
        model: Option<&str>,
        response: Option<&str>,
        filter: &mut Filter,
        out: &mut Out<'_>,
    ) {
        self.end_round(filter, out);
        self.finish_if_asked(filter, out);
        if self.life == Life::Ended {
            return;
        }
        if self.last_stop == Some(Stop::Tools) {
            // The model was asked again: whoever ran its tools has their results.
            self.tools.close_clients(out);
        }
        filter.begin_round();
        let verdict = std::mem::replace(&mut self.verdict, Verdict::Pending);
        if verdict != Verdict::Pending {
            // The source had come to an end and goes on all the same: what it declared is past.
            self.declared = None;
        }
        let told = std::mem::take(&mut self.failure_told);
        if let Verdict::Failed { detail, .. } = verdict
            && !detail.is_empty()
            && !told
        {
            out.event(Event::NoticeGiven { level: Level::Error, text: detail.into() });
        }
        out.untold.breaks = self.breaks_off();
        self.last_round_message = None;
        self.result_seen = false;
        self.round = Some(Round {
            first_message: self.messages,
            first_step: self.steps,
            spoke: false,
            stop: None,
            usage: None,
            last_message: None,
            last_final: None,
        });
        out.event(Event::RoundStarted {
            round: self.round_number,
            model: model.map(Into::into),
            response: response.map(Into::into),
        });
        self.round_number += 1;
    }

    fn end_round(&mut self, filter: &mut Filter, out: &mut Out<'_>) {
        if self.round.is_none() {
            return;
        }
        self.end_message(filter, out);
        self.end_reasoning(out);
        out.untold.breaks |=
            self.round.as_ref().is_some_and(|round| round.stop == Some(Stop::Length));
        // A limit on length may have cut the last call short; any other stop has not.
        let stop = self.round.as_ref().and_then(|round| round.stop);
        if stop.is_some_and(|stop| stop != Stop::Length) {
            self.tools.all_ready(out);
        }
        let Some(round) = self.round.take() else {
            return;
        };
        if let Some(usage) = round.usage {
            out.event(Event::UsageReported { scope: UsageScope::Round, usage });
        }
        self.cite_late(round.last_message, out);
        // What the reply is stays known after its round has ended.
        self.declared = round.last_final.or(self.declared);
        self.last_round_message = round.last_message;
        self.last_stop = round.stop;
        let (number, incomplete) = (self.current_round(), self.is_broken_off());
        out.event(Event::RoundEnded { round: number, stop: round.stop, incomplete });
        out.untold.breaks = self.breaks_off();
    }

    /// Number of the round that is open, or was last.
    fn current_round(&self) -> u32 {
        self.round_number.saturating_sub(1)
    }

    fn spoke(&mut self, out: &mut Out<'_>) {
        let number = self.current_round();
        if let Some(round) = &mut self.round
            && !round.spoke
        {
            round.spoke = true;
            out.sink.trace(Trace::FirstToken { round: number });
        }
    }
}
