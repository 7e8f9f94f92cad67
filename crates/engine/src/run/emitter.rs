//! Emitter of a run's events: adds the time, and defers the ends of messages and reasoning.
//!
//! Invariant: a deferred end is emitted before any later event, and nothing after the run's end.

use crate::event::{Event, MarkupClass, MessageId, Millis, Sink, StepId, Trace};

use super::Lifecycle;

/// Ends of messages and reasoning that are emitted before the next event, because only then it is
/// known whether they are complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DeferredEnds {
    /// Ended parts and the times of their ends.
    pub(super) parts: Vec<(EndedPart, Option<Millis>)>,
    /// True if the deferred ends are to be emitted as incomplete.
    pub(super) incomplete: bool,
}

/// A message or reasoning step whose end is deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndedPart {
    Message(MessageId),
    Reasoning(StepId),
}

/// Emits events to the sink with a timestamp, after the deferred ends.
pub(super) struct EventEmitter<'a> {
    pub(super) sink: &'a mut dyn Sink,
    pub(super) timestamp: Option<Millis>,
    /// After `Ended` nothing is emitted.
    pub(super) lifecycle: Lifecycle,
    pub(super) deferred_ends: &'a mut DeferredEnds,
}

impl EventEmitter<'_> {
    /// Emits `event` to the sink, unless the run has ended.
    // Inlined, because an event is large and would be moved once more.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "worth 1 % of ingest")]
    pub(super) fn emit_after_deferred_ends(&mut self, event: Event<'_>) {
        if !self.deferred_ends.parts.is_empty() {
            self.emit_deferred_ends();
        }
        if self.lifecycle != Lifecycle::Ended {
            self.sink.on_event(self.timestamp, event);
        }
    }

    /// Emits the deferred ends.
    #[cold]
    pub(super) fn emit_deferred_ends(&mut self) {
        let incomplete = self.deferred_ends.incomplete;
        for (part, at) in self.deferred_ends.parts.drain(..) {
            let event = match part {
                EndedPart::Message(message) => Event::MessageEnded { message, incomplete },
                EndedPart::Reasoning(step) => Event::ReasoningEnded { step, incomplete },
            };
            self.sink.on_event(at, event);
        }
    }

    /// Defers the end of `part` until the next event. Does nothing after the run's end.
    pub(super) fn defer_end(&mut self, part: EndedPart) {
        if self.lifecycle != Lifecycle::Ended {
            self.deferred_ends.parts.push((part, self.timestamp));
        }
    }

    /// Emits markup that was removed from the text, and traces it.
    pub(super) fn emit_hidden_markup(&mut self, class: MarkupClass, text: &str) {
        self.sink.on_trace(Trace::Hidden { bytes: text.len(), class });
        self.emit_after_deferred_ends(Event::MarkupHidden { class, text: text.into() });
    }
}
