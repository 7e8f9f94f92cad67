//! Tags and control words, once one may have begun: whether it is one, and what it does.
//!
//! What turns out to be none is text again, from its second byte on read anew.

use crate::event::MarkupClass;

use super::step::Mode;
use super::tag::{Class, Form, Step, Tag};
use super::word::{Likeness, Rest};
use super::{Filter, Mark, Piece, Place};

impl Filter {
    /// Reads one more byte of what may be a tag.
    pub(super) fn step_tag(
        &mut self,
        text: &str,
        place: &mut Place,
        out: &mut impl FnMut(Piece<'_>),
    ) {
        let (Some(Mark::Tag(tag)), Some(begin)) = (&mut self.mark, place.undecided) else {
            return;
        };
        match tag.step(text.as_bytes()[place.at], &self.table) {
            Step::More => place.at += 1,
            Step::NotATag => {
                self.mark = None;
                *place = self.no_tag(begin, place);
            }
            Step::Tag(tag) => {
                self.mark = None;
                place.at += 1;
                if let Mode::Inline(inline) = &mut self.mode {
                    inline.hold();
                } else {
                    self.emit(&text[place.emitted..begin], out);
                    self.apply(tag, &text[begin..place.at], out);
                    place.undecided = None;
                    place.emitted = place.at;
                }
            }
        }
    }

    /// Looks whether what begins like a word is one.
    pub(super) fn step_word(
        &mut self,
        text: &str,
        place: &mut Place,
        rest: Rest,
        out: &mut impl FnMut(Piece<'_>),
    ) {
        let Some(begin) = place.undecided else { return };
        match self.words.decide(&text[begin..], rest) {
            Likeness::Maybe => place.at = text.len(),
            Likeness::No => {
                self.mark = None;
                place.undecided = None;
                place.at = match self.mode {
                    Mode::Line => self.go_on_with_line(text.as_bytes()[begin], begin),
                    _ => begin + 1,
                };
            }
            Likeness::Word { len, meaning } => {
                self.mark = None;
                if let Mode::Inline(inline) = &mut self.mode {
                    // Its first byte has been read as code may be, and so will the others.
                    inline.hold();
                    place.at = begin + 1;
                } else {
                    self.emit(&text[place.emitted..begin], out);
                    self.line.took_out();
                    place.at = begin + len;
                    out(Piece::Control(meaning, &text[begin..place.at]));
                    place.undecided = None;
                    place.emitted = place.at;
                }
            }
        }
    }

    /// A `<` that begins no tag is text; what follows it is read again.
    pub(super) fn no_tag(&mut self, begin: usize, place: &Place) -> Place {
        if matches!(self.mode, Mode::Line) {
            self.mode = Mode::Text;
        }
        Place { at: begin + 1, emitted: place.emitted, undecided: None }
    }

    fn apply(&mut self, tag: Tag, raw: &str, out: &mut impl FnMut(Piece<'_>)) {
        if let Mode::Hidden { class, depth, back_to_line } = self.mode {
            let depth = match tag.form {
                _ if tag.class != class => depth,
                Form::Open => depth + 1,
                Form::Close => depth - 1,
                Form::SelfClosing => depth,
            };
            if depth == 0 {
                out(Piece::Markup(markup(class), raw));
                self.mode = if back_to_line { Mode::Line } else { Mode::Text };
            } else {
                out(Piece::Inside(class, raw));
                self.mode = Mode::Hidden { class, depth, back_to_line };
            }
            return;
        }
        self.line.took_out();
        let back_to_line = matches!(self.mode, Mode::Line);
        match (tag.class, tag.form) {
            (Class::Unwrapped, _) => out(Piece::Markup(MarkupClass::Unwrapped, raw)),
            (_, Form::Close) => out(Piece::Markup(MarkupClass::Stray, raw)),
            (class, Form::SelfClosing) => out(Piece::Markup(markup(class), raw)),
            (class, Form::Open) => {
                out(Piece::Markup(markup(class), raw));
                self.mode = Mode::Hidden { class, depth: 1, back_to_line };
            }
        }
    }
}

fn markup(class: Class) -> MarkupClass {
    match class {
        Class::Reasoning => MarkupClass::Reasoning,
        Class::Tool => MarkupClass::Tool,
        Class::Unwrapped => MarkupClass::Unwrapped,
    }
}
