//! What a model says and thinks: deltas, and the wholes that repeat them.

use std::borrow::Cow;

use crate::event::{Citation, Level, ReasoningOrigin, UnrecognisedReason};
use crate::ingest::json::{RawValue, Shape, elements, string};
use crate::run::Writer;

use super::item::{Key, Kind};
use super::{Body, LeftOpen, OpenAiResponses};

/// How far the parts of an item are. They come one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Part {
    index: u64,
    bytes: usize,
    cited: usize,
    whole_seen: bool,
}

/// What a whole text is, after the deltas before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    New,
    Repeat,
    Differs { streamed: usize },
}

impl Part {
    fn reach(&mut self, index: u64) {
        if self.index < index {
            *self = Part { index, ..Part::default() };
        }
    }

    fn delta(&mut self, index: u64, bytes: usize) {
        self.reach(index);
        if self.index == index {
            self.bytes += bytes;
        }
    }

    fn whole(&mut self, index: u64, bytes: usize) -> Whole {
        self.reach(index);
        let (streamed, seen) = (self.bytes, self.whole_seen);
        if index < self.index || bytes == 0 || seen {
            return Whole::Repeat;
        }
        self.whole_seen = true;
        match streamed {
            0 => Whole::New,
            _ if streamed == bytes => Whole::Repeat,
            _ => Whole::Differs { streamed },
        }
    }
}

const PART: Shape<5> = Shape {
    read: ["type", "text", "refusal", "transcript", "annotations"],
    skip: &["logprobs", "data", "audio", "parsed"],
};

/// Messages.
impl OpenAiResponses {
    pub(super) fn text_delta(&mut self, key: Key<'_>, part: u64, text: &str, out: &mut Writer<'_>) {
        let at = self.message_item(key);
        if let Kind::Message { part: progress, .. } = &mut self.items[at].kind {
            progress.delta(part, text.len());
        }
        self.say(at, text, out);
    }

    fn say(&mut self, at: usize, text: &str, out: &mut Writer<'_>) {
        let item = &self.items[at];
        if self.speaking != Some(item.number)
            && let Kind::Message { phase, .. } = item.kind
        {
            self.speaking = Some(item.number);
            out.begin_message(phase);
        }
        out.text(text);
    }

    pub(super) fn whole_text(
        &mut self,
        key: Key<'_>,
        part: u64,
        text: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let text = text.and_then(string).unwrap_or_default();
        if !self.is_closed(key) {
            let at = self.message_item(key);
            self.whole_text_of(at, part, &text, out);
        }
    }

    fn whole_text_of(&mut self, at: usize, part: u64, text: &str, out: &mut Writer<'_>) {
        let Kind::Message { part: progress, .. } = &mut self.items[at].kind else {
            return;
        };
        match progress.whole(part, text.len()) {
            Whole::New => self.say(at, text, out),
            Whole::Repeat => {}
            Whole::Differs { streamed } => warn("text", streamed, text.len(), out),
        }
    }

    pub(super) fn is_closed(&self, key: Key<'_>) -> bool {
        self.position(key).is_some_and(|at| matches!(self.items[at].kind, Kind::Closed))
    }

    pub(super) fn annotation(
        &mut self,
        key: Key<'_>,
        part: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) {
        let speaking = self.speaking;
        let Some(item) = self.open_item(key) else {
            return;
        };
        let Kind::Message { part: progress, .. } = &mut item.kind else {
            return;
        };
        progress.reach(part);
        // A source of text that has not come yet is cited with the whole part.
        if speaking == Some(item.number) && out.message().is_some() {
            progress.cited += 1;
            cite(raw, out);
        }
    }

    /// A part as it is in the end, of a message or of reasoning.
    pub(super) fn whole_part(
        &mut self,
        key: Key<'_>,
        index: u64,
        raw: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let Some(part) = raw.and_then(|raw| PART.read(raw.get())) else {
            return;
        };
        out.unknown_fields(&part.unknown);
        let [kind, text, refusal, transcript, annotations] = part.read;
        match kind.and_then(string).as_deref() {
            Some("output_text" | "text") => {
                self.whole_text(key, index, text, out);
                self.cite_rest(key, index, annotations, out);
            }
            Some("refusal") => {
                self.left_open = LeftOpen::Refusal;
                self.whole_text(key, index, refusal, out);
            }
            Some("output_audio") => self.whole_text(key, index, transcript, out),
            Some("reasoning_text") => {
                self.whole_reasoning(key, ReasoningOrigin::Native, index, text, out);
            }
            Some("summary_text") => {
                self.whole_reasoning(key, ReasoningOrigin::Summary, index, text, out);
            }
            _ => {
                let raw = raw.map_or("", RawValue::get);
                out.unrecognised(UnrecognisedReason::Frame, raw);
            }
        }
    }

    /// Sources that came with a whole part and not before it.
    fn cite_rest(
        &mut self,
        key: Key<'_>,
        index: u64,
        annotations: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let Some(item) = self.open_item(key) else {
            return;
        };
        let Kind::Message { part, .. } = &mut item.kind else {
            return;
        };
        if index != part.index {
            return;
        }
        let annotations = annotations.map(elements).unwrap_or_default();
        for annotation in annotations.iter().skip(part.cited) {
            cite(annotation, out);
        }
        part.cited = part.cited.max(annotations.len());
    }

    pub(super) fn message_done(&mut self, at: usize, body: &Body<'_>, out: &mut Writer<'_>) {
        let item = &self.items[at];
        let (index, id, number) = (item.index, item.id().to_owned(), item.number);
        let parts = body.content.map(elements).unwrap_or_default();
        for (part, raw) in (0..).zip(parts) {
            self.whole_part(Key { index, id: &id }, part, Some(raw), out);
        }
        if self.speaking == Some(number) {
            out.end_message();
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
        if let Some(progress) = self.reasoning_part(at, origin) {
            progress.delta(part, text.len());
        }
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
        key: Key<'_>,
        origin: ReasoningOrigin,
        part: u64,
        text: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        if !self.is_closed(key) {
            let at = self.reasoning_item(key);
            let text = text.and_then(string).unwrap_or_default();
            self.whole_reasoning_of(at, origin, part, &text, out);
        }
    }

    fn whole_reasoning_of(
        &mut self,
        at: usize,
        origin: ReasoningOrigin,
        part: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        let Some(progress) = self.reasoning_part(at, origin) else {
            return;
        };
        match progress.whole(part, text.len()) {
            Whole::New => self.think(at, origin, part, text, out),
            Whole::Repeat => {}
            Whole::Differs { streamed } => warn("reasoning", streamed, text.len(), out),
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
            Kind::Reasoning { last: None, .. } if is_last => out.redacted_reasoning(),
            _ if is_last => out.end_reasoning(),
            _ => {}
        }
    }
}

fn part_text(raw: &RawValue) -> Cow<'_, str> {
    PART.read(raw.get()).and_then(|part| part.read[1]).and_then(string).unwrap_or_default()
}

fn warn(what: &str, streamed: usize, whole: usize, out: &mut Writer<'_>) {
    let text = format!("{what} came as {streamed} bytes of deltas but is said to have {whole}");
    out.notice(Level::Warning, &text);
}

fn cite(raw: &RawValue, out: &mut Writer<'_>) {
    const ANNOTATION: Shape<4> = Shape { read: ["url", "title", "filename", "file_id"], skip: &[] };
    let Some(annotation) = ANNOTATION.read(raw.get()) else {
        return;
    };
    let [url, title, filename, file] = annotation.read.map(|member| member.and_then(string));
    out.cite(Citation { url, title: title.or(filename).or(file), quote: None });
}
