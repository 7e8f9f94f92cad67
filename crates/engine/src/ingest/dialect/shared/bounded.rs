//! Bounded collections: each drops its oldest entry at its limit.

use std::collections::VecDeque;

/// Appends an entry and drops the oldest past `max`.
pub(crate) fn push_bounded<T>(list: &mut VecDeque<T>, entry: T, max: usize) {
    if max <= list.len() {
        list.pop_front();
    }
    list.push_back(entry);
}

/// Open parts of a reply by their index in it, at most [`OPEN_BLOCKS_MAX`].
///
/// [`OPEN_BLOCKS_MAX`]: crate::limits::OPEN_BLOCKS_MAX
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenBlocks<T>(VecDeque<(u64, T)>);

impl<T> Default for OpenBlocks<T> {
    fn default() -> OpenBlocks<T> {
        OpenBlocks(VecDeque::new())
    }
}

impl<T> OpenBlocks<T> {
    /// Opens the block at `index`. An open one with the same index is replaced.
    pub(crate) fn insert(&mut self, index: u64, block: T) {
        self.remove(index);
        push_bounded(&mut self.0, (index, block), crate::limits::OPEN_BLOCKS_MAX);
    }

    /// The open block at `index`.
    pub(crate) fn get(&self, index: u64) -> Option<&T> {
        self.0.iter().find(|(open, _)| *open == index).map(|(_, block)| block)
    }

    /// The open block at `index`, to change it.
    pub(crate) fn get_mut(&mut self, index: u64) -> Option<&mut T> {
        self.0.iter_mut().find(|(open, _)| *open == index).map(|(_, block)| block)
    }

    /// Closes the block at `index` and returns it.
    pub(crate) fn remove(&mut self, index: u64) -> Option<T> {
        let at = self.0.iter().position(|(open, _)| *open == index)?;
        self.0.remove(at).map(|(_, block)| block)
    }

    /// Closes all blocks.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::OPEN_BLOCKS_MAX;

    #[test]
    fn a_block_opened_again_replaces_the_one_at_its_index() {
        let mut blocks = OpenBlocks::default();
        blocks.insert(3, "first");
        blocks.insert(3, "second");
        assert_eq!(blocks.remove(3), Some("second"));
        assert_eq!(blocks.remove(3), None);
    }

    #[test]
    fn the_oldest_block_is_dropped_one_past_the_limit() {
        let mut blocks = OpenBlocks::default();
        for index in 0..OPEN_BLOCKS_MAX as u64 {
            blocks.insert(index, index);
        }
        assert_eq!(blocks.get(0), Some(&0));
        blocks.insert(u64::MAX, 0);
        assert_eq!(blocks.get(0), None);
        assert_eq!(blocks.get(1), Some(&1));
    }
}
