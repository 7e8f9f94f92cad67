//! Lookahead after a possible end of a sentence, until it is decided.
//!
//! Reads the marks before the next word and as much of that word as needed: often its first letter,
//! at most all of it.

use crate::limits::SENTENCE_WORD_BYTES_MAX;

use super::chars::{
    LetterCase, StopMark, is_continuation_mark, is_dash, is_greek, is_invisible_or_combining,
    is_opening_mark, letter_case,
};
use super::words::{self, DotClass};

/// A stop that may end a sentence, depending on what follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PossibleEnd {
    pub(super) dot_class: DotClass,
    pub(super) mark: StopMark,
    /// Number of dots, with or without spaces between them.
    pub(super) dot_count: usize,
    /// True if a quotation or bracket closes after it.
    pub(super) has_closing_mark: bool,
    /// True if the word before it is Greek and not an abbreviation: lower case may follow.
    pub(super) is_after_greek_word: bool,
}

/// Decision of the lookahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndDecision {
    /// Undecided.
    NeedMore,
    /// A sentence ended.
    End,
    /// No sentence ended.
    NoEnd,
    /// Number of further dots, between white space.
    MoreDots(usize),
}

/// State of the lookahead.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LookaheadState {
    /// Opening marks of a sentence.
    Marks,
    Dash,
    /// After a dash and white space.
    AfterDash,
    Dots(usize),
    Word,
    Digits(usize),
    /// Letters after a bracket: "(ii)" is the label of an item.
    Label(usize),
}

/// Most letters of a label.
const LABEL_LETTERS_MAX: usize = 4;

/// Lookahead at the word after a possible end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lookahead {
    possible_end: PossibleEnd,
    state: LookaheadState,
    after_bracket: bool,
    word: String,
}

impl Lookahead {
    pub(super) fn new(possible_end: PossibleEnd) -> Lookahead {
        Lookahead {
            possible_end,
            state: LookaheadState::Marks,
            after_bracket: false,
            word: String::new(),
        }
    }

    /// The possible end before the lookahead.
    pub(super) fn possible_end(&self) -> PossibleEnd {
        self.possible_end
    }

    /// Scans the first character after the white space.
    pub(super) fn push_first_char(&mut self, c: char) -> EndDecision {
        if c == '.' {
            return self.enter_state(LookaheadState::Dots(1));
        }
        if self.possible_end.dot_class == DotClass::Never {
            EndDecision::NoEnd
        } else {
            self.push_opening_char(c)
        }
    }

    /// Scans a further character.
    pub(super) fn push_char(&mut self, c: char) -> EndDecision {
        if is_invisible_or_combining(c) {
            return EndDecision::NeedMore;
        }
        match self.state {
            LookaheadState::Label(letters) => match c {
                ')' => self.decide_at_symbol(),
                _ if letter_case(c) == LetterCase::Lower && letters < LABEL_LETTERS_MAX => {
                    self.enter_state(LookaheadState::Label(letters + 1))
                }
                _ => EndDecision::NoEnd,
            },
            LookaheadState::Dash if is_dash(c) => EndDecision::NeedMore,
            LookaheadState::Dash if c.is_whitespace() && c != '\n' => {
                self.enter_state(LookaheadState::AfterDash)
            }
            LookaheadState::Dash
                if c.is_numeric() && self.possible_end.dot_class == DotClass::Number =>
            {
                EndDecision::NoEnd
            }
            LookaheadState::AfterDash if c == '\n' => EndDecision::NoEnd,
            LookaheadState::AfterDash if c.is_whitespace() || is_opening_mark(c) => {
                EndDecision::NeedMore
            }
            LookaheadState::AfterDash if letter_case(c) == LetterCase::Lower => EndDecision::NoEnd,
            LookaheadState::Marks | LookaheadState::Dash | LookaheadState::AfterDash => {
                self.push_opening_char(c)
            }
            LookaheadState::Dots(dots) => match c {
                '.' => self.enter_state(LookaheadState::Dots(dots + 1)),
                _ if c.is_whitespace() => EndDecision::MoreDots(dots),
                _ if c.is_alphanumeric() => self.decide_at_symbol(),
                _ => EndDecision::NoEnd,
            },
            LookaheadState::Word => self.push_word_char(c),
            // "1. 5. 2020" is a date.
            LookaheadState::Digits(digits) => match c {
                '0'..='9' if digits < 2 => self.enter_state(LookaheadState::Digits(digits + 1)),
                '.' => EndDecision::NoEnd,
                _ => EndDecision::End,
            },
        }
    }

