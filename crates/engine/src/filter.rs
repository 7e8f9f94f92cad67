//! Filter of one message's text: separates markup and its content from visible text.
//!
//! Does: hold back exactly what may still become a tag or a control word, whatever the chunk
//! boundaries; leave tags and words in code alone; put every byte, hidden or not, in a [`Piece`].
//! Does not: trim, edit or reorder anything.
//!
//! Invariant: the pieces of a message, joined, are its text; each byte is in exactly one piece.

mod candidate;
mod control_marks;
mod control_word;
mod inline;
mod message_filter;
mod piece;
mod scan_mode;
mod tag;

use std::sync::Arc;

use crate::limits::FILTER_HELD_BYTES_MAX;
use crate::markdown::BlockScanner;

pub use control_word::{ControlMeaning, ControlWord, ControlWordError};
use control_word::{ControlWords, EndOfText};
use inline::InlineStep;
pub use message_filter::MessageFilter;
pub use piece::{FilterStart, Piece};
use scan_mode::ScanMode;
use tag::TagScanner;
pub use tag::{TagClass, TagLineError, TagTable};

/// A possible tag or control word whose text is held.
#[derive(Clone, Debug, PartialEq)]
enum MarkupCandidate {
    Tag(TagScanner),
    ControlWord,
    /// A closing tag of this length that opens its line; it ends an unopened thought if nothing
    /// follows it on the line.
    LoneClose {
        tag_bytes: usize,
    },
}

/// Incremental filter: text in, [`Piece`]s out.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    tag_table: Arc<TagTable>,
    control_words: Arc<ControlWords>,
    start: FilterStart,
    mode: ScanMode,
    /// The lines of what is visible.
    blocks: BlockScanner,
    /// The same where the last tag or word began that may stand in inline code.
    before_mark: BeforeMark,
    candidate: Option<MarkupCandidate>,
    markers: SeenMarkers,
    /// Undecided text: the beginning of a tag or word, or a whole one that may be inside code.
    held: String,
}

/// Memory of whether the message has had a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SeenMarkers {
    None,
    Some,
}

/// Scanner state to restore if a tag or word after a back-tick is not in code.
#[derive(Clone, Debug, PartialEq)]
enum BeforeMark {
    LineStart(BlockScanner),
    InLine(BlockScanner),
}

/// Scan position in a text.
struct ScanPosition {
    /// Next byte to read.
    offset: usize,
    /// Text before this was emitted.
    emitted_to: usize,
    /// Text from here on may be a tag or word, or be inside code.
    held_from: Option<usize>,
}

/// Held text that has to be read again.
struct Again {
    /// Offset of the tag or word for which it was held.
    mark: usize,
    from: usize,
}

impl Filter {
    /// Creates a filter without control words.
    pub fn new(table: Arc<TagTable>, starts_in: FilterStart) -> Filter {
        Filter::with_control_words(table, starts_in, &[])
    }

    /// Creates a filter that also hides control words.
    pub fn with_control_words(
        table: Arc<TagTable>,
        starts_in: FilterStart,
        words: &[ControlWord],
    ) -> Filter {
        let mut filter = Filter {
            tag_table: table,
            control_words: Arc::new(ControlWords::new(words)),
            start: starts_in,
            mode: ScanMode::LineStart,
            blocks: BlockScanner::default(),
            before_mark: BeforeMark::InLine(BlockScanner::default()),
            candidate: None,
            markers: SeenMarkers::None,
            held: String::new(),
        };
        filter.drop_held_and_reset_to_reply_start();
        filter
    }

    /// Returns a filter with the same tags and words, at the start of visible text.
    #[must_use]
    pub fn copy_reset_to_visible_text(&self) -> Filter {
        let mut fresh = Filter { start: FilterStart::Text, ..self.clone() };
        fresh.drop_held_and_reset_to_reply_start();
        fresh
    }

    /// Returns a filter with the same tags and words, at the start of a message in the same reply.
    #[must_use]
    pub(crate) fn copy_at_message_start(&self) -> Filter {
        let (tag_table, control_words) =
            (Arc::clone(&self.tag_table), Arc::clone(&self.control_words));
        Filter {
            tag_table,
            control_words,
            start: self.start,
            mode: ScanMode::LineStart,
            blocks: BlockScanner::default(),
            before_mark: BeforeMark::InLine(BlockScanner::default()),
            candidate: None,
            markers: SeenMarkers::None,
            held: String::new(),
        }
    }

    /// True if the filter hides control words.
    pub(crate) fn has_control_words(&self) -> bool {
        !self.control_words.is_empty()
    }

