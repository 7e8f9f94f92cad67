//! `sentences`: one bubble per sentence, and one card per action.
//!
//! Text and actions never share a bubble. [`crate::sentence`] decides where a sentence ends; text
//! that it has not decided on is not shown. A bubble settles when it is complete: a rewrite of its
//! message withdraws it. A card settles when its tool has ended.

mod cards;
mod piece_writer;

use crate::event::{Citation, Event, ImageOwner, MessageId, Record};
use crate::event_family;
use crate::sentence::SentenceSplitter;

use super::ViewOptions;
use super::common::{CommonFold, ViewTask, item_state_at_run_end};
use super::image_ref::ImageRef;
use super::item::{Item, ItemKey, ItemKind, ItemState};
use super::patch::Patch;
use super::status::StatusDetail;
use cards::ToolCards;
use piece_writer::PieceWriter;

/// Fold of one session into the `sentences` view.
#[derive(Clone, Debug)]
pub struct Sentences {
    base: CommonFold,
    /// Messages that have not ended, by id. Boxed, because the others move when one ends.
    #[allow(clippy::vec_box, reason = "a message is large")]
    open_messages: Vec<Box<OpenMessage>>,
    /// Pieces of the run's messages that are on the page.
    pieces: Vec<Piece>,
    cards: ToolCards,
}

/// A message that has not ended.
#[derive(Clone, Debug)]
struct OpenMessage {
    message: MessageId,
    splitter: SentenceSplitter,
    /// Its text, kept because its source may rewrite it.
    text: String,
    /// Bytes of its text that are in pieces.
    shown_bytes: usize,
    /// The piece that may still grow.
    open_piece: Option<ItemKey>,
    /// Number of pieces ever started; ids are not reused.
    pieces_started: u32,
    /// Attachments of its pieces, kept because a rewrite may replace those.
    attachments: Vec<(ItemKey, Attachment)>,
    /// Attachments of withdrawn pieces, until there is another piece.
    detached: Vec<Attachment>,
}

/// An image or citation of a piece.
#[derive(Clone, Debug)]
enum Attachment {
    Image(ImageRef<'static>),
    Citation(Citation<'static>),
}

impl Attachment {
    /// Patch that adds this to the item `key`.
    fn to_patch(&self, key: ItemKey) -> Patch<'_> {
        match self {
            Attachment::Image(image) => Patch::Attach { key, image: image.clone() },
            Attachment::Citation(citation) => Patch::Cite { key, citation: citation.clone() },
        }
    }
}

/// A bubble: one sentence of a message.
#[derive(Clone, Copy, Debug)]
struct Piece {
    message: MessageId,
    key: ItemKey,
    /// Start in its message's text; `None` for an image without text.
    start_byte: Option<usize>,
}

impl OpenMessage {
    /// Creates an empty message.
    fn new(message: MessageId) -> OpenMessage {
        OpenMessage {
            message,
            splitter: SentenceSplitter::new(),
            text: String::new(),
            shown_bytes: 0,
            open_piece: None,
            pieces_started: 0,
            attachments: Vec::new(),
            detached: Vec::new(),
        }
    }

    /// Borrows the splitter, and a writer for the pieces that it cuts.
    fn splitter_and_writer<'a>(
        &'a mut self,
        pieces: &'a mut Vec<Piece>,
        base: &'a mut CommonFold,
    ) -> (&'a mut SentenceSplitter, PieceWriter<'a>) {
        let writer = PieceWriter {
            message: self.message,
            shown_bytes: &mut self.shown_bytes,
            open_piece: &mut self.open_piece,
            pieces_started: &mut self.pieces_started,
            pieces,
            base,
            ended_piece: None,
        };
        (&mut self.splitter, writer)
    }
}

impl Sentences {
    /// Creates the view before any record.
    pub fn new(options: ViewOptions) -> Sentences {
        let base = CommonFold::new(StatusDetail::new(options));
        Sentences {
            base,
            open_messages: Vec::new(),
            pieces: Vec::new(),
            cards: ToolCards::default(),
        }
    }