    fn enter_state(&mut self, state: LookaheadState) -> EndDecision {
        self.state = state;
        EndDecision::NeedMore
    }

    /// Scans a character before the next word.
    fn push_opening_char(&mut self, c: char) -> EndDecision {
        let after_bracket = std::mem::replace(&mut self.after_bracket, c == '(');
        if is_opening_mark(c) {
            self.enter_state(LookaheadState::Marks)
        } else if after_bracket && letter_case(c) == LetterCase::Lower {
            self.enter_state(LookaheadState::Label(1))
        } else if is_dash(c) {
            self.enter_state(LookaheadState::Dash)
        } else if c.is_numeric() {
            self.decide_at_digit()
        } else if c.is_alphabetic() {
            self.decide_at_letter(c)
        } else if is_continuation_mark(c) {
            EndDecision::NoEnd
        } else {
            self.decide_at_symbol()
        }
    }

    /// Decides at the first letter of the next word.
    fn decide_at_letter(&mut self, c: char) -> EndDecision {
        let PossibleEnd {
            dot_class: class,
            mark,
            has_closing_mark: closed,
            is_after_greek_word: greek,
            ..
        } = self.possible_end;
        match (letter_case(c), class) {
            (_, DotClass::Never) | (LetterCase::None, DotClass::Starter | DotClass::Year) => {
                EndDecision::NoEnd
            }
            (LetterCase::Lower, _) => {
                let ends = match mark {
                    StopMark::Unspaced | StopMark::UnspacedDot => true,
                    StopMark::Question => !closed,
                    StopMark::Dot => greek && is_greek(c),
                    StopMark::Ellipsis | StopMark::Exclamation => false,
                };
                if ends { EndDecision::End } else { EndDecision::NoEnd }
            }
            (LetterCase::Upper, DotClass::Starter | DotClass::Year | DotClass::Number) => {
                self.start_word(c)
            }
            (LetterCase::Upper, DotClass::Digit) if matches!(c, 'I' | 'V' | 'X' | 'L') => {
                self.start_word(c)
            }
            (LetterCase::Upper | LetterCase::None, _) => EndDecision::End,
        }
    }

    fn start_word(&mut self, c: char) -> EndDecision {
        self.word.push(c);
        self.enter_state(LookaheadState::Word)
    }

    /// Scans a character of the next word; decides when it ends.
    fn push_word_char(&mut self, c: char) -> EndDecision {
        if c.is_alphabetic() && self.word.len() < SENTENCE_WORD_BYTES_MAX {
            self.word.push(c);
            return EndDecision::NeedMore;
        }
        let ends = match self.possible_end.dot_class {
            DotClass::Plain => true,
            DotClass::Number => !words::is_noun_after_number(&self.word),
            DotClass::Digit => !words::is_roman_numeral(&self.word),
            // A dot after it makes it an initial, so the name continues.
            DotClass::Starter | DotClass::Year => {
                c != '.' && words::is_sentence_starter(&self.word)
            }
            DotClass::Never => false,
        };
        if ends { EndDecision::End } else { EndDecision::NoEnd }
    }

    /// Decides at a digit.
    fn decide_at_digit(&mut self) -> EndDecision {
        match self.possible_end.dot_class {
            DotClass::Plain if self.possible_end.mark == StopMark::Ellipsis => EndDecision::NoEnd,
            DotClass::Plain => EndDecision::End,
            DotClass::Number => self.enter_state(LookaheadState::Digits(1)),
            DotClass::Digit | DotClass::Starter | DotClass::Year | DotClass::Never => {
                EndDecision::NoEnd
            }
        }
    }

    /// Decides at any other character.
    fn decide_at_symbol(&self) -> EndDecision {
        match self.possible_end.dot_class {
            DotClass::Plain | DotClass::Number => EndDecision::End,
            DotClass::Digit | DotClass::Starter | DotClass::Year | DotClass::Never => {
                EndDecision::NoEnd
            }
        }
    }
}
