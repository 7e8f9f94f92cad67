//! What a model says: deltas, and the wholes that repeat them or put them right.

use crate::event::{Citation, Phase, ReasoningOrigin, UnrecognisedReason};
use crate::ingest::json::{RawValue, Shape, elements, string};
use crate::run::Writer;

use super::item::{Key, Kind, phase_of};
use super::{Body, LeftOpen, OpenAiResponses};

/// How far the parts of a message are. They come one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spoken {
    index: u64,
    /// Where the part begins in the text of its message.
    from: usize,
    /// What has come of the whole message.
    bytes: usize,
    cited: usize,
}

impl Spoken {
    fn reach(&mut self, index: u64) {
        if self.index < index {
            *self = Spoken { index, from: self.bytes, bytes: self.bytes, cited: 0 };
        }
    }

    /// What was cited stands with a message that no longer counts; the end has all of it.
    fn cite_again_if(&mut self, moved: bool) {
        if moved {
            self.cited = 0;
        }
    }
}

/// The item that a whole text is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Of<'a> {
    Named(Key<'a>),
    Number(u32),
}

pub(super) const PART: Shape<5> = Shape {
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
        let newest = self.items.last().filter(|item| {
            place.is_some() && item.index == place && self.drafts.is_current(item.number)
        });
        let goes_on = newest.is_some_and(|item| matches!(item.kind, Kind::Message { .. }));
        if goes_on {
            self.say(self.items.len() - 1, part, text, out);
        }
        goes_on
    }

    fn say(&mut self, at: usize, part: u64, text: &str, out: &mut Writer<'_>) {
        let item = &mut self.items[at];
        let Kind::Message { phase, spoken } = &mut item.kind else {
            return;
        };
        spoken.reach(part);
        spoken.bytes += text.len();
        let moves = self.drafts.moves();
        self.drafts.say(item.number, *phase, text, out);
        spoken.cite_again_if(moves != self.drafts.moves());
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

    /// A part as its source says it is: its last word on it.
    fn whole_text_of(&mut self, at: usize, part: u64, text: &str, out: &mut Writer<'_>) {
        let item = &mut self.items[at];
        let Kind::Message { phase, spoken } = &mut item.kind else {
            return;
        };
        spoken.reach(part);
        if part < spoken.index || text.is_empty() {
            return;
        }
        let said = self.drafts.said(item.number);
        if said.is_none() && 0 < spoken.bytes {
            // It was left too long ago to be put right.
            return;
        }
        let before = said.and_then(|said| said.get(..spoken.from)).unwrap_or_default();
        let whole = format!("{before}{text}");
        let moves = self.drafts.moves();
        let told = self.drafts.whole(item.number, *phase, &whole, out);
        spoken.bytes = whole.len();
        spoken.cite_again_if(moves != self.drafts.moves());
        told.warn(&whole, out);
    }

    pub(super) fn is_closed(&self, key: Key<'_>) -> bool {
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
        let Some(at) = self.position(key) else { return };
        let item = &mut self.items[at];
        let Kind::Message { spoken, .. } = &mut item.kind else {
            return;
        };
        spoken.reach(part);
        // A source of text that has not come yet is cited with the whole part.
        if self.drafts.is_current(item.number) && out.message().is_some() {
            spoken.cited += 1;
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
        let Kind::Message { spoken: part, .. } = &mut self.items[at].kind else {
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
        let message = self.drafts.finish(number, out);
        let is_final = phase_of(body) == Some(Phase::Final);
        if let Some(message) = message.filter(|_| is_final && !known) {
            out.declare_message(message);
        }
    }
}

fn cite(raw: &RawValue, out: &mut Writer<'_>) {
    const ANNOTATION: Shape<4> = Shape { read: ["url", "title", "filename", "file_id"], skip: &[] };
    let Some(annotation) = ANNOTATION.read(raw.get()) else {
        return;
    };
    let [url, title, filename, file] = annotation.read.map(|member| member.and_then(string));
    out.cite(Citation { url, title: title.or(filename).or(file), quote: None });
}
