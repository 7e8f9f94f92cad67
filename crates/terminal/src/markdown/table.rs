//! Tables: held until they end, or until they are as tall as the screen.
//!
//! Then the column widths are fixed, and later rows are wrapped into them. A table with more
//! columns than fit side by side is shown as records, one line per cell.

use crate::hyperlinks::HyperlinkMode;
use crate::inline::{Ending, InlineParser, InlinePiece};
use crate::limits::{TABLE_COLUMNS_MAX, live_rows_max};
use crate::row::Row;
use crate::size::Size;
use crate::style::Style;
use crate::text::text_width;
use crate::wrap::LineWrapper;

const BETWEEN: &str = " │ ";
const CROSSING: &str = "─┼─";
/// Narrowest readable cell, in columns.
const CELL_COLS_MIN: usize = 4;
/// Narrowest cell, if there is room, when the widths are fixed before the table ends.
const FROZEN_COLS_MIN: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Centre,
    Right,
}

/// An open table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    size: Size,
    links: HyperlinkMode,
    first: Row,
    lead: Row,
    aligns: Vec<Align>,
    head: Vec<Row>,
    layout: Layout,
}

#[derive(Clone, Debug)]
enum Layout {
    /// Rows held until the widths are known.
    Held(Vec<Vec<Row>>),
    Frozen(Vec<usize>),
    /// Too narrow for columns: one record per row.
    Records(FirstRecord),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstRecord {
    Pending,
    Shown,
}

impl Table {
    pub(super) fn new(
        size: Size,
        links: HyperlinkMode,
        leads: (Row, Row),
        head: &str,
        below: &str,
    ) -> Table {
        let aligns = parse_alignments(below).unwrap_or_default();
        let head = parse_cells(head, aligns.len(), size, links);
        let mut table = Table {
            size,
            links,
            first: leads.0,
            lead: leads.1,
            aligns,
            head,
            layout: Layout::Held(Vec::new()),
        };
        if table.cell_cols_available() < table.aligns.len() * CELL_COLS_MIN {
            table.layout = Layout::Records(FirstRecord::Pending);
        }
        table
    }

    pub(super) fn push_line(&mut self, line: &str, out: &mut Vec<Row>) {
        let row = parse_cells(line, self.aligns.len(), self.size, self.links);
        match &mut self.layout {
            Layout::Held(rows) => {
                rows.push(row);
                self.settle_and_fix_widths_if_tall(out);
            }
            Layout::Frozen(widths) => {
                let widths = widths.clone();
                self.push_table_row(&row, Style::PLAIN, &widths, out);
            }
            Layout::Records(first) => {
                if std::mem::replace(first, FirstRecord::Shown) == FirstRecord::Shown {
                    out.push(self.lead.clone());
                }
                self.push_record_rows(&row, out);
            }
        }
    }

    pub(super) fn finish(&mut self, out: &mut Vec<Row>) {
        if let Layout::Held(_) = self.layout {
            self.settle_held_and_fix_widths(out);
        }
        if let Layout::Records(FirstRecord::Pending) = self.layout {
            let nothing = vec![Row::default(); self.head.len()];
            self.push_record_rows(&nothing, out);
        }
    }

    /// Settles the held rows and fixes the widths if they fill the screen. Narrow columns are
    /// widened for later rows.
    fn settle_and_fix_widths_if_tall(&mut self, out: &mut Vec<Row>) {
        let Layout::Held(rows) = &self.layout else { return };
        let widths = self.column_widths(rows);
        if self.render_held_rows(rows, &widths).len() <= live_rows_max(self.size).saturating_sub(2)
        {
            return;
        }
        let wanted: Vec<usize> = widths.iter().map(|&width| width.max(FROZEN_COLS_MIN)).collect();
        let widths = if wanted.iter().sum::<usize>() <= self.cell_cols_available() {
            wanted
        } else {
            widths
        };
        out.append(&mut self.render_held_rows(rows, &widths));
        self.layout = Layout::Frozen(widths);
        self.first = self.lead.clone();
    }

    /// Settles the held rows and fixes the widths.
    pub(super) fn settle_held_and_fix_widths(&mut self, out: &mut Vec<Row>) {
        let Layout::Held(rows) = &self.layout else { return };
        let widths = self.column_widths(rows);
        out.append(&mut self.render_held_rows(rows, &widths));
        self.layout = Layout::Frozen(widths);
        self.first = self.lead.clone();
    }

    pub(super) fn set_size_and_refit_columns(&mut self, size: Size) {
        self.size = size;
        let room = self.cell_cols_available();
        if room < self.aligns.len() * CELL_COLS_MIN {
            if let Layout::Frozen(_) = self.layout {
                self.layout = Layout::Records(FirstRecord::Shown);
            }
        } else if let Layout::Frozen(widths) = &mut self.layout {
            *widths = fit_widths(widths, room);
        }
    }

    fn render_held_rows(&self, rows: &[Vec<Row>], widths: &[usize]) -> Vec<Row> {
        let mut out = Vec::new();
        self.push_table_row(&self.head, Style::BOLD, widths, &mut out);
        if let (Some(row), first) = (out.first_mut(), &self.first) {
            let mut with_first = first.clone();
            let mut rest = row.clone();
            rest.split_off_front_bytes(self.lead.text().len());
            with_first.push_row(&rest);
            *row = with_first;
        }
        let mut line = self.lead.clone();
        let dashes: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
        line.push(&dashes.join(CROSSING), Style::DIM);
        out.push(line);
        for row in rows {
            self.push_table_row(row, Style::PLAIN, widths, &mut out);
        }
        out
    }

