//! Messages and reasoning: when one is open, what is still blank, what the filter makes of text.

use crate::event::{
    DroppedReason, Event, HeldReason, MarkupClass, MessageId, ReasoningOrigin, StepId, Trace,
    UnrecognisedReason,
};
use crate::ingest::filter::{Class, Filter, Piece};
use crate::limits::BLANK_BYTES_MAX;

use super::fingerprint::Fingerprint;
use super::{Ledger, Out, Over};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    None,
    /// Text has come, but only white space: it is no message yet.
    Blank {
        text: String,
        after_tag: AfterTag,
    },
    Open {
        id: MessageId,
        print: Fingerprint,
    },
}

impl Message {
    pub(super) fn id(&self) -> Option<MessageId> {
        match self {
            Message::Open { id, .. } => Some(*id),
            Message::None | Message::Blank { .. } => None,
        }
    }
}

/// Whether a reasoning tag stood before any text of the message: the white space around it then
/// belongs to the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterTag {
    No,
    Yes,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reasoning {
    None,
    /// Announced, but nothing or only white space has come.
    Blank {
        origin: ReasoningOrigin,
        text: String,
    },
    Open {
        step: StepId,
        origin: ReasoningOrigin,
    },
}

impl Ledger {
    /// Text from the source, tags and all.
    pub(super) fn text(&mut self, text: &str, filter: &mut Filter, out: &mut Out<'_>) {
        if text.is_empty() {
            return;
        }
        self.ensure_round(filter, out);
        if self.is_late() {
            return Ledger::dropped_late(text, out);
        }
        self.spoke(out);
        if !matches!(self.reasoning, Reasoning::None) && !self.is_tag_reasoning() {
            self.end_reasoning(out);
        }
        filter.push(text, &mut |piece| self.piece(piece, out));
        if 0 < filter.held_bytes() {
            let bytes = filter.held_bytes();
            out.sink.trace(Trace::Held { bytes, reason: HeldReason::Markup });
        }
    }

    fn is_tag_reasoning(&self) -> bool {
        matches!(
            self.reasoning,
            Reasoning::Blank { origin: ReasoningOrigin::Tag, .. }
                | Reasoning::Open { origin: ReasoningOrigin::Tag, .. }
        )
    }

    fn piece(&mut self, piece: Piece<'_>, out: &mut Out<'_>) {
        if let (
            Some(said),
            Piece::Inside(_, text) | Piece::Markup(_, text) | Piece::Control(_, text),
        ) = (&mut self.cumulative, piece)
        {
            said.hidden.push_str(text);
        }
        match piece {
            Piece::Visible(text) => self.visible(text, out),
            Piece::Inside(Class::Reasoning, text) => self.tag_reasoning(text, out),
            Piece::Inside(Class::Tool | Class::Unwrapped, text) => {
                out.hidden(MarkupClass::Tool, text);
            }
            Piece::Markup(MarkupClass::Reasoning, text) => {
                self.blank_before_tag(out);
                if self.is_tag_reasoning() {
                    self.end_reasoning(out);
                }
                out.hidden(MarkupClass::Reasoning, text);
            }
            Piece::Markup(class, text) => out.hidden(class, text),
            Piece::Control(meaning, text) => {
                self.control_word(meaning);
                out.hidden(MarkupClass::Control, text);
            }
        }
    }

