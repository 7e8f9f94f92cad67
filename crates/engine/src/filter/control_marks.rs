//! Marks around control words: punctuation, symbols and emoji that are hidden with a word.
//!
//! Does: hold marks while they may belong to a word at an edge of its message; hide those between
//! the word and that edge, and emphasis on its other side that is paired around it.
//! Does not: find words, or act on them.
//!
//! Invariant: each byte is in exactly one piece, and visible pieces keep their order. A hidden
//! piece may come before visible text that precedes it in the message.

use crate::limits::CONTROL_WORD_MARKS_BYTES_MAX;

use super::{ControlMeaning, Piece, emit_visible};

/// Marks of one message that may belong to a control word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ControlMarks {
    place: Place,
    /// Undecided text: marks, and white space between them.
    held: String,
    scan: MarkScan,
}

/// Position in the message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Place {
    /// After nothing but white space and marks.
    #[default]
    Start,
    /// After other text; what is held are emphasis marks.
    Text,
    /// After a control word and nothing but white space, marks and further words.
    Word(ControlMeaning, BeforeWord),
}

/// Text before a control word.
#[derive(Clone, Debug, PartialEq, Eq)]
enum BeforeWord {
    /// White space and marks; these emphasis marks touched the word and are hidden.
    Start { emphasis: String },
    /// Other text; these emphasis marks touch the word, and are hidden if they are paired.
    Text { emphasis: String },
}

/// Classification of characters as marks or text, with what it depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MarkScan {
    back_ticks: BackTicks,
    digit: Digit,
}

/// One run of back-ticks is a mark; a second one closes code, which is text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BackTicks {
    #[default]
    None,
    InRun,
    AfterRun,
}

/// A digit is a mark if it is part of a keycap emoji.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Digit {
    #[default]
    None,
    Undecided,
}

impl MarkScan {
    /// True if `char`, or the digit before it, is text.
    fn push_and_find_text(&mut self, char: char) -> bool {
        let after_digit = std::mem::take(&mut self.digit) == Digit::Undecided;
        if after_digit && !matches!(char, '\u{fe0f}' | '\u{20e3}') {
            return true;
        }
        if char == '`' {
            let closes = self.back_ticks == BackTicks::AfterRun;
            self.back_ticks = BackTicks::InRun;
            return closes;
        }
        if self.back_ticks == BackTicks::InRun {
            self.back_ticks = BackTicks::AfterRun;
        }
        if char.is_ascii_digit() {
            self.digit = Digit::Undecided;
            return false;
        }
        char.is_alphanumeric() && !is_letter_emoji(char)
    }

    /// Offset of the first text in `text`.
    fn find_text(&mut self, text: &str) -> Option<usize> {
        text.char_indices().find(|(_, char)| self.push_and_find_text(*char)).map(|(at, _)| at)
    }
}

/// True for emoji that count as letters.
fn is_letter_emoji(char: char) -> bool {
    matches!(char, 'ℹ' | 'Ⓜ' | '🅰' | '🅱' | '🅾' | '🅿')
}

fn is_emphasis(char: char) -> bool {
    matches!(char, '*' | '_' | '~')
}

impl ControlMarks {
    /// Bytes held back because they may belong to a control word.
    pub(super) fn held_bytes(&self) -> usize {
        self.held.len()
    }

    /// Text held back because it may belong to a control word.
    pub(super) fn held_text(&self) -> &str {
        &self.held
    }