    /// Bytes held back because they may be markup.
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    /// Text held back; `None` if it may become a tag.
    fn held_text_unless_tag(&self) -> Option<&str> {
        let is_tag =
            matches!(self.candidate, Some(ref found) if *found != MarkupCandidate::ControlWord);
        (!is_tag).then_some(&self.held)
    }

    /// Filters `text`; emits every piece that is decided.
    pub fn push(&mut self, text: &str, out: &mut impl FnMut(Piece<'_>)) {
        if !self.held.is_empty() {
            let mut joined = std::mem::take(&mut self.held);
            let from = joined.len();
            joined.push_str(text);
            self.scan_from(&joined, from, out);
        } else if matches!(self.mode, ScanMode::Text)
            && self.plain_text_len(text.as_bytes()) == text.len()
        {
            self.blocks.push_plain_text(text.as_bytes());
            emit_visible(text, out);
        } else {
            self.scan_from(text, 0, out);
        }
    }

    /// Scans `text` from `from` on; the part before was scanned when it was held.
    fn scan_from(&mut self, text: &str, from: usize, out: &mut impl FnMut(Piece<'_>)) {
        let undecided = (0 < from).then_some(0);
        self.scan_to_end(
            text,
            ScanPosition { offset: from, emitted_to: 0, held_from: undecided },
            out,
        );
    }

    /// Scans `text` from `position` to its end, and rescans parts that turned out not to be code.
    fn scan_to_end(&mut self, text: &str, position: ScanPosition, out: &mut impl FnMut(Piece<'_>)) {
        let mut rest = text;
        let mut again = self.scan_until_rescan_needed(rest, position, out);
        while let Some(at) = again {
            rest = &rest[at..];
            again = self.scan_until_rescan_needed(
                rest,
                ScanPosition { offset: 0, emitted_to: 0, held_from: None },
                out,
            );
        }
    }

    /// Ends the message: decides and emits held text. Open hidden text stays open, because a step
    /// may interrupt it.
    pub fn end_message_keeping_open_tag(&mut self, out: &mut impl FnMut(Piece<'_>)) {
        self.emit_held_before_step(out);
        if !matches!(self.mode, ScanMode::Hidden { .. }) {
            self.mode = ScanMode::LineStart;
        }
        self.blocks = BlockScanner::default();
        self.markers = SeenMarkers::None;
    }

    /// Decides and emits held text, because a step follows. The message goes on.
    pub(crate) fn emit_held_before_step(&mut self, out: &mut impl FnMut(Piece<'_>)) {
        while !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            self.emit_or_rehold_at_message_end(&held, out);
        }
    }

    /// Decides the beginning of `held`, given that nothing follows; the rest may be held again.
    fn emit_or_rehold_at_message_end(&mut self, held: &str, out: &mut impl FnMut(Piece<'_>)) {
        let mut position = ScanPosition { offset: 0, emitted_to: 0, held_from: Some(0) };
        match (self.candidate.take(), &self.mode) {
            (Some(MarkupCandidate::Tag(_)), _) => {
                let position = self.read_non_tag_bracket_as_text(0, &position);
                self.scan_to_end(held, position, out);
            }
            (Some(MarkupCandidate::ControlWord), _) => {
                self.emit_control_word_or_resume_text(held, &mut position, EndOfText::Reached, out);
                self.scan_to_end(held, position, out);
            }
            (Some(MarkupCandidate::LoneClose { .. }), _) => {
                self.markers = SeenMarkers::Some;
                out(Piece::UnopenedThoughtEnd(held));
            }
            (None, ScanMode::InlineCode(inline)) => {
                let end = inline.find_code_end_at_message_end(held, &self.blocks).unwrap_or(0);
                emit_visible(&held[..end], out);
                self.restore_before_held_and_read_code(&held[..end]);
                self.scan_from(&held[end..], 0, out);
            }
            (None, _) => self.emit_visible_or_hidden(held, out),
        }
    }

    /// Resets the filter for a new reply.
    pub fn drop_held_and_reset_to_reply_start(&mut self) {
        self.held.clear();
        self.candidate = None;
        self.markers = SeenMarkers::None;
        self.blocks = BlockScanner::default();
        self.mode = match self.start {
            FilterStart::Text => ScanMode::LineStart,
            FilterStart::Thinking => ScanMode::Hidden {
                class: TagClass::Reasoning,
                depth: 1,
                resume_at_line_start: true,
            },
        };
    }

    /// Scans `text` from `position`. Returns an offset to rescan from if held text turned out not
    /// to be code.
    fn scan_until_rescan_needed(
        &mut self,
        text: &str,
        mut position: ScanPosition,
        out: &mut impl FnMut(Piece<'_>),
    ) -> Option<usize> {
        while position.offset < text.len() {
            match (&self.candidate, &self.mode) {
                (Some(MarkupCandidate::Tag(_)), _) => {
                    self.scan_byte_and_emit_complete_tag(text, &mut position, out);
                }
                (Some(MarkupCandidate::ControlWord), _) => {
                    self.emit_control_word_or_resume_text(
                        text,
                        &mut position,
                        EndOfText::NotReached,
                        out,
                    );
                }
                (Some(MarkupCandidate::LoneClose { .. }), _) => {
                    self.scan_after_lone_close(text, &mut position, out);
                }
                (None, ScanMode::InlineCode(_)) => {
                    if let Some(Again { mark, from }) =
                        self.scan_inline_code_byte(text, &mut position)
                    {
                        self.emit_visible_or_hidden(&text[position.emitted_to..from], out);
                        self.restore_before_held_and_read_code(&text[mark..from]);
                        return Some(from);
                    }
                }
                (None, _) => {
                    position.offset = self.scan_byte_or_plain_run(text.as_bytes(), position.offset);
                    if self.candidate.is_some() {
                        position.held_from = Some(position.offset - 1);
                    }
                }
            }
        }
        let end = position.held_from.unwrap_or(text.len());
        self.emit_visible_or_hidden(&text[position.emitted_to..end], out);
        self.held.push_str(&text[end..]);
        None
    }

    /// Scans one byte of possible inline code. Returns a position to rescan from if the held text
    /// is not code, or only its beginning is.
    fn scan_inline_code_byte(&mut self, text: &str, position: &mut ScanPosition) -> Option<Again> {
        let ScanMode::InlineCode(inline) = &mut self.mode else {
            return None;
        };
        let byte = text.as_bytes()[position.offset];
        let begins_word = self.control_words.can_begin_with(byte);
        if (byte == b'<' || begins_word) && !inline.is_holding_text() {
            let blocks = self.blocks.clone();
            self.before_mark = if inline.is_at_line_start() {
                BeforeMark::LineStart(blocks)
            } else {
                BeforeMark::InLine(blocks)
            };
        }
        match inline.push_byte(byte, &mut self.blocks) {
            InlineStep::Consumed => {
                if begins_word && !inline.is_holding_text() {
                    self.candidate = Some(MarkupCandidate::ControlWord);
                    position.held_from = Some(position.offset);
                }
                position.offset += 1;
            }
            InlineStep::TagBegins => {
                self.candidate = Some(MarkupCandidate::Tag(TagScanner::new()));
                position.held_from = Some(position.offset);
                position.offset += 1;
            }
            InlineStep::Code => {
                position.held_from = None;
                self.mode = ScanMode::Text;
            }
            InlineStep::CodeEndedLine | InlineStep::FenceOpened => {
                position.held_from = None;
                self.mode = ScanMode::LineStart;
                position.offset += 1;
            }
            InlineStep::NotCode { .. } | InlineStep::ParagraphEnded
                if let Some(mark) = position.held_from =>
            {
                let held = &text[mark..position.offset];
                return Some(Again {
                    mark,
                    from: mark + inline.find_code_end_at_paragraph_end(held).unwrap_or(0),
                });
            }
            InlineStep::NotCode { next } => self.mode = next.into(),
            InlineStep::ParagraphEnded => {
                self.mode = ScanMode::LineStart;
                position.offset += 1;
            }
        }
        let mark = position.held_from.filter(|_| self.candidate.is_none())?;
        (FILTER_HELD_BYTES_MAX < position.offset - mark).then_some(Again { mark, from: mark })
    }

    /// Restores the state before the held text and reads `code`, the part of it that is code.
    fn restore_before_held_and_read_code(&mut self, code: &str) {
        let (mode, blocks) = match &self.before_mark {
            BeforeMark::LineStart(blocks) if code.is_empty() => (ScanMode::LineStart, blocks),
            BeforeMark::LineStart(blocks) | BeforeMark::InLine(blocks) => (ScanMode::Text, blocks),
        };
        self.blocks = blocks.clone();
        for byte in code.bytes() {
            self.blocks.push_byte(byte);
        }
        self.mode = mode;
    }

    /// Emits `text` as visible, or as hidden content inside a hidden tag.
    fn emit_visible_or_hidden(&self, text: &str, out: &mut impl FnMut(Piece<'_>)) {
        match self.mode {
            ScanMode::Hidden { class, .. } if !text.is_empty() => {
                out(Piece::HiddenContent(class, text));
            }
            _ => emit_visible(text, out),
        }
    }
}

fn emit_visible(text: &str, out: &mut impl FnMut(Piece<'_>)) {
    if !text.is_empty() {
        out(Piece::Visible(text));
    }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
