//! Cuts the text of one message into sentences and blocks, as it arrives.
//!
//! Does: hand text out as soon as it is known to which piece it belongs, and say where pieces
//! end. A sentence of a paragraph is a piece; so is a list item, a heading, a code block, a table,
//! a rule. White space belongs to the piece before it.
//! Does not: know the language, edit text, or look at it twice.
//!
//! A line break inside a paragraph is white space. A blank line always ends a piece. A list item
//! is one piece with the indented lines after it, whatever sentences are in it.
//!
//! Invariants: the texts handed out are the input, in order. The pieces are the same however the
//! input is cut. What is held is at most the next word and the marks before it, never more than
//! `SENTENCE_HELD_BYTES_MAX`. An end is never taken back.

mod block;
mod chars;
mod code;
mod enclosure;
mod fence;
mod line;
mod marker;
mod next;
mod prose;
mod stop;
mod words;

use block::Blocks;
use prose::Verdict;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut<'a> {
    /// More of the piece that is open, or the first of a new one. Never empty.
    Text(&'a str),
    /// The open piece is over. Never comes twice without text between, never first.
    End,
}

/// Cuts the text of one message into pieces as it arrives.
#[derive(Clone, Debug, PartialEq)]
pub struct Splitter {
    blocks: Blocks,
    held: String,
    /// Text was handed out since the last end.
    open: bool,
}

impl Default for Splitter {
    fn default() -> Splitter {
        Splitter::new()
    }
}

impl Splitter {
    pub fn new() -> Splitter {
        Splitter { blocks: Blocks::new(), held: String::new(), open: false }
    }

    pub fn push(&mut self, text: &str, out: &mut impl FnMut(Cut<'_>)) {
        // What is before `from` was handed out or is held.
        let mut from = 0;
        let mut at = 0;
        loop {
            at += self.blocks.skip(&text[at..]);
            let Some(c) = text[at..].chars().next() else { break };
            match self.blocks.read(c, &self.held) {
                Verdict::Pass => self.release(out),
                Verdict::Hold => {
                    self.hand_out(text.get(from..at), out);
                    self.held.push(c);
                    from = at + c.len_utf8();
                }
                Verdict::Break => {
                    self.hand_out(text.get(from..at), out);
                    from = at;
                    self.end(out);
                    self.release(out);
                }
            }
            at += c.len_utf8();
        }
        self.hand_out(text.get(from..), out);
    }

    /// The message is over: what is held is handed out and the open piece ends. What is pushed
    /// next is another message.
    pub fn finish(&mut self, out: &mut impl FnMut(Cut<'_>)) {
        if !self.held.is_empty() {
            if self.blocks.finish(&self.held) == Verdict::Break {
                self.end(out);
            }
            self.release(out);
        }
        self.end(out);
        *self = Splitter::new();
    }

    /// Bytes not yet handed out.
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    fn hand_out(&mut self, text: Option<&str>, out: &mut impl FnMut(Cut<'_>)) {
        if let Some(text) = text
            && !text.is_empty()
        {
            out(Cut::Text(text));
            self.open = true;
        }
    }

    fn release(&mut self, out: &mut impl FnMut(Cut<'_>)) {
        if !self.held.is_empty() {
            out(Cut::Text(&self.held));
            self.held.clear();
            self.open = true;
        }
    }

    fn end(&mut self, out: &mut impl FnMut(Cut<'_>)) {
        if std::mem::take(&mut self.open) {
            out(Cut::End);
        }
    }
}

#[cfg(test)]
#[path = "sentence_tests.rs"]
mod tests;
