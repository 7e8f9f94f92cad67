//! What is going on, in words and as a row.

use std::time::Duration;

use engine::view::{Picture, Status};

use super::item::Look;
use crate::row::Row;
use crate::style::Style;
use crate::text::one_line;

/// Empty when nothing is going on.
pub fn doing_words(picture: &Picture) -> String {
    let thinks_aloud = matches!(picture.status, Status::Thinking { text: Some(_) });
    match &picture.overlay {
        _ if picture.ended.is_some() => String::new(),
        Some(overlay) if picture.asks.is_empty() && !thinks_aloud => {
            overlay.label.clone().into_owned()
        }
        _ => picture.status.words().into_owned(),
    }
}

/// Nothing while a reply is being written, for that can be seen.
pub(crate) fn status_row(picture: &Picture, elapsed: Duration, look: Look) -> Option<Row> {
    let words = doing_words(picture);
    if words.is_empty() || matches!(picture.status, Status::Writing) {
        return None;
    }
    let elapsed = match elapsed.as_secs() {
        0 => String::new(),
        seconds => format!(" · {seconds} s"),
    };
    let row = Row::line(&format!("… {}{elapsed}", one_line(&words)), Style::DIM);
    Some(row.clipped(look.size.width()))
}
