//! `sentences`: a bubble for each sentence, and a card for each action.
//!
//! Text and actions never share a bubble. Where a sentence ends is decided by
//! [`crate::sentence`]; what is not decided yet is not shown.

mod cards;

use std::borrow::Cow;

use crate::event::{Citation, Event, MessageId, Owner, Record};
use crate::sentence::{Cut, Splitter};

use super::Options;
use super::base::{Base, Rest, state_at_end};
use super::blob::Shown;
use super::doing::Telling;
use super::item::{Item, Key, Kind, State};
use super::patch::Patch;
use cards::Cards;

#[derive(Clone, Debug)]
pub struct Sentences {
    base: Base,
    /// The message that is being written.
    open: Option<Open>,
    /// All pieces of the run's messages that stand.
    pieces: Vec<Piece>,
    cards: Cards,
}

#[derive(Clone, Debug)]
struct Open {
    message: MessageId,
    splitter: Splitter,
    /// Its text, because its source may change it.
    said: String,
    /// Bytes of it that are in pieces.
    shown: usize,
    /// The piece that may still grow.
    piece: Option<Key>,
    /// Pieces it ever had: a number is not used twice.
    count: u32,
    /// What hangs on its pieces, because they may come anew.
    hung: Vec<(Key, Hung)>,
    /// What hung on pieces that were taken back, until there is one to hang it on.
    loose: Vec<Hung>,
}

#[derive(Clone, Debug)]
enum Hung {
    Image(Shown<'static>),
    Source(Citation<'static>),
}

impl Hung {
    fn patch(&self, key: Key) -> Patch<'_> {
        match self {
            Hung::Image(image) => Patch::Attach { key, image: image.clone() },
            Hung::Source(citation) => Patch::Cite { key, citation: citation.clone() },
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    message: MessageId,
    key: Key,
    /// Where it begins in its message; a picture has no place in its text.
    start: Option<usize>,
}

impl Open {
    fn new(message: MessageId) -> Open {
        Open {
            message,
            splitter: Splitter::new(),
            said: String::new(),
            shown: 0,
            piece: None,
            count: 0,
            hung: Vec::new(),
            loose: Vec::new(),
        }
    }
}

impl Sentences {
    pub fn new(options: Options) -> Sentences {
        let base = Base::new(Telling::new(options));
        Sentences { base, open: None, pieces: Vec::new(), cards: Cards::default() }
    }

    pub fn apply(&mut self, record: &Record<'_>, out: &mut impl FnMut(Patch<'_>)) {
        match self.base.apply(record, out) {
            Rest::Nothing | Rest::AnsweredLate => {}
            Rest::Began => {
                self.open = None;
                self.pieces.clear();
                self.cards = Cards::default();
            }
            Rest::View => self.event(record, out),
            Rest::Ending => {
                self.end_message(state_at_end(record), record, out);
                self.cards.end_all(out);
                self.base.end(record, out);
            }
        }
    }

    fn event(&mut self, record: &Record<'_>, out: &mut impl FnMut(Patch<'_>)) {
        match &record.event {
            Event::TextAppended { message, text } => {
                self.begin(*message, record, out);
                if let Some(open) = &mut self.open {
                    open.said.push_str(text);
                }
                self.say(text, record, out);
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                self.begin(*message, record, out);
                self.rewrite(*kept_bytes, text, record, out);
            }
            Event::MessageEnded { message, incomplete } => {
                if self.open.as_ref().is_some_and(|open| open.message == *message) {
                    self.end_message(State::of_text(*incomplete), record, out);
                }
            }
            Event::ImageReceived { owner: Owner::Message(message), image } => {
                let key = self.piece_of(*message, record, out);
                self.hang(*message, key, Hung::Image(Shown::of(image).into_owned()), out);
            }
            Event::SourceCited { message, citation } => {
                let last = self.pieces.iter().rev().find(|piece| piece.message == *message);
                if let Some(&Piece { key, .. }) = last {
                    self.hang(*message, key, Hung::Source(citation.clone().into_owned()), out);
                }
            }
            Event::Withdrawn { messages, steps } => self.withdraw(messages, steps, out),
            _ => self.cards.apply(record, &mut self.base, out),
        }
    }

    /// Makes this the message that is being written.
    fn begin(&mut self, message: MessageId, record: &Record<'_>, out: &mut impl FnMut(Patch<'_>)) {
        if self.open.as_ref().is_none_or(|open| open.message != message) {
            self.end_message(State::Done, record, out);
            self.open = Some(Open::new(message));
        }
    }

