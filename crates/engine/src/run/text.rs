//! State of the open message: blank text held back, text passed through the filter.

use crate::event::{
    DroppedReason, Event, HeldReason, MarkupClass, MessageId, Trace, UnrecognisedReason,
};
use crate::filter::{Filter, Piece, TagClass};
use crate::limits::LEADING_BLANK_BYTES_MAX;

use super::fingerprint::Fingerprint;
use super::reasoning::ReasoningState;
use super::{EndedPart, EventEmitter, RunState};

/// State of the current message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MessageState {
    None,
    /// Only white space so far, so no message has started.
    Blank {
        text: String,
        after_reasoning_tag: AfterReasoningTag,
    },
    Open {
        id: MessageId,
        fingerprint: Fingerprint,
    },
}

impl MessageState {
    /// Id of the open message.
    pub(super) fn open_id(&self) -> Option<MessageId> {
        match self {
            MessageState::Open { id, .. } => Some(*id),
            MessageState::None | MessageState::Blank { .. } => None,
        }
    }
}

/// `Yes` if a reasoning tag preceded the message's text: white space around it then belongs to the
/// tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterReasoningTag {
    No,
    Yes,
}

impl RunState {
    /// Appends raw text from the source and emits what the filter makes of it.
    pub(super) fn append_text(
        &mut self,
        text: &str,
        filter: &mut Filter,
        out: &mut EventEmitter<'_>,
    ) {
        if text.is_empty() {
            return;
        }
        self.ensure_round_or_end_run(filter, out);
        if self.should_drop_late_text() {
            return RunState::trace_late_text(text, out);
        }
        self.trace_first_token(out);
        if !matches!(self.reasoning_state, ReasoningState::None) && !self.is_reasoning_from_tag() {
            self.close_reasoning_and_defer_end(out);
        }
        filter.push(text, &mut |piece| self.apply_piece(piece, out));
        if 0 < filter.held_bytes() {
            let bytes = filter.held_bytes();
            out.sink.on_trace(Trace::Held { bytes, reason: HeldReason::Markup });
        }
    }

    /// Emits the events for one piece of filtered text.
    fn apply_piece(&mut self, piece: Piece<'_>, out: &mut EventEmitter<'_>) {
        if let (
            Some(cumulative),
            Piece::HiddenContent(_, text) | Piece::Markup(_, text) | Piece::ControlWord(_, text),
        ) = (&mut self.cumulative, piece)
        {
            cumulative.hidden.push_str(text);
        }
        match piece {
            Piece::Visible(text) => self.append_or_hold_visible_text(text, out),
            Piece::HiddenContent(TagClass::Reasoning, text) => self.append_tag_reasoning(text, out),
            Piece::HiddenContent(TagClass::Tool | TagClass::Unwrapped, text) => {
                out.emit_hidden_markup(MarkupClass::Tool, text);
            }
            Piece::Markup(MarkupClass::Reasoning, text) => {
                self.hide_blank_before_tag(out);
                if self.is_reasoning_from_tag() {
                    self.close_reasoning_and_defer_end(out);
                }
                out.emit_hidden_markup(MarkupClass::Reasoning, text);
            }
            Piece::Markup(class, text) => out.emit_hidden_markup(class, text),
            Piece::ControlWord(meaning, text) => {
                self.apply_control_word(meaning);
                out.emit_hidden_markup(MarkupClass::Control, text);
            }
        }
    }

    /// Appends visible text to the message; starts one at the first non-blank character.
    pub(super) fn append_or_hold_visible_text(&mut self, text: &str, out: &mut EventEmitter<'_>) {
        self.finish_request.drop_tentative_if_text_follows(text);
        if let MessageState::Open { id, fingerprint: print } = &mut self.message_state {
            print.push(text);
            if let Some(cumulative) = &mut self.cumulative {
                cumulative.visible.push_str(text);
            }
            let message = *id;
            out.emit_after_deferred_ends(Event::TextAppended { message, text: text.into() });
            return;
        }
        let (mut blank, after_tag) =
            match std::mem::replace(&mut self.message_state, MessageState::None) {
                MessageState::Blank { text, after_reasoning_tag: after_tag } => (text, after_tag),
                MessageState::None | MessageState::Open { .. } => {
                    (String::new(), AfterReasoningTag::No)
                }
            };
        let first = text.find(|char: char| !char.is_whitespace());
        let Some(first) = first.filter(|_| blank.len() <= LEADING_BLANK_BYTES_MAX) else {
            if blank.len() + text.len() <= LEADING_BLANK_BYTES_MAX {
                blank.push_str(text);
                let bytes = blank.len();
                out.sink.on_trace(Trace::Held { bytes, reason: HeldReason::Blank });
            } else {
                // Blank text past the limit is hidden; the earlier part stays held.
                out.emit_hidden_markup(MarkupClass::Blank, text);
            }
            self.message_state =
                MessageState::Blank { text: blank, after_reasoning_tag: after_tag };
            return;
        };
        self.ensure_open_message(out);
        let kept = match after_tag {
            AfterReasoningTag::No => 0,
            AfterReasoningTag::Yes => white_space_len_owned_by_tag(&blank, &text[..first]),
        };
        let (layout, rest) = split_concatenation_at(&blank, text, kept);
        if !layout.is_empty() {
            out.emit_hidden_markup(MarkupClass::Blank, &layout);
        }
        for piece in rest {
            if !piece.is_empty() {
                self.append_or_hold_visible_text(piece, out);
            }
        }
    }

