//! Finds where the sentences of a paragraph end.
//!
//! Does: scan a paragraph character by character and decide before which one a sentence begins.
//! Does not: detect blocks, or keep text.
//!
//! Invariant: only the word after a possible end, with the marks before it, is held.

mod plain_reading;
mod possible_end;
mod word_history;

use super::chars::{
    StopMark, is_cjk_quote, is_continuation_mark, is_emoji, is_han_or_kana,
    is_invisible_or_combining, is_japanese_quote_particle, stop_mark,
};
use super::code::{CodeRole, InlineCode};
use super::enclosure::OpenEnclosures;
use super::lookahead::{EndDecision, Gap, Lookahead, PossibleEnd};
use super::stop::SentenceStop;

pub(super) use plain_reading::EnclosureState;
use possible_end::possible_end_of_spaced_dots;
use word_history::WordHistory;

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
    AfterSpace { possible_end: PossibleEnd, gap: Gap },
    /// At a mark after a stop and white space that may close a quotation: « Oui. »
    AtSpacedQuote { possible_end: PossibleEnd, quote: char },
    /// In the word after a possible end.
    NextWord(Lookahead),
}

/// Scanner of one paragraph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProseScanner {
    state: ProseState,
    words: WordHistory,
    enclosures: OpenEnclosures,
    inline_code: InlineCode,
    /// The previous character; a space at the start.
    previous_char: char,
    /// The last letter.
    last_letter: char,
    /// The scanner as it is if what opened at the last character never closes.
    plain_reading: Option<Box<ProseScanner>>,
    /// Code and brackets of this paragraph that never closed.
    unclosed_count: usize,
}

impl ProseScanner {
    pub(super) fn new() -> ProseScanner {
        ProseScanner {
            state: ProseState::Text,
            words: WordHistory::default(),
            enclosures: OpenEnclosures::default(),
            inline_code: InlineCode::default(),
            previous_char: ' ',
            last_letter: ' ',
            plain_reading: None,
            unclosed_count: 0,
        }
    }

