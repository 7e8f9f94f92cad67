//! What a model says and thinks: deltas, and the wholes that repeat them.

use std::borrow::Cow;

use crate::event::{Citation, Level, MessageId, Phase, ReasoningOrigin, UnrecognisedReason};
use crate::ingest::json::{RawValue, Shape, elements, string};
use crate::run::{Fingerprint, Writer};

use super::item::{Key, Kind, phase_of};
use super::{Body, LeftOpen, OpenAiResponses};

/// How far the parts of an item are. They come one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Part {
    index: u64,
    bytes: usize,
    print: Fingerprint,
    cited: usize,
    warned: bool,
}

/// The message item whose text came last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Speaking {
    item: u32,
    /// The last message before it.
    before: Option<MessageId>,
}

/// The item that a whole text is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Of<'a> {
    Named(Key<'a>),
    Number(u32),
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

const PART: Shape<5> = Shape {
    read: ["type", "text", "refusal", "transcript", "annotations"],
    skip: &["logprobs", "data", "audio", "parsed"],
};

/// Messages.
impl OpenAiResponses {
    pub(super) fn text_delta(&mut self, key: Key<'_>, part: u64, text: &str, out: &mut Writer<'_>) {
        let at = self.message_item(key);
        self.say(at, part, text, out);
    }

    /// More of the message that is being written, which is the newest item: nearly all deltas are.
    pub(super) fn goes_on(
        &mut self,
        place: Option<u64>,
        part: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) -> bool {
        let speaking = self.speaking.map(|speaking| speaking.item);
        let newest = self
            .items
            .last()
            .filter(|item| place.is_some() && item.index == place && Some(item.number) == speaking);
        let goes_on = newest.is_some_and(|item| matches!(item.kind, Kind::Message { .. }));
        if goes_on {
            self.say(self.items.len() - 1, part, text, out);
        }
        goes_on
    }

    fn say(&mut self, at: usize, part: u64, text: &str, out: &mut Writer<'_>) {
        let item = &mut self.items[at];
        let Kind::Message { phase, part: progress } = &mut item.kind else {
            return;
        };
        progress.delta(part, text);
        if self.speaking.is_none_or(|speaking| speaking.item != item.number) {
            out.begin_message(*phase);
            self.speaking = Some(Speaking { item: item.number, before: out.message() });
        }
        out.text(text);
    }

    fn speaks(&self, number: u32) -> bool {
        self.speaking.is_some_and(|speaking| speaking.item == number)
    }

    pub(super) fn whole_text(
        &mut self,
        of: Of<'_>,
        part: u64,
        text: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let text = text.and_then(string).unwrap_or_default();
        let at = match of {
            Of::Named(key) if self.is_closed(key) => return,
            Of::Named(key) => Some(self.message_item(key)),
            Of::Number(number) => self.numbered(number),
        };
        if let Some(at) = at {
            self.whole_text_of(at, part, &text, out);
        }
    }

    fn whole_text_of(&mut self, at: usize, part: u64, text: &str, out: &mut Writer<'_>) {
        let goes_on = self.speaks(self.items[at].number) && out.in_message();
        let Kind::Message { part: progress, .. } = &mut self.items[at].kind else {
            return;
        };
        match progress.whole(part, text) {
            Whole::New => self.say(at, part, text, out),
            Whole::Repeat => {}
            Whole::GoesOn { from } if goes_on => self.say(at, part, &text[from..], out),
            // What is missing has no place once something else has been said.
            Whole::GoesOn { .. } | Whole::Differs => progress.warn("text", text.len(), out),
        }
    }

    fn is_closed(&self, key: Key<'_>) -> bool {
        self.position(key).is_some_and(|at| matches!(self.items[at].kind, Kind::Closed))
    }

    /// Whether something of this type is of an item that has ended.
    pub(super) fn is_late(&self, key: Key<'_>, of_type: &str) -> bool {
        !key.names_nothing()
            && self.position(key).is_some_and(|at| {
                let item = &self.items[at];
                matches!(item.kind, Kind::Closed) && item.fits(Some(of_type))
            })
    }

    pub(super) fn annotation(
        &mut self,
        key: Key<'_>,
        part: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) {
        let speaking = self.speaking.map(|speaking| speaking.item);
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
        of: Of<'_>,
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
                self.whole_text(of, index, text, out);
                self.cite_rest(of, index, annotations, out);
            }
            Some("refusal") => {
                self.left_open = LeftOpen::Refusal;
                self.whole_text(of, index, refusal, out);
            }
            Some("output_audio") => self.whole_text(of, index, transcript, out),
            Some("reasoning_text") => {
                self.whole_reasoning(of, ReasoningOrigin::Native, index, text, out);
            }
            Some("summary_text") => {
                self.whole_reasoning(of, ReasoningOrigin::Summary, index, text, out);
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
        of: Of<'_>,
        index: u64,
        annotations: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let at = match of {
            Of::Named(key) => self.position(key),
            Of::Number(number) => self.numbered(number),
        };
        let Some(at) = at else { return };
        let Kind::Message { part, .. } = &mut self.items[at].kind else {
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
        let number = self.items[at].number;
        let known = matches!(self.items[at].kind, Kind::Message { phase: Some(_), .. });
        let parts = body.content.map(elements).unwrap_or_default();
        for (part, raw) in (0..).zip(parts) {
            self.whole_part(Of::Number(number), part, Some(raw), out);
        }
        let Some(speaking) = self.speaking.filter(|speaking| speaking.item == number) else {
            return;
        };
        out.end_message();
        let is_final = phase_of(body) == Some(Phase::Final);
        if let Some(message) = out.message().filter(|_| is_final && !known)
            && speaking.before != Some(message)
        {
            out.declare_message(message);
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
            Kind::Reasoning { last: None, .. } if is_last => out.redacted_reasoning(),
            _ if is_last => out.end_reasoning(),
            _ => {}
        }
    }
}

fn part_text(raw: &RawValue) -> Cow<'_, str> {
    PART.read(raw.get()).and_then(|part| part.read[1]).and_then(string).unwrap_or_default()
}

fn cite(raw: &RawValue, out: &mut Writer<'_>) {
    const ANNOTATION: Shape<4> = Shape { read: ["url", "title", "filename", "file_id"], skip: &[] };
    let Some(annotation) = ANNOTATION.read(raw.get()) else {
        return;
    };
    let [url, title, filename, file] = annotation.read.map(|member| member.and_then(string));
    out.cite(Citation { url, title: title.or(filename).or(file), quote: None });
}
