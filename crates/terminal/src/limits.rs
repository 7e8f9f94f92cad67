//! Every bound of this crate, with its unit.

use std::time::Duration;

use crate::size::Size;

/// Frames come no closer than this.
pub const FRAME_EVERY: Duration = Duration::from_millis(33);

/// A window that changes its size is let come to rest so long before anything is drawn again: it
/// may have wrapped everything anew before it says how large it is, and be dragged further.
pub const REST_AFTER_RESIZE: Duration = Duration::from_millis(300);

/// What counts seconds is drawn again so often.
pub const TICK_EVERY: Duration = Duration::from_secs(1);

/// A code line longer than this is shown without colours: finding them costs too much.
pub const HIGHLIGHT_LINE_BYTES_MAX: usize = 2_000;

/// After so many lines of one block, code is shown without colours.
pub const HIGHLIGHT_LINES_MAX: usize = 10_000;

/// Containers (quotes, list items) deeper than this are text.
pub const NESTING_MAX: usize = 12;

/// Columns of a table beyond these are text of the last one.
pub const TABLE_COLUMNS_MAX: usize = 32;

/// Longest entity (`&CounterClockwise...;`) that is looked for.
pub const ENTITY_BYTES_MAX: usize = 12;

/// Longest address of a link.
pub const URL_BYTES_MAX: usize = 2_048;

/// Rows of the screen that the live region leaves to what is settled.
pub const ROWS_LEFT: u16 = 2;

/// Rows that may be live.
pub fn live_rows_max(size: Size) -> usize {
    usize::from(size.rows.saturating_sub(ROWS_LEFT)).max(1)
}

/// On the smallest screens this much of a construct is still held.
pub const HELD_BYTES_MIN: usize = 32;

/// Bytes of one construct that may be held back until it is decided: what is longer freezes as it
/// was written. A byte takes at most one column; half of the live region is left for rows that
/// words do not fill, and for what is held inside what is held.
pub fn held_bytes_max(size: Size) -> usize {
    (live_rows_max(size) / 2 * usize::from(size.cols)).max(HELD_BYTES_MIN)
}
