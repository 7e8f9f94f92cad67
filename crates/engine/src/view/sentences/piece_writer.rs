//! Pieces of the open message, as the splitter cuts them.

use std::borrow::Cow;

use crate::event::{MessageId, Record};
use crate::sentence::SplitOutput;
use crate::view::common::CommonFold;
use crate::view::item::{Item, ItemKey, ItemKind, ItemState};
use crate::view::patch::Patch;

use super::Piece;

/// Writes the splitter's cuts as pieces of one message.
pub(super) struct PieceWriter<'a> {
    pub(super) message: MessageId,
    pub(super) shown_bytes: &'a mut usize,
    pub(super) open_piece: &'a mut Option<ItemKey>,
    pub(super) pieces_started: &'a mut u32,
    pub(super) pieces: &'a mut Vec<Piece>,
    pub(super) base: &'a mut CommonFold,
    /// A piece that has ended but is not closed; if another follows at once, one patch does both.
    pub(super) ended_piece: Option<ItemKey>,
}

impl PieceWriter<'_> {
    /// Applies one cut: text of the open piece, or its end.
    pub(super) fn apply_cut(
        &mut self,
        cut: SplitOutput<'_>,
        record: &Record<'_>,
        out: &mut impl FnMut(Patch<'_>),
    ) {
        match (cut, *self.open_piece) {
            (SplitOutput::Text(text), Some(key)) => {
                *self.shown_bytes += text.len();
                out(Patch::Append { key, text: Cow::Borrowed(text) });
            }
            (SplitOutput::Text(text), None) => self.close_ended_and_start_piece(text, record, out),
            (SplitOutput::PieceEnd, key) => {
                self.close_ended_piece(ItemState::Done, out);
                *self.open_piece = None;
                self.ended_piece = key;
            }
        }
    }

    /// Starts a piece; one patch also closes the previous one if it has just ended.
    fn close_ended_and_start_piece(
        &mut self,
        text: &str,
        record: &Record<'_>,
        out: &mut impl FnMut(Patch<'_>),
    ) {
        let (key, number, at_ms) = (self.base.allocate_key(), *self.pieces_started, record.at_ms);
        *self.pieces_started += 1;
        *self.open_piece = Some(key);
        self.pieces.push(Piece { message: self.message, key, start_byte: Some(*self.shown_bytes) });
        *self.shown_bytes += text.len();
        let text = Cow::Borrowed(text);
        if let Some(ended) = self.ended_piece.take_if(|ended| ended.0 + 1 == key.0) {
            self.base.allow_item_to_settle(ended);
            return out(Patch::Next { key, at_ms, text });
        }
        self.close_ended_piece(ItemState::Done, out);
        let id = self.base.ids().message_part(self.message, format_args!("{number}"));
        let item = Item { at_ms, text, ..Item::new(ItemKind::Text, &*record.run, id) };
        out(Patch::Put { key, item });
    }

    /// Closes the piece that has ended, if it is still open on the page.
    pub(super) fn close_ended_piece(&mut self, state: ItemState, out: &mut impl FnMut(Patch<'_>)) {
        if let Some(key) = self.ended_piece.take() {
            self.base.allow_item_to_settle(key);
            out(Patch::Close { key, state });
        }
    }
}