    /// Takes the next piece; emits what is decided.
    pub(super) fn push(&mut self, piece: Piece<'_>, out: &mut impl FnMut(Piece<'_>)) {
        match piece {
            Piece::Visible(text) => self.push_visible(text, out),
            Piece::ControlWord(meaning, _) => {
                self.apply_word(meaning, out);
                out(piece);
            }
            Piece::UnopenedThoughtEnd(_) => {
                self.emit_held_as_text(out);
                *self = ControlMarks::default();
                out(piece);
            }
            Piece::HiddenContent(..) | Piece::Markup(..) => out(piece),
        }
    }

    fn push_visible(&mut self, text: &str, out: &mut impl FnMut(Piece<'_>)) {
        if self.place != Place::Text {
            let Some(at) = self.scan.find_text(text) else {
                return self.hold_marks(text, out);
            };
            let (marks, rest) = text.split_at(at);
            self.held.push_str(marks);
            self.emit_held_as_text(out);
            return self.push_text_and_hold_emphasis(rest, out);
        }
        self.push_text_and_hold_emphasis(text, out);
    }

    /// Holds marks; white space before them is emitted at once if no held text precedes it.
    fn hold_marks(&mut self, text: &str, out: &mut impl FnMut(Piece<'_>)) {
        let precedes = match &self.place {
            Place::Word(_, BeforeWord::Text { emphasis }) => !emphasis.is_empty(),
            Place::Start | Place::Text | Place::Word(..) => false,
        };
        let mut marks = text;
        if self.held.is_empty() && !precedes {
            marks = text.trim_start();
            emit_visible(&text[..text.len() - marks.len()], out);
        }
        self.held.push_str(marks);
        if CONTROL_WORD_MARKS_BYTES_MAX < self.held.len() {
            self.emit_held_as_text(out);
        }
    }

    /// Emits text in the middle of the message, except emphasis marks at its end.
    fn push_text_and_hold_emphasis(&mut self, text: &str, out: &mut impl FnMut(Piece<'_>)) {
        let decided = text.trim_end_matches(is_emphasis);
        if !decided.is_empty() {
            self.emit_held(out);
            emit_visible(decided, out);
        }
        self.held.push_str(&text[decided.len()..]);
        if CONTROL_WORD_MARKS_BYTES_MAX < self.held.len() {
            self.emit_held(out);
        }
    }

    fn emit_held(&mut self, out: &mut impl FnMut(Piece<'_>)) {
        emit_visible(&self.held, out);
        self.held.clear();
    }

    /// Applies a control word: marks before it up to the message's start are hidden.
    fn apply_word(&mut self, meaning: ControlMeaning, out: &mut impl FnMut(Piece<'_>)) {
        self.scan = MarkScan::default();
        let first = match &self.place {
            Place::Text => {
                let emphasis = std::mem::take(&mut self.held);
                self.place = Place::Word(meaning, BeforeWord::Text { emphasis });
                return;
            }
            // Marks between two words are decided by what follows both.
            Place::Word(_, BeforeWord::Text { .. }) => return,
            Place::Start => meaning,
            Place::Word(first, BeforeWord::Start { .. }) => *first,
        };
        let held = std::mem::take(&mut self.held);
        let emphasis = held[held.trim_end_matches(is_emphasis).len()..].to_owned();
        emit_without(&held, first, |char| !char.is_whitespace(), out);
        self.place = Place::Word(first, BeforeWord::Start { emphasis });
    }

    /// Emits what is held: text follows it.
    fn emit_held_as_text(&mut self, out: &mut impl FnMut(Piece<'_>)) {
        let held = std::mem::take(&mut self.held);
        match std::mem::replace(&mut self.place, Place::Text) {
            Place::Start | Place::Text => emit_visible(&held, out),
            Place::Word(meaning, BeforeWord::Start { emphasis }) => {
                let paired = paired_emphasis_len(&emphasis, &held);
                let mut hidden = 0;
                let is_paired = |char| {
                    let pairs = is_emphasis(char) && hidden < paired;
                    hidden += usize::from(pairs);
                    pairs
                };
                emit_without(&held, meaning, is_paired, out);
            }
            Place::Word(_, BeforeWord::Text { emphasis }) => {
                emit_visible(&emphasis, out);
                emit_visible(&held, out);
            }
        }
        self.scan = MarkScan::default();
    }

    /// Emits marks that may belong to a later word: a step follows, and the message goes on.
    pub(super) fn flush_for_step(&mut self, out: &mut impl FnMut(Piece<'_>)) {
        if !matches!(self.place, Place::Word(..)) && !self.held.is_empty() {
            self.emit_held_as_text(out);
        }
    }

    /// Ends the message: marks after a word are hidden, and others are text.
    pub(super) fn end_message(&mut self, out: &mut impl FnMut(Piece<'_>)) {
        if let Place::Word(meaning, before) = &self.place
            && self.scan.digit == Digit::None
        {
            if let BeforeWord::Text { emphasis } = before {
                let paired = paired_emphasis_len(emphasis, &self.held);
                let (open, hidden) = emphasis.split_at(emphasis.len() - paired);
                emit_visible(open, out);
                emit_hidden(hidden, *meaning, out);
            }
            emit_without(&self.held, *meaning, |char| !char.is_whitespace(), out);
        } else {
            self.emit_held_as_text(out);
        }
        *self = ControlMarks::default();
    }
}

/// Number of the last emphasis marks of `before` that the first ones of `after` close.
fn paired_emphasis_len(before: &str, after: &str) -> usize {
    let closing = after.chars().filter(|char| is_emphasis(*char));
    before.chars().rev().zip(closing).take_while(|(open, close)| open == close).count()
}

/// Emits `text`: characters that `is_hidden` accepts as hidden, the others as visible.
fn emit_without(
    text: &str,
    meaning: ControlMeaning,
    mut is_hidden: impl FnMut(char) -> bool,
    out: &mut impl FnMut(Piece<'_>),
) {
    let mut emit = |part: &str, hides| {
        if hides { emit_hidden(part, meaning, out) } else { emit_visible(part, out) }
    };
    let (mut begin, mut hides) = (0, false);
    for (at, char) in text.char_indices() {
        let hidden = is_hidden(char);
        if hides != hidden {
            emit(&text[begin..at], hides);
            (begin, hides) = (at, hidden);
        }
    }
    emit(&text[begin..], hides);
}

fn emit_hidden(text: &str, meaning: ControlMeaning, out: &mut impl FnMut(Piece<'_>)) {
    if !text.is_empty() {
        out(Piece::ControlWord(meaning, text));
    }
}
