//! Repainting of one row: writes only the cells that differ.

use super::escape_buffer::{CursorPosition, EscapeBuffer};
use crate::row::{Cell, Row, RowStart};

/// A row to be shown on the screen.
#[derive(Clone, Debug)]
pub(super) struct ScreenRow {
    pub(super) row: Row,
    /// Set if the terminal wraps into it from the row above, so that both copy as one line.
    pub(super) wrap_point: Option<WrapPoint>,
}

/// End of a row from which the terminal wraps.
#[derive(Clone, Debug)]
pub(super) struct WrapPoint {
    /// The last cell; empty if the row ends one column early before a wide character.
    last_cell: Row,
    col: usize,
}

impl ScreenRow {
    /// Clips a live row. It is a line of its own, because its wrapping may still change.
    pub(super) fn from_live_row(row: &Row, cols: usize) -> ScreenRow {
        let mut row = if cols < row.width() { row.clip_to_width(cols) } else { row.clone() };
        row.set_row_start(RowStart::NewLine);
        ScreenRow { row, wrap_point: None }
    }

    /// Returns true if `drawn` already shows this row, as a line of its own.
    pub(super) fn is_already_drawn_as(&self, drawn: &Row) -> bool {
        self.wrap_point.is_none()
            && self.row.semantic_mark().is_none()
            && self.row.text() == drawn.text()
            && self.row.style_runs() == drawn.style_runs()
    }
}

/// Returns the wrap point if the terminal would wrap from `above` into `row` by itself.
pub(super) fn find_wrap_point(above: &Row, row: &Row, cols: usize) -> Option<WrapPoint> {
    if row.row_start() != RowStart::WithoutSpace || above.cells().any(|cell| cell.width_uncertain) {
        return None;
    }
    // A tab does not wrap.
    let first = row.cells().next().filter(|first| first.text != "\t")?;
    let last = above.cells().last().filter(|last| last.text != "\t")?;
    let width = last.col + last.width;
    if width == cols {
        let mut tail = above.clone();
        tail.split_off_front_bytes(last.offset);
        return Some(WrapPoint { last_cell: tail, col: last.col });
    }
    let wide = first.width == 2 && !first.width_uncertain;
    (width + 1 == cols && wide).then(|| WrapPoint { last_cell: Row::default(), col: width })
}

/// Writes a row by letting the terminal wrap into it from screen row `above`.
pub(super) fn write_row_by_wrapping_from_above(
    pen: &mut EscapeBuffer,
    seam: &WrapPoint,
    above: usize,
    row: &Row,
    at: usize,
) {
    let width = seam.col + seam.last_cell.width();
    if pen.position() != Some(CursorPosition { row: above, col: width }) {
        pen.move_to(CursorPosition { row: above, col: seam.col });
        pen.write_cells(&seam.last_cell, seam.last_cell.cells());
    }
    pen.set_position_after_wrap(at);
    pen.write_cells(row, row.cells());
}

/// Writes the cells of `new` that differ from `old`.
pub(super) fn repaint_row(pen: &mut EscapeBuffer, at: usize, old: &Row, new: &Row, cols: usize) {
    if old.text() == new.text() && old.style_runs() == new.style_runs() {
        return;
    }
    let before: Vec<StyledCell<'_>> = styled_cells(old);
    let after: Vec<StyledCell<'_>> = styled_cells(new);
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    if same == before.len() && same == after.len() {
        return;
    }
    let (old_width, new_width) = (end_column(&before), end_column(&after));
    let tail = count_common_tail(&before[same..], &after[same..]);
    let changed = &after[same..after.len() - tail];
    let skips =
        changed.iter().any(|styled| styled.cell.width_uncertain || styled.cell.text == "\t");
    let col = after.get(same).map_or(new_width, |styled| styled.cell.col);
    pen.move_to(CursorPosition { row: at, col });
    let (changed, erase) = if skips {
        // A tab does not overwrite the cells it passes: they must be blank.
        pen.erase_to_row_end();
        (&after[same..], false)
    } else {
        (changed, new_width < old_width)
    };
    pen.write_cells(new, changed.iter().map(|styled| styled.cell));
    if erase && new_width < cols {
        pen.erase_to_row_end();
    }
}

/// A cell with its style run.
#[derive(Clone, Copy, Debug)]
struct StyledCell<'a> {
    cell: Cell<'a>,
    row: &'a Row,
    run: usize,
}

impl PartialEq for StyledCell<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (mine, theirs) = (&self.row.style_runs()[self.run], &other.row.style_runs()[other.run]);
        self.cell.text == other.cell.text
            && self.cell.col == other.cell.col
            && mine.style == theirs.style
            && mine.link == theirs.link
    }
}

fn styled_cells<'a>(row: &'a Row) -> Vec<StyledCell<'a>> {
    let mut run = 0;
    let mut end = row.style_runs().first().map_or(0, |run| run.bytes);
    let with_run = |cell: Cell<'a>| {
        while cell.offset >= end {
            run += 1;
            end += row.style_runs()[run].bytes;
        }
        StyledCell { cell, row, run }
    };
    row.cells().map(with_run).collect()
}

fn end_column(cells: &[StyledCell<'_>]) -> usize {
    cells.last().map_or(0, |styled| styled.cell.col + styled.cell.width)
}

/// Counts equal cells at the end.
fn count_common_tail(before: &[StyledCell<'_>], after: &[StyledCell<'_>]) -> usize {
    before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count()
}
