//! The `snapshot` frame: the whole page, for a reader that has none.

use crate::view::{Page, Status};

use super::json::ObjectWriter;

/// Version of the protocol that a reader asks for. Only the `snapshot` frame differs, so readers of
/// all versions share one encoding of the other frames, and cursors are valid in all versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProtocolVersion {
    /// `{"run", "picture"}`: the page under its old name, until 1.0.
    #[default]
    V1,
    /// `{"run", "page", "protocol": 2}`.
    V2,
}

/// Writes the payload of a `snapshot` frame, replacing the content of `out`. `run` is the JSON
/// string of the last run, or empty.
pub(super) fn overwrite_with_snapshot_payload(
    page: &Page,
    run: &str,
    version: ProtocolVersion,
    out: &mut String,
) {
    let is_active = page.status != Status::Idle && !run.is_empty();
    let frame =
        ObjectWriter::begin_cleared(out).add_raw_json("run", if is_active { run } else { "null" });
    match version {
        ProtocolVersion::V1 => frame.add_serialized("picture", page).finish(),
        ProtocolVersion::V2 => {
            frame.add_serialized("page", page).add_number("protocol", 2).finish()
        }
    };
}
