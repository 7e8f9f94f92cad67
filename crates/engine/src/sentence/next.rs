//! What follows a possible end of a sentence, until it is known whether it is one.
//!
//! Reads the marks before the next word and as much of that word as the doubt asks for: often
//! its first letter, at most all of it.

use crate::limits::SENTENCE_WORD_BYTES_MAX;

use super::chars::{
    Case, Mark, case, is_continuation, is_dash, is_greek, is_opener, is_transparent,
};
use super::words::{self, Class};

/// Why a stop may be none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Doubt {
    pub(super) class: Class,
    pub(super) mark: Mark,
    /// How many dots, spaces between them or not.
    pub(super) dots: usize,
    /// A quotation or bracket closed after it.
    pub(super) closed: bool,
    /// The word before it is Greek and no abbreviation: it may be followed by lower case.
    pub(super) greek: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    More,
    /// A sentence ended.
    End,
    /// None did.
    GoesOn,
    /// So many dots more, after white space and before this white space.
    Dots(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
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
const LABEL_MAX: usize = 4;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Next {
    doubt: Doubt,
    state: State,
    after_bracket: bool,
    word: String,
}

impl Next {
    pub(super) fn new(doubt: Doubt) -> Next {
        Next { doubt, state: State::Marks, after_bracket: false, word: String::new() }
    }

    pub(super) fn doubt(&self) -> Doubt {
        self.doubt
    }

    /// Reads the first character after white space.
    pub(super) fn first(&mut self, c: char) -> Answer {
        if c == '.' {
            return self.go(State::Dots(1));
        }
        if self.doubt.class == Class::Never { Answer::GoesOn } else { self.marks(c) }
    }

    pub(super) fn step(&mut self, c: char) -> Answer {
        if is_transparent(c) {
            return Answer::More;
        }
        match self.state {
            State::Label(letters) => match c {
                ')' => self.symbol(),
                _ if case(c) == Case::Lower && letters < LABEL_MAX => {
                    self.go(State::Label(letters + 1))
                }
                _ => Answer::GoesOn,
            },
            State::Dash if is_dash(c) => Answer::More,
            State::Dash if c.is_whitespace() && c != '\n' => self.go(State::AfterDash),
            State::Dash if c.is_numeric() && self.doubt.class == Class::Number => Answer::GoesOn,
            State::AfterDash if c == '\n' => Answer::GoesOn,
            State::AfterDash if c.is_whitespace() || is_opener(c) => Answer::More,
            State::AfterDash if case(c) == Case::Lower => Answer::GoesOn,
            State::Marks | State::Dash | State::AfterDash => self.marks(c),
            State::Dots(dots) => match c {
                '.' => self.go(State::Dots(dots + 1)),
                _ if c.is_whitespace() => Answer::Dots(dots),
                _ if c.is_alphanumeric() => self.symbol(),
                _ => Answer::GoesOn,
            },
            State::Word => self.word(c),
            // "1. 5. 2020" is a date.
            State::Digits(digits) => match c {
                '0'..='9' if digits < 2 => self.go(State::Digits(digits + 1)),
                '.' => Answer::GoesOn,
                _ => Answer::End,
            },
        }
    }

    fn go(&mut self, state: State) -> Answer {
        self.state = state;
        Answer::More
    }

    fn marks(&mut self, c: char) -> Answer {
        let after_bracket = std::mem::replace(&mut self.after_bracket, c == '(');
        if is_opener(c) {
            self.go(State::Marks)
        } else if after_bracket && case(c) == Case::Lower {
            self.go(State::Label(1))
        } else if is_dash(c) {
            self.go(State::Dash)
        } else if c.is_numeric() {
            self.digit()
        } else if c.is_alphabetic() {
            self.letter(c)
        } else if is_continuation(c) {
            Answer::GoesOn
        } else {
            self.symbol()
        }
    }

    fn letter(&mut self, c: char) -> Answer {
        let Doubt { class, mark, closed, greek, .. } = self.doubt;
        match (case(c), class) {
            (_, Class::Never) | (Case::None, Class::Starter | Class::Year) => Answer::GoesOn,
            (Case::Lower, _) => {
                let ends = match mark {
                    Mark::Wide | Mark::WideDot => true,
                    Mark::Question => !closed,
                    Mark::Dot => greek && is_greek(c),
                    Mark::Ellipsis | Mark::Exclamation => false,
                };
                if ends { Answer::End } else { Answer::GoesOn }
            }
            (Case::Upper, Class::Starter | Class::Year | Class::Number) => self.begin_word(c),
            (Case::Upper, Class::Digit) if matches!(c, 'I' | 'V' | 'X' | 'L') => self.begin_word(c),
            (Case::Upper | Case::None, _) => Answer::End,
        }
    }

    fn begin_word(&mut self, c: char) -> Answer {
        self.word.push(c);
        self.go(State::Word)
    }

    fn word(&mut self, c: char) -> Answer {
        if c.is_alphabetic() && self.word.len() < SENTENCE_WORD_BYTES_MAX {
            self.word.push(c);
            return Answer::More;
        }
        let ends = match self.doubt.class {
            Class::Plain => true,
            Class::Number => !words::is_counted(&self.word),
            Class::Digit => !words::is_roman(&self.word),
            // Before another initial the name goes on.
            Class::Starter | Class::Year => c != '.' && words::begins_sentences(&self.word),
            Class::Never => false,
        };
        if ends { Answer::End } else { Answer::GoesOn }
    }

    fn digit(&mut self) -> Answer {
        match self.doubt.class {
            Class::Plain if self.doubt.mark == Mark::Ellipsis => Answer::GoesOn,
            Class::Plain => Answer::End,
            Class::Number => self.go(State::Digits(1)),
            Class::Digit | Class::Starter | Class::Year | Class::Never => Answer::GoesOn,
        }
    }

    fn symbol(&self) -> Answer {
        match self.doubt.class {
            Class::Plain | Class::Number => Answer::End,
            Class::Digit | Class::Starter | Class::Year | Class::Never => Answer::GoesOn,
        }
    }
}
