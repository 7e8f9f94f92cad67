//! Messages and reasoning: when one is open, what is still blank, what the filter makes of text.

use crate::event::{
    DroppedReason, Event, HeldReason, MarkupClass, MessageId, ReasoningOrigin, StepId, Trace,
};
use crate::ingest::filter::{Class, Filter, Piece};
use crate::limits::BLANK_BYTES_MAX;

use super::fingerprint::Fingerprint;
use super::{Ledger, Out};

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

/// Whether a reasoning tag stood before any text of the message: the white space around it then
/// belongs to the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterTag {
    No,
    Yes,
}

/// What a cumulative source has said so far in the message that is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cumulative {
    raw: String,
    visible: String,
    hidden: String,
}

impl Cumulative {
    pub(super) fn is(&self, text: &str) -> bool {
        self.raw == text
    }
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
        if let (Some(said), Piece::Inside(_, text) | Piece::Markup(_, text)) =
            (&mut self.cumulative, piece)
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
        }
    }

    fn visible(&mut self, text: &str, out: &mut Out<'_>) {
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
        filter.end_message(&mut |piece| self.piece(piece, out));
        if self.is_tag_reasoning() {
            self.end_reasoning(out);
        }
        match std::mem::replace(&mut self.message, Message::None) {
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
                out.event(Event::MessageEnded { message: id });
            }
        }
        self.phase = None;
        self.cumulative = None;
    }

    /// The whole text of the message so far, from a source that repeats itself.
    pub(super) fn text_so_far(&mut self, raw: &str, filter: &mut Filter, out: &mut Out<'_>) {
        // First of all: a new round forgets what the message before it said.
        if !raw.is_empty() {
            self.ensure_round(filter, out);
        }
        let said = self.remembered(filter, out);
        if let Some(fresh) = raw.strip_prefix(said.raw.as_str()) {
            said.raw.push_str(fresh);
            self.text(fresh, filter, out);
            return;
        }
        let before = std::mem::take(said);
        said.raw.push_str(raw);
        filter.begin_round();
        self.end_reasoning(out);
        let Message::Open { id, .. } = self.message else {
            // Nothing has been shown that could be wrong.
            self.message = Message::None;
            self.text(raw, filter, out);
            return;
        };
        let (visible, hidden) = reread(raw, filter);
        if hidden != before.hidden {
            out.hidden(MarkupClass::Rewritten, &hidden);
        }
        let kept = common_prefix(&before.visible, &visible);
        out.event(Event::TextRewritten {
            message: id,
            kept_bytes: kept,
            text: visible[kept..].into(),
        });
        self.message = Message::Open { id, print: Fingerprint::of(&visible) };
        self.cumulative = Some(Cumulative { raw: raw.to_owned(), visible, hidden });
    }

    /// What the open message has said; one that was not remembered from its start is over.
    fn remembered(&mut self, filter: &mut Filter, out: &mut Out<'_>) -> &mut Cumulative {
        if self.cumulative.is_none() && matches!(self.message, Message::Open { .. }) {
            self.end_message(filter, out);
        }
        self.cumulative.get_or_insert_default()
    }

    /// New text of a message that is remembered.
    pub(super) fn text_kept(&mut self, text: &str, filter: &mut Filter, out: &mut Out<'_>) {
        self.ensure_round(filter, out);
        self.remembered(filter, out).raw.push_str(text);
        self.text(text, filter, out);
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
        self.spoke(out);
        if matches!(self.reasoning, Reasoning::None) || self.is_tag_reasoning() {
            if text.chars().all(char::is_whitespace) {
                self.end_reasoning(out);
                self.reasoning = Reasoning::Blank { origin, text: text.to_owned() };
                return;
            }
            self.end_message(filter, out);
            self.reasoning = Reasoning::Blank { origin, text: String::new() };
        } else if matches!(self.reasoning, Reasoning::Blank { .. })
            && !text.chars().all(char::is_whitespace)
        {
            let held = std::mem::replace(&mut self.reasoning, Reasoning::None);
            self.end_message(filter, out);
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
            Reasoning::Open { step, .. } => out.event(Event::ReasoningEnded { step }),
        }
    }
}

/// What the filter shows and hides of a text, by the same rules as when it came piece by piece.
fn reread(raw: &str, filter: &mut Filter) -> (String, String) {
    let (mut visible, mut hidden) = (String::new(), String::new());
    let mut after_tag = AfterTag::No;
    filter.push(raw, &mut |piece| match piece {
        Piece::Visible(text) => visible.push_str(text),
        Piece::Inside(_, text) | Piece::Markup(_, text) => {
            if matches!(piece, Piece::Markup(MarkupClass::Reasoning, _))
                && visible.chars().all(char::is_whitespace)
            {
                after_tag = AfterTag::Yes;
                visible.clear();
            }
            hidden.push_str(text);
        }
    });
    if after_tag == AfterTag::Yes {
        let lead = visible.len() - visible.trim_start().len();
        visible.drain(..layout_len("", &visible[..lead]));
    }
    (visible, hidden)
}

/// How much of the white space before a text only sets a tag apart: all of it up to its last line
/// end, because what follows that is the text's own indentation; all of it where there is none.
fn layout_len(blank: &str, lead: &str) -> usize {
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

fn common_prefix(one: &str, other: &str) -> usize {
    let mut len = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    while !one.is_char_boundary(len) {
        len -= 1;
    }
    len
}
