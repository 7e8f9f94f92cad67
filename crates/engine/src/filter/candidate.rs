//! Decides whether a candidate is a tag or control word, and applies it.
//!
//! A candidate that is neither becomes text, and is rescanned from its second byte.

use crate::event::MarkupClass;

use super::control_word::{EndOfText, Likeness};
use super::scan_mode::ScanMode;
use super::tag::{Tag, TagClass, TagForm, TagStep};
use super::{Filter, MarkupCandidate, Piece, ScanPosition, SeenMarkers};
use crate::limits::FILTER_HELD_BYTES_MAX;

impl Filter {
    /// Scans one byte of a possible tag; applies the tag when it is complete.
    pub(super) fn scan_byte_and_emit_complete_tag(
        &mut self,
        text: &str,
        position: &mut ScanPosition,
        out: &mut impl FnMut(Piece<'_>),
    ) {
        let (Some(MarkupCandidate::Tag(tag)), Some(begin)) =
            (&mut self.candidate, position.held_from)
        else {
            return;
        };
        match tag.push_byte(text.as_bytes()[position.offset], &self.tag_table) {
            TagStep::Incomplete => position.offset += 1,
            TagStep::NotATag => {
                self.candidate = None;
                *position = self.read_non_tag_bracket_as_text(begin, position);
            }
            TagStep::Tag(tag) => {
                self.candidate = None;
                position.offset += 1;
                if let ScanMode::InlineCode(inline) = &mut self.mode {
                    inline.start_holding_text();
                } else if self.is_first_marker_closing_thought(tag) {
                    let tag_bytes = position.offset - begin;
                    self.candidate = Some(MarkupCandidate::LoneClose { tag_bytes });
                } else {
                    self.emit_visible_or_hidden(&text[position.emitted_to..begin], out);
                    self.emit_tag_and_switch_mode(tag, &text[begin..position.offset], out);
                    position.held_from = None;
                    position.emitted_to = position.offset;
                }
            }
        }
    }

    /// True for a closing reasoning tag at the start of a line that is the message's first marker.
    fn is_first_marker_closing_thought(&self, tag: Tag) -> bool {
        tag.class == TagClass::Reasoning
            && tag.form == TagForm::Close
            && self.markers == SeenMarkers::None
            && matches!(self.mode, ScanMode::LineStart)
    }

    /// Scans one byte after a closing tag that opens its line, and decides whether it is alone there.
    pub(super) fn scan_after_lone_close(
        &mut self,
        text: &str,
        position: &mut ScanPosition,
        out: &mut impl FnMut(Piece<'_>),
    ) {
        let (Some(MarkupCandidate::LoneClose { tag_bytes }), Some(begin)) =
            (&self.candidate, position.held_from)
        else {
            return;
        };
        let tag_end = begin + tag_bytes;
        let has_room = position.offset - begin < FILTER_HELD_BYTES_MAX;
        match text.as_bytes()[position.offset] {
            b' ' | b'\t' | b'\r' if has_room => {
                position.offset += 1;
                return;
            }
            b'\n' => {
                self.emit_visible_or_hidden(&text[position.emitted_to..begin], out);
                out(Piece::UnopenedThoughtEnd(&text[begin..position.offset]));
            }
            _ => {
                self.emit_visible_or_hidden(&text[position.emitted_to..begin], out);
                out(Piece::Markup(MarkupClass::Stray, &text[begin..tag_end]));
                position.offset = tag_end;
            }
        }
        self.blocks.forbid_indented_code_in_line();
        self.candidate = None;
        self.markers = SeenMarkers::Some;
        position.held_from = None;
        position.emitted_to = position.offset;
    }

    /// Matches the candidate against the control words; emits the word if it is one.
    pub(super) fn emit_control_word_or_resume_text(
        &mut self,
        text: &str,
        position: &mut ScanPosition,
        rest: EndOfText,
        out: &mut impl FnMut(Piece<'_>),
    ) {
        let Some(begin) = position.held_from else { return };
        match self.control_words.match_start(&text[begin..], rest) {
            Likeness::Maybe => position.offset = text.len(),
            Likeness::No => {
                self.candidate = None;
                position.held_from = None;
                let byte = text.as_bytes()[begin];
                position.offset = match self.mode {
                    ScanMode::LineStart => self.advance_line_start(byte, begin),
                    ScanMode::Text => {
                        self.blocks.push_text_byte_if_decided(byte);
                        begin + 1
                    }
                    _ => begin + 1,
                };
            }
            Likeness::Match { len, meaning } => {
                self.candidate = None;
                if let ScanMode::InlineCode(inline) = &mut self.mode {
                    // Its first byte was scanned as possible code, and so will the rest.
                    inline.start_holding_text();
                    position.offset = begin + 1;
                } else {
                    self.emit_visible_or_hidden(&text[position.emitted_to..begin], out);
                    self.blocks.forbid_indented_code_in_line();
                    position.offset = begin + len;
                    out(Piece::ControlWord(meaning, &text[begin..position.offset]));
                    position.held_from = None;
                    position.emitted_to = position.offset;
                }
            }
        }
    }

    /// Reads a `<` that begins no tag as text. Returns the position after it, to rescan from.
    pub(super) fn read_non_tag_bracket_as_text(
        &mut self,
        begin: usize,
        position: &ScanPosition,
    ) -> ScanPosition {
        match self.mode {
            ScanMode::LineStart => {
                self.blocks.push_byte(b'<');
                self.mode = ScanMode::Text;
            }
            ScanMode::Text | ScanMode::InlineCode(_) => self.blocks.push_text_byte_if_decided(b'<'),
            _ => {}
        }
        ScanPosition { offset: begin + 1, emitted_to: position.emitted_to, held_from: None }
    }

    /// Emits a tag and enters or leaves hidden text.
    fn emit_tag_and_switch_mode(&mut self, tag: Tag, raw: &str, out: &mut impl FnMut(Piece<'_>)) {
        self.markers = SeenMarkers::Some;
        if let ScanMode::Hidden { class, depth, resume_at_line_start: back_to_line } = self.mode {
            let depth = match tag.form {
                _ if tag.class != class => depth,
                TagForm::Open => depth + 1,
                TagForm::Close => depth - 1,
                TagForm::SelfClosing => depth,
            };
            if depth == 0 {
                out(Piece::Markup(markup_class(class), raw));
                self.mode = if back_to_line { ScanMode::LineStart } else { ScanMode::Text };
            } else {
                out(Piece::HiddenContent(class, raw));
                self.mode = ScanMode::Hidden { class, depth, resume_at_line_start: back_to_line };
            }
            return;
        }
        self.blocks.forbid_indented_code_in_line();
        let back_to_line = matches!(self.mode, ScanMode::LineStart);
        match (tag.class, tag.form) {
            (TagClass::Unwrapped, _) => out(Piece::Markup(MarkupClass::Unwrapped, raw)),
            (_, TagForm::Close) => out(Piece::Markup(MarkupClass::Stray, raw)),
            (class, TagForm::SelfClosing) => out(Piece::Markup(markup_class(class), raw)),
            (class, TagForm::Open) => {
                out(Piece::Markup(markup_class(class), raw));
                self.mode =
                    ScanMode::Hidden { class, depth: 1, resume_at_line_start: back_to_line };
            }
        }
    }
}

fn markup_class(class: TagClass) -> MarkupClass {
    match class {
        TagClass::Reasoning => MarkupClass::Reasoning,
        TagClass::Tool => MarkupClass::Tool,
        TagClass::Unwrapped => MarkupClass::Unwrapped,
    }
}
