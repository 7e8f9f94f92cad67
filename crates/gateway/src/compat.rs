//! Runs, spelt in other people's client protocols, so that front ends that exist work unchanged.
//!
//! Does: fold one run of the log into the payloads of one stream. Does not: frame them, send them,
//! look at a clock, or show anything that the log does not hold as text, reasoning or tool.
//!
//! Whatever the log does, and wherever it stops, a stream is well-formed: what was opened is closed,
//! there is exactly one ending, nothing follows it, and only a completed run ends as a success.
//! `docs/COMPAT.md` says what each protocol shows and what it cannot say.

use engine::event::{Ending, Event, Millis, Record};

pub mod agui;
pub mod ai_sdk;
pub mod openai_chat;
pub mod openai_responses;

mod call;
mod ending;
mod json;
mod shown;
mod spent;

/// Where payloads go: each is the `data` of one server-sent event, JSON on one line, or [`DONE`].
pub type Out<'o> = &'o mut dyn FnMut(&str);

/// What ends a stream of the AI SDK and of chat completions, after the ending. It is not JSON.
pub const DONE: &str = "[DONE]";

/// How often in a run a client is told at once that what it was sent has changed, with all that has
/// to be sent again for it. After that it waits for the end of the message, or of the run.
pub const RETOLD_MAX: u32 = 16;

/// Whether reasoning is sent at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reasoning {
    #[default]
    Show,
    Hide,
}

/// What a protocol makes of a run. [`Encoder`] sees to it that `begin` and `end` are called once
/// each, with everything else between them.
pub trait Protocol {
    fn begin(&mut self, run: &str, at: Option<Millis>, out: Out<'_>);
    fn event(&mut self, event: &Event<'_>, out: Out<'_>);
    /// Closes what is open, then tells the ending.
    fn end(&mut self, ending: &Ending<'_>, out: Out<'_>);
}

/// One stream: the first run it hears of, in one protocol.
#[derive(Clone, Debug)]
pub struct Encoder<P> {
    stage: Stage,
    protocol: P,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Running { run: String },
    Ended,
}

impl<P: Protocol> Encoder<P> {
    pub fn new(protocol: P) -> Encoder<P> {
        Encoder { stage: Stage::Waiting, protocol }
    }

    pub fn push(&mut self, record: &Record<'_>, out: Out<'_>) {
        match (&self.stage, &record.event) {
            (Stage::Waiting, Event::RunStarted { .. }) => {
                self.stage = Stage::Running { run: record.run.clone().into_owned() };
                self.protocol.begin(&record.run, record.at_ms, out);
            }
            (Stage::Running { run }, event) if *run == record.run => match event {
                Event::RunStarted { .. } => {}
                Event::RunEnded { ending } => {
                    self.stage = Stage::Ended;
                    self.protocol.end(ending, out);
                }
                event => self.protocol.event(event, out),
            },
            _ => {}
        }
    }

    /// The log goes no further. A run that has not ended by then is told as interrupted.
    pub fn finish(&mut self, out: Out<'_>) {
        match std::mem::replace(&mut self.stage, Stage::Ended) {
            Stage::Ended => return,
            Stage::Waiting => self.protocol.begin("none", None, out),
            Stage::Running { .. } => {}
        }
        self.protocol.end(&ending::interrupted(), out);
    }

    /// Whether the stream has had its last payload.
    pub fn is_ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    pub fn protocol(&self) -> &P {
        &self.protocol
    }
}
