//! Where the sentences of a paragraph end.
//!
//! Does: read a paragraph character by character and say before which one a sentence begins.
//! Does not: know what a block is, or keep text.
//!
//! Invariant: nothing is held but the word after a possible end, with the marks before it.

use crate::limits::SENTENCE_WORD_BYTES_MAX;

use super::chars::{
    Mark, goes_on_after_quote, is_cjk, is_closer, is_continuation, is_emoji, is_greek,
    is_transparent, mark,
};
use super::code::InlineCode;
use super::enclosure::Enclosures;
use super::next::{Answer, Doubt, Next};
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

/// A stop and what else may stand between it and white space.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stop {
    mark: Mark,
    /// How many dots, spaces between them or not.
    dots: usize,
    /// They stand alone, not after a word.
    spaced: bool,
    /// Where the word before it ends in `Prose::word`.
    word_end: Option<usize>,
    closed: bool,
    /// Characters of the citation that is open after it.
    citation: usize,
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

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Prose {
    phase: Phase,
    /// The word being read, its beginning if it is long.
    word: String,
    /// No white space came since the piece's first word began.
    first: bool,
    /// The word before was a number with a dot, as in a date.
    after_ordinal: bool,
    enclosures: Enclosures,
    code: InlineCode,
    /// The last character; white space where there is none.
    before: char,
    /// The last letter.
    letter: char,
}

/// Characters of a citation that may stand right after a stop.
const CITATION_CHARS_MAX: usize = 24;

/// Letters of a Greek word that is surely no abbreviation.
const GREEK_LETTERS_MIN: usize = 4;

impl Prose {
    pub(super) fn new() -> Prose {
        Prose {
            phase: Phase::Text,
            word: String::new(),
            first: true,
            after_ordinal: false,
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
        self.first = true;
        self.after_ordinal = false;
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
            let known = self.word.len() < SENTENCE_WORD_BYTES_MAX;
            self.phase = Phase::Stop(Stop {
                mark,
                dots: usize::from(mark == Mark::Dot),
                spaced: self.word.is_empty(),
                word_end: known.then_some(self.word.len()),
                closed: false,
                citation: 0,
            });
        }
        self.push(c);
    }

    fn push(&mut self, c: char) {
        if self.word.len() < SENTENCE_WORD_BYTES_MAX {
            self.word.push(c);
        }
    }

    fn end_word(&mut self) {
        if let Some(number) = self.word.strip_suffix('.') {
            self.after_ordinal = words::class(number) == Class::Number;
        } else if !self.word.is_empty() {
            self.after_ordinal = false;
        }
        self.first &= self.word.is_empty();
        self.word.clear();
    }

    fn stop(&mut self, mut stop: Stop, c: char) -> Verdict {
        if is_transparent(c) {
            return Verdict::Pass;
        }
        if c.is_whitespace() {
            let doubt = if 0 < stop.citation { None } else { self.doubt(stop) };
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
        if self.enclosures.is_open() {
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
            Mark::Dot | Mark::Ellipsis if is_omission(stop, word) => None,
            Mark::Dot if 3 <= stop.dots => Some(Doubt { mark: Mark::Ellipsis, ..doubt }),
            _ => Some(doubt),
        }
    }

    fn doubt_of_word(&self, word: &str, doubt: Doubt) -> Option<Doubt> {
        let mut class = words::class(word);
        let letters = word.chars().filter(|c| c.is_alphanumeric()).count();
        let is_label = class == Class::Number || class == Class::Starter && letters == 1;
        if class == Class::Never || self.first && is_label {
            return None;
        }
        if class == Class::Number && self.after_ordinal {
            class = Class::Starter;
        }
        let greek = class == Class::Plain && is_greek(self.letter) && GREEK_LETTERS_MIN <= letters;
        Some(Doubt { class, greek, ..doubt })
    }
}

impl Stop {
    /// Whether `c` still belongs to it.
    fn reads(&mut self, c: char, letter: char) -> bool {
        if 0 < self.citation {
            self.closed |= matches!(c, ']' | '】');
            self.citation = if matches!(c, ']' | '】') { 0 } else { self.citation + 1 };
            return self.citation <= CITATION_CHARS_MAX;
        }
        if let Some(mark) = mark(c, letter) {
            self.add(mark);
        } else if is_closer(c) {
            self.closed = true;
        } else if matches!(c, '[' | '【') {
            self.citation = 1;
        } else {
            return false;
        }
        true
    }

    fn add(&mut self, mark: Mark) {
        if self.closed {
            *self = Stop { mark, dots: 0, word_end: None, closed: false, spaced: false, ..*self };
        }
        self.dots += usize::from(mark == Mark::Dot);
        self.mark = match (self.mark, mark) {
            (Mark::Wide, _) | (_, Mark::Wide) => Mark::Wide,
            (old, Mark::Dot) => old,
            (Mark::Dot | Mark::WideDot, new) => new,
            (Mark::Question, _) | (_, Mark::Question) => Mark::Question,
            (old, _) => old,
        };
    }
}

/// "[...]" leaves out words, and ends nothing.
fn is_omission(stop: Stop, word: Option<&str>) -> bool {
    stop.closed && word.is_some_and(|word| word.ends_with(['[', '(']))
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