    /// Returns the columns available for all cells of a row together.
    fn cell_cols_available(&self) -> usize {
        let between = text_width(BETWEEN) * self.aligns.len().saturating_sub(1);
        self.size.width().saturating_sub(self.lead.width() + between)
    }

    fn column_widths(&self, rows: &[Vec<Row>]) -> Vec<usize> {
        let mut widths: Vec<usize> = self.head.iter().map(|cell| cell.width().max(1)).collect();
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().max(*width);
            }
        }
        fit_widths(&widths, self.cell_cols_available())
    }

    fn push_table_row(&self, cells: &[Row], style: Style, widths: &[usize], out: &mut Vec<Row>) {
        let mut columns = Vec::with_capacity(cells.len());
        for (cell, &width) in cells.iter().zip(widths) {
            let mut rows = Vec::new();
            let mut wrap = LineWrapper::new(width, Row::default(), Row::default());
            for (text, own, link) in cell.spans() {
                wrap.push(text, own.layered_over(style), link, &mut rows);
            }
            wrap.finish(&mut rows);
            columns.push(rows);
        }
        let height = columns.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let mut row = self.lead.clone();
            for (index, (column, &wide)) in columns.iter().zip(widths).enumerate() {
                let empty = Row::default();
                let part = column.get(line).unwrap_or(&empty);
                let (before, after) =
                    split_padding(self.aligns[index], wide.saturating_sub(part.width()));
                row.push(&" ".repeat(before), Style::PLAIN);
                row.push_row(part);
                if index + 1 < widths.len() {
                    row.push(&" ".repeat(after), Style::PLAIN);
                    row.push(BETWEEN, Style::DIM);
                }
            }
            out.push(row);
        }
    }

    /// Pushes a table row as one line per cell: `head: cell`.
    fn push_record_rows(&mut self, row: &[Row], out: &mut Vec<Row>) {
        for (head, cell) in self.head.iter().zip(row) {
            let first = std::mem::replace(&mut self.first, self.lead.clone());
            let mut wrap = LineWrapper::new(self.size.width(), first, self.lead.clone());
            for (text, own, link) in head.spans() {
                wrap.push(text, own.layered_over(Style::BOLD), link, out);
            }
            wrap.push(": ", Style::DIM, None, out);
            for (text, own, link) in cell.spans() {
                wrap.push(text, own, link, out);
            }
            wrap.finish(out);
        }
    }
}

fn split_padding(align: Align, spaces: usize) -> (usize, usize) {
    match align {
        Align::Left => (0, spaces),
        Align::Centre => (spaces / 2, spaces - spaces / 2),
        Align::Right => (spaces, 0),
    }
}

/// Returns the wanted widths, with the widest ones reduced until all fit into `room`.
fn fit_widths(wanted: &[usize], room: usize) -> Vec<usize> {
    if wanted.iter().sum::<usize>() <= room {
        return wanted.to_vec();
    }
    let used = |most: usize| wanted.iter().map(|&width| width.min(most)).sum::<usize>();
    let most = (1..=room).rev().find(|&most| used(most) <= room).unwrap_or(1);
    wanted.iter().map(|&width| width.min(most)).collect()
}

/// Parses the line below a table's head; `None` if it is not such a line.
fn parse_alignments(line: &str) -> Option<Vec<Align>> {
    let cells = split_cells(line);
    cells.iter().map(|cell| parse_alignment(cell)).collect()
}

fn parse_alignment(cell: &str) -> Option<Align> {
    let inner = cell.strip_prefix(':').unwrap_or(cell);
    let dashes = inner.strip_suffix(':').unwrap_or(inner);
    if dashes.is_empty() || !dashes.bytes().all(|byte| byte == b'-') {
        return None;
    }
    Some(match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Align::Centre,
        (false, true) => Align::Right,
        (_, false) => Align::Left,
    })
}

/// Splits a line into cells, without the white space around them.
fn split_cells(line: &str) -> Vec<String> {
    let line = line.trim_matches([' ', '\t']);
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for char in line.chars() {
        let full = cells.len() >= TABLE_COLUMNS_MAX;
        let Some(cell) = cells.last_mut() else { break };
        match char {
            '|' if escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' if !full => cells.push(String::new()),
            _ => cell.push(char),
        }
        escaped = char == '\\' && !escaped;
    }
    if cells.len() > 1 && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim_matches([' ', '\t']).to_owned()).collect()
}

/// Parses a line into exactly `count` cells of inline Markdown; further cells join the last.
fn parse_cells(source: &str, count: usize, size: Size, links: HyperlinkMode) -> Vec<Row> {
    let mut sources = split_cells(source);
    // Text without a column of its own is not lost.
    let extra = sources.split_off(count.min(sources.len()));
    if let (Some(last), false) = (sources.last_mut(), extra.is_empty()) {
        *last = format!("{last} | {}", extra.join(" | "));
    }
    sources.resize(count, String::new());
    let read = |source: &String| {
        let mut row = Row::default();
        let mut inline = InlineParser::new(size, links);
        let mut place = |piece: InlinePiece<'_>| match piece {
            InlinePiece::Text(text, style, address) => row.push_linked(text, style, address),
            InlinePiece::Break => row.push(" ", Style::PLAIN),
        };
        inline.push(source, &mut place);
        inline.finish(Ending::Final, &mut place);
        row
    };
    sources.iter().map(read).collect()
}
