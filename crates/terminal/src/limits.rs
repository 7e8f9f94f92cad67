//! Shared limits of this crate.

use std::time::Duration;

use crate::size::Size;

/// Shortest time between two frames.
pub const FRAME_INTERVAL: Duration = Duration::from_millis(33);

/// Time without a resize after which the size counts as stable. The terminal may reflow its text
/// before it reports the new size, and the user may still be dragging.
pub const RESIZE_SETTLE_TIME: Duration = Duration::from_millis(300);

/// How often elapsed times are redrawn.
pub const TICK_INTERVAL: Duration = Duration::from_secs(1);

/// Input events that wait for the event loop; further ones wait in the terminal.
pub const INPUT_EVENTS_QUEUED_MAX: usize = 1_024;

/// Results of background calls that wait for the event loop.
pub const RESULTS_QUEUED_MAX: usize = 256;

/// Messages that wait to be sent; further ones stay in the input.
pub const OUTBOX_MESSAGES_MAX: usize = 64;

/// Messages that wait to be appended to the history file.
pub const HISTORY_ENTRIES_QUEUED_MAX: usize = 64;

/// A longer code line is not highlighted.
pub const HIGHLIGHT_LINE_BYTES_MAX: usize = 2_000;

/// Lines of one code block that are highlighted.
pub const HIGHLIGHT_LINES_MAX: usize = 10_000;

/// Further columns of a table become text of the last one.
pub const TABLE_COLUMNS_MAX: usize = 32;

/// Longest character entity (`&hellip;`) that is decoded.
pub const ENTITY_BYTES_MAX: usize = 12;

/// Longest address of a hyperlink.
pub const URL_BYTES_MAX: usize = 2_048;

/// Screen rows always left to settled rows.
pub const SETTLED_ROWS_MIN: u16 = 2;

/// Returns the most rows that the live region may take.
pub fn live_rows_max(size: Size) -> usize {
    usize::from(size.rows.saturating_sub(SETTLED_ROWS_MIN)).max(1)
}

/// Lower bound of `held_bytes_max`, for the smallest screens.
pub const HELD_BYTES_MIN: usize = 32;

/// Returns the most bytes of one construct that are held until it is decided; longer ones become
/// literal text. A byte takes at most one column. Half of the live region is kept for ragged rows
/// and nested constructs.
pub fn held_bytes_max(size: Size) -> usize {
    (live_rows_max(size) / 2 * usize::from(size.cols)).max(HELD_BYTES_MIN)
}
