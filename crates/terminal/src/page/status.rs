//! Status of the active run, as text and as a row.

use std::time::Duration;

use millpond_engine::view::{Page, Status};

use super::item::RenderOptions;
use crate::row::Row;
use crate::style::Style;
use crate::text::neutralise_to_one_line;

/// Returns what the run is doing; empty if no run is active.
pub fn status_text(page: &Page) -> String {
    let thinks_aloud = matches!(page.status, Status::Thinking { text: Some(_) });
    match &page.overlay {
        _ if page.ended.is_some() => String::new(),
        Some(overlay) if page.asks.is_empty() && !thinks_aloud => {
            overlay.label.clone().into_owned()
        }
        _ => page.status.label().into_owned(),
    }
}

/// Renders the status with the elapsed time; `None` while the reply itself is being written.
pub(crate) fn run_status_row_unless_writing(
    page: &Page,
    elapsed: Duration,
    options: RenderOptions,
) -> Option<Row> {
    let words = status_text(page);
    if words.is_empty() || matches!(page.status, Status::Writing) {
        return None;
    }
    let elapsed = match elapsed.as_secs() {
        0 => String::new(),
        seconds => format!(" · {seconds} s"),
    };
    let row = Row::from_text(&format!("… {}{elapsed}", neutralise_to_one_line(&words)), Style::DIM);
    Some(row.clip_to_width(options.size.width()))
}
