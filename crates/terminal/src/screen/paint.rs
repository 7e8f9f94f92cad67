//! One row onto the screen: only what is different from what stands there.

use super::pen::{Pen, Place};
use crate::row::{Begins, Cell, Row};

/// A row as it is to stand on the screen.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    pub(super) row: Row,
    /// The terminal wraps into it from the row above, so that both are copied as one line.
    pub(super) from: Option<Seam>,
}

/// The end of a row from which the terminal wraps.
#[derive(Clone, Debug)]
pub(super) struct Seam {
    /// Its last cell, or nothing where the next is too wide for what is left of it.
    tail: Row,
    col: usize,
}

impl Drawn {
    /// A live row stands for itself: how it is broken may change.
    pub(super) fn live(row: &Row, cols: usize) -> Drawn {
        let mut row = if cols < row.width() { row.clipped(cols) } else { row.clone() };
        row.set_begins(Begins::Line);
        Drawn { row, from: None }
    }

    /// Whether this row stands there already, as a line of its own.
    pub(super) fn is(&self, drawn: &Row) -> bool {
        self.from.is_none()
            && self.row.mark().is_none()
            && self.row.text() == drawn.text()
            && self.row.runs() == drawn.runs()
    }
}

/// Where the terminal wraps by itself from the end of one row into the next, if it does.
pub(super) fn seam(above: &Row, row: &Row, cols: usize) -> Option<Seam> {
    if row.begins() != Begins::Within || above.cells().any(|cell| cell.doubtful) {
        return None;
    }
    // A tab does not wrap.
    let first = row.cells().next().filter(|first| first.text != "\t")?;
    let last = above.cells().last().filter(|last| last.text != "\t")?;
    let width = last.col + last.width;
    if width == cols {
        let mut tail = above.clone();
        tail.split_front(last.at);
        return Some(Seam { tail, col: last.col });
    }
    let wide = first.width == 2 && !first.doubtful;
    (width + 1 == cols && wide).then(|| Seam { tail: Row::default(), col: width })
}

/// Writes a row by letting the terminal wrap into it from row `above` of the screen.
pub(super) fn write_joined(pen: &mut Pen, seam: &Seam, above: usize, row: &Row, at: usize) {
    let width = seam.col + seam.tail.width();
    if pen.place() != Some(Place { row: above, col: width }) {
        pen.go_to(Place { row: above, col: seam.col });
        pen.write(&seam.tail, seam.tail.cells());
    }
    pen.wrapped(at);
    pen.write(row, row.cells());
}

/// Paints a row over what stands in its place.
pub(super) fn paint(pen: &mut Pen, at: usize, old: &Row, new: &Row, cols: usize) {
    if old.text() == new.text() && old.runs() == new.runs() {
        return;
    }
    let before: Vec<Styled<'_>> = styled(old);
    let after: Vec<Styled<'_>> = styled(new);
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    if same == before.len() && same == after.len() {
        return;
    }
    let (old_width, new_width) = (end_of(&before), end_of(&after));
    let tail = common_tail(&before[same..], &after[same..]);
    let changed = &after[same..after.len() - tail];
    let skips = changed.iter().any(|styled| styled.cell.doubtful || styled.cell.text == "\t");
    let col = after.get(same).map_or(new_width, |styled| styled.cell.col);
    pen.go_to(Place { row: at, col });
    let (changed, erase) = if skips {
        // What a tab passes over is not written: it has to be blank.
        pen.erase_row();
        (&after[same..], false)
    } else {
        (changed, new_width < old_width)
    };
    pen.write(new, changed.iter().map(|styled| styled.cell));
    if erase && new_width < cols {
        pen.erase_row();
    }
}

/// A cell together with how it looks.
#[derive(Clone, Copy, Debug)]
struct Styled<'a> {
    cell: Cell<'a>,
    row: &'a Row,
    run: usize,
}

impl PartialEq for Styled<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (mine, theirs) = (&self.row.runs()[self.run], &other.row.runs()[other.run]);
        self.cell.text == other.cell.text
            && self.cell.col == other.cell.col
            && mine.style == theirs.style
            && mine.link == theirs.link
    }
}

fn styled<'a>(row: &'a Row) -> Vec<Styled<'a>> {
    let mut run = 0;
    let mut end = row.runs().first().map_or(0, |run| run.bytes);
    let with_run = |cell: Cell<'a>| {
        while cell.at >= end {
            run += 1;
            end += row.runs()[run].bytes;
        }
        Styled { cell, row, run }
    };
    row.cells().map(with_run).collect()
}

fn end_of(cells: &[Styled<'_>]) -> usize {
    cells.last().map_or(0, |styled| styled.cell.col + styled.cell.width)
}

/// Cells at the end that stand where they stood.
fn common_tail(before: &[Styled<'_>], after: &[Styled<'_>]) -> usize {
    before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count()
}
