//! Grapheme clusters and their widths in columns.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Tab stops are at every eighth column, the default of terminals.
pub(crate) const TAB_COLS: usize = 8;

/// One grapheme cluster; never split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster<'a> {
    pub text: &'a str,
    pub width: usize,
    /// Terminals disagree on its width: the writer must reposition the cursor after it.
    pub width_uncertain: bool,
}

/// Iterates over the clusters of a text without tabs and line ends.
pub fn clusters(text: &str) -> impl Iterator<Item = Cluster<'_>> {
    // Not byte by byte for ASCII: a combining character may follow.
    text.graphemes(true).map(measure_cluster)
}

/// Returns the columns of a text without tabs and line ends.
pub fn text_width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    clusters(text).map(|cluster| cluster.width).sum()
}

/// Measures a cluster. Some terminals add up its characters, others draw it as one: the larger
/// width is used, so that the next text overlaps in neither.
fn measure_cluster(text: &str) -> Cluster<'_> {
    if text.len() == 1 {
        return Cluster { text, width: 1, width_uncertain: false };
    }
    let summed: usize = text.chars().map(|char| char.width().unwrap_or(0)).sum();
    let whole = text.width();
    let doubtful = summed != whole || text.contains('\u{ad}') || summed == 0;
    Cluster { text, width: summed.max(whole), width_uncertain: doubtful }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(usize, bool)]) {
        let found: Vec<_> = clusters(text).map(|c| (c.width, c.width_uncertain)).collect();
        assert_eq!(found, expected, "{text:?}");
        assert_eq!(text_width(text), expected.iter().map(|(width, _)| width).sum::<usize>());
    }

    #[test]
    fn wide_and_combining_characters_are_measured_as_terminals_draw_them() {
        check("ab", &[(1, false), (1, false)]);
        check("水e\u{301}", &[(2, false), (1, false)]);
        check("🎉", &[(2, false)]);
    }

    #[test]
    fn where_terminals_disagree_the_larger_width_counts() {
        check("⚠\u{fe0f}", &[(2, true)]);
        check("👩\u{200d}👧", &[(4, true)]);
    }
}
