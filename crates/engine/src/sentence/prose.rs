//! Where the sentences of a paragraph end.
//!
//! Does: read a paragraph character by character and say before which one a sentence begins.
//! Does not: know what a block is, or keep text.
//!
//! Invariant: nothing is held but the word after a possible end, with the marks before it.

use crate::limits::SENTENCE_WORD_BYTES_MAX;

use super::chars::{
    Mark, goes_on_after_quote, is_cjk, is_continuation, is_emoji, is_greek, is_transparent, mark,
};
use super::code::InlineCode;
use super::enclosure::Enclosures;
use super::next::{Answer, Doubt, Next};
use super::stop::Stop;
use super::words::{self, Class};

/// What a character means for those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It and all that is held belongs to the open piece.
    Pass,
    /// It is open where it and all that is held belongs.
    Hold,
    /// The open piece ended before what is held, or before this character if nothing is.
    Break,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    Text,
    Stop(Stop),
    /// After a stop and an emoji.
    Trail(Doubt),
    Space {
        doubt: Doubt,
        newline: bool,
    },
    Next(Next),
}

/// What the last word was.
#[derive(Clone, Copy, Debug, PartialEq)]
enum BeforeWord {
    Number,
    /// A number with a dot.
    Ordinal,
    /// The first of a piece, and something that has numbers, as in "Step 1".
    Numbered,
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Prose {
    phase: Phase,
    /// The word being read, its beginning if it is long.
    word: String,
    /// Words of the piece before it.
    words: usize,
    before_word: BeforeWord,
    enclosures: Enclosures,
    code: InlineCode,
    /// The last character; white space where there is none.
    before: char,
    /// The last letter.
    letter: char,
}

/// Words with which a sentence may begin before the sign of a year: "W dniu 3 maja 1791 r. Sejm".
const OPENING_WORDS_MAX: usize = 5;

/// Letters of a Greek word that is surely no abbreviation.
const GREEK_LETTERS_MIN: usize = 4;

impl Prose {
    pub(super) fn new() -> Prose {
        Prose {
            phase: Phase::Text,
            word: String::new(),
            words: 0,
            before_word: BeforeWord::Other,
            enclosures: Enclosures::default(),
            code: InlineCode::default(),
            before: ' ',
            letter: ' ',
        }
    }

    /// Inside inline code that a run of `len` back-ticks opened.
    pub(super) fn in_code(len: usize) -> Prose {
        Prose { code: InlineCode::opened(len), before: '`', ..Prose::new() }
    }

    /// Reads `c`; `held` is what it asked to hold before.
    pub(super) fn step(&mut self, c: char, held: &str) -> Verdict {
        match &mut self.phase {
            Phase::Text => {
                self.text(c);
                Verdict::Pass
            }
            Phase::Stop(stop) => {
                let stop = *stop;
                self.stop(stop, c)
            }
            Phase::Trail(doubt) => {
                let doubt = *doubt;
                self.trail(doubt, c)
            }
            Phase::Space { newline, .. } if c.is_whitespace() => {
                *newline |= c == '\n';
                self.before = c;
                Verdict::Pass
            }
            Phase::Space { .. } if is_transparent(c) => Verdict::Pass,
            Phase::Space { doubt, newline: false } if is_emoji(c) => {
                self.phase = Phase::Trail(*doubt);
                Verdict::Pass
            }
            Phase::Space { doubt, .. } => {
                let mut next = Next::new(*doubt);
                let answer = next.first(c);
                self.phase = Phase::Next(next);
                self.answer(answer, c, held)
            }
            Phase::Next(next) => {
                let answer = next.step(c);
                self.answer(answer, c, held)
            }
        }
    }

