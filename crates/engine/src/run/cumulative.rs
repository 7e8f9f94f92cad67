//! Cumulative sources: each report is the whole text of the message so far.
//!
//! Does: find what is new and what was rewritten in the visible text.
//! Does not: guess that a source is cumulative; its dialect or a quirk declares it.

use crate::event::{Event, MarkupClass};
use crate::filter::{MessageFilter, Piece};

use super::finish_request::{FinishRequest, TextBeforeWord};
use super::message_state::{AfterReasoningTag, MessageState, MessageText, OpenMessage};
use super::text::white_space_len_owned_by_tag;
use super::{EventEmitter, RunState};

/// Text so far of the open message: raw, and as the filter split it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CumulativeText {
    raw: String,
    pub(super) visible: String,
    pub(super) hidden: String,
}

impl CumulativeText {
    /// True if `text` is the raw text so far.
    pub(super) fn raw_text_equals(&self, text: &str) -> bool {
        self.raw == text
    }
}

impl RunState {
    /// Applies the whole text so far of the open message: appends its new end, or rewrites the
    /// message if the beginning changed.
    pub(super) fn append_or_rewrite_cumulative_text(
        &mut self,
        raw: &str,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        // Must come first: a new round forgets the text of the previous message.
        if !raw.is_empty() {
            self.ensure_round_or_end_run(filter, out);
        }
        let so_far = self.end_unremembered_and_get_text(filter, out);
        if let Some(new) = raw.strip_prefix(so_far.raw.as_str()) {
            so_far.raw.push_str(new);
            self.append_text(new, filter, out);
            return;
        }
        let before = std::mem::take(so_far);
        so_far.raw.push_str(raw);
        filter.drop_held_and_reset_to_reply_start();
        let after =
            self.rewrite_open_message_or_append(&before.visible, &before.hidden, raw, filter, out);
        if let Some(RefilteredText { visible, hidden, .. }) = after {
            self.cumulative = Some(CumulativeText { raw: raw.to_owned(), visible, hidden });
        }
    }

    /// Rewrites the open message, whose text was `visible` and `hidden`, to `whole`, and returns
    /// its new text. Appends `whole` if nothing is shown yet.
    pub(super) fn rewrite_open_message_or_append(
        &mut self,
        visible: &str,
        hidden: &str,
        whole: &str,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) -> Option<RefilteredText> {
        self.close_reasoning_and_defer_end(out);
        let MessageState::Open(OpenMessage { text: MessageText { id, .. }, phase, .. }) =
            self.message_state
        else {
            self.message_state = MessageState::None;
            self.restart_implied_thought(out);
            self.finish_request = FinishRequest::None;
            self.append_text(whole, filter, out);
            return None;
        };
        let after = push_whole_text_and_split(whole, filter);
        self.finish_request = after.finish_request;
        if after.hidden != hidden {
            out.emit_hidden_markup(MarkupClass::Rewritten, &after.hidden);
        }
        let kept = common_prefix_len(visible, &after.visible);
        let text = after.visible[kept..].into();
        out.emit_after_deferred_ends(Event::TextRewritten { message: id, kept_bytes: kept, text });
        let text = MessageText::from_text(id, &after.visible);
        self.message_state = MessageState::Open(OpenMessage::new(text, &after.visible, phase));
        Some(after)
    }

    /// Returns the remembered text of the open message. Ends a message that was not remembered from
    /// its start.
    fn end_unremembered_and_get_text(
        &mut self,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) -> &mut CumulativeText {
        if self.cumulative.is_none() && matches!(self.message_state, MessageState::Open(_)) {
            self.close_message_and_defer_end(filter, out);
        }
        self.cumulative.get_or_insert_default()
    }

    /// Appends `text` to the open message and remembers it.
    pub(super) fn append_and_remember_text(
        &mut self,
        text: &str,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        self.ensure_round_or_end_run(filter, out);
        self.end_unremembered_and_get_text(filter, out).raw.push_str(text);
        self.append_text(text, filter, out);
    }
}

/// A whole text, split by the filter into visible and hidden.
pub(super) struct RefilteredText {
    pub(super) visible: String,
    pub(super) hidden: String,
    pub(super) finish_request: FinishRequest,
    pub(super) after_tag: AfterReasoningTag,
}

/// Filters the whole text `raw` by the same rules as text that arrives in deltas.
pub(super) fn push_whole_text_and_split(raw: &str, filter: &mut MessageFilter) -> RefilteredText {
    let (mut visible, mut hidden) = (String::new(), String::new());
    let mut asks = FinishRequest::None;
    let mut after_tag = AfterReasoningTag::No;
    filter.push(raw, &mut |piece| match piece {
        Piece::Visible(text) => {
            asks.drop_tentative_if_text_follows(text);
            visible.push_str(text);
        }
        Piece::ControlWord(meaning, text) => {
            asks.apply_control_word(meaning, TextBeforeWord::from_text(&visible));
            hidden.push_str(text);
        }
        Piece::UnopenedThoughtEnd(text) => {
            hidden.push_str(&std::mem::take(&mut visible));
            hidden.push_str(text);
            asks = FinishRequest::None;
            after_tag = AfterReasoningTag::Yes;
        }
        Piece::HiddenContent(_, text) | Piece::Markup(_, text) => {
            if matches!(piece, Piece::Markup(MarkupClass::Reasoning, _))
                && visible.chars().all(char::is_whitespace)
            {
                after_tag = AfterReasoningTag::Yes;
                visible.clear();
            }
            hidden.push_str(text);
        }
    });
    if after_tag == AfterReasoningTag::Yes {
        let lead = visible.len() - visible.trim_start().len();
        visible.drain(..white_space_len_owned_by_tag("", &visible[..lead]));
    }
    RefilteredText { visible, hidden, finish_request: asks, after_tag }
}

/// Length of the common prefix, at a character boundary.
fn common_prefix_len(one: &str, other: &str) -> usize {
    let mut len = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    while !one.is_char_boundary(len) {
        len -= 1;
    }
    len
}
