//! Wrapped text: paragraphs, and headings, which are paragraphs of one bold line.

use crate::hyperlinks::HyperlinkMode;
use crate::inline::{Ending, InlineParser, InlinePiece};
use crate::row::Row;
use crate::size::Size;
use crate::style::Style;
use crate::wrap::LineWrapper;

/// An open paragraph.
#[derive(Clone, Debug)]
pub(super) struct Paragraph {
    inline: InlineParser,
    wrap: LineWrapper,
    style: Style,
    lines: usize,
    /// Source of the first line, while it may be the head of a table.
    first: Option<String>,
    /// The last line, held because it looks like the head of a table.
    head: Option<String>,
}

impl Paragraph {
    pub(super) fn new(
        size: Size,
        links: HyperlinkMode,
        style: Style,
        leads: (Row, Row),
    ) -> Paragraph {
        Paragraph {
            inline: InlineParser::new(size, links),
            wrap: LineWrapper::new(size.width(), leads.0, leads.1),
            style,
            lines: 0,
            first: Some(String::new()),
            head: None,
        }
    }

    /// Starts a line; a held line before it becomes text.
    pub(super) fn begin_line(&mut self, out: &mut Vec<Row>) {
        self.push_held_head_as_text(out);
        if self.lines > 0 {
            self.push_inline("\n", out);
            self.first = None;
        }
        self.lines += 1;
    }

    /// Appends a part of a line; a held part before it becomes text.
    pub(super) fn push(&mut self, text: &str, out: &mut Vec<Row>) {
        if !text.is_empty() {
            self.push_held_head_as_text(out);
        }
        if let Some(first) = &mut self.first {
            first.push_str(text);
        }
        self.push_inline(text, out);
        if !self.wrap.fits_in_one_row_so_far() {
            self.first = None;
        }
    }

    /// Holds a whole line that may be the head of a table.
    pub(super) fn hold_table_head(&mut self, line: &str, out: &mut Vec<Row>) {
        self.push_held_head_as_text(out);
        self.first = None;
        self.head = Some(line.to_owned());
    }

    /// Returns true if the last line can still be shown as the head of a table.
    pub(super) fn can_become_table(&self) -> bool {
        self.head.is_some() || self.first.as_ref().is_some_and(|first| first.contains('|'))
    }

    /// Removes and returns the head of a table, and true if text precedes it.
    pub(super) fn take_table_head(&mut self) -> (String, bool) {
        match self.head.take() {
            Some(head) => (head, self.lines > 0),
            None => (self.first.take().unwrap_or_default(), false),
        }
    }

    /// Returns the prefixes of the first row and of the others, while no row has settled.
    pub(super) fn row_prefixes(&self) -> (Row, Row) {
        self.wrap.current_and_next_row_prefixes()
    }

    pub(super) fn can_become_heading(&self) -> bool {
        let held = usize::from(self.head.is_some());
        self.lines + held == 1 && self.wrap.fits_in_one_row_so_far()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.as_ref().is_some_and(String::is_empty)
    }

    pub(super) fn make_bold(&mut self) {
        self.style = Style::BOLD;
        self.wrap.apply_base_style(Style::BOLD);
    }

    pub(super) fn finish(&mut self, ending: Ending, out: &mut Vec<Row>) {
        self.push_held_head_as_text(out);
        self.finish_inline(ending, out);
        self.wrap.finish(out);
    }

    /// Settles the held text as it is shown now.
    pub(super) fn settle_as_shown(&mut self, out: &mut Vec<Row>) {
        self.push_held_head_as_text(out);
        self.finish_inline(Ending::Preview, out);
    }

    pub(super) fn set_size_and_rewrap(&mut self, size: Size, out: &mut Vec<Row>) {
        self.inline.set_size(size);
        self.wrap.resize(size.width(), out);
    }

    /// Ends the row being filled, in the middle of the text.
    pub(super) fn end_row_mid_text(&mut self, out: &mut Vec<Row>) {
        self.wrap.end_row_mid_text(out);
    }

    fn push_held_head_as_text(&mut self, out: &mut Vec<Row>) {
        if let Some(head) = self.head.take() {
            if self.lines > 0 {
                self.push_inline("\n", out);
            }
            self.lines += 1;
            self.push_inline(&head, out);
        }
    }

    fn push_inline(&mut self, text: &str, out: &mut Vec<Row>) {
        let Paragraph { inline, wrap, style, .. } = self;
        inline.push(text, &mut |piece| wrap_inline_piece(piece, *style, wrap, out));
    }

    fn finish_inline(&mut self, ending: Ending, out: &mut Vec<Row>) {
        let Paragraph { inline, wrap, style, .. } = self;
        inline.finish(ending, &mut |piece| wrap_inline_piece(piece, *style, wrap, out));
    }
}

fn wrap_inline_piece(
    piece: InlinePiece<'_>,
    below: Style,
    wrap: &mut LineWrapper,
    out: &mut Vec<Row>,
) {
    match piece {
        InlinePiece::Text(text, style, link) => {
            wrap.push(text, style.layered_over(below), link, out);
        }
        InlinePiece::Break => wrap.break_line(out),
    }
}

/// A heading; `#` marks at its end are not shown.
#[derive(Clone, Debug)]
pub(super) struct Heading {
    text: Paragraph,
    /// Marks and spaces that may be the end of the heading.
    tail: String,
}

impl Heading {
    pub(super) fn new(mut text: Paragraph) -> Heading {
        text.make_bold();
        Heading { text, tail: String::new() }
    }

    pub(super) fn push(&mut self, text: &str, out: &mut Vec<Row>) {
        self.tail.push_str(text);
        let end = self.tail.trim_end_matches([' ', '\t', '#']).len();
        let tail = self.tail.split_off(end);
        let text = std::mem::replace(&mut self.tail, tail);
        self.text.push(&text, out);
    }

    pub(super) fn finish(&mut self, ending: Ending, out: &mut Vec<Row>) {
        let tail = std::mem::take(&mut self.tail);
        let tail = tail.trim_end_matches([' ', '\t']);
        let before = tail.trim_end_matches('#');
        let closed = before.is_empty() && self.text.is_empty() || before.ends_with([' ', '\t']);
        let text = if closed { before.trim_end_matches([' ', '\t']) } else { tail };
        self.text.push(text, out);
        self.text.finish(ending, out);
    }

    pub(super) fn paragraph_mut(&mut self) -> &mut Paragraph {
        &mut self.text
    }
}
