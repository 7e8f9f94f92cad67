//! What a terminal makes of the live rows when its width changes.

use crate::row::Row;
use crate::screen::features::Reflow;
use crate::screen::pen::Place;

/// Rows that this row takes on a screen of `cols` columns.
fn height(row: &Row, cols: usize, reflow: Reflow) -> usize {
    if reflow == Reflow::Cuts || cols == 0 {
        return 1;
    }
    let trimmed = row.text().trim_end_matches(' ').len();
    let mut rows = 1;
    let mut used = 0;
    for cell in row.cells().filter(|cell| cell.at < trimmed) {
        if cols < used + cell.width {
            rows += 1;
            used = 0;
        }
        used += cell.width;
    }
    rows
}

/// How a live region looks after a resize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Where it begins now.
    pub(super) top: usize,
    /// Rows of it that have left the screen, wholly or in part.
    pub(super) gone: usize,
}

/// Finds the live region by where the cursor is reported, which stood in it at `cursor`.
pub(super) fn find(
    rows: &[Row],
    cursor: Place,
    reported: usize,
    cols: usize,
    reflow: Reflow,
) -> Found {
    let above: usize = rows.iter().take(cursor.row).map(|row| height(row, cols, reflow)).sum();
    let within = match reflow {
        Reflow::Wraps => cursor.col / cols.max(1),
        Reflow::Cuts => 0,
    };
    let above = above + within;
    if let Some(top) = reported.checked_sub(above) {
        return Found { top, gone: 0 };
    }
    let mut off = above - reported;
    let mut gone = 0;
    for row in rows {
        if off == 0 {
            break;
        }
        gone += 1;
        let height = height(row, cols, reflow);
        if off < height {
            // The rest of it stays where it is.
            return Found { top: height - off, gone };
        }
        off -= height;
    }
    Found { top: 0, gone }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    /// Three live rows of 10, 25 and 5 columns, the cursor in the last.
    #[track_caller]
    fn check(reported: usize, cols: usize, reflow: Reflow, expected: (usize, usize)) {
        let rows = [10, 25, 5].map(|width| Row::line(&"x".repeat(width), Style::PLAIN));
        let found = find(&rows, Place { row: 2, col: 3 }, reported, cols, reflow);
        assert_eq!((found.top, found.gone), expected);
    }

    #[test]
    fn rows_that_wrap_push_the_cursor_down() {
        check(20, 30, Reflow::Wraps, (18, 0));
        check(20, 10, Reflow::Wraps, (16, 0));
        check(20, 4, Reflow::Wraps, (10, 0));
    }

    #[test]
    fn rows_that_are_cut_stay_where_they_are() {
        check(20, 10, Reflow::Cuts, (18, 0));
    }

    #[test]
    fn what_left_the_screen_is_counted_and_what_is_left_of_it_stays() {
        check(3, 10, Reflow::Wraps, (0, 1));
        check(2, 10, Reflow::Wraps, (2, 2));
        check(0, 10, Reflow::Wraps, (0, 2));
    }
}
