//! Texts and lists cut at their limits.

use crate::limits::{
    TOOL_DIFF_BYTES_MAX, TOOL_DIFF_FILES_MAX, TOOL_DIFF_LINE_BYTES_MAX, TOOL_DIFF_LINES_MAX,
    TOOL_TARGET_BYTES_MAX,
};

use super::description::{DiffLine, FileDiff, ToolDescription};

/// Mark at the end of a text that was cut.
const CUT_MARK: &str = "…";

/// Returns the text, cut with a mark if it is longer than `bytes_max`.
pub(super) fn shorten(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(bytes_max.saturating_sub(CUT_MARK.len()))];
    format!("{kept}{CUT_MARK}")
}

impl ToolDescription {
    /// Sets the changes, up to the limits on files, lines and bytes.
    pub(super) fn set_diffs(&mut self, diffs: Vec<FileDiff>) {
        let (mut lines_left, mut bytes_left) = (TOOL_DIFF_LINES_MAX, TOOL_DIFF_BYTES_MAX);
        for mut diff in diffs {
            if TOOL_DIFF_FILES_MAX <= self.diffs.len() {
                self.omitted.files = self.omitted.files.saturating_add(1);
                continue;
            }
            diff.path = shorten(&diff.path, TOOL_TARGET_BYTES_MAX);
            diff.moved_to = diff.moved_to.map(|path| shorten(&path, TOOL_TARGET_BYTES_MAX));
            let total = diff.lines.len();
            let mut kept = Vec::new();
            for DiffLine { change, number, text } in diff.lines {
                let text = shorten(&text, TOOL_DIFF_LINE_BYTES_MAX);
                if lines_left == 0 || bytes_left < text.len() {
                    lines_left = 0;
                    break;
                }
                lines_left -= 1;
                bytes_left -= text.len();
                kept.push(DiffLine { change, number, text });
            }
            let cut = u32::try_from(total - kept.len()).unwrap_or(u32::MAX);
            self.omitted.diff_lines = self.omitted.diff_lines.saturating_add(cut);
            diff.lines = kept;
            self.diffs.push(diff);
        }
    }
}
