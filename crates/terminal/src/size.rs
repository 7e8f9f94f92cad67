//! The size of a terminal.

/// Columns and rows, at least one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub cols: u16,
    pub rows: u16,
}

impl Size {
    /// For output that is not a terminal: lines are never wrapped.
    pub const UNBOUNDED: Size = Size { cols: u16::MAX, rows: 24 };

    #[must_use]
    pub fn new(cols: u16, rows: u16) -> Size {
        Size { cols: cols.max(1), rows: rows.max(1) }
    }

    pub(crate) fn width(self) -> usize {
        usize::from(self.cols)
    }
}
