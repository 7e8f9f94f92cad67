//! Finds where the sentences of a paragraph end.
//!
//! Does: scan a paragraph character by character and decide before which one a sentence begins.
//! Does not: detect blocks, or keep text.
//!
//! Invariant: only the word after a possible end, with the marks before it, is held.

mod possible_end;

use crate::limits::SENTENCE_WORD_BYTES_MAX;

use super::chars::{
    StopMark, is_cjk, is_continuation_mark, is_emoji, is_invisible_or_combining,
    is_japanese_quote_particle, stop_mark,
};
use super::code::InlineCode;
use super::enclosure::OpenEnclosures;
use super::lookahead::{EndDecision, Lookahead, PossibleEnd};
use super::stop::SentenceStop;
use super::words;

use possible_end::possible_end_of_spaced_dots;

/// Decision about a character and the held text before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharDecision {
    /// It and the held text belong to the open piece.
    Pass,
    /// Undecided: hold it, with the held text.
    Hold,
    /// The open piece ended before the held text, or before this character if none is held.
    Break,
}

/// State of the scanner within a paragraph.
#[derive(Clone, Debug, PartialEq)]
enum ProseState {
    /// In plain text.
    Text,
    /// Right after a stop.
    AfterStop(SentenceStop),
    /// After a stop and an emoji.
    AfterEmoji(PossibleEnd),
    /// After a stop and white space.
    AfterSpace { possible_end: PossibleEnd, newline: bool },
    /// In the word after a possible end.
    NextWord(Lookahead),
}

/// Kind of the previous word.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PreviousWord {
    Number,
    /// A number with a dot.
    Ordinal,
    /// First word of a piece, and a noun that takes a number, as in "Step 1".
    NumberedNoun,
    Other,
}

/// Scanner of one paragraph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProseScanner {
    state: ProseState,
    /// The current word, or the beginning of a long one.
    word: String,
    /// Number of words of the piece before it.
    words_before: usize,
    previous_word: PreviousWord,
    enclosures: OpenEnclosures,
    inline_code: InlineCode,
    /// The previous character; a space at the start.
    previous_char: char,
    /// The last letter.
    last_letter: char,
}

impl ProseScanner {
    pub(super) fn new() -> ProseScanner {
        ProseScanner {
            state: ProseState::Text,
            word: String::new(),
            words_before: 0,
            previous_word: PreviousWord::Other,
            enclosures: OpenEnclosures::default(),
            inline_code: InlineCode::default(),
            previous_char: ' ',
            last_letter: ' ',
        }
    }

    /// Creates a scanner inside inline code that `len` back-ticks opened.
    pub(super) fn new_inside_inline_code(len: usize) -> ProseScanner {
        ProseScanner {
            inline_code: InlineCode::new_inside_code(len),
            previous_char: '`',
            ..ProseScanner::new()
        }
    }

    /// Scans `c`; `held` is the text held so far.
    pub(super) fn push_char(&mut self, c: char, held: &str) -> CharDecision {
        match &mut self.state {
            ProseState::Text => {
                self.push_text_char(c);
                CharDecision::Pass
            }
            ProseState::AfterStop(stop) => {
                let stop = *stop;
                self.push_char_after_stop(stop, c)
            }
            ProseState::AfterEmoji(doubt) => {
                let doubt = *doubt;
                self.push_char_after_emoji(doubt, c)
            }
            ProseState::AfterSpace { newline, .. } if c.is_whitespace() => {
                *newline |= c == '\n';
                self.previous_char = c;
                CharDecision::Pass
            }
            ProseState::AfterSpace { .. } if is_invisible_or_combining(c) => CharDecision::Pass,
            ProseState::AfterSpace { possible_end: doubt, newline: false } if is_emoji(c) => {
                self.state = ProseState::AfterEmoji(*doubt);
                CharDecision::Pass
            }
            ProseState::AfterSpace { possible_end: doubt, .. } => {
                let mut next = Lookahead::new(*doubt);
                let answer = next.push_first_char(c);
                self.state = ProseState::NextWord(next);
                self.apply_decision(answer, c, held)
            }
            ProseState::NextWord(next) => {
                let answer = next.push_char(c);
                self.apply_decision(answer, c, held)
            }
        }
    }

    /// Scans the plain words at the start of `text`, if they cannot end a sentence. Returns their
    /// length in bytes.
    pub(super) fn consume_plain_words(&mut self, text: &str) -> usize {
        let plain = matches!(self.state, ProseState::Text)
            && self.inline_code.is_outside()
            && !self.enclosures.is_open();
        if !plain {
            return 0;
        }
        let mut at = 0;
        loop {
            let word = &text[at..];
            let len = word.bytes().take_while(u8::is_ascii_alphabetic).count();
            if let Some(last) = word[..len].chars().next_back() {
                let room = SENTENCE_WORD_BYTES_MAX.saturating_sub(self.word.len());
                self.word.push_str(&word[..len.min(room)]);
                self.previous_char = last;
                self.last_letter = last;
            }
            at += len;
            if word.as_bytes().get(len) != Some(&b' ') {
                return at;
            }
            self.end_word();
            self.previous_char = ' ';
            at += 1;
        }
    }

    /// Decides that no sentence ends before the held text, because the hold limit is reached. Scans
    /// `c` too.
    pub(super) fn reject_possible_end(&mut self, c: char, held: &str) -> CharDecision {
        self.apply_decision(EndDecision::NoEnd, c, held)
    }

