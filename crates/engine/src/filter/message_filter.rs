//! Filter of a run's messages: [`Filter`], and the marks around control words.

use std::sync::Arc;

use super::control_marks::ControlMarks;
use super::{ControlWord, Filter, FilterStart, Piece, TagTable};

/// Incremental filter that hides control words together with the marks around them.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageFilter {
    filter: Filter,
    marks: ControlMarks,
}

impl MessageFilter {
    /// Creates a filter.
    pub fn new(
        table: Arc<TagTable>,
        starts_in: FilterStart,
        words: &[ControlWord],
    ) -> MessageFilter {
        let filter = Filter::with_control_words(table, starts_in, words);
        MessageFilter { filter, marks: ControlMarks::default() }
    }

    /// Returns a filter with the same tags and words, at the start of visible text.
    #[must_use]
    pub fn copy_reset_to_visible_text(&self) -> MessageFilter {
        let filter = self.filter.copy_reset_to_visible_text();
        MessageFilter { filter, marks: ControlMarks::default() }
    }

    /// Returns a filter with the same tags and words, at the start of a message in the same reply.
    #[must_use]
    pub(crate) fn copy_at_message_start(&self) -> MessageFilter {
        let filter = self.filter.copy_at_message_start();
        MessageFilter { filter, marks: ControlMarks::default() }
    }

    /// Bytes held back because they may be markup or belong to a control word.
    pub fn held_bytes(&self) -> usize {
        self.filter.held_bytes() + self.marks.held_bytes()
    }

    /// True if the filter hides control words.
    pub(crate) fn has_control_words(&self) -> bool {
        self.filter.has_control_words()
    }

    /// True if text other than a possible tag is held, and does not end in white space.
    pub(crate) fn holds_text_without_space_at_its_end(&self) -> bool {
        let held = match self.filter.held_text_unless_tag() {
            Some("") => self.marks.held_text(),
            Some(held) => held,
            None => return false,
        };
        held.chars().next_back().is_some_and(|last| !last.is_whitespace())
    }

    /// Filters `text`; emits every piece that is decided.
    pub fn push(&mut self, text: &str, out: &mut impl FnMut(Piece<'_>)) {
        let MessageFilter { filter, marks } = self;
        if filter.has_control_words() {
            filter.push(text, &mut |piece| marks.push(piece, out));
        } else {
            filter.push(text, out);
        }
    }

    /// Ends the message: decides and emits held text. Open hidden text stays open, because a step
    /// may interrupt it.
    pub fn end_message_keeping_open_tag(&mut self, out: &mut impl FnMut(Piece<'_>)) {
        let MessageFilter { filter, marks } = self;
        if !filter.has_control_words() {
            return filter.end_message_keeping_open_tag(out);
        }
        filter.end_message_keeping_open_tag(&mut |piece| marks.push(piece, out));
        marks.end_message(out);
    }

    /// Emits held text because a step follows, although the message goes on. Marks after a control
    /// word stay held.
    pub(crate) fn flush_for_step(&mut self, out: &mut impl FnMut(Piece<'_>)) {
        let MessageFilter { filter, marks } = self;
        if !filter.has_control_words() {
            return filter.emit_held_before_step(out);
        }
        filter.emit_held_before_step(&mut |piece| marks.push(piece, out));
        marks.flush_for_step(out);
    }

    /// Resets the filter for a new reply.
    pub fn drop_held_and_reset_to_reply_start(&mut self) {
        self.filter.drop_held_and_reset_to_reply_start();
        self.marks = ControlMarks::default();
    }
}
