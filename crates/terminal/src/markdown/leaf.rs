//! The open leaf block: the innermost block, which holds text.

use millpond_engine::markdown as scanned;

use crate::code::CodeRenderer;
use crate::hyperlinks::HyperlinkMode;
use crate::inline::Ending;
use crate::row::Row;
use crate::size::Size;
use crate::style::Style;

use super::line::{CanBecome, LineContext, LineRole};
use super::paragraph::{Heading, Paragraph};
use super::table::Table;

/// The open leaf block.
#[derive(Clone, Debug)]
pub(super) enum LeafBlock {
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

impl LeafBlock {
    /// Opens a fenced code block and pushes the row of its opening fence.
    pub(super) fn open_fenced_code_and_push_row(
        size: Size,
        lead: Row,
        fence: scanned::Fence,
        info: &str,
        out: &mut Vec<Row>,
    ) -> LeafBlock {
        let info = info.trim_matches([' ', '\t']);
        let marks = char::from(fence.mark).to_string().repeat(fence.len);
        let mut row = lead.clone();
        row.push(&format!("{marks}{}", info.replace('\t', " ")), Style::DIM);
        let mut code = CodeRenderer::for_plain_text(size, lead.clone(), Style::DIM);
        code.push_wrapped_row(row, out);
        code = CodeRenderer::new(size, lead.clone(), info);
        LeafBlock::Fence(Fence { code, lead, in_line: false })
    }

    pub(super) fn new_indented_code(size: Size, lead: Row) -> LeafBlock {
        LeafBlock::Indented(CodeRenderer::for_plain_text(size, lead, Style::PLAIN))
    }

    pub(super) fn new_paragraph_or_heading(
        size: Size,
        links: HyperlinkMode,
        leads: (Row, Row),
        start: &LineRole,
    ) -> LeafBlock {
        let paragraph = Paragraph::new(size, links, Style::PLAIN, leads);
        match start {
            LineRole::Heading => LeafBlock::Heading(Heading::new(paragraph)),
            _ => LeafBlock::Paragraph(paragraph),
        }
    }

    pub(super) fn new_table(
        size: Size,
        links: HyperlinkMode,
        leads: (Row, Row),
        head: &str,
        delimiters: &str,
    ) -> LeafBlock {
        LeafBlock::Table(Table::new(size, links, leads, head, delimiters))
    }

    pub(super) fn context_for_next_line(&self) -> LineContext {
        let can = |it| if it { CanBecome::Yes } else { CanBecome::No };
        match self {
            LeafBlock::Paragraph(paragraph) => LineContext::Paragraph {
                heading: can(paragraph.can_become_heading()),
                table: can(paragraph.can_become_table()),
            },
            LeafBlock::Table(_) => LineContext::Table,
            LeafBlock::None
            | LeafBlock::Heading(_)
            | LeafBlock::Fence(_)
            | LeafBlock::Indented(_) => LineContext::Nothing,
        }
    }

    /// Returns true if a line with this start belongs to this block.
    pub(super) fn can_continue_with(&self, start: &LineRole) -> bool {
        match self {
            LeafBlock::None => true,
            LeafBlock::Paragraph(_) => matches!(
                start,
                LineRole::Text | LineRole::TableHead | LineRole::Delimiters | LineRole::Underline
            ),
            LeafBlock::Fence(_) => matches!(start, LineRole::FenceLine | LineRole::CloseFence),
            LeafBlock::Table(_) => *start == LineRole::TableRow,
            LeafBlock::Indented(_) => *start == LineRole::Indented,
            LeafBlock::Heading(_) => false,
        }
    }