    /// Discards a possible end: the scanner is in plain text.
    pub(super) fn discard_possible_end(&mut self) {
        self.state = ProseState::Text;
    }

    /// Applies the decision of the lookahead.
    fn apply_decision(&mut self, answer: EndDecision, c: char, held: &str) -> CharDecision {
        let ProseState::NextWord(next) = &self.state else { return CharDecision::Pass };
        let doubt = next.possible_end();
        match answer {
            EndDecision::NeedMore => CharDecision::Hold,
            EndDecision::MoreDots(more) => {
                let doubt = possible_end_of_spaced_dots(doubt.dot_count + more);
                self.state = ProseState::AfterSpace { possible_end: doubt, newline: c == '\n' };
                CharDecision::Pass
            }
            EndDecision::End => {
                self.reset_for_piece();
                self.push_held_as_text(c, held);
                CharDecision::Break
            }
            EndDecision::NoEnd => {
                self.state = ProseState::Text;
                self.push_held_as_text(c, held);
                CharDecision::Pass
            }
        }
    }

    /// Resets the scanner for a new piece.
    fn reset_for_piece(&mut self) {
        self.state = ProseState::Text;
        self.enclosures.clear();
        self.word.clear();
        self.words_before = 0;
        self.previous_word = PreviousWord::Other;
        self.previous_char = ' ';
    }

    /// Scans the held text and `c` as plain text.
    fn push_held_as_text(&mut self, c: char, held: &str) {
        for c in held.chars().chain([c]) {
            match self.state {
                ProseState::AfterStop(stop) => {
                    self.push_char_after_stop(stop, c);
                }
                _ => self.push_text_char(c),
            }
        }
    }

    /// Scans a character of plain text.
    fn push_text_char(&mut self, c: char) {
        if is_invisible_or_combining(c) {
            return;
        }
        let before = std::mem::replace(&mut self.previous_char, c);
        if self.inline_code.push_char_and_is_code(c, before) {
            self.push_word_char(c);
            return;
        }
        self.enclosures.push_char(c, before);
        if c.is_whitespace() {
            self.end_word();
            return;
        }
        if c.is_alphabetic() {
            self.last_letter = c;
        } else if let Some(mark) = stop_mark(c, self.last_letter) {
            self.state = ProseState::AfterStop(SentenceStop::new(mark, &self.word));
        }
        self.push_word_char(c);
    }

    /// Appends `c` to the current word, up to its limit.
    fn push_word_char(&mut self, c: char) {
        if self.word.len() < SENTENCE_WORD_BYTES_MAX {
            self.word.push(c);
        }
    }

    /// Ends the current word and classifies it as the previous one.
    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let number = self.word.trim_end_matches('.');
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        self.previous_word = match self.word.len() - number.len() {
            0 if is_number => PreviousWord::Number,
            1 if is_number => PreviousWord::Ordinal,
            0 if self.words_before == 0 && is_noun_before_number_ignoring_markup(&self.word) => {
                PreviousWord::NumberedNoun
            }
            _ => PreviousWord::Other,
        };
        self.words_before += 1;
        self.word.clear();
    }

    /// Scans a character after a stop.
    fn push_char_after_stop(&mut self, mut stop: SentenceStop, c: char) -> CharDecision {
        if is_invisible_or_combining(c) {
            return CharDecision::Pass;
        }
        if c.is_whitespace() {
            let doubt = self.possible_end_of_stop(stop);
            self.state = match doubt {
                Some(doubt) => ProseState::AfterSpace { possible_end: doubt, newline: c == '\n' },
                None => ProseState::Text,
            };
            self.end_word();
            self.previous_char = c;
            return CharDecision::Pass;
        }
        if !stop.try_extend(c, self.last_letter) {
            return self.decide_unspaced_stop(stop, c);
        }
        self.state = ProseState::AfterStop(stop);
        let before = std::mem::replace(&mut self.previous_char, c);
        self.enclosures.push_char(c, before);
        self.push_word_char(c);
        CharDecision::Pass
    }

    /// Decides whether a sentence ends before `c`, which follows a stop without white space.
    fn decide_unspaced_stop(&mut self, stop: SentenceStop, c: char) -> CharDecision {
        let ends = match stop.mark {
            StopMark::Unspaced => {
                !(is_continuation_mark(c) || stop.has_closing_mark && is_japanese_quote_particle(c))
            }
            StopMark::UnspacedDot => c.is_alphabetic(),
            StopMark::Exclamation | StopMark::Question => is_cjk(c),
            StopMark::Dot | StopMark::Ellipsis => false,
        };
        if ends && !self.enclosures.is_open() {
            self.reset_for_piece();
            self.push_text_char(c);
            return CharDecision::Break;
        }
        self.state = ProseState::Text;
        self.push_text_char(c);
        CharDecision::Pass
    }

    /// Scans a character after a stop and an emoji.
    fn push_char_after_emoji(&mut self, doubt: PossibleEnd, c: char) -> CharDecision {
        if c.is_whitespace() {
            self.state = ProseState::AfterSpace { possible_end: doubt, newline: c == '\n' };
        } else if !is_invisible_or_combining(c) && !is_emoji(c) {
            self.state = ProseState::Text;
            self.push_text_char(c);
        }
        CharDecision::Pass
    }
}

/// True for "Step" and the like, in bold or not.
fn is_noun_before_number_ignoring_markup(word: &str) -> bool {
    words::is_noun_before_number(word.trim_start_matches(|c: char| !c.is_alphanumeric()))
}

#[cfg(test)]
#[path = "language_tests.rs"]
mod tests;
