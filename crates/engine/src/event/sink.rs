//! Receivers of events and debug traces.

use serde::Serialize;

use super::{Event, MarkupClass, Millis};

/// Receiver of a run's events, in order.
pub trait Sink {
    /// Receives one event.
    fn on_event(&mut self, at: Option<Millis>, event: Event<'_>);

    /// Receives one debug trace (`STREAM_DEBUG`); ignored by default.
    fn on_trace(&mut self, _trace: Trace<'_>) {}
}

/// A closure receives the events and ignores the traces.
impl<F: FnMut(Option<Millis>, Event<'_>)> Sink for F {
    fn on_event(&mut self, at: Option<Millis>, event: Event<'_>) {
        self(at, event);
    }
}

/// Debug traces: decisions of the engine that explain an odd-looking stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "debug", rename_all = "snake_case")]
pub enum Trace<'a> {
    /// The probe chose a dialect.
    DialectChosen {
        /// Name of the dialect, or `unknown`.
        dialect: &'a str,
        /// Frames that were buffered before the decision.
        frames_before: usize,
    },
    /// The first visible text of a round arrived, which clears its overlay.
    FirstToken {
        /// Number of the round.
        round: u32,
    },
    /// Text is held back.
    Held {
        /// Length of the text.
        bytes: usize,
        /// Why it is held.
        reason: HeldReason,
    },
    /// Markup was hidden.
    Hidden {
        /// Length of the markup.
        bytes: usize,
        /// Kind of the markup.
        class: MarkupClass,
    },
    /// Text was dropped.
    Dropped {
        /// Length of the text.
        bytes: usize,
        /// Why it was dropped.
        reason: DroppedReason,
    },
}

/// Why text is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldReason {
    /// It may become a tag, or is a tag that may be inside code.
    Markup,
    /// It is blank so far.
    Blank,
}

/// Why text was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DroppedReason {
    /// The message stayed blank.
    Blank,
    /// It came after the end.
    Late,
    /// It repeats earlier deltas.
    Repeat,
}