    /// Applies one record and emits the patches it causes.
    pub fn apply(&mut self, record: &Record<'_>, out: &mut impl FnMut(Patch<'_>)) {
        match self.base.apply(record, out) {
            ViewTask::Skip | ViewTask::ResolveLateAsk => {}
            ViewTask::ResetRun => {
                self.open_messages.clear();
                self.pieces.clear();
                self.cards = ToolCards::default();
            }
            ViewTask::ApplyEvent => self.apply_event(record, out),
            ViewTask::EndRun => {
                while !self.open_messages.is_empty() {
                    self.end_message(0, item_state_at_run_end(record), record, out);
                }
                self.cards.end_open_cards_as_incomplete(out);
                self.base.settle_and_end_run(record, out);
            }
        }
        self.base.emit_settled_if_grown(out);
    }

    /// Applies an event of the active run.
    fn apply_event(&mut self, record: &Record<'_>, out: &mut impl FnMut(Patch<'_>)) {
        match &record.event {
            Event::TextAppended { message, text } => {
                let at = self.ensure_open_message(*message);
                self.open_messages[at].text.push_str(text);
                self.split_and_show_text(at, text, record, out);
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                let at = self.ensure_open_message(*message);
                self.rewrite_message_and_resplit(at, *kept_bytes, text, record, out);
            }
            Event::MessageEnded { message, .. } => {
                if let Ok(at) = self.position(*message) {
                    self.end_message(at, ItemState::after_text_end(&record.event), record, out);
                }
            }
            Event::ImageReceived { owner: ImageOwner::Message(message), image } => {
                let key = self.find_last_or_put_empty_piece(*message, record, out);
                self.attach_and_remember(
                    *message,
                    key,
                    Attachment::Image(ImageRef::from_image(image).into_owned()),
                    out,
                );
            }
            Event::SourceCited { message, citation } => {
                let last = self.pieces.iter().rev().find(|piece| piece.message == *message);
                if let Some(&Piece { key, .. }) = last {
                    self.attach_and_remember(
                        *message,
                        key,
                        Attachment::Citation(citation.clone().into_owned()),
                        out,
                    );
                }
            }
            Event::Withdrawn { messages, steps } => {
                self.withdraw_pieces_and_cards(messages, steps, out);
            }
            // Cards ignore what is not of a tool.
            Event::MessageStarted { .. }
            | Event::ImageReceived { .. }
            | Event::FinalDeclared { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Reasoning)
            | event_family!(Tool)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => self.cards.apply(record, &mut self.base, out),
        }
    }

    /// Position of an open message, or where to insert it.
    #[inline]
    fn position(&self, message: MessageId) -> Result<usize, usize> {
        match self.open_messages.last() {
            Some(last) if last.message == message => Ok(self.open_messages.len() - 1),
            Some(last) if last.message < message => Err(self.open_messages.len()),
            _ => self.open_messages.binary_search_by_key(&message, |open| open.message),
        }
    }

    /// Opens the message if it is not open; returns its position.
    #[inline]
    fn ensure_open_message(&mut self, message: MessageId) -> usize {
        self.position(message).unwrap_or_else(|at| {
            self.open_messages.insert(at, Box::new(OpenMessage::new(message)));
            at
        })
    }

    /// Pushes text through the splitter and shows the sentences it decides on.
    fn split_and_show_text(
        &mut self,
        at: usize,
        text: &str,
        record: &Record<'_>,
        out: &mut impl FnMut(Patch<'_>),
    ) {
        let Sentences { base, open_messages, pieces, .. } = self;
        let (splitter, mut writer) = open_messages[at].splitter_and_writer(pieces, base);
        splitter.push(text, &mut |cut| writer.apply_cut(cut, record, out));
        writer.close_ended_piece(ItemState::Done, out);
        self.reattach_detached(at, out);
    }

    /// Adds an image or citation to a piece; remembers it while the message may be rewritten.
    fn attach_and_remember(
        &mut self,
        message: MessageId,
        key: ItemKey,
        hung: Attachment,
        out: &mut impl FnMut(Patch<'_>),
    ) {
        out(hung.to_patch(key));
        if let Ok(at) = self.position(message) {
            self.open_messages[at].attachments.push((key, hung));
        }
    }

    /// Adds attachments whose piece was withdrawn to the message's last piece.
    #[inline]
    fn reattach_detached(&mut self, at: usize, out: &mut impl FnMut(Patch<'_>)) {
        let open = &mut self.open_messages[at];
        if open.detached.is_empty() {
            return;
        }
        let last = self.pieces.iter().rev().find(|piece| piece.message == open.message);
        let Some(&Piece { key, .. }) = last else { return };
        for hung in open.detached.drain(..) {
            out(hung.to_patch(key));
            open.attachments.push((key, hung));
        }
    }

    /// Shows the rest of an open message and closes it.
    fn end_message(
        &mut self,
        at: usize,
        state: ItemState,
        record: &Record<'_>,
        out: &mut impl FnMut(Patch<'_>),
    ) {
        let Sentences { base, open_messages, pieces, .. } = self;
        let (splitter, mut writer) = open_messages[at].splitter_and_writer(pieces, base);
        splitter.finish(&mut |cut| writer.apply_cut(cut, record, out));
        writer.close_ended_piece(state, out);
        self.reattach_detached(at, out);
        self.open_messages.remove(at);
    }

    /// Rewrites an open message: keeps the pieces before the change and splits the rest again.
    fn rewrite_message_and_resplit(
        &mut self,
        at: usize,
        kept_bytes: usize,
        text: &str,
        record: &Record<'_>,
        out: &mut impl FnMut(Patch<'_>),
    ) {
        let open = &mut self.open_messages[at];
        super::truncate_and_append(&mut open.text, kept_bytes, text);
        let kept = open.text.len() - text.len();
        let of_message = self.pieces.iter().filter(|piece| piece.message == open.message);
        let starts = of_message.filter_map(|piece| piece.start_byte);
        // A message that was left and opened again has pieces of another text.
        let is_start = |start: &usize| *start <= kept && open.text.is_char_boundary(*start);
        let start = starts.filter(is_start).max().unwrap_or(0);
        let mut changed = Vec::new();
        self.pieces.retain(|piece| {
            let of_it = piece.message == open.message;
            let stays = !of_it || piece.start_byte.is_none_or(|begins| begins < start);
            if !stays {
                changed.push(piece.key);
            }
            stays
        });
        // Keys are ascending.
        let fell = open.attachments.extract_if(.., |(key, _)| changed.binary_search(key).is_ok());
        open.detached.extend(fell.map(|(_, hung)| hung));
        self.base.allow_items_to_settle(&changed);
        if !changed.is_empty() {
            out(Patch::Withdraw { keys: changed });
        }
        open.splitter = SentenceSplitter::new();
        open.splitter.push(&open.text[..start], &mut |_| {});
        open.open_piece = None;
        open.shown_bytes = start;
        let rest = open.text[start..].to_owned();
        self.split_and_show_text(at, &rest, record, out);
    }

    /// Returns the last piece of a message; puts an empty one if there is none.
    fn find_last_or_put_empty_piece(
        &mut self,
        message: MessageId,
        record: &Record<'_>,
        out: &mut impl FnMut(Patch<'_>),
    ) -> ItemKey {
        if let Some(piece) = self.pieces.iter().rev().find(|piece| piece.message == message) {
            return piece.key;
        }
        let key = self.base.allocate_key();
        let id = self.base.ids().message_part(message, format_args!("image"));
        let mut item = Item::new(ItemKind::Text, &*record.run, id);
        item.at_ms = record.at_ms;
        item.state = ItemState::Done;
        out(Patch::Put { key, item });
        self.base.allow_item_to_settle(key);
        self.pieces.push(Piece { message, key, start_byte: None });
        key
    }

    /// Withdraws the pieces of messages and the cards of steps.
    fn withdraw_pieces_and_cards(
        &mut self,
        messages: &[MessageId],
        steps: &[crate::event::StepId],
        out: &mut impl FnMut(Patch<'_>),
    ) {
        let mut keys = Vec::new();
        self.pieces.retain(|piece| {
            let taken_back = messages.contains(&piece.message);
            if taken_back {
                keys.push(piece.key);
            }
            !taken_back
        });
        self.open_messages.retain(|open| !messages.contains(&open.message));
        self.cards.remove_and_collect_keys(steps, &mut keys);
        self.base.allow_items_to_settle(&keys);
        if !keys.is_empty() {
            out(Patch::Withdraw { keys });
        }
    }
}
