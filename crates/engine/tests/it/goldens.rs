//! The frames of every stream in `fixtures/`, in every view, are those of the file beside it whose
//! extension names the view; `.patches` has the patches of all views and the resulting pages, which
//! the web client is tested against as well; `.snapshots` has snapshots in both versions of the
//! protocol. `UPDATE=1` writes them.

use millpond_engine::view::ViewName;
use millpond_engine::wire::{ContentMode, ProtocolVersion, StreamKind};

use crate::fixtures::{check_golden, fixture_streams};
use crate::support::{fixtures_dir, ingest_whole};
use crate::views::{encode_records, new_encoder, patch_stream_kind, to_records};

/// Native frames of a view, one per line, in delta mode.
pub(crate) fn golden_lines(view: ViewName, stream: &[u8]) -> String {
    let kind = StreamKind { content: ContentMode::Delta, ..StreamKind::new(view) };
    let (sent, _) = encode_records(kind, &to_records(&ingest_whole(stream)));
    let mut lines = String::new();
    for frame in sent {
        lines.extend([&frame.event, " ", &frame.data, "\n"]);
    }
    lines
}

#[test]
fn every_fixture_gives_its_frames_in_every_view() {
    for stream in fixture_streams() {
        let bytes = std::fs::read(&stream).unwrap();
        for view in ViewName::ALL {
            check_golden(&stream, view.as_str(), &golden_lines(view, &bytes));
        }
    }
}

/// Each patch of each view after the view's name, and the resulting page after `=`.
fn patch_lines(stream: &[u8]) -> String {
    let records = to_records(&ingest_whole(stream));
    let mut lines = String::new();
    for view in ViewName::ALL {
        let (sent, page) = encode_records(patch_stream_kind(view), &records);
        for frame in sent {
            lines.extend([view.as_str(), " ", &frame.data, "\n"]);
        }
        lines.extend([view.as_str(), " = ", &serde_json::to_string(&page).unwrap(), "\n"]);
    }
    lines
}

#[test]
fn every_fixture_gives_its_patches_and_pages() {
    for stream in fixture_streams() {
        let bytes = std::fs::read(&stream).unwrap();
        check_golden(&stream, "patches", &patch_lines(&bytes));
    }
}

/// Snapshots of every view in the middle of a run and after it, in both versions of the protocol.
fn snapshot_lines(stream: &[u8]) -> String {
    let records = to_records(&ingest_whole(stream));
    let (begun, rest) = records.split_at(records.len() / 2);
    let mut lines = String::new();
    for view in ViewName::ALL {
        let mut encoder = new_encoder(patch_stream_kind(view));
        for part in [begun, rest] {
            for record in part {
                encoder.push(record, &mut |_| {});
            }
            let next = part.last().unwrap().seq + 1;
            for version in [ProtocolVersion::V1, ProtocolVersion::V2] {
                encoder.emit_snapshot(next, version, &mut |frame| {
                    let id = frame.id.to_string();
                    lines.extend([&id, " ", frame.event, " ", frame.data, "\n"]);
                });
            }
        }
    }
    lines
}

#[test]
fn x9_a_snapshot_has_the_fields_of_the_version_that_was_asked_for() {
    let stream = fixtures_dir().join("anthropic/two-messages.sse");
    check_golden(&stream, "snapshots", &snapshot_lines(&std::fs::read(&stream).unwrap()));
}
