//! A list item: sentences, and further items on the same line.

use super::marker::NextMarker;
use super::prose::{CharDecision, ProseScanner};

/// Scanner of the text of one list item.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListItem {
    prose: ProseScanner,
    /// The marker that may follow on the same line.
    next: Option<NextMarker>,
    /// True if a sentence ended right before the marker being read.
    is_ended_before_marker: bool,
}

/// Decision about a character of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemDecision {
    Char(CharDecision),
    /// The next item began, with the held text and, if it is a bullet, this character.
    NextItem,
}

impl From<ItemDecision> for CharDecision {
    fn from(decision: ItemDecision) -> CharDecision {
        match decision {
            ItemDecision::Char(decision) => decision,
            ItemDecision::NextItem => CharDecision::Break,
        }
    }
}

impl ListItem {
    /// Creates the item that `marker` began, white space aside.
    pub(super) fn after_marker(marker: &str) -> ListItem {
        ListItem {
            prose: ProseScanner::new(),
            next: NextMarker::after(marker),
            is_ended_before_marker: false,
        }
    }

    /// The same item with another scanner of its sentences.
    pub(super) fn with_prose(&self, prose: ProseScanner) -> ListItem {
        ListItem { prose, next: self.next.clone(), ..*self }
    }

    /// Scanner of its sentences.
    pub(super) fn prose(&mut self) -> &mut ProseScanner {
        &mut self.prose
    }

    /// True if code or a bracket opened at the last character.
    #[inline]
    pub(super) fn has_plain_reading(&self) -> bool {
        self.prose.has_plain_reading()
    }

    /// Scans `c`; `held` is the text held so far.
    pub(super) fn push_char(&mut self, c: char, held: &str) -> ItemDecision {
        let sentence = self.prose.push_char(c, held);
        self.push_char_to_marker(c, sentence)
    }

    /// Decides that no sentence ends before the held text, because the hold limit is reached. Scans
    /// `c` too.
    pub(super) fn reject_possible_end_and_push_held(
        &mut self,
        c: char,
        held: &str,
    ) -> CharDecision {
        let sentence = self.prose.reject_possible_end_and_push_held(c, held);
        self.push_char_to_marker(c, sentence).into()
    }

    pub(super) fn discard_possible_end(&mut self) {
        self.prose.discard_possible_end();
    }

    /// Scans plain words, if neither a sentence nor the item can end in them. Returns their length
    /// in bytes.
    pub(super) fn consume_plain_words(&mut self, text: &str) -> usize {
        let Some(next) = &mut self.next else { return self.prose.consume_plain_words(text) };
        if next.may_begin_in_words() {
            return 0;
        }
        let len = self.prose.consume_plain_words(text);
        next.push_plain_words(&text[..len]);
        len
    }

    /// Gives `c` to the marker; `sentence` is what the prose decided about it.
    fn push_char_to_marker(&mut self, c: char, sentence: CharDecision) -> ItemDecision {
        let Some(next) = &mut self.next else { return ItemDecision::Char(sentence) };
        let marker = next.push_char(c);
        if marker != CharDecision::Hold {
            let is_ended = std::mem::take(&mut self.is_ended_before_marker);
            if marker == CharDecision::Break {
                self.prose = ProseScanner::new();
                return if is_ended {
                    ItemDecision::Char(CharDecision::Pass)
                } else {
                    ItemDecision::NextItem
                };
            }
            return ItemDecision::Char(sentence);
        }
        if sentence == CharDecision::Break {
            self.is_ended_before_marker = true;
        } else if !self.is_ended_before_marker {
            return ItemDecision::Char(CharDecision::Hold);
        }
        ItemDecision::Char(sentence)
    }
}
