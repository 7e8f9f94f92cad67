//! Line difference of two texts.

use crate::limits::{TOOL_DIFF_CELLS_MAX, TOOL_DIFF_LINES_MAX};

use super::description::{DiffLine, LineChange};

/// Unchanged lines kept before and after a change.
const CONTEXT_LINES: usize = 3;

/// Differences of two texts, line by line. `first` is the number of their first line, if it is
/// known. Past the limit on work, the differing middle is removed and added whole.
pub(super) fn diff_texts(old: &str, new: &str, first: Option<u32>) -> Vec<DiffLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let pairs = old.iter().zip(&new);
    let head = pairs.take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = pairs.take_while(|(a, b)| a == b).count();
    let old_middle = &old_rest[..old_rest.len() - tail];
    let new_middle = &new_rest[..new_rest.len() - tail];
    let mut lines = NumberedLines { next_old: first, next_new: first, lines: Vec::new() };
    lines.skip(head.saturating_sub(CONTEXT_LINES));
    for text in &old[head.saturating_sub(CONTEXT_LINES)..head] {
        lines.push(LineChange::Same, text);
    }
    for (change, text) in diff_middle(old_middle, new_middle) {
        lines.push(change, text);
    }
    for text in old_rest[old_rest.len() - tail..].iter().take(CONTEXT_LINES) {
        lines.push(LineChange::Same, text);
    }
    lines.lines
}

/// Lines that are collected with their numbers.
#[derive(Debug, Default)]
pub(super) struct NumberedLines {
    pub(super) next_old: Option<u32>,
    pub(super) next_new: Option<u32>,
    pub(super) lines: Vec<DiffLine>,
}

impl NumberedLines {
    /// Adds a line and advances the numbers.
    pub(super) fn push(&mut self, change: LineChange, text: &str) {
        let number = match change {
            LineChange::Removed => self.next_old,
            LineChange::Same | LineChange::Added => self.next_new,
            LineChange::Gap => None,
        };
        if matches!(change, LineChange::Same | LineChange::Removed) {
            self.next_old = self.next_old.map(|line| line.saturating_add(1));
        }
        if matches!(change, LineChange::Same | LineChange::Added) {
            self.next_new = self.next_new.map(|line| line.saturating_add(1));
        }
        self.lines.push(DiffLine { change, number, text: text.to_owned() });
    }

    /// Advances both numbers over lines that are not shown.
    fn skip(&mut self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.next_old = self.next_old.map(|line| line.saturating_add(count));
        self.next_new = self.next_new.map(|line| line.saturating_add(count));
    }
}

/// Every line of a text as added, numbered from 1.
pub(super) fn added_lines(text: &str) -> Vec<DiffLine> {
    let mut lines = NumberedLines { next_old: None, next_new: Some(1), lines: Vec::new() };
    for text in text.lines() {
        lines.push(LineChange::Added, text);
    }
    lines.lines
}

/// Shortest difference of lines that differ at both ends.
fn diff_middle<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(LineChange, &'t str)> {
    let whole = |change: LineChange, lines: &[&'t str]| -> Vec<(LineChange, &'t str)> {
        lines.iter().map(|text| (change, *text)).collect()
    };
    let too_long = TOOL_DIFF_LINES_MAX < old.len() || TOOL_DIFF_LINES_MAX < new.len();
    if too_long || TOOL_DIFF_CELLS_MAX < old.len() * new.len() {
        let mut lines = whole(LineChange::Removed, old);
        lines.append(&mut whole(LineChange::Added, new));
        return lines;
    }
    // Length of the longest common part of the rests from each pair of lines.
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            common[i * width + j] = if a == b {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            lines.push((LineChange::Same, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if common[i * width + j + 1] <= common[(i + 1) * width + j] {
            lines.push((LineChange::Removed, old[i]));
            i += 1;
        } else {
            lines.push((LineChange::Added, new[j]));
            j += 1;
        }
    }
    lines.append(&mut whole(LineChange::Removed, &old[i..]));
    lines.append(&mut whole(LineChange::Added, &new[j..]));
    lines
}