    /// Creates a scanner inside inline code that `len` back-ticks opened, and scans `c`.
    pub(super) fn new_inside_inline_code(len: usize, c: char) -> ProseScanner {
        let mut plain = ProseScanner { previous_char: '`', ..ProseScanner::new() };
        let mut scanner =
            ProseScanner { inline_code: InlineCode::new_inside_code(len), ..plain.clone() };
        plain.push_text_char(c);
        scanner.push_text_char(c);
        scanner.plain_reading = Some(Box::new(plain));
        scanner
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
            ProseState::AfterSpace { gap, .. } if c.is_whitespace() => {
                *gap = gap.extend(c);
                self.previous_char = c;
                CharDecision::Pass
            }
            ProseState::AfterSpace { .. } if is_invisible_or_combining(c) => CharDecision::Pass,
            ProseState::AfterSpace { possible_end: doubt, gap: Gap::Space } if is_emoji(c) => {
                self.state = ProseState::AfterEmoji(*doubt);
                CharDecision::Pass
            }
            ProseState::AfterSpace { possible_end, .. }
                if self.enclosures.is_quotation_closed_by(c) =>
            {
                self.state = ProseState::AtSpacedQuote { possible_end: *possible_end, quote: c };
                CharDecision::Hold
            }
            ProseState::AtSpacedQuote { possible_end, quote } => {
                let (possible_end, quote) = (*possible_end, *quote);
                self.push_char_after_spaced_quote(possible_end, quote, c, held)
            }
            ProseState::AfterSpace { possible_end: doubt, gap } => {
                let mut next = Lookahead::new(*doubt);
                let answer = next.push_first_char(c, *gap);
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
        let plain = matches!(self.state, ProseState::Text) && self.inline_code.is_outside();
        if !plain {
            return 0;
        }
        let mut at = 0;
        loop {
            let word = &text[at..];
            let len = word.bytes().take_while(u8::is_ascii_alphabetic).count();
            if let Some(last) = word[..len].chars().next_back() {
                self.words.push_ascii(&word[..len]);
                self.previous_char = last;
                self.last_letter = last;
            }
            at += len;
            if word.as_bytes().get(len) != Some(&b' ') {
                self.enclosures.push_plain_text(at);
                return at;
            }
            self.words.end_word();
            self.previous_char = ' ';
            at += 1;
        }
    }

    /// Decides that no sentence ends before the held text, because the hold limit is reached. Scans
    /// `c` too.
    pub(super) fn reject_possible_end_and_push_held(
        &mut self,
        c: char,
        held: &str,
    ) -> CharDecision {
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
                self.state = ProseState::AfterSpace { possible_end: doubt, gap: Gap::new(c) };
                CharDecision::Pass
            }
            EndDecision::Footnote => {
                self.state = ProseState::AfterSpace { possible_end: doubt, gap: Gap::new(c) };
                self.previous_char = c;
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
        self.words.clear();
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
        if self.inline_code.would_open_before(c) {
            if self.has_too_many_unclosed() {
                self.inline_code.drop_run();
            } else {
                self.store_reading_without_code(c, before);
            }
        }
        match self.inline_code.push_char(c, before) {
            CodeRole::Text => {}
            CodeRole::Code => {
                self.words.push(c);
                return;
            }
            CodeRole::ClosingQuote => {
                self.words.push(c);
                self.state = self.state_after_tex_quote();
                return;
            }
        }
        let is_bracket_opened = self.push_to_enclosures(c, before);
        if c.is_whitespace() {
            self.words.end_word();
            return;
        }
        if c.is_alphabetic() {
            self.last_letter = c;
        } else if let Some(mark) = stop_mark(c, self.last_letter) {
            self.state = ProseState::AfterStop(SentenceStop::new(mark, self.words.current()));
        }
        self.words.push(c);
        if is_bracket_opened {
            self.store_reading_without_bracket();
        }
    }

    /// Gives `c` to the enclosures; returns true if it opened the outermost bracket.
    fn push_to_enclosures(&mut self, c: char, before: char) -> bool {
        let is_inside = self.enclosures.is_bracket_open();
        self.enclosures.push_char(c, before);
        let is_opened = !is_inside && self.enclosures.is_bracket_open();
        if is_opened && self.has_too_many_unclosed() {
            self.enclosures.drop_innermost();
            return false;
        }
        is_opened
    }

    /// Scans the character after white space and `quote`, which may close a quotation.
    fn push_char_after_spaced_quote(
        &mut self,
        possible_end: PossibleEnd,
        quote: char,
        c: char,
        held: &str,
    ) -> CharDecision {
        if c.is_whitespace() {
            self.enclosures.push_char(quote, ' ');
            let possible_end = possible_end.with_closing_quote();
            self.state = ProseState::AfterSpace { possible_end, gap: Gap::new(c) };
            self.previous_char = c;
            return CharDecision::Pass;
        }
        let mut next = Lookahead::new(possible_end);
        let answer = match next.push_first_char(quote, Gap::Space) {
            EndDecision::NeedMore => next.push_char(c),
            decided => decided,
        };
        self.state = ProseState::NextWord(next);
        self.apply_decision(answer, c, held)
    }

    /// State after two apostrophes that close a quotation: the stop may be before them.
    fn state_after_tex_quote(&self) -> ProseState {
        let quoted = self.words.current().trim_end_matches('\'');
        let Some(mark) = quoted.chars().next_back().and_then(|c| stop_mark(c, self.last_letter))
        else {
            return ProseState::Text;
        };
        let word = quoted.trim_end_matches(|c| stop_mark(c, self.last_letter).is_some());
        let mut stop = SentenceStop::new(mark, word);
        stop.has_closing_mark = true;
        ProseState::AfterStop(stop)
    }

    /// Scans a character after a stop.
    fn push_char_after_stop(&mut self, mut stop: SentenceStop, c: char) -> CharDecision {
        if is_invisible_or_combining(c) {
            return CharDecision::Pass;
        }
        if c.is_whitespace() {
            let doubt = self.possible_end_of_stop(stop);
            self.state = match doubt {
                Some(doubt) => ProseState::AfterSpace { possible_end: doubt, gap: Gap::new(c) },
                None => ProseState::Text,
            };
            self.words.end_word();
            self.previous_char = c;
            return CharDecision::Pass;
        }
        if !stop.try_extend(c, self.last_letter) {
            return self.decide_unspaced_stop(stop, c);
        }
        self.state = ProseState::AfterStop(stop);
        let before = std::mem::replace(&mut self.previous_char, c);
        let is_bracket_opened = self.push_to_enclosures(c, before);
        self.words.push(c);
        if is_bracket_opened {
            self.store_reading_without_bracket();
        }
        CharDecision::Pass
    }

    /// Decides whether a sentence ends before `c`, which follows a stop without white space.
    fn decide_unspaced_stop(&mut self, stop: SentenceStop, c: char) -> CharDecision {
        let word = stop.word_end.and_then(|end| self.words.current().get(..end));
        let ends = match stop.mark {
            _ if stop.is_enclosed_alone(word) => false,
            StopMark::Unspaced => {
                !(is_continuation_mark(c) || stop.has_closing_mark && is_japanese_quote_particle(c))
            }
            StopMark::UnspacedDot => c.is_alphabetic(),
            StopMark::Exclamation | StopMark::Question => {
                is_han_or_kana(c)
                    || is_han_or_kana(self.last_letter) && (c.is_numeric() || is_cjk_quote(c))
            }
            StopMark::Dot | StopMark::Ellipsis => false,
        };
        if ends && !self.enclosures.is_bracket_open() {
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
            self.state = ProseState::AfterSpace { possible_end: doubt, gap: Gap::new(c) };
        } else if !is_invisible_or_combining(c) && !is_emoji(c) {
            self.state = ProseState::Text;
            self.push_text_char(c);
        }
        CharDecision::Pass
    }
}

#[cfg(test)]
#[path = "language_tests.rs"]
mod tests;