    /// Starts a line with its text so far; some lines end the block.
    pub(super) fn begin_line_or_end_block(
        &mut self,
        start: LineRole,
        content: &str,
        out: &mut Vec<Row>,
    ) {
        match (&mut *self, start) {
            (LeafBlock::Paragraph(paragraph), LineRole::TableHead) => {
                paragraph.hold_table_head(content, out);
            }
            (LeafBlock::Paragraph(paragraph), LineRole::Underline) => {
                paragraph.make_bold();
                self.finish(Ending::Final, out);
                *self = LeafBlock::None;
            }
            (LeafBlock::Paragraph(paragraph), _) => {
                paragraph.begin_line(out);
                paragraph.push(content, out);
            }
            (LeafBlock::Fence(fence), LineRole::CloseFence) => {
                let mut row = fence.lead.clone();
                row.push(content.trim_matches([' ', '\t']), Style::DIM);
                out.push(row);
                *self = LeafBlock::None;
            }
            (LeafBlock::Fence(_), LineRole::OpenFence(_)) | (LeafBlock::None, _) => {}
            (LeafBlock::Fence(fence), _) => {
                fence.in_line = true;
                fence.code.push(content, out);
            }
            (LeafBlock::Heading(heading), _) => heading.push(content, out),
            (LeafBlock::Indented(code), _) => code.push(content, out),
            (LeafBlock::Table(table), _) => table.push_line(content, out),
        }
    }

    /// Appends a part of the current line.
    pub(super) fn push(&mut self, text: &str, out: &mut Vec<Row>) {
        match self {
            LeafBlock::Paragraph(paragraph) => paragraph.push(text, out),
            LeafBlock::Heading(heading) => heading.push(text, out),
            LeafBlock::Fence(fence) => fence.code.push(text, out),
            LeafBlock::Indented(code) => code.push(text, out),
            LeafBlock::None | LeafBlock::Table(_) => {}
        }
    }

    pub(super) fn end_line(&mut self, out: &mut Vec<Row>) {
        match self {
            LeafBlock::Heading(heading) => {
                heading.finish(Ending::Final, out);
                *self = LeafBlock::None;
            }
            LeafBlock::Fence(fence) => {
                if std::mem::take(&mut fence.in_line) {
                    fence.code.end_line(out);
                }
            }
            LeafBlock::Indented(code) => code.end_line(out),
            LeafBlock::None | LeafBlock::Paragraph(_) | LeafBlock::Table(_) => {}
        }
    }

    pub(super) fn finish(&mut self, ending: Ending, out: &mut Vec<Row>) {
        match self {
            LeafBlock::Paragraph(paragraph) => paragraph.finish(ending, out),
            LeafBlock::Heading(heading) => heading.finish(ending, out),
            LeafBlock::Fence(fence) => fence.code.finish(ending, out),
            LeafBlock::Indented(code) => code.finish(ending, out),
            LeafBlock::Table(table) => table.finish(out),
            LeafBlock::None => {}
        }
    }

    pub(super) fn set_size_and_rewrap(&mut self, size: Size, out: &mut Vec<Row>) {
        match self {
            LeafBlock::Paragraph(paragraph) => paragraph.set_size_and_rewrap(size, out),
            LeafBlock::Heading(heading) => heading.paragraph_mut().set_size_and_rewrap(size, out),
            LeafBlock::Fence(fence) => fence.code.set_size_and_rewrap(size, out),
            LeafBlock::Indented(code) => code.set_size_and_rewrap(size, out),
            LeafBlock::Table(table) => table.set_size_and_refit_columns(size),
            LeafBlock::None => {}
        }
    }

    /// Settles the held text as it is shown now.
    pub(super) fn settle_as_shown(&mut self, out: &mut Vec<Row>) {
        match self {
            LeafBlock::Paragraph(paragraph) => paragraph.settle_as_shown(out),
            LeafBlock::Heading(heading) => heading.paragraph_mut().settle_as_shown(out),
            LeafBlock::Fence(fence) => fence.code.settle_held_line_unhighlighted(out),
            LeafBlock::Table(table) => table.settle_held_and_fix_widths(out),
            LeafBlock::None | LeafBlock::Indented(_) => {}
        }
    }

    /// Ends the row being filled, in the middle of the text.
    pub(super) fn end_row_mid_text(&mut self, out: &mut Vec<Row>) {
        match self {
            LeafBlock::Paragraph(paragraph) => paragraph.end_row_mid_text(out),
            LeafBlock::Heading(heading) => heading.paragraph_mut().end_row_mid_text(out),
            LeafBlock::Fence(Fence { code, .. }) | LeafBlock::Indented(code) => {
                code.end_row_mid_line(out);
            }
            LeafBlock::None | LeafBlock::Table(_) => {}
        }
    }
}
