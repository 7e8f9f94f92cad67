//! The status line of the page: none from a round's first text until the next round, because the
//! page itself shows what happens.

use crate::view::patch::{Patch, Status};

/// Presence of a status line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StatusLine {
    #[default]
    Shown,
    /// The round has text; the page has no status line.
    Hidden,
    /// The round has text; the status line shows what no item does.
    ShownBesideText,
}

impl StatusLine {
    /// Replaces a status that would stand beside the round's text; `None` if the page has no status
    /// line already.
    pub(super) fn replace_status_beside_text<'r>(&mut self, patch: Patch<'r>) -> Option<Patch<'r>> {
        let Patch::Status(status) = &patch else { return Some(patch) };
        match (status, *self) {
            (Status::Idle | Status::Queued | Status::Started | Status::Streaming { .. }, _) => {
                *self = StatusLine::Shown;
                Some(patch)
            }
            // Asked for by the reader, or a request to the reader.
            (Status::Waiting | Status::Thinking { text: Some(_) }, line) => {
                if line == StatusLine::Hidden {
                    *self = StatusLine::ShownBesideText;
                }
                Some(patch)
            }
            (Status::Writing, StatusLine::Shown) | (_, StatusLine::ShownBesideText) => {
                *self = StatusLine::Hidden;
                Some(Patch::Status(Status::Inline))
            }
            (_, StatusLine::Hidden) => None,
            (
                Status::Thinking { text: None }
                | Status::Working { .. }
                | Status::Resumed { .. }
                | Status::Inline,
                StatusLine::Shown,
            ) => Some(patch),
        }
    }
}
