//! Block quotes and list items, and the stack of those that are open.

use crate::limits::MARKDOWN_NESTING_MAX;

/// A container that a line is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// A block quote.
    Quote,
    /// A list item.
    Item {
        /// Columns from the content of the parent to its own content.
        indent: u8,
        /// Its marker.
        marker: Marker,
    },
}

/// The marker of a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// `-`, `*` or `+`.
    Bullet(u8),
    /// A number.
    Number {
        /// The number.
        value: u32,
        /// As many as were written, leading zeros included.
        digits: u8,
        /// `.` or `)`.
        delimiter: u8,
    },
}

impl Marker {
    /// Number of columns that the marker takes.
    pub(super) fn width(self) -> usize {
        match self {
            Marker::Bullet(_) => 1,
            Marker::Number { digits, .. } => usize::from(digits) + 1,
        }
    }

    /// True if an item with this marker may follow a line of a paragraph without a blank line
    /// between.
    pub(super) fn interrupts_paragraph(self) -> bool {
        matches!(self, Marker::Bullet(_) | Marker::Number { value: 1, .. })
    }
}

/// The open containers, outermost first.
#[derive(Clone, Debug)]
pub(super) struct Containers {
    open: [Container; MARKDOWN_NESTING_MAX],
    len: usize,
}

impl PartialEq for Containers {
    fn eq(&self, other: &Containers) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Containers {
    pub(super) fn new() -> Containers {
        Containers { open: [Container::Quote; MARKDOWN_NESTING_MAX], len: 0 }
    }

    pub(super) fn as_slice(&self) -> &[Container] {
        &self.open[..self.len]
    }

    pub(super) fn get(&self, depth: usize) -> Option<Container> {
        self.as_slice().get(depth).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Opens a container inside the first `depth` ones; the others end. The caller makes sure that
    /// `MARKDOWN_NESTING_MAX` is not reached.
    pub(super) fn open_and_close_deeper(&mut self, depth: usize, container: Container) {
        if let Some(place) = self.open.get_mut(depth) {
            *place = container;
            self.len = depth + 1;
        }
    }
}