    fn say(&mut self, text: &str, record: &Record<'_>, out: &mut impl FnMut(Patch<'_>)) {
        let Sentences { base, open: Some(open), pieces, .. } = self else { return };
        let Open { splitter, message, shown, piece, count, .. } = open;
        let message = *message;
        let mut place = Place { message, shown, piece, count, pieces, base, ended: None };
        splitter.push(text, &mut |cut| place.put(cut, record, out));
        place.close(State::Done, out);
        self.hang_loose(out);
    }

    fn hang(&mut self, message: MessageId, key: Key, hung: Hung, out: &mut impl FnMut(Patch<'_>)) {
        out(hung.patch(key));
        if let Some(open) = self.open.as_mut().filter(|open| open.message == message) {
            open.hung.push((key, hung));
        }
    }

    /// Hangs what lost its piece on the last there is.
    fn hang_loose(&mut self, out: &mut impl FnMut(Patch<'_>)) {
        let Some(open) = self.open.as_mut().filter(|open| !open.loose.is_empty()) else { return };
        let last = self.pieces.iter().rev().find(|piece| piece.message == open.message);
        let Some(&Piece { key, .. }) = last else { return };
        for hung in open.loose.drain(..) {
            out(hung.patch(key));
            open.hung.push((key, hung));
        }
    }

    fn end_message(&mut self, state: State, record: &Record<'_>, out: &mut impl FnMut(Patch<'_>)) {
        let Sentences { base, open: Some(open), pieces, .. } = self else { return };
        let Open { splitter, message, shown, piece, count, .. } = open;
        let message = *message;
        let mut place = Place { message, shown, piece, count, pieces, base, ended: None };
        splitter.finish(&mut |cut| place.put(cut, record, out));
        place.close(state, out);
        self.hang_loose(out);
        self.open = None;
    }

    /// The source changed its mind. Pieces that it did not touch stay, the others come anew.
    fn rewrite(
        &mut self,
        kept_bytes: usize,
        text: &str,
        record: &Record<'_>,
        out: &mut impl FnMut(Patch<'_>),
    ) {
        let Some(open) = &mut self.open else { return };
        super::rewrite(&mut open.said, kept_bytes, text);
        let kept = open.said.len() - text.len();
        let of_message = self.pieces.iter().filter(|piece| piece.message == open.message);
        let starts = of_message.filter_map(|piece| piece.start);
        let start = starts.filter(|start| *start <= kept).max().unwrap_or(0);
        let mut changed = Vec::new();
        self.pieces.retain(|piece| {
            let of_it = piece.message == open.message;
            let stays = !of_it || piece.start.is_none_or(|begins| begins < start);
            if !stays {
                changed.push(piece.key);
            }
            stays
        });
        // Keys grow.
        let fell = open.hung.extract_if(.., |(key, _)| changed.binary_search(key).is_ok());
        open.loose.extend(fell.map(|(_, hung)| hung));
        if !changed.is_empty() {
            out(Patch::Withdraw { keys: changed });
        }
        open.splitter = Splitter::new();
        open.splitter.push(&open.said[..start], &mut |_| {});
        open.piece = None;
        open.shown = start;
        let rest = open.said[start..].to_owned();
        self.say(&rest, record, out);
    }

    /// The last piece of a message; an empty one where it has none.
    fn piece_of(
        &mut self,
        message: MessageId,
        record: &Record<'_>,
        out: &mut impl FnMut(Patch<'_>),
    ) -> Key {
        if let Some(piece) = self.pieces.iter().rev().find(|piece| piece.message == message) {
            return piece.key;
        }
        let key = self.base.key();
        let mut item = Item::new(Kind::Text, &*record.run, format!("m{}.image", message.0));
        item.at_ms = record.at_ms;
        item.state = State::Done;
        out(Patch::Put { key, item });
        self.pieces.push(Piece { message, key, start: None });
        key
    }

    fn withdraw(
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
        if self.open.as_ref().is_some_and(|open| messages.contains(&open.message)) {
            self.open = None;
        }
        self.cards.withdraw(steps, &mut keys);
        if !keys.is_empty() {
            out(Patch::Withdraw { keys });
        }
    }
}

/// Where the next cut of a message goes.
struct Place<'a> {
    message: MessageId,
    shown: &'a mut usize,
    piece: &'a mut Option<Key>,
    count: &'a mut u32,
    pieces: &'a mut Vec<Piece>,
    base: &'a mut Base,
    /// A piece that has ended; if another follows at once, one patch says both.
    ended: Option<Key>,
}

impl Place<'_> {
    fn put(&mut self, cut: Cut<'_>, record: &Record<'_>, out: &mut impl FnMut(Patch<'_>)) {
        match (cut, *self.piece) {
            (Cut::Text(text), Some(key)) => {
                *self.shown += text.len();
                out(Patch::Append { key, text: Cow::Borrowed(text) });
            }
            (Cut::Text(text), None) => self.begin(text, record, out),
            (Cut::End, key) => {
                self.close(State::Done, out);
                *self.piece = None;
                self.ended = key;
            }
        }
    }

    fn begin(&mut self, text: &str, record: &Record<'_>, out: &mut impl FnMut(Patch<'_>)) {
        let (key, number, at_ms) = (self.base.key(), *self.count, record.at_ms);
        *self.count += 1;
        *self.piece = Some(key);
        self.pieces.push(Piece { message: self.message, key, start: Some(*self.shown) });
        *self.shown += text.len();
        let text = Cow::Borrowed(text);
        if self.ended.take_if(|ended| ended.0 + 1 == key.0).is_some() {
            return out(Patch::Next { key, at_ms, text });
        }
        self.close(State::Done, out);
        let id = format!("m{}.{number}", self.message.0);
        let item = Item { at_ms, text, ..Item::new(Kind::Text, &*record.run, id) };
        out(Patch::Put { key, item });
    }

    fn close(&mut self, state: State, out: &mut impl FnMut(Patch<'_>)) {
        if let Some(key) = self.ended.take() {
            out(Patch::Close { key, state });
        }
    }
}
