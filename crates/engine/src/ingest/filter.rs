//! The one place that hides: separates markup and what it wraps from visible text.
//!
//! Does: hold back exactly what may still become a tag or a control word, whatever the chunk
//! boundaries; leave those in code alone; keep every byte, hidden or not, in some [`Piece`].
//! Does not: trim, edit or reorder anything.
//!
//! Invariant: the pieces of a message, joined, are its text; each byte is in exactly one piece.

mod fence;
mod inline;
mod mark;
mod markdown;
mod step;
mod tag;
mod word;

use std::sync::Arc;

use crate::event::MarkupClass;
use crate::limits::HELD_BYTES_MAX;

use inline::InlineStep;
use markdown::LineStart;
use step::Mode;
use tag::TagScan;
pub use tag::{BadTagLine, Class, TagTable};
pub use word::{BadWord, ControlWord, Meaning};
use word::{Rest, Words};

/// What a stretch of text turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Visible(&'a str),
    /// Text between hidden tags.
    Inside(Class, &'a str),
    /// A tag itself.
    Markup(MarkupClass, &'a str),
    /// A control word.
    Control(Meaning, &'a str),
}

/// Where a text begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartsIn {
    #[default]
    Text,
    /// The prompt already opened the reasoning tag, as some chat templates do.
    Thinking,
}

/// What may have begun; its text is held.
#[derive(Clone, Debug, PartialEq)]
enum Mark {
    Tag(TagScan),
    Word,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    table: Arc<TagTable>,
    words: Arc<Words>,
    starts_in: StartsIn,
    mode: Mode,
    line: LineStart,
    mark: Option<Mark>,
    /// What is not yet decided: the beginning of a tag or word, or a whole one that may stand in
    /// code.
    held: String,
}

/// How far a text has been read.
struct Place {
    at: usize,
    /// Up to here it has been handed on.
    emitted: usize,
    /// From here on it may be a tag or word, or stand in code.
    undecided: Option<usize>,
}

impl Filter {
    pub fn new(table: Arc<TagTable>, starts_in: StartsIn) -> Filter {
        Filter::with_words(table, starts_in, &[])
    }

    pub fn with_words(table: Arc<TagTable>, starts_in: StartsIn, words: &[ControlWord]) -> Filter {
        let mut filter = Filter {
            table,
            words: Arc::new(Words::new(words)),
            starts_in,
            mode: Mode::Line,
            line: LineStart::new(),
            mark: None,
            held: String::new(),
        };
        filter.begin_round();
        filter
    }

    /// One with the same tags and words, outside of everything.
    #[must_use]
    pub fn fresh(&self) -> Filter {
        let mut fresh = Filter { starts_in: StartsIn::Text, ..self.clone() };
        fresh.begin_round();
        fresh
    }

    /// Bytes held back because they may be markup.
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    pub fn push(&mut self, text: &str, out: &mut impl FnMut(Piece<'_>)) {
        if !self.held.is_empty() {
            let mut joined = std::mem::take(&mut self.held);
            let from = joined.len();
            joined.push_str(text);
            self.read(&joined, from, out);
        } else if matches!(self.mode, Mode::Text) && self.plain_len(text.as_bytes()) == text.len() {
            out_visible(text, out);
        } else {
            self.read(text, 0, out);
        }
    }

    /// Reads `text` from `from` on; what is before was read when it was held.
    fn read(&mut self, text: &str, from: usize, out: &mut impl FnMut(Piece<'_>)) {
        let undecided = (0 < from).then_some(0);
        self.read_on(text, Place { at: from, emitted: 0, undecided }, out);
    }

    /// Reads on from `place`, and again what turned out otherwise than it looked.
    fn read_on(&mut self, text: &str, place: Place, out: &mut impl FnMut(Piece<'_>)) {
        let mut rest = text;
        let mut again = self.scan(rest, place, out);
        while let Some(at) = again {
            rest = &rest[at..];
            again = self.scan(rest, Place { at: 0, emitted: 0, undecided: None }, out);
        }
    }

    /// The message is over: what is held is decided. Hidden text that is still open stays open,
    /// because a step may interrupt it.
    pub fn end_message(&mut self, out: &mut impl FnMut(Piece<'_>)) {
        while !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            self.decide(&held, out);
        }
        if !matches!(self.mode, Mode::Hidden { .. }) {
            self.mode = Mode::Line;
        }
        self.line = LineStart::new();
    }

    /// Decides what the first of `held` is, now that nothing follows; the rest may be held again.
    fn decide(&mut self, held: &str, out: &mut impl FnMut(Piece<'_>)) {
        let mut place = Place { at: 0, emitted: 0, undecided: Some(0) };
        match (self.mark.take(), &self.mode) {
            (Some(Mark::Tag(_)), _) => {
                let place = self.no_tag(0, &place);
                self.read_on(held, place, out);
            }
            (Some(Mark::Word), _) => {
                self.step_word(held, &mut place, Rest::IsOver, out);
                self.read_on(held, place, out);
            }
            (None, Mode::Inline(inline)) => {
                let end = inline.at_end(held, &self.line).unwrap_or(0);
                out_visible(&held[..end], out);
                self.mode = Mode::Text;
                self.read(&held[end..], 0, out);
            }
            (None, _) => self.emit(held, out),
        }
    }

    /// A new reply begins: nothing of the last one matters.
    pub fn begin_round(&mut self) {
        self.held.clear();
        self.mark = None;
        self.line = LineStart::new();
        self.mode = match self.starts_in {
            StartsIn::Text => Mode::Line,
            StartsIn::Thinking => {
                Mode::Hidden { class: Class::Reasoning, depth: 1, back_to_line: true }
            }
        };
    }

    /// Reads `text` on from `place`. Returns from where it has to be read again because what it
    /// was turned out otherwise.
    fn scan(
        &mut self,
        text: &str,
        mut place: Place,
        out: &mut impl FnMut(Piece<'_>),
    ) -> Option<usize> {
        while place.at < text.len() {
            match (&self.mark, &self.mode) {
                (Some(Mark::Tag(_)), _) => self.step_tag(text, &mut place, out),
                (Some(Mark::Word), _) => self.step_word(text, &mut place, Rest::MayCome, out),
                (None, Mode::Inline(_)) => {
                    if let Some(again_from) = self.step_inline(text, &mut place) {
                        self.emit(&text[place.emitted..again_from], out);
                        self.mode = Mode::Text;
                        return Some(again_from);
                    }
                }
                (None, _) => {
                    place.at = self.step(text.as_bytes(), place.at);
                    if self.mark.is_some() {
                        place.undecided = Some(place.at - 1);
                    }
                }
            }
        }
        let end = place.undecided.unwrap_or(text.len());
        self.emit(&text[place.emitted..end], out);
        self.held.push_str(&text[end..]);
        None
    }

    /// Reads one more byte of what may be inline code. Returns from where to read again, if what
    /// was held turned out to be no code, or only its beginning.
    fn step_inline(&mut self, text: &str, place: &mut Place) -> Option<usize> {
        let Mode::Inline(inline) = &mut self.mode else {
            return None;
        };
        let byte = text.as_bytes()[place.at];
        match inline.step(byte, &mut self.line) {
            InlineStep::Consumed => {
                if self.words.may_begin(byte) && !inline.holds() {
                    self.mark = Some(Mark::Word);
                    place.undecided = Some(place.at);
                }
                place.at += 1;
            }
            InlineStep::TagBegins => {
                self.mark = Some(Mark::Tag(TagScan::new()));
                place.undecided = Some(place.at);
                place.at += 1;
            }
            InlineStep::Code { next } => {
                place.undecided = None;
                self.mode = next.into();
            }
            InlineStep::NotCode { .. } | InlineStep::ParagraphEnded
                if let Some(begin) = place.undecided =>
            {
                let held = &text[begin..place.at];
                return Some(begin + inline.at_paragraph_end(held).unwrap_or(0));
            }
            InlineStep::NotCode { next } => self.mode = next.into(),
            InlineStep::ParagraphEnded => {
                self.mode = Mode::Line;
                place.at += 1;
            }
        }
        let begin = place.undecided.filter(|_| self.mark.is_none())?;
        (HELD_BYTES_MAX < place.at - begin).then_some(begin)
    }

    fn emit(&self, text: &str, out: &mut impl FnMut(Piece<'_>)) {
        match self.mode {
            Mode::Hidden { class, .. } if !text.is_empty() => out(Piece::Inside(class, text)),
            _ => out_visible(text, out),
        }
    }
}

fn out_visible(text: &str, out: &mut impl FnMut(Piece<'_>)) {
    if !text.is_empty() {
        out(Piece::Visible(text));
    }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
