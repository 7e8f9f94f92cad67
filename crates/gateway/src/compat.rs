//! Encoders for other client protocols, so that existing front ends work unchanged.
//!
//! Does: fold one run of the log into the payloads of one stream. Does not: frame or send them,
//! read a clock, or show anything but text, reasoning and tools.
//!
//! Whatever the log holds, and wherever it stops, a stream is well-formed: what was opened is
//! closed, there is exactly one ending, nothing follows it, and only a completed run ends as a
//! success. `docs/COMPAT.md` lists what each protocol shows.

// A new event has to be thought about in every protocol.
#![warn(clippy::wildcard_enum_match_arm)]
#![allow(clippy::unnested_or_patterns, reason = "a family of events is an or-pattern")]

use millpond_engine::event::{Ending, Event, Millis, Record};
use millpond_engine::event_family;

pub mod agui;
pub mod ai_sdk;
pub mod openai_chat;
pub mod openai_responses;

mod ending;
mod json;
mod run_usage;
mod tool_calls;
mod urls;

/// Receives payloads: each is the `data` of one server-sent event, one line of JSON or [`DONE`].
pub type PayloadSink<'o> = &'o mut dyn FnMut(&str);

/// Last payload of AI SDK and chat completion streams. It is not JSON.
pub const DONE: &str = "[DONE]";

/// How often per run changed content is resent at once. After that it waits for the end of the
/// message or run.
pub const RESENDS_MAX: u32 = 16;

/// Whether reasoning is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reasoning {
    #[default]
    Show,
    Hide,
}

/// Encoder of one protocol. [`Encoder`] calls `write_run_start` and `write_run_end` once each, with all events
/// between them.
pub trait Protocol {
    /// Writes the opening payloads of a run.
    fn write_run_start(&mut self, run: &str, at: Option<Millis>, out: PayloadSink<'_>);
    /// Writes the payloads of one event.
    fn apply_event(&mut self, event: &Event<'_>, out: PayloadSink<'_>);
    /// Closes open parts, then writes the ending.
    fn write_run_end(&mut self, ending: &Ending<'_>, out: PayloadSink<'_>);
}

/// One stream: the first run it is given, in one protocol.
#[derive(Clone, Debug)]
pub struct Encoder<P> {
    stage: EncoderStage,
    protocol: P,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum EncoderStage {
    Waiting,
    Running { run: String },
    Ended,
}

impl<P: Protocol> Encoder<P> {
    /// Encoder that ignores all records before the first `run_started`.
    pub fn new(protocol: P) -> Encoder<P> {
        Encoder { stage: EncoderStage::Waiting, protocol }
    }

    /// Encodes one record; records of other runs are ignored.
    pub fn push(&mut self, record: &Record<'_>, out: PayloadSink<'_>) {
        match (&self.stage, &record.event) {
            (EncoderStage::Waiting, Event::RunStarted { .. }) => {
                self.stage = EncoderStage::Running { run: record.run.clone().into_owned() };
                self.protocol.write_run_start(&record.run, record.at_ms, out);
            }
            (EncoderStage::Running { run }, event) if *run == record.run => match event {
                Event::RunStarted { .. } => {}
                Event::RunEnded { ending } => {
                    self.stage = EncoderStage::Ended;
                    self.protocol.write_run_end(ending, out);
                }
                event @ (Event::ImageReceived { .. }
                | Event::Withdrawn { .. }
                | event_family!(Prompt)
                | event_family!(Round)
                | event_family!(Message)
                | event_family!(Reasoning)
                | event_family!(Tool)
                | event_family!(Ask)
                | event_family!(Request)
                | event_family!(Notice)
                | event_family!(Internal)) => self.protocol.apply_event(event, out),
            },
            _ => {}
        }
    }

    /// Ends the stream where the log stops. A run without an ending is written as interrupted.
    pub fn end_as_interrupted_unless_ended(&mut self, out: PayloadSink<'_>) {
        match std::mem::replace(&mut self.stage, EncoderStage::Ended) {
            EncoderStage::Ended => return,
            EncoderStage::Waiting => self.protocol.write_run_start("none", None, out),
            EncoderStage::Running { .. } => {}
        }
        self.protocol.write_run_end(&ending::interrupted_ending(), out);
    }

    /// True once the last payload was written.
    pub fn is_ended(&self) -> bool {
        self.stage == EncoderStage::Ended
    }

    /// The protocol's own state.
    pub fn protocol(&self) -> &P {
        &self.protocol
    }
}
