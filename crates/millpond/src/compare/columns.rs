//! Renders views side by side as text columns.
//!
//! Invariant: no line is wider than the requested width, and no control character of the input is
//! printed.

use millpond_engine::view::Page;
use millpond_terminal::text::{neutralise, neutralise_to_one_line};
use unicode_width::UnicodeWidthChar;

use super::wrap::wrap_line;
use super::{ViewColumn, view_purpose};
use crate::show::page_text::{render_page_text, status_line_unless_completed};

/// Narrowest readable column.
const COLUMN_WIDTH_MIN: usize = 20;

const COLUMN_SEPARATOR: &str = " │ ";
const RULE_SEPARATOR: &str = "─┼─";
const SEPARATOR_WIDTH: usize = 3;

/// Renders all views, below a line that names the last event applied.
pub(super) fn render_columns(
    columns: &[ViewColumn],
    event: &str,
    last: u64,
    width: usize,
) -> String {
    let mut sheet = String::new();
    let place = format!("After event {event} (last event: {last})");
    for line in wrap_line(&neutralise_to_one_line(&place), width) {
        push_line(line.trim_end(), &mut sheet);
    }
    for row in columns.chunks(columns_per_row(columns.len(), width)) {
        sheet.push('\n');
        let width = (width + SEPARATOR_WIDTH) / row.len() - SEPARATOR_WIDTH;
        let blocks: Vec<ColumnText> =
            row.iter().map(|column| ColumnText::render(column, width)).collect();
        push_column_row(&blocks, width, &mut sheet);
    }
    sheet
}

/// Number of columns per row: as many as fit, spread evenly over the rows.
fn columns_per_row(count: usize, width: usize) -> usize {
    let fit =
        ((width + SEPARATOR_WIDTH) / (COLUMN_WIDTH_MIN + SEPARATOR_WIDTH)).clamp(1, count.max(1));
    count.div_ceil(count.div_ceil(fit).max(1)).max(1)
}

/// One view as lines that fit its column.
struct ColumnText {
    head: Vec<String>,
    body: Vec<String>,
    status: Vec<String>,
}

impl ColumnText {
    fn render(column: &ViewColumn, width: usize) -> ColumnText {
        let page = column.encoder.page();
        let mut head = wrap_text(column.view.as_str(), width);
        head.extend(wrap_text(view_purpose(column.view), width));
        let body = render_page_text(page);
        ColumnText {
            head,
            body: wrap_text(body.trim_end(), width),
            status: wrap_text(&status_or_placeholder(page), width),
        }
    }
}

/// Status of the page, or a placeholder.
fn status_or_placeholder(page: &Page) -> String {
    match status_line_unless_completed(page) {
        status if !status.is_empty() => status,
        _ if page.ended.is_some() => "[Done]".to_owned(),
        _ => "[Nothing yet]".to_owned(),
    }
}

/// Splits text into lines that fit `width`, without control characters and tabs.
fn wrap_text(text: &str, width: usize) -> Vec<String> {
    let text = neutralise(text).replace('\t', "    ");
    let mut lines = Vec::new();
    for line in text.split('\n') {
        // A blank at which a line was wrapped is not indentation.
        let rows = wrap_line(line, width).into_iter().enumerate();
        lines.extend(rows.map(|(at, row)| if at == 0 { row } else { row.trim_start().to_owned() }));
    }
    lines
}

/// Appends one row of columns: heads, a rule, bodies, statuses.
fn push_column_row(blocks: &[ColumnText], width: usize, out: &mut String) {
    push_side_by_side(blocks, |block| &block.head, width, out);
    let rules = vec!["─".repeat(width); blocks.len()];
    push_line(&rules.join(RULE_SEPARATOR), out);
    push_side_by_side(blocks, |block| &block.body, width, out);
    push_side_by_side(blocks, |block| &block.status, width, out);
}

/// Appends one part of each column side by side, padded to the tallest.
fn push_side_by_side(
    blocks: &[ColumnText],
    part: fn(&ColumnText) -> &[String],
    width: usize,
    out: &mut String,
) {
    let tallest = blocks.iter().map(|block| part(block).len()).max().unwrap_or(0);
    for at in 0..tallest {
        let cells = blocks.iter().map(|block| {
            let text = part(block).get(at).map_or("", |line| line.trim_end());
            format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
        });
        push_line(cells.collect::<Vec<_>>().join(COLUMN_SEPARATOR).trim_end(), out);
    }
}

fn push_line(line: &str, out: &mut String) {
    out.push_str(line);
    out.push('\n');
}

fn display_width(text: &str) -> usize {
    text.chars().map(|char| char.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_even_as_they_get() {
        for (width, columns) in [(20, 1), (42, 1), (43, 2), (80, 3), (100, 3), (112, 5), (300, 5)] {
            assert_eq!(columns_per_row(5, width), columns, "in {width}");
        }
    }

    #[test]
    fn the_tallest_column_sets_the_height_and_wide_characters_count_twice() {
        let block = |head: &str, body: &str| ColumnText {
            head: wrap_text(head, 6),
            body: wrap_text(body, 6),
            status: wrap_text("[x]", 6),
        };
        let mut out = String::new();
        push_column_row(&[block("a", "東京 one two"), block("b", "\u{1b}\tz")], 6, &mut out);
        let shown: Vec<&str> = out.lines().collect();
        assert_eq!(
            shown,
            [
                "a      │ b",
                "───────┼───────",
                "東京   │ ␛    z",
                "one    │",
                "two    │",
                "[x]    │ [x]"
            ]
        );
    }
}
