//! State of the open message: blank text held back, text passed through the filter.

use crate::event::{
    DroppedReason, Event, HeldReason, MarkupClass, MessageId, Trace, UnrecognisedReason,
};
use crate::filter::{MessageFilter, Piece, TagClass};
use crate::limits::LEADING_BLANK_BYTES_MAX;

use super::fingerprint::Fingerprint;
use super::finish_request::FinishRequest;
use super::message_state::{
    AfterReasoningTag, MessageState, MessageText, OpenMessage, ReasoningInterruption,
    ends_in_white_space,
};
use super::reasoning::ReasoningState;
use super::{EndedPart, EventEmitter, RunState};

/// Text between two blocks of a message that meet without white space.
const BLANK_LINE: &str = "\n\n";

impl RunState {
    /// Appends raw text from the source and emits what the filter makes of it.
    pub(super) fn append_text(
        &mut self,
        text: &str,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        if text.is_empty() {
            return;
        }
        self.ensure_round_or_end_run(filter, out);
        if self.should_drop_late_text() {
            return RunState::trace_late_text(text, out);
        }
        if !matches!(self.reasoning_state, ReasoningState::None) && !self.is_reasoning_from_tag() {
            self.close_reasoning_and_defer_end(out);
        }
        if self.end_interruption_and_need_blank_line(text, filter) {
            filter.push(BLANK_LINE, &mut |piece| self.apply_piece(piece, out));
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
            Piece::HiddenContent(_, text)
            | Piece::Markup(_, text)
            | Piece::ControlWord(_, text)
            | Piece::UnopenedThoughtEnd(text),
        ) = (&mut self.cumulative, piece)
        {
            cumulative.hidden.push_str(text);
        }
        match piece {
            Piece::Visible(text) => {
                if !self.append_to_implied_thought(text, out) {
                    self.append_or_hold_visible_text(text, out);
                }
            }
            Piece::HiddenContent(TagClass::Reasoning, text) => self.append_tag_reasoning(text, out),
            Piece::HiddenContent(TagClass::Tool | TagClass::Unwrapped, text) => {
                out.emit_hidden_markup(MarkupClass::Tool, text);
            }
            Piece::Markup(MarkupClass::Reasoning, text) => {
                self.release_implied_thought(out);
                self.hide_blank_before_tag(out);
                if self.is_reasoning_from_tag() {
                    self.close_reasoning_and_defer_end(out);
                }
                out.emit_hidden_markup(MarkupClass::Reasoning, text);
            }
            Piece::Markup(class, text) => out.emit_hidden_markup(class, text),
            Piece::UnopenedThoughtEnd(text) => {
                self.end_implied_thought(out);
                self.withdraw_open_message_as_thought(out);
                out.emit_hidden_markup(MarkupClass::Reasoning, text);
            }
            Piece::ControlWord(meaning, text) => {
                self.apply_control_word(meaning);
                out.emit_hidden_markup(MarkupClass::Control, text);
            }
        }
    }

