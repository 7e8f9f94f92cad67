//! The open leaf block: the innermost block, which holds text.

use millpond_engine::markdown as scanned;

use crate::code::CodeRenderer;
use crate::hyperlinks::HyperlinkMode;
use crate::inline::Ending;
use crate::row::Row;
use crate::size::Size;
use crate::style::Style;

use super::line::{CanBecome, Start, Within};
use super::paragraph::{Heading, Paragraph};
use super::table::Table;

/// The open leaf block.
#[derive(Clone, Debug)]
pub(super) enum Leaf {
    None,
    Paragraph(Paragraph),
    Heading(Heading),
    Fence(Fence),
    Indented(CodeRenderer),
    Table(Table),
}

/// An open fenced code block.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    code: CodeRenderer,
    lead: Row,
    /// The current line is a line of code, not a fence.
    in_line: bool,
}

impl Leaf {
    /// Opens a fenced code block and pushes the row of its opening fence.
    pub(super) fn fence(
        size: Size,
        lead: Row,
        fence: scanned::Fence,
        info: &str,
        out: &mut Vec<Row>,
    ) -> Leaf {
        let info = info.trim_matches([' ', '\t']);
        let marks = char::from(fence.mark).to_string().repeat(fence.len);
        let mut row = lead.clone();
        row.push(&format!("{marks}{}", info.replace('\t', " ")), Style::DIM);
        let mut code = CodeRenderer::for_plain_text(size, lead.clone(), Style::DIM);
        code.push_wrapped_row(row, out);
        code = CodeRenderer::new(size, lead.clone(), info);
        Leaf::Fence(Fence { code, lead, in_line: false })
    }

    pub(super) fn indented(size: Size, lead: Row) -> Leaf {
        Leaf::Indented(CodeRenderer::for_plain_text(size, lead, Style::PLAIN))
    }

    pub(super) fn text(size: Size, links: HyperlinkMode, leads: (Row, Row), start: &Start) -> Leaf {
        let paragraph = Paragraph::new(size, links, Style::PLAIN, leads);
        match start {
            Start::Heading => Leaf::Heading(Heading::new(paragraph)),
            _ => Leaf::Paragraph(paragraph),
        }
    }

    pub(super) fn table(
        size: Size,
        links: HyperlinkMode,
        leads: (Row, Row),
        head: &str,
        delimiters: &str,
    ) -> Leaf {
        Leaf::Table(Table::new(size, links, leads, head, delimiters))
    }

    pub(super) fn within(&self) -> Within {
        let can = |it| if it { CanBecome::Yes } else { CanBecome::No };
        match self {
            Leaf::Paragraph(paragraph) => Within::Paragraph {
                heading: can(paragraph.is_short()),
                table: can(paragraph.has_head()),
            },
            Leaf::Table(_) => Within::Table,
            Leaf::None | Leaf::Heading(_) | Leaf::Fence(_) | Leaf::Indented(_) => Within::Nothing,
        }
    }

    /// Returns true if a line with this start belongs to this block.
    pub(super) fn goes_on_with(&self, start: &Start) -> bool {
        match self {
            Leaf::None => true,
            Leaf::Paragraph(_) => matches!(
                start,
                Start::Text | Start::TableHead | Start::Delimiters | Start::Underline
            ),
            Leaf::Fence(_) => matches!(start, Start::FenceLine | Start::CloseFence),
            Leaf::Table(_) => *start == Start::TableRow,
            Leaf::Indented(_) => *start == Start::Indented,
            Leaf::Heading(_) => false,
        }
    }

