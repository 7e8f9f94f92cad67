//! The other reading of a paragraph in which code or a bracket opened: that it never closes, and is
//! text.

use crate::limits::SENTENCE_UNCLOSED_MAX;

use super::ProseScanner;

/// State of the code or bracket that opened last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sentence) enum EnclosureState {
    Open,
    /// Closed if the paragraph ends here.
    Closing,
    Closed,
    /// It never closes: its paragraph ended, or its limit is reached.
    NeverCloses,
}

impl ProseScanner {
    /// True if code or a bracket opened at the last character.
    #[inline]
    pub(in crate::sentence) fn has_plain_reading(&self) -> bool {
        self.plain_reading.is_some()
    }

    /// Takes the scanner as it is if what opened at the last character never closes.
    pub(in crate::sentence) fn take_plain_reading(&mut self) -> Option<Box<ProseScanner>> {
        self.plain_reading.take()
    }

    /// State of the code and brackets.
    pub(in crate::sentence) fn enclosure_state(&self) -> EnclosureState {
        if self.inline_code.is_limit_reached() || self.enclosures.is_limit_reached() {
            EnclosureState::NeverCloses
        } else if self.enclosures.is_bracket_open() {
            EnclosureState::Open
        } else if self.inline_code.is_closing() {
            EnclosureState::Closing
        } else if self.inline_code.is_open() {
            EnclosureState::Open
        } else {
            EnclosureState::Closed
        }
    }

    /// Keeps the reading in which the back-ticks before `c` open no code.
    pub(super) fn store_reading_without_code(&mut self, c: char, before: char) {
        let mut plain = self.copy_with_one_more_unclosed();
        plain.previous_char = before;
        plain.inline_code.drop_run();
        plain.push_text_char(c);
        self.store_unless_inside_another(plain);
    }

    /// Keeps the reading in which the last character opened no bracket.
    pub(super) fn store_reading_without_bracket(&mut self) {
        let mut plain = self.copy_with_one_more_unclosed();
        plain.enclosures.drop_innermost();
        self.store_unless_inside_another(plain);
    }

    /// True if no more code and brackets can open: too many never closed in this paragraph.
    pub(super) fn has_too_many_unclosed(&self) -> bool {
        SENTENCE_UNCLOSED_MAX <= self.unclosed_count
    }

    fn copy_with_one_more_unclosed(&mut self) -> ProseScanner {
        self.inline_code.clear_limit_reached();
        self.enclosures.clear_limit_reached();
        let outer = self.plain_reading.take();
        let plain = ProseScanner { unclosed_count: self.unclosed_count + 1, ..self.clone() };
        self.plain_reading = outer;
        plain
    }

    /// Keeps `plain`, unless the reading of what is around it is kept.
    fn store_unless_inside_another(&mut self, plain: ProseScanner) {
        self.plain_reading.get_or_insert(Box::new(plain));
    }
}
