//! The marks that open and close a fenced block of code.

/// Fewest marks that open a fence.
pub(super) const FENCE_MARKS_MIN: usize = 3;

/// A fenced block of code that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// A back-tick or a tilde.
    pub mark: u8,
    /// Number of marks.
    pub len: usize,
    /// Columns before its opening marks; as many are taken off each line of its code.
    pub indent: usize,
}

/// When a fence in a list item ends that was not closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FenceInItem {
    /// With its item, as `CommonMark` has it: at a line that is indented less than its content.
    #[default]
    EndsWithItem,
    /// Only at its closing line. Models often write code in an item without indenting it.
    EndsWhenClosed,
}
