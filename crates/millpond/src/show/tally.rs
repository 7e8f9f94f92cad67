//! What came, in a few numbers: events become records, and how the stream ended is remembered.

use engine::event::{Ending, Event, Millis, Record, Trace, UnrecognisedReason};

use super::say;
use crate::args::InputArgs;

/// The run of a stream that is only shown; a gateway gives runs names of their own.
const RUN: &str = "r1";

/// Its session, likewise.
pub(crate) const SESSION: &str = "show";

#[derive(Debug)]
pub(crate) struct Tally {
    /// Events so far.
    pub(crate) events: u64,
    /// Frames of the stream that could not be read.
    pub(crate) unreadable: usize,
    pub(crate) ending: Option<Ending<'static>>,
    tells_dialect: bool,
}

impl Tally {
    pub(crate) fn new(args: &InputArgs) -> Tally {
        let tells_dialect = !args.quiet && args.from().is_none();
        Tally { events: 0, unreadable: 0, ending: None, tells_dialect }
    }

    pub(crate) fn record<'e>(&mut self, at_ms: Option<Millis>, event: Event<'e>) -> Record<'e> {
        // What a program prints beside its stream is no part of it.
        if let Event::Unrecognised { reason: UnrecognisedReason::Unreadable, raw } = &event
            && raw.starts_with('{')
        {
            self.unreadable += 1;
        }
        if let Event::RunEnded { ending } = &event {
            self.ending = Some(ending.clone().into_owned());
        }
        let seq = self.events;
        self.events += 1;
        Record { seq, at_ms, run: RUN.into(), event }
    }

    /// Tells which dialect was recognised, where the person did not say it.
    pub(crate) fn trace(&self, trace: &Trace<'_>) {
        if let (true, Trace::DialectChosen { dialect, .. }) = (self.tells_dialect, trace)
            && *dialect != "unknown"
        {
            say(&format!("reading {dialect}"));
        }
    }
}
