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
    pub(super) lower_case: AfterLowerCase,
}

impl PossibleEnd {
    /// Creates the same stop, after which a quotation closes.
    pub(super) fn with_closing_quote(self) -> PossibleEnd {
        PossibleEnd { has_closing_mark: true, lower_case: AfterLowerCase::NoEnd, ..self }
    }
}

/// Meaning of lower case after a possible end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterLowerCase {
    /// The sentence goes on.
    NoEnd,
    /// A sentence began.
    End,
    /// A sentence began, if the letter is Greek.
    EndInGreek,
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
    /// A footnote such as "[1]", which belongs to the sentence before it.
    Footnote,
}

/// White space after a possible end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    Space,
    /// With a line break.
    Newline,
}

impl Gap {
    /// The gap that begins with `c`.
    pub(super) fn new(c: char) -> Gap {
        Gap::Space.extend(c)
    }

    /// The gap with `c` added to it.
    pub(super) fn extend(self, c: char) -> Gap {
        if c == '\n' { Gap::Newline } else { self }
    }
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
    /// In "[1]" or "[...]".
    Footnote,
    AfterFootnote,
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
    pub(super) fn push_first_char(&mut self, c: char, gap: Gap) -> EndDecision {
        if c == '.' {
            return self.enter_state(LookaheadState::Dots(1));
        }
        if c == '[' && gap == Gap::Space {
            return self.enter_state(LookaheadState::Footnote);
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
            LookaheadState::Footnote | LookaheadState::AfterFootnote => self.push_footnote_char(c),
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

    /// Scans a character of what may be a footnote.
    fn push_footnote_char(&mut self, c: char) -> EndDecision {
        match (&self.state, c) {
            (LookaheadState::Footnote, '0'..='9' | '.' | '…') => {
                self.word.push(c);
                EndDecision::NeedMore
            }
            (LookaheadState::Footnote, ']') if !self.word.is_empty() => {
                self.enter_state(LookaheadState::AfterFootnote)
            }
            (LookaheadState::AfterFootnote, '[') => self.enter_state(LookaheadState::Footnote),
            (LookaheadState::AfterFootnote, _) if c.is_whitespace() => EndDecision::Footnote,
            _ if self.possible_end.dot_class == DotClass::Never => EndDecision::NoEnd,
            _ if self.word.is_empty() => {
                self.state = LookaheadState::Marks;
                self.push_opening_char(c)
            }
            _ => self.decide_at_symbol(),
        }
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
        let PossibleEnd { dot_class: class, lower_case, .. } = self.possible_end;
        match (letter_case(c), class) {
            (_, DotClass::Never) | (LetterCase::None, DotClass::Starter) => EndDecision::NoEnd,
            (LetterCase::Lower, _) => match lower_case {
                AfterLowerCase::End => EndDecision::End,
                AfterLowerCase::EndInGreek if is_greek(c) => EndDecision::End,
                AfterLowerCase::EndInGreek | AfterLowerCase::NoEnd => EndDecision::NoEnd,
            },
            (LetterCase::Upper, DotClass::Starter | DotClass::Number) => self.start_word(c),
            (LetterCase::Upper, DotClass::Digit | DotClass::Answer | DotClass::Word) => {
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
            DotClass::Plain | DotClass::Ending | DotClass::Year | DotClass::Time => true,
            DotClass::Number => !words::is_noun_after_number(&self.word),
            DotClass::Digit | DotClass::Answer | DotClass::Word => {
                let is_initial = c == '.' && self.word.chars().count() == 1;
                // "I" alone is a word.
                let is_numeral =
                    words::is_roman_numeral(&self.word) && !(self.word == "I" && c.is_whitespace());
                !is_initial && !is_numeral
            }
            // A dot after it makes it an initial, so the name continues.
            DotClass::Starter => c != '.' && words::is_sentence_starter(&self.word),
            DotClass::Never => false,
        };
        if ends { EndDecision::End } else { EndDecision::NoEnd }
    }

    /// Decides at a digit.
    fn decide_at_digit(&mut self) -> EndDecision {
        match self.possible_end.dot_class {
            DotClass::Plain if self.possible_end.mark == StopMark::Ellipsis => EndDecision::NoEnd,
            DotClass::Plain | DotClass::Ending | DotClass::Year | DotClass::Time => {
                EndDecision::End
            }
            DotClass::Number => self.enter_state(LookaheadState::Digits(1)),
            DotClass::Word
            | DotClass::Digit
            | DotClass::Answer
            | DotClass::Starter
            | DotClass::Never => EndDecision::NoEnd,
        }
    }

    /// Decides at any other character.
    fn decide_at_symbol(&self) -> EndDecision {
        match self.possible_end.dot_class {
            DotClass::Plain
            | DotClass::Ending
            | DotClass::Number
            | DotClass::Year
            | DotClass::Time => EndDecision::End,
            DotClass::Word
            | DotClass::Digit
            | DotClass::Answer
            | DotClass::Starter
            | DotClass::Never => EndDecision::NoEnd,
        }
    }
}
