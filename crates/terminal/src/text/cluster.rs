//! Grapheme clusters and how many columns they take.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Tabs stand at every eighth column, as in a terminal that nobody has set.
pub(crate) const TAB_COLS: usize = 8;

/// One grapheme cluster: never split, never measured in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster<'a> {
    pub text: &'a str,
    pub width: usize,
    /// Terminals disagree how wide it is: whoever writes it says where to go on.
    pub doubtful: bool,
}

/// The clusters of a text without tabs and line ends.
pub fn clusters(text: &str) -> impl Iterator<Item = Cluster<'_>> {
    // Printable ASCII is a cluster of its own unless something follows that combines with it.
    text.graphemes(true).map(cluster)
}

/// Columns of a text without tabs and line ends.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    clusters(text).map(|cluster| cluster.width).sum()
}

/// Some terminals add up the characters of a cluster, others draw it as one: the larger width is
/// taken, so that what follows overwrites nothing in either.
fn cluster(text: &str) -> Cluster<'_> {
    if text.len() == 1 {
        return Cluster { text, width: 1, doubtful: false };
    }
    let summed: usize = text.chars().map(|char| char.width().unwrap_or(0)).sum();
    let whole = text.width();
    let doubtful = summed != whole || text.contains('\u{ad}') || summed == 0;
    Cluster { text, width: summed.max(whole), doubtful }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(usize, bool)]) {
        let found: Vec<_> = clusters(text).map(|c| (c.width, c.doubtful)).collect();
        assert_eq!(found, expected, "{text:?}");
        assert_eq!(width(text), expected.iter().map(|(width, _)| width).sum::<usize>());
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