    /// Appends visible text to the message; starts one at the first non-blank character.
    pub(super) fn append_or_hold_visible_text(&mut self, text: &str, out: &mut EventEmitter<'_>) {
        self.finish_request.drop_tentative_if_text_follows(text);
        if let MessageState::Open(open) = &mut self.message_state {
            if open.interruption == ReasoningInterruption::Pending {
                return self.append_after_reasoning(text, out);
            }
            open.text.whole.push(text);
            open.text.last_stretch.push(text);
            open.ends_in_blank = ends_in_white_space(text);
            if let Some(cumulative) = &mut self.cumulative {
                cumulative.visible.push_str(text);
            }
            let message = open.text.id;
            out.emit_after_deferred_ends(Event::TextAppended { message, text: text.into() });
            return;
        }
        let (mut blank, after_tag) =
            match std::mem::replace(&mut self.message_state, MessageState::None) {
                MessageState::Blank { text, after_reasoning_tag: after_tag } => (text, after_tag),
                MessageState::None | MessageState::Open(_) => {
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
        self.trace_first_text(out);
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

    /// Withdraws the open message, whose text was thinking; what follows is a new message of the
    /// same phase.
    fn withdraw_open_message_as_thought(&mut self, out: &mut EventEmitter<'_>) {
        self.finish_request = FinishRequest::None;
        if let Some(cumulative) = &mut self.cumulative {
            let thought = std::mem::take(&mut cumulative.visible);
            cumulative.hidden.push_str(&thought);
        }
        if let MessageState::Open(OpenMessage { text: MessageText { id, .. }, phase, .. }) =
            self.message_state
        {
            self.message_state = MessageState::None;
            self.next_message_phase = phase;
            self.mark_messages_withdrawn(&[id]);
            self.reset_last_message_if_withdrawn();
            let messages = vec![id];
            out.emit_after_deferred_ends(Event::Withdrawn { messages, steps: Vec::new() });
        }
        self.hide_blank_before_tag(out);
    }

    /// Notes that reasoning of the source follows the text of the open message. A message with an
    /// id of its own goes on as if nothing had happened.
    pub(super) fn mark_text_interrupted_by_reasoning(&mut self) {
        if let MessageState::Open(open) = &mut self.message_state
            && !self.slots.is_current_identified()
        {
            open.interruption = ReasoningInterruption::Pending;
        }
    }

    /// Appends text after reasoning: a blank line stands between two texts that meet without white
    /// space.
    #[cold]
    fn append_after_reasoning(&mut self, text: &str, out: &mut EventEmitter<'_>) {
        let MessageState::Open(open) = &mut self.message_state else { return };
        open.interruption = ReasoningInterruption::None;
        let meets_white_space = open.ends_in_blank || text.starts_with(char::is_whitespace);
        open.text.last_stretch = Fingerprint::default();
        if !meets_white_space {
            self.append_or_hold_visible_text(BLANK_LINE, out);
        }
        self.append_or_hold_visible_text(text, out);
    }

    /// True if reasoning interrupted the open message while the end of its text was held, and
    /// `text` meets that without white space. The blank line between them is then filtered with
    /// the text, because it decides what was held.
    fn end_interruption_and_need_blank_line(&mut self, text: &str, filter: &MessageFilter) -> bool {
        let MessageState::Open(open) = &mut self.message_state else { return false };
        if open.interruption == ReasoningInterruption::None
            || !filter.holds_text_without_space_at_its_end()
        {
            return false;
        }
        open.interruption = ReasoningInterruption::None;
        open.text.last_stretch = Fingerprint::default();
        !text.starts_with(char::is_whitespace)
    }

    /// Hides blank text before a reasoning tag, unless a message is open.
    fn hide_blank_before_tag(&mut self, out: &mut EventEmitter<'_>) {
        match &mut self.message_state {
            MessageState::Open(_) => return,
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
        if let Some(id) = self.message_state.open_id() {
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
        let text = MessageText::empty(id);
        self.message_state = MessageState::Open(OpenMessage::new(text, "", phase));
        if let Some(round) = &mut self.open_round {
            round.last_message = Some(text);
            if phase == Some(crate::event::MessagePhase::Final) {
                round.last_final_message = Some(id);
            }
        }
        id
    }

    /// Closes the message, emits its citations and defers its end.
    pub(super) fn close_message_and_defer_end(
        &mut self,
        filter: &mut MessageFilter,
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
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) -> Option<MessageId> {
        filter.end_message_keeping_open_tag(&mut |piece| self.apply_piece(piece, out));
        if self.slots.is_current_identified() {
            // A tag that a message of the source's own leaves open hides nothing of the next one.
            *filter = filter.copy_at_message_start();
        }
        self.end_or_release_implied_thought_with_message(out);
        if self.is_reasoning_from_tag() {
            self.close_reasoning_and_defer_end(out);
        }
        let message = std::mem::replace(&mut self.message_state, MessageState::None);
        let id = message.open_id();
        self.slots.advance_to_empty_slot(id);
        self.mark_end_requested_if_message_asked(id);
        match message {
            MessageState::None => {}
            MessageState::Blank { text, .. } => {
                if !text.is_empty() {
                    let bytes = text.len();
                    out.sink.on_trace(Trace::Dropped { bytes, reason: DroppedReason::Blank });
                }
            }
            MessageState::Open(open) => {
                // A message that others followed is not the last one.
                if let Some(round) = &mut self.open_round
                    && round.last_message.is_some_and(|last| last.id == open.text.id)
                {
                    round.last_message = Some(open.text);
                }
            }
        }
        self.next_message_phase = None;
        self.cumulative = None;
        id
    }

    /// Emits the text that the filter holds for the current message, which stays open.
    pub(super) fn emit_held_text(
        &mut self,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        filter.flush_for_step(&mut |piece| self.apply_piece(piece, out));
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
        last: Option<MessageText>,
        out: &mut EventEmitter<'_>,
    ) {
        if let Some(last) = last {
            return self.emit_pending_citations(last.id, out);
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