    /// Starts a line with its text so far; some lines end the block.
    pub(super) fn begin_line(&mut self, start: Start, content: &str, out: &mut Vec<Row>) {
        match (&mut *self, start) {
            (Leaf::Paragraph(paragraph), Start::TableHead) => paragraph.hold_head(content, out),
            (Leaf::Paragraph(paragraph), Start::Underline) => {
                paragraph.make_heading();
                self.finish(Ending::Final, out);
                *self = Leaf::None;
            }
            (Leaf::Paragraph(paragraph), _) => {
                paragraph.begin_line(out);
                paragraph.push(content, out);
            }
            (Leaf::Fence(fence), Start::CloseFence) => {
                let mut row = fence.lead.clone();
                row.push(content.trim_matches([' ', '\t']), Style::DIM);
                out.push(row);
                *self = Leaf::None;
            }
            (Leaf::Fence(_), Start::OpenFence(_)) | (Leaf::None, _) => {}
            (Leaf::Fence(fence), _) => {
                fence.in_line = true;
                fence.code.push(content, out);
            }
            (Leaf::Heading(heading), _) => heading.push(content, out),
            (Leaf::Indented(code), _) => code.push(content, out),
            (Leaf::Table(table), _) => table.push(content, out),
        }
    }

    /// Appends a part of the current line.
    pub(super) fn push(&mut self, text: &str, out: &mut Vec<Row>) {
        match self {
            Leaf::Paragraph(paragraph) => paragraph.push(text, out),
            Leaf::Heading(heading) => heading.push(text, out),
            Leaf::Fence(fence) => fence.code.push(text, out),
            Leaf::Indented(code) => code.push(text, out),
            Leaf::None | Leaf::Table(_) => {}
        }
    }

    pub(super) fn end_line(&mut self, out: &mut Vec<Row>) {
        match self {
            Leaf::Heading(heading) => {
                heading.finish(Ending::Final, out);
                *self = Leaf::None;
            }
            Leaf::Fence(fence) => {
                if std::mem::take(&mut fence.in_line) {
                    fence.code.end_line(out);
                }
            }
            Leaf::Indented(code) => code.end_line(out),
            Leaf::None | Leaf::Paragraph(_) | Leaf::Table(_) => {}
        }
    }

    pub(super) fn finish(&mut self, ending: Ending, out: &mut Vec<Row>) {
        match self {
            Leaf::Paragraph(paragraph) => paragraph.finish(ending, out),
            Leaf::Heading(heading) => heading.finish(ending, out),
            Leaf::Fence(fence) => fence.code.finish(ending, out),
            Leaf::Indented(code) => code.finish(ending, out),
            Leaf::Table(table) => table.finish(out),
            Leaf::None => {}
        }
    }

    pub(super) fn set_size(&mut self, size: Size, out: &mut Vec<Row>) {
        match self {
            Leaf::Paragraph(paragraph) => paragraph.set_size(size, out),
            Leaf::Heading(heading) => heading.text_mut().set_size(size, out),
            Leaf::Fence(fence) => fence.code.set_size(size, out),
            Leaf::Indented(code) => code.set_size(size, out),
            Leaf::Table(table) => table.set_size(size),
            Leaf::None => {}
        }
    }

    /// Settles the held text as it is shown now.
    pub(super) fn freeze(&mut self, out: &mut Vec<Row>) {
        match self {
            Leaf::Paragraph(paragraph) => paragraph.freeze(out),
            Leaf::Heading(heading) => heading.text_mut().freeze(out),
            Leaf::Fence(fence) => fence.code.settle_held_line(out),
            Leaf::Table(table) => table.freeze(out),
            Leaf::None | Leaf::Indented(_) => {}
        }
    }

    /// Ends the row being filled, in the middle of the text.
    pub(super) fn cut_row(&mut self, out: &mut Vec<Row>) {
        match self {
            Leaf::Paragraph(paragraph) => paragraph.cut_row(out),
            Leaf::Heading(heading) => heading.text_mut().cut_row(out),
            Leaf::Fence(Fence { code, .. }) | Leaf::Indented(code) => code.end_row_mid_line(out),
            Leaf::None | Leaf::Table(_) => {}
        }
    }
}
