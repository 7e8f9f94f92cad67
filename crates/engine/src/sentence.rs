//! Incremental splitter of one message's text into pieces: sentences and blocks.
//!
//! Does: emit text as soon as its piece is known, and the end of each piece. A sentence of a
//! paragraph, list item or heading is a piece; so is a code block, a table, a rule. White space
//! belongs to the piece before it.
//! Does not: detect the language, edit text, or scan it twice.
//!
//! A line break inside a paragraph is white space. A blank line always ends a piece. The indented
//! lines after a list item belong to it.
//!
//! Invariants: the emitted texts, joined, are the input. Chunk boundaries do not change the pieces.
//! The held text is at most the next word and the marks before it, never more than
//! `SENTENCE_HELD_BYTES_MAX`; after a stop in code or in a bracket that may never close at most the
//! rest of the paragraph, never more than `SENTENCE_CODE_BYTES_MAX`. An end is never withdrawn.

mod block;
pub(crate) mod chars;
mod code;
mod enclosure;
mod item;
mod line;
mod lookahead;
mod marker;
mod open_enclosure;
mod prose;
mod stop;
mod words;

use block::BlockSplitter;
use open_enclosure::{Emission, OpenEnclosure};
use prose::CharDecision;

/// Output of the splitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitOutput<'a> {
    /// More text of the open piece, or the first of a new one. Never empty.
    Text(&'a str),
    /// The open piece ended. Always preceded by text of that piece.
    PieceEnd,
}

/// Splits the text of one message into pieces as it arrives.
#[derive(Clone, Debug, PartialEq)]
pub struct SentenceSplitter {
    blocks: BlockSplitter,
    held: String,
    /// True if text was emitted since the last end.
    is_piece_open: bool,
    /// Code or a bracket that is open and may never close.
    enclosure: Option<Box<OpenEnclosure>>,
    /// Bytes that are read again after they were emitted.
    emitted_before: usize,
}

impl Default for SentenceSplitter {
    fn default() -> SentenceSplitter {
        SentenceSplitter::new()
    }
}

impl SentenceSplitter {
    /// Creates a splitter at the start of a message.
    pub fn new() -> SentenceSplitter {
        SentenceSplitter {
            blocks: BlockSplitter::new(),
            held: String::new(),
            is_piece_open: false,
            enclosure: None,
            emitted_before: 0,
        }
    }

    /// Splits `text`; emits everything whose piece is decided.
    pub fn push(&mut self, text: &str, out: &mut impl FnMut(SplitOutput<'_>)) {
        // Text before `from` was emitted or is held.
        let mut from = 0;
        let mut at = 0;
        loop {
            let words_len = self.blocks.consume_text_without_break(&text[at..]);
            if self.enclosure.is_some() && 0 < words_len {
                let words = &text[at..at + words_len];
                if self.push_in_enclosure(&text[from..at], words, CharDecision::Pass, out)
                    == Emission::Done
                {
                    from = at + words_len;
                }
            }
            at += words_len;
            let Some(c) = text[at..].chars().next() else { break };
            let end = at + c.len_utf8();
            match self.blocks.push_char(c, &self.held) {
                decision if self.enclosure.is_some() => {
                    let (before, next) = (&text[from..at], &text[at..end]);
                    if self.push_in_enclosure(before, next, decision, out) == Emission::Done {
                        from = end;
                    }
                }
                CharDecision::Pass => self.emit_held(out),
                CharDecision::Hold => {
                    self.emit_text(text.get(from..at), out);
                    self.held.push(c);
                    from = end;
                }
                CharDecision::Break => {
                    self.emit_text(text.get(from..at), out);
                    from = at;
                    self.emit_piece_end_if_open(out);
                    self.emit_held(out);
                }
            }
            at = end;
            self.begin_enclosure_if_opened(c);
        }
        self.emit_text(text.get(from..), out);
    }

    /// Ends the message: emits held text and the end of the open piece. Resets the splitter for the
    /// next message.
    pub fn finish(&mut self, out: &mut impl FnMut(SplitOutput<'_>)) {
        self.finish_enclosure(out);
        if !self.held.is_empty() {
            if self.blocks.finish(&self.held) == CharDecision::Break {
                self.emit_piece_end_if_open(out);
            }
            self.emit_held(out);
        }
        self.emit_piece_end_if_open(out);
        *self = SentenceSplitter::new();
    }

    /// Bytes held back.
    pub fn held_bytes(&self) -> usize {
        self.held.len().max(self.enclosure.as_ref().map_or(0, |open| open.held_bytes()))
    }

    /// Emits `text` as part of the open piece.
    fn emit_text(&mut self, text: Option<&str>, out: &mut impl FnMut(SplitOutput<'_>)) {
        let text = text.unwrap_or_default();
        let skipped = self.emitted_before.min(text.len());
        self.emitted_before -= skipped;
        if skipped < text.len() {
            out(SplitOutput::Text(&text[skipped..]));
            self.is_piece_open = true;
        }
    }

    /// Emits the held text as part of the open piece.
    fn emit_held(&mut self, out: &mut impl FnMut(SplitOutput<'_>)) {
        if !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            self.emit_text(Some(&held), out);
            self.held = held;
            self.held.clear();
        }
    }

    /// Emits the end of the open piece, if there is one.
    fn emit_piece_end_if_open(&mut self, out: &mut impl FnMut(SplitOutput<'_>)) {
        if std::mem::take(&mut self.is_piece_open) {
            out(SplitOutput::PieceEnd);
        }
    }
}

#[cfg(test)]
#[path = "sentence_tests.rs"]
mod tests;
