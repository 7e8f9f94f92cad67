//! Views side by side on a sheet of text.
//!
//! Invariant: no line is wider than the sheet, and no control character of a model gets through.

use engine::view::Picture;
use unicode_width::UnicodeWidthChar;

use super::wrapped::wrapped;
use super::{Column, purpose};
use crate::show::control::{neutralised, one_line};
use crate::show::page::{page_text, status_text};

/// Narrowest column that can be read.
const COLUMN_WIDTH_MIN: usize = 20;

const BETWEEN: &str = " │ ";
const BETWEEN_RULES: &str = "─┼─";
const BETWEEN_WIDTH: usize = 3;

/// All views as they stand, with a line about the event they stand at.
pub(super) fn sheet(columns: &[Column], event: &str, last: u64, width: usize) -> String {
    let mut sheet = String::new();
    let place = format!("After event {event} (the last is {last})");
    for line in wrapped(&one_line(&place), width) {
        push_line(line.trim_end(), &mut sheet);
    }
    for row in columns.chunks(per_row(columns.len(), width)) {
        sheet.push('\n');
        let width = (width + BETWEEN_WIDTH) / row.len() - BETWEEN_WIDTH;
        let blocks: Vec<Block> = row.iter().map(|column| Block::of(column, width)).collect();
        push_row(&blocks, width, &mut sheet);
    }
    sheet
}

/// As many columns as fit, the rows as even as they get.
fn per_row(count: usize, width: usize) -> usize {
    let fit = ((width + BETWEEN_WIDTH) / (COLUMN_WIDTH_MIN + BETWEEN_WIDTH)).clamp(1, count.max(1));
    count.div_ceil(count.div_ceil(fit).max(1)).max(1)
}

/// One view in lines that fit.
struct Block {
    head: Vec<String>,
    body: Vec<String>,
    status: Vec<String>,
}

impl Block {
    fn of(column: &Column, width: usize) -> Block {
        let picture = column.encoder.picture();
        let mut head = lines(column.view.as_str(), width);
        head.extend(lines(purpose(column.view), width));
        let page = page_text(picture);
        Block { head, body: lines(page.trim_end(), width), status: lines(&status(picture), width) }
    }
}

fn status(picture: &Picture) -> String {
    match status_text(picture) {
        status if !status.is_empty() => status,
        _ if picture.ended.is_some() => "[Done]".to_owned(),
        _ => "[Nothing yet]".to_owned(),
    }
}

fn lines(text: &str, width: usize) -> Vec<String> {
    let text = neutralised(text).replace('\t', "    ");
    let mut lines = Vec::new();
    for line in text.split('\n') {
        // A blank at which a line was broken is not an indentation.
        let rows = wrapped(line, width).into_iter().enumerate();
        lines.extend(rows.map(|(at, row)| if at == 0 { row } else { row.trim_start().to_owned() }));
    }
    lines
}

fn push_row(blocks: &[Block], width: usize, out: &mut String) {
    push_part(blocks, |block| &block.head, width, out);
    let rules = vec!["─".repeat(width); blocks.len()];
    push_line(&rules.join(BETWEEN_RULES), out);
    push_part(blocks, |block| &block.body, width, out);
    push_part(blocks, |block| &block.status, width, out);
}

/// Lines beside lines, as many as the tallest has.
fn push_part(blocks: &[Block], part: fn(&Block) -> &[String], width: usize, out: &mut String) {
    let tallest = blocks.iter().map(|block| part(block).len()).max().unwrap_or(0);
    for at in 0..tallest {
        let cells = blocks.iter().map(|block| {
            let text = part(block).get(at).map_or("", |line| line.trim_end());
            format!("{text}{}", " ".repeat(width.saturating_sub(width_of(text))))
        });
        push_line(cells.collect::<Vec<_>>().join(BETWEEN).trim_end(), out);
    }
}

fn push_line(line: &str, out: &mut String) {
    out.push_str(line);
    out.push('\n');
}

fn width_of(text: &str) -> usize {
    text.chars().map(|char| char.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_even_as_they_get() {
        for (width, columns) in [(20, 1), (42, 1), (43, 2), (80, 3), (100, 3), (112, 5), (300, 5)] {
            assert_eq!(per_row(5, width), columns, "in {width}");
        }
    }

    #[test]
    fn the_tallest_column_sets_the_height_and_wide_characters_count_twice() {
        let block = |head: &str, body: &str| Block {
            head: lines(head, 6),
            body: lines(body, 6),
            status: lines("[x]", 6),
        };
        let mut out = String::new();
        push_row(&[block("a", "東京 one two"), block("b", "\u{1b}\tz")], 6, &mut out);
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