    /// Hides blank text before a reasoning tag, unless a message is open.
    fn hide_blank_before_tag(&mut self, out: &mut EventEmitter<'_>) {
        match &mut self.message_state {
            MessageState::Open { .. } => return,
            MessageState::Blank { text, .. } => {
                let text = std::mem::take(text);
                if !text.is_empty() {
                    out.emit_hidden_markup(MarkupClass::Blank, &text);
                }
            }
            MessageState::None => {}
        }
        self.message_state = MessageState::Blank {
            text: String::new(),
            after_reasoning_tag: AfterReasoningTag::Yes,
        };
    }

    /// Starts a message if none is open, even without text. Returns its id.
    pub(super) fn ensure_open_message(&mut self, out: &mut EventEmitter<'_>) -> MessageId {
        if let MessageState::Open { id, .. } = self.message_state {
            return id;
        }
        let id = MessageId(self.message_count);
        self.message_count += 1;
        let phase = self.next_message_phase.take();
        out.emit_after_deferred_ends(Event::MessageStarted {
            message: id,
            round: self.current_or_last_round_number(),
            phase,
        });
        self.message_state = MessageState::Open { id, fingerprint: Fingerprint::default() };
        if let Some(round) = &mut self.open_round {
            round.last_message = Some((id, Fingerprint::default()));
            if phase == Some(crate::event::MessagePhase::Final) {
                round.last_final_message = Some(id);
            }
        }
        id
    }

    /// Closes the message, emits its citations and defers its end.
    pub(super) fn close_message_and_defer_end(
        &mut self,
        filter: &mut Filter,
        out: &mut EventEmitter<'_>,
    ) {
        if let Some(message) = self.close_message_without_end_event(filter, out) {
            self.emit_pending_citations(message, out);
            out.defer_end(EndedPart::Message(message));
        }
    }

    /// Emits the held text of the message and resets the message state. Returns its id if it had
    /// started; its end is not emitted.
    pub(super) fn close_message_without_end_event(
        &mut self,
        filter: &mut Filter,
        out: &mut EventEmitter<'_>,
    ) -> Option<MessageId> {
        filter.end_message_keeping_open_tag(&mut |piece| self.apply_piece(piece, out));
        if self.is_reasoning_from_tag() {
            self.close_reasoning_and_defer_end(out);
        }
        let message = std::mem::replace(&mut self.message_state, MessageState::None);
        let id = message.open_id();
        self.messages_closed += 1;
        self.request_run_end_if_message_asked(id);
        match message {
            MessageState::None => {}
            MessageState::Blank { text, .. } => {
                if !text.is_empty() {
                    let bytes = text.len();
                    out.sink.on_trace(Trace::Dropped { bytes, reason: DroppedReason::Blank });
                }
            }
            MessageState::Open { id, fingerprint: print } => {
                if let Some(round) = &mut self.open_round {
                    round.last_message = Some((id, print));
                }
            }
        }
        self.next_message_phase = None;
        self.cumulative = None;
        id
    }

    /// Emits the pending citations for `message`.
    fn emit_pending_citations(&mut self, message: MessageId, out: &mut EventEmitter<'_>) {
        for citation in self.pending_citations.drain(..) {
            out.emit_after_deferred_ends(Event::SourceCited { message, citation });
        }
    }

    /// Emits citations that found no message for the round's last one; without one, records them as
    /// unrecognised.
    pub(super) fn emit_leftover_citations(
        &mut self,
        last: Option<(MessageId, Fingerprint)>,
        out: &mut EventEmitter<'_>,
    ) {
        if let Some((message, _)) = last {
            return self.emit_pending_citations(message, out);
        }
        for citation in self.pending_citations.drain(..) {
            let raw = serde_json::to_string(&citation).unwrap_or_default().into();
            out.emit_after_deferred_ends(Event::Unrecognised {
                reason: UnrecognisedReason::Frame,
                raw,
            });
        }
    }
}

/// Length of the white space before a text that belongs to the tag before it: up to its last line
/// end, because the rest is the text's indentation; all of it if it has no line end.
pub(super) fn white_space_len_owned_by_tag(blank: &str, lead: &str) -> usize {
    match (lead.rfind('\n'), blank.rfind('\n')) {
        (Some(end), _) => blank.len() + end + 1,
        (None, Some(end)) => end + 1,
        (None, None) => blank.len() + lead.len(),
    }
}

/// Splits the concatenation of two texts after `len` bytes.
fn split_concatenation_at<'t>(
    first: &'t str,
    second: &'t str,
    len: usize,
) -> (String, [&'t str; 2]) {
    match len.checked_sub(first.len()) {
        None => (first[..len].to_owned(), [&first[len..], second]),
        Some(more) => (format!("{first}{}", &second[..more]), ["", &second[more..]]),
    }
}
