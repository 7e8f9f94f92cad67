//! Locates the live region after the terminal has reflowed it on a resize.

use crate::row::Row;
use crate::screen::escape_buffer::CursorPosition;
use crate::screen::features::Reflow;

/// Returns how many screen rows a row takes at `cols` columns.
fn wrapped_height(row: &Row, cols: usize, reflow: Reflow) -> usize {
    if reflow == Reflow::Truncates || cols == 0 {
        return 1;
    }
    let trimmed = row.text().trim_end_matches(' ').len();
    let mut rows = 1;
    let mut used = 0;
    for cell in row.cells().filter(|cell| cell.offset < trimmed) {
        if cols < used + cell.width {
            rows += 1;
            used = 0;
        }
        used += cell.width;
    }
    rows
}

/// Live region after a resize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LiveRegionPosition {
    /// First screen row.
    pub(super) top: usize,
    /// Rows that have left the screen, wholly or in part.
    pub(super) rows_gone: usize,
}

/// Locates the live region by the reported cursor row; the cursor was at `cursor` in it.
pub(super) fn locate_live_region(
    rows: &[Row],
    cursor: CursorPosition,
    reported: usize,
    cols: usize,
    reflow: Reflow,
) -> LiveRegionPosition {
    let above: usize =
        rows.iter().take(cursor.row).map(|row| wrapped_height(row, cols, reflow)).sum();
    let within = match reflow {
        Reflow::Wraps => cursor.col / cols.max(1),
        Reflow::Truncates => 0,
    };
    let above = above + within;
    if let Some(top) = reported.checked_sub(above) {
        return LiveRegionPosition { top, rows_gone: 0 };
    }
    let mut off = above - reported;
    let mut gone = 0;
    for row in rows {
        if off == 0 {
            break;
        }
        gone += 1;
        let height = wrapped_height(row, cols, reflow);
        if off < height {
            // The visible rest of the row stays.
            return LiveRegionPosition { top: height - off, rows_gone: gone };
        }
        off -= height;
    }
    LiveRegionPosition { top: 0, rows_gone: gone }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    /// Three live rows of 10, 25 and 5 columns, the cursor in the last.
    #[track_caller]
    fn check(reported: usize, cols: usize, reflow: Reflow, expected: (usize, usize)) {
        let rows = [10, 25, 5].map(|width| Row::from_text(&"x".repeat(width), Style::PLAIN));
        let found =
            locate_live_region(&rows, CursorPosition { row: 2, col: 3 }, reported, cols, reflow);
        assert_eq!((found.top, found.rows_gone), expected);
    }

    #[test]
    fn rows_that_wrap_push_the_cursor_down() {
        check(20, 30, Reflow::Wraps, (18, 0));
        check(20, 10, Reflow::Wraps, (16, 0));
        check(20, 4, Reflow::Wraps, (10, 0));
    }

    #[test]
    fn rows_that_are_cut_stay_where_they_are() {
        check(20, 10, Reflow::Truncates, (18, 0));
    }

    #[test]
    fn what_left_the_screen_is_counted_and_what_is_left_of_it_stays() {
        check(3, 10, Reflow::Wraps, (0, 1));
        check(2, 10, Reflow::Wraps, (2, 2));
        check(0, 10, Reflow::Wraps, (0, 2));
    }
}