    pub(super) fn visible(&mut self, text: &str, out: &mut Out<'_>) {
        self.asks.text(text);
        if let Message::Open { id, print } = &mut self.message {
            print.push(text);
            if let Some(cumulative) = &mut self.cumulative {
                cumulative.visible.push_str(text);
            }
            let message = *id;
            out.event(Event::TextAppended { message, text: text.into() });
            return;
        }
        let (mut blank, after_tag) = match std::mem::replace(&mut self.message, Message::None) {
            Message::Blank { text, after_tag } => (text, after_tag),
            Message::None | Message::Open { .. } => (String::new(), AfterTag::No),
        };
        let first = text.find(|char: char| !char.is_whitespace());
        let Some(first) = first.filter(|_| blank.len() <= BLANK_BYTES_MAX) else {
            if blank.len() + text.len() <= BLANK_BYTES_MAX {
                blank.push_str(text);
                let bytes = blank.len();
                out.sink.trace(Trace::Held { bytes, reason: HeldReason::Blank });
            } else {
                // Nobody needs more than this of nothing; what came first is kept.
                out.hidden(MarkupClass::Blank, text);
            }
            self.message = Message::Blank { text: blank, after_tag };
            return;
        };
        self.open_message(out);
        let kept = match after_tag {
            AfterTag::No => 0,
            AfterTag::Yes => layout_len(&blank, &text[..first]),
        };
        let (layout, rest) = split_joined(&blank, text, kept);
        if !layout.is_empty() {
            out.hidden(MarkupClass::Blank, &layout);
        }
        for piece in rest {
            if !piece.is_empty() {
                self.visible(piece, out);
            }
        }
    }

    fn blank_before_tag(&mut self, out: &mut Out<'_>) {
        match &mut self.message {
            Message::Open { .. } => return,
            Message::Blank { text, .. } => {
                let text = std::mem::take(text);
                if !text.is_empty() {
                    out.hidden(MarkupClass::Blank, &text);
                }
            }
            Message::None => {}
        }
        self.message = Message::Blank { text: String::new(), after_tag: AfterTag::Yes };
    }

    /// Opens a message now, whether or not there is text for it yet.
    pub(super) fn open_message(&mut self, out: &mut Out<'_>) -> MessageId {
        if let Message::Open { id, .. } = self.message {
            return id;
        }
        let id = MessageId(self.messages);
        self.messages += 1;
        let phase = self.phase.take();
        out.event(Event::MessageStarted { message: id, round: self.current_round(), phase });
        self.message = Message::Open { id, print: Fingerprint::default() };
        if let Some(round) = &mut self.round {
            round.last_message = Some((id, Fingerprint::default()));
            if phase == Some(crate::event::Phase::Final) {
                round.last_final = Some(id);
            }
        }
        id
    }

    pub(super) fn end_message(&mut self, filter: &mut Filter, out: &mut Out<'_>) {
        if let Some(message) = self.close_message(filter, out) {
            self.cite(message, out);
            out.is_over(Over::Message(message));
        }
    }

    /// Delivers what is held of the message and forgets it: nothing more can be put to it.
    pub(super) fn close_message(
        &mut self,
        filter: &mut Filter,
        out: &mut Out<'_>,
    ) -> Option<MessageId> {
        filter.end_message(&mut |piece| self.piece(piece, out));
        if self.is_tag_reasoning() {
            self.end_reasoning(out);
        }
        let message = std::mem::replace(&mut self.message, Message::None);
        let id = message.id();
        self.messages_closed += 1;
        self.settle_asks(id);
        match message {
            Message::None => {}
            Message::Blank { text, .. } => {
                if !text.is_empty() {
                    let bytes = text.len();
                    out.sink.trace(Trace::Dropped { bytes, reason: DroppedReason::Blank });
                }
            }
            Message::Open { id, print } => {
                if let Some(round) = &mut self.round {
                    round.last_message = Some((id, print));
                }
            }
        }
        self.phase = None;
        self.cumulative = None;
        id
    }

    /// Names the sources that came before this message or in its middle.
    fn cite(&mut self, message: MessageId, out: &mut Out<'_>) {
        for citation in self.citations.drain(..) {
            out.event(Event::SourceCited { message, citation });
        }
    }

    /// Sources for which no message came are for the last one; where there is none, they are
    /// only recorded.
    pub(super) fn cite_late(&mut self, last: Option<(MessageId, Fingerprint)>, out: &mut Out<'_>) {
        if let Some((message, _)) = last {
            return self.cite(message, out);
        }
        for citation in self.citations.drain(..) {
            let raw = serde_json::to_string(&citation).unwrap_or_default().into();
            out.event(Event::Unrecognised { reason: UnrecognisedReason::Frame, raw });
        }
    }

    fn tag_reasoning(&mut self, text: &str, out: &mut Out<'_>) {
        if matches!(self.reasoning, Reasoning::None) {
            self.reasoning = Reasoning::Blank { origin: ReasoningOrigin::Tag, text: String::new() };
        }
        self.reasoning_text(text, out);
    }