    /// Reads the plain words that a text begins with, where they cannot end anything. Says how many
    /// bytes they are.
    pub(super) fn skip_words(&mut self, text: &str) -> usize {
        let plain = matches!(self.phase, Phase::Text)
            && self.code.is_outside()
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
                self.before = last;
                self.letter = last;
            }
            at += len;
            if word.as_bytes().get(len) != Some(&b' ') {
                return at;
            }
            self.end_word();
            self.before = ' ';
            at += 1;
        }
    }

    /// More is held than may be: no sentence ends before it. Reads `c` too.
    pub(super) fn give_up(&mut self, c: char, held: &str) -> Verdict {
        self.answer(Answer::GoesOn, c, held)
    }

    /// Whatever stood before is over and no sentence ended.
    pub(super) fn forget_stop(&mut self) {
        self.phase = Phase::Text;
    }

    fn answer(&mut self, answer: Answer, c: char, held: &str) -> Verdict {
        let Phase::Next(next) = &self.phase else { return Verdict::Pass };
        let doubt = next.doubt();
        match answer {
            Answer::More => Verdict::Hold,
            Answer::Dots(more) => {
                let doubt = spaced_dots(doubt.dots + more);
                self.phase = Phase::Space { doubt, newline: c == '\n' };
                Verdict::Pass
            }
            Answer::End => {
                self.begin_piece();
                self.reread(c, held);
                Verdict::Break
            }
            Answer::GoesOn => {
                self.phase = Phase::Text;
                self.reread(c, held);
                Verdict::Pass
            }
        }
    }

    fn begin_piece(&mut self) {
        self.phase = Phase::Text;
        self.enclosures.clear();
        self.word.clear();
        self.words = 0;
        self.before_word = BeforeWord::Other;
        self.before = ' ';
    }

    /// What was held is text after all.
    fn reread(&mut self, c: char, held: &str) {
        for c in held.chars().chain([c]) {
            match self.phase {
                Phase::Stop(stop) => {
                    self.stop(stop, c);
                }
                _ => self.text(c),
            }
        }
    }

    fn text(&mut self, c: char) {
        if is_transparent(c) {
            return;
        }
        let before = std::mem::replace(&mut self.before, c);
        if self.code.step(c, before) {
            self.push(c);
            return;
        }
        self.enclosures.step(c, before);
        if c.is_whitespace() {
            self.end_word();
            return;
        }
        if c.is_alphabetic() {
            self.letter = c;
        } else if let Some(mark) = mark(c, self.letter) {
            self.phase = Phase::Stop(Stop::new(mark, &self.word));
        }
        self.push(c);
    }

    fn push(&mut self, c: char) {
        if self.word.len() < SENTENCE_WORD_BYTES_MAX {
            self.word.push(c);
        }
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let number = self.word.trim_end_matches('.');
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        self.before_word = match self.word.len() - number.len() {
            0 if is_number => BeforeWord::Number,
            1 if is_number => BeforeWord::Ordinal,
            0 if self.words == 0 && is_numbered(&self.word) => BeforeWord::Numbered,
            _ => BeforeWord::Other,
        };
        self.words += 1;
        self.word.clear();
    }

    fn stop(&mut self, mut stop: Stop, c: char) -> Verdict {
        if is_transparent(c) {
            return Verdict::Pass;
        }
        if c.is_whitespace() {
            let doubt = self.doubt(stop);
            self.phase = match doubt {
                Some(doubt) => Phase::Space { doubt, newline: c == '\n' },
                None => Phase::Text,
            };
            self.end_word();
            self.before = c;
            return Verdict::Pass;
        }
        if !stop.reads(c, self.letter) {
            return self.glued(stop, c);
        }
        self.phase = Phase::Stop(stop);
        let before = std::mem::replace(&mut self.before, c);
        self.enclosures.step(c, before);
        self.push(c);
        Verdict::Pass
    }

    /// Text right after a stop.
    fn glued(&mut self, stop: Stop, c: char) -> Verdict {
        let ends = match stop.mark {
            Mark::Wide => !(is_continuation(c) || stop.closed && goes_on_after_quote(c)),
            Mark::WideDot => c.is_alphabetic(),
            Mark::Exclamation | Mark::Question => is_cjk(c),
            Mark::Dot | Mark::Ellipsis => false,
        };
        if ends && !self.enclosures.is_open() {
            self.begin_piece();
            self.text(c);
            return Verdict::Break;
        }
        self.phase = Phase::Text;
        self.text(c);
        Verdict::Pass
    }

    fn trail(&mut self, doubt: Doubt, c: char) -> Verdict {
        if c.is_whitespace() {
            self.phase = Phase::Space { doubt, newline: c == '\n' };
        } else if !is_transparent(c) && !is_emoji(c) {
            self.phase = Phase::Text;
            self.text(c);
        }
        Verdict::Pass
    }

    /// What is to be known before `stop` ends a sentence; `None` if it never will.
    fn doubt(&self, stop: Stop) -> Option<Doubt> {
        if self.enclosures.is_open() || stop.is_citing() {
            return None;
        }
        let word = stop.word_end.and_then(|end| self.word.get(..end));
        let doubt = Doubt {
            class: Class::Plain,
            mark: stop.mark,
            dots: stop.dots,
            closed: stop.closed,
            greek: false,
        };
        match stop.mark {
            Mark::Dot if stop.spaced => Some(spaced_dots(stop.dots)),
            Mark::Dot if stop.dots == 1 => match word {
                Some(word) => self.doubt_of_word(word, doubt),
                None => Some(doubt),
            },
            Mark::Dot | Mark::Ellipsis if stop.is_omission(word) => None,
            Mark::Dot if 3 <= stop.dots => Some(Doubt { mark: Mark::Ellipsis, ..doubt }),
            _ => Some(doubt),
        }
    }

    fn doubt_of_word(&self, word: &str, doubt: Doubt) -> Option<Doubt> {
        let letters = word.chars().filter(|c| c.is_alphanumeric()).count();
        let mut class = words::class(word);
        let is_label = class == Class::Number || class == Class::Starter && letters == 1;
        if class == Class::Never || self.words == 0 && is_label {
            return None;
        }
        if class == Class::Number && self.before_word == BeforeWord::Numbered {
            return None;
        }
        class = match (class, self.before_word) {
            // "1. 5. 2020"
            (Class::Number, BeforeWord::Ordinal) => Class::Starter,
            // "5 m"
            (Class::Starter, BeforeWord::Number) if letters == 1 && is_lower(word) => Class::Plain,
            (Class::Year, _) if OPENING_WORDS_MAX < self.words => Class::Plain,
            (class, _) => class,
        };
        let greek = class == Class::Plain && is_greek(self.letter) && GREEK_LETTERS_MIN <= letters;
        Some(Doubt { class, greek, ..doubt })
    }
}

/// "Step" and the like, in bold or not.
fn is_numbered(word: &str) -> bool {
    words::is_numbered(word.trim_start_matches(|c: char| !c.is_alphanumeric()))
}

fn is_lower(word: &str) -> bool {
    word.chars().all(char::is_lowercase)
}

/// Dots with spaces around them: three of them leave out words.
fn spaced_dots(dots: usize) -> Doubt {
    let class = if dots == 3 { Class::Never } else { Class::Plain };
    let mark = if 3 <= dots { Mark::Ellipsis } else { Mark::Dot };
    Doubt { class, mark, dots, closed: false, greek: false }
}

#[cfg(test)]
#[path = "language_tests.rs"]
mod tests;
