//! What a model thinks: deltas, and the wholes that repeat them.

use std::borrow::Cow;

use crate::event::{Level, ReasoningOrigin};
use crate::ingest::json::{RawValue, elements, sealed, string};
use crate::run::{Fingerprint, Writer};

use super::item::{Key, Kind};
use super::text::{Of, PART};
use super::{Body, OpenAiResponses};

/// How far the parts of a thought are. They come one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Part {
    index: u64,
    bytes: usize,
    print: Fingerprint,
    warned: bool,
}

/// What a whole text is, after what came before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    New,
    Repeat,
    /// New from this byte on.
    GoesOn {
        from: usize,
    },
    Differs,
}

impl Part {
    fn reach(&mut self, index: u64) {
        if self.index < index {
            *self = Part { index, ..Part::default() };
        }
    }

    fn delta(&mut self, index: u64, text: &str) {
        self.reach(index);
        if self.index == index {
            self.bytes += text.len();
            self.print.push(text);
        }
    }

    fn whole(&mut self, index: u64, text: &str) -> Whole {
        self.reach(index);
        let from = self.bytes;
        if index < self.index || text.is_empty() || from == text.len() {
            return Whole::Repeat;
        }
        match text.get(..from) {
            Some("") => Whole::New,
            Some(before) if Fingerprint::of(before) == self.print => Whole::GoesOn { from },
            _ => Whole::Differs,
        }
    }

    /// Once for each part.
    fn warn(&mut self, what: &str, whole: usize, out: &mut Writer<'_>) {
        if !std::mem::replace(&mut self.warned, true) {
            let streamed = self.bytes;
            let text =
                format!("{what} came as {streamed} bytes of deltas but is said to have {whole}");
            out.notice(Level::Warning, &text);
        }
    }
}

/// Reasoning.
impl OpenAiResponses {
    pub(super) fn reasoning_delta(
        &mut self,
        key: Key<'_>,
        origin: ReasoningOrigin,
        part: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        let at = self.reasoning_item(key);
        self.think(at, origin, part, text, out);
    }

    fn reasoning_part(&mut self, at: usize, origin: ReasoningOrigin) -> Option<&mut Part> {
        let Kind::Reasoning { text, summary, .. } = &mut self.items[at].kind else {
            return None;
        };
        Some(if origin == ReasoningOrigin::Summary { summary } else { text })
    }

    /// Each part is a step of its own.
    fn think(
        &mut self,
        at: usize,
        origin: ReasoningOrigin,
        part: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        if let Some(progress) = self.reasoning_part(at, origin) {
            progress.delta(part, text);
        }
        let Kind::Reasoning { last, .. } = &mut self.items[at].kind else {
            return;
        };
        if last.replace((origin, part)) != Some((origin, part)) {
            out.end_reasoning();
        }
        out.reasoning(text, origin);
    }

    pub(super) fn whole_reasoning(
        &mut self,
        of: Of<'_>,
        origin: ReasoningOrigin,
        part: u64,
        text: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let text = text.and_then(string).unwrap_or_default();
        let at = match of {
            Of::Named(key) if self.is_closed(key) => return,
            Of::Named(key) => self.reasoning_item(key),
            Of::Number(number) => self.reasoning_beside(number),
        };
        self.whole_reasoning_of(at, origin, part, &text, out);
    }

    fn whole_reasoning_of(
        &mut self,
        at: usize,
        origin: ReasoningOrigin,
        part: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        let thinking = matches!(self.items[at].kind, Kind::Reasoning { last, .. }
            if last == Some((origin, part)));
        let goes_on = thinking && at + 1 == self.items.len();
        let Some(progress) = self.reasoning_part(at, origin) else {
            return;
        };
        match progress.whole(part, text) {
            Whole::New => self.think(at, origin, part, text, out),
            Whole::Repeat => {}
            Whole::GoesOn { from } if goes_on => {
                self.think(at, origin, part, &text[from..], out);
            }
            Whole::GoesOn { .. } | Whole::Differs => progress.warn("reasoning", text.len(), out),
        }
    }

    pub(super) fn reasoning_done(&mut self, at: usize, body: &Body<'_>, out: &mut Writer<'_>) {
        let parts =
            [(ReasoningOrigin::Summary, body.summary), (ReasoningOrigin::Native, body.content)];
        for (origin, parts) in parts {
            for (part, raw) in (0..).zip(parts.map(elements).unwrap_or_default()) {
                let text = part_text(raw);
                self.whole_reasoning_of(at, origin, part, &text, out);
            }
        }
        let is_last = at + 1 == self.items.len();
        match self.items[at].kind {
            // What comes late belongs before what has been said since: there is no such place.
            _ if !is_last => {}
            Kind::Reasoning { last: None, .. } => {
                out.redacted_reasoning();
                seal(body, out);
            }
            _ => {
                seal(body, out);
                out.end_reasoning();
            }
        }
    }
}

/// Seals the thought that is open, or else was the last.
fn seal(body: &Body<'_>, out: &mut Writer<'_>) {
    if let (Some(id), Some(encrypted), Some(step)) = (&body.id, &body.encrypted, out.last_step()) {
        out.seal(step, || sealed(&[("id", id), ("encrypted_content", encrypted)]));
    }
}

fn part_text(raw: &RawValue) -> Cow<'_, str> {
    PART.read(raw.get()).and_then(|part| part.read[1]).and_then(string).unwrap_or_default()
}