    /// Reasoning that has a place of its own in the source.
    pub(super) fn native_reasoning(
        &mut self,
        text: &str,
        origin: ReasoningOrigin,
        filter: &mut Filter,
        out: &mut Out<'_>,
    ) {
        if text.is_empty() {
            return;
        }
        self.ensure_round(filter, out);
        if self.is_late() {
            return Ledger::dropped_late(text, out);
        }
        self.spoke(out);
        if matches!(self.reasoning, Reasoning::None) || self.is_tag_reasoning() {
            if text.chars().all(char::is_whitespace) {
                self.end_reasoning(out);
                self.reasoning = Reasoning::Blank { origin, text: text.to_owned() };
                return;
            }
            self.end_message(filter, out);
            self.ensure_round(filter, out);
            self.reasoning = Reasoning::Blank { origin, text: String::new() };
        } else if matches!(self.reasoning, Reasoning::Blank { .. })
            && !text.chars().all(char::is_whitespace)
        {
            let held = std::mem::replace(&mut self.reasoning, Reasoning::None);
            self.end_message(filter, out);
            self.ensure_round(filter, out);
            self.reasoning = held;
        }
        self.reasoning_text(text, out);
    }

    fn reasoning_text(&mut self, text: &str, out: &mut Out<'_>) {
        if let Reasoning::Blank { origin, text: blank } = &mut self.reasoning {
            let origin = *origin;
            let Some(first) = text.find(|char: char| !char.is_whitespace()) else {
                if blank.len() + text.len() <= BLANK_BYTES_MAX {
                    blank.push_str(text);
                }
                return;
            };
            let blank = std::mem::take(blank);
            let step = self.open_reasoning(origin, out);
            // White space inside a tag, before the reasoning, only sets the tag apart.
            let (layout, text) = if origin == ReasoningOrigin::Tag {
                (blank + &text[..first], &text[first..])
            } else {
                if !blank.is_empty() {
                    out.event(Event::ReasoningAppended { step, text: blank.into() });
                }
                (String::new(), text)
            };
            if !layout.is_empty() {
                out.hidden(MarkupClass::Blank, &layout);
            }
            out.event(Event::ReasoningAppended { step, text: text.into() });
        } else if let Reasoning::Open { step, .. } = self.reasoning {
            out.event(Event::ReasoningAppended { step, text: text.into() });
        }
    }

    pub(super) fn open_reasoning(&mut self, origin: ReasoningOrigin, out: &mut Out<'_>) -> StepId {
        let step = StepId(self.steps);
        self.steps += 1;
        out.event(Event::ReasoningStarted { step, round: self.current_round(), origin });
        self.reasoning = Reasoning::Open { step, origin };
        step
    }

    pub(super) fn end_reasoning(&mut self, out: &mut Out<'_>) {
        match std::mem::replace(&mut self.reasoning, Reasoning::None) {
            Reasoning::Blank { origin: ReasoningOrigin::Tag, text } if !text.is_empty() => {
                out.hidden(MarkupClass::Blank, &text);
            }
            Reasoning::None | Reasoning::Blank { .. } => {}
            Reasoning::Open { step, .. } => out.is_over(Over::Reasoning(step)),
        }
    }
}

/// How much of the white space before a text only sets a tag apart: all of it up to its last line
/// end, because what follows that is the text's own indentation; all of it where there is none.
pub(super) fn layout_len(blank: &str, lead: &str) -> usize {
    match (lead.rfind('\n'), blank.rfind('\n')) {
        (Some(end), _) => blank.len() + end + 1,
        (None, Some(end)) => end + 1,
        (None, None) => blank.len() + lead.len(),
    }
}

/// Cuts two texts, taken as one, after `len` bytes.
fn split_joined<'t>(first: &'t str, second: &'t str, len: usize) -> (String, [&'t str; 2]) {
    match len.checked_sub(first.len()) {
        None => (first[..len].to_owned(), [&first[len..], second]),
        Some(more) => (format!("{first}{}", &second[..more]), ["", &second[more..]]),
    }
}
