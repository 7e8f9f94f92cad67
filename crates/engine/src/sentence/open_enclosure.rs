//! Text of a paragraph since code or a bracket opened in it, until that closes.
//!
//! Does: hold the text after the first stop in it, because sentences end there if it never closes.
//! Then the text is read again as prose.

use crate::limits::SENTENCE_CODE_BYTES_MAX;

use super::block::BlockSplitter;
use super::chars::may_be_stop;
use super::prose::{CharDecision, EnclosureState};
use super::{SentenceSplitter, SplitOutput};

/// Open code or bracket, and the text after its first character.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenEnclosure {
    /// The splitter before `text`, if it never closes.
    plain_reading: BlockSplitter,
    text: String,
    /// Length of the text that was emitted.
    emitted_len: usize,
    end: PossibleEndInside,
    state: EnclosureState,
}

/// Emission of scanned text: by the scanner or by its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Emission {
    /// It was emitted, or is held.
    Done,
    /// It is decided, and the caller emits it.
    Pending,
}

/// Possible end of a sentence in an open enclosure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PossibleEndInside {
    None,
    AfterStop,
}

impl OpenEnclosure {
    /// Begins after `first`, the first character inside or the opening bracket.
    pub(super) fn new(plain_reading: BlockSplitter, first: char) -> OpenEnclosure {
        let mut open = OpenEnclosure {
            plain_reading,
            text: String::new(),
            emitted_len: 0,
            end: PossibleEndInside::None,
            state: EnclosureState::Open,
        };
        open.mark_possible_end_if_stop(first);
        open
    }

    /// Bytes that are held.
    pub(super) fn held_bytes(&self) -> usize {
        self.text.len() - self.emitted_len
    }

    fn mark_possible_end_if_stop(&mut self, c: char) {
        if may_be_stop(c) {
            self.end = PossibleEndInside::AfterStop;
        }
    }

    /// Takes the text that was not emitted.
    fn take_unemitted(&mut self) -> &str {
        let from = std::mem::replace(&mut self.emitted_len, self.text.len());
        &self.text[from..]
    }
}

impl SentenceSplitter {
    /// Scans `next`, a character or plain words, for which the open enclosure decides what to hold;
    /// `before` is decided text that was not emitted.
    pub(super) fn push_in_enclosure(
        &mut self,
        before: &str,
        next: &str,
        decision: CharDecision,
        out: &mut impl FnMut(SplitOutput<'_>),
    ) -> Emission {
        let Some(mut open) = self.enclosure.take() else { return Emission::Pending };
        open.text.push_str(next);
        let is_over = decision == CharDecision::Break || SENTENCE_CODE_BYTES_MAX < open.text.len();
        let state = match self.blocks.enclosure_state() {
            // The line end may have ended the block, too.
            _ if next == "\n" && open.state == EnclosureState::Closing => EnclosureState::Closed,
            _ if is_over => EnclosureState::NeverCloses,
            state => state,
        };
        if state == EnclosureState::NeverCloses {
            self.emit_text(Some(before), out);
            self.split_as_prose(*open, out);
            return Emission::Done;
        }
        let is_held = match decision {
            CharDecision::Hold => {
                self.held.push_str(next);
                true
            }
            CharDecision::Pass | CharDecision::Break => {
                self.held.clear();
                open.end == PossibleEndInside::AfterStop && state != EnclosureState::Closed
            }
        };
        let emission = if is_held || next.len() < open.held_bytes() {
            Emission::Done
        } else {
            open.emitted_len = open.text.len();
            Emission::Pending
        };
        if emission == Emission::Done {
            self.emit_text(Some(before), out);
        }
        if !is_held {
            self.emit_text(Some(open.take_unemitted()), out);
        }
        if state != EnclosureState::Closed {
            open.state = state;
            next.chars().for_each(|c| open.mark_possible_end_if_stop(c));
            self.enclosure = Some(open);
        }
        emission
    }

    /// Ends the enclosure with the message: its text is prose, unless it closes there.
    pub(super) fn finish_enclosure(&mut self, out: &mut impl FnMut(SplitOutput<'_>)) {
        while let Some(mut open) = self.enclosure.take() {
            if open.state == EnclosureState::Closing {
                self.emit_text(Some(open.take_unemitted()), out);
            } else {
                self.split_as_prose(*open, out);
            }
        }
    }

    /// Splits the text of an enclosure that never closes; what was emitted is not emitted again.
    fn split_as_prose(&mut self, open: OpenEnclosure, out: &mut impl FnMut(SplitOutput<'_>)) {
        self.held.clear();
        self.blocks = open.plain_reading;
        self.emitted_before += open.emitted_len;
        self.begin_enclosure_if_opened('(');
        self.push(&open.text, out);
    }

    /// Begins an enclosure if one opened at `c`.
    #[inline]
    pub(super) fn begin_enclosure_if_opened(&mut self, c: char) {
        if self.blocks.has_plain_reading() {
            self.begin_enclosure_unless_open(c);
        }
    }

    #[inline(never)]
    fn begin_enclosure_unless_open(&mut self, c: char) {
        if let Some(plain_reading) = self.blocks.take_plain_reading()
            && self.enclosure.is_none()
        {
            self.enclosure = Some(Box::new(OpenEnclosure::new(plain_reading, c)));
        }
    }
}

#[cfg(test)]
#[path = "open_enclosure_tests.rs"]
mod tests;
