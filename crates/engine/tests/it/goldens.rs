//! The frames of every stream in `fixtures/`, in every view, are those of the file beside it whose
//! extension names the view; the patches of all views and the pages they make are in `.patches`, which
//! the web client's reducer is held to as well. `UPDATE=1` writes them.

use engine::view::ViewName;
use engine::wire::{Content, Kind};

use crate::fixtures::{check_golden, streams};
use crate::support::ingest_whole;
use crate::views::{frames, patches, records};

/// A view's own frames, one a line, each text only once.
pub(crate) fn lines(view: ViewName, stream: &[u8]) -> String {
    let kind = Kind { content: Content::Delta, ..Kind::new(view) };
    let (sent, _) = frames(kind, &records(&ingest_whole(stream)));
    let mut lines = String::new();
    for frame in sent {
        lines.extend([&frame.event, " ", &frame.data, "\n"]);
    }
    lines
}

#[test]
fn every_fixture_gives_its_frames_in_every_view() {
    for stream in streams() {
        let bytes = std::fs::read(&stream).unwrap();
        for view in ViewName::ALL {
            check_golden(&stream, view.as_str(), &lines(view, &bytes));
        }
    }
}

/// Each patch of each view after its name, and after `=` the page that they make.
fn patch_lines(stream: &[u8]) -> String {
    let records = records(&ingest_whole(stream));
    let mut lines = String::new();
    for view in ViewName::ALL {
        let (sent, page) = frames(patches(view), &records);
        for frame in sent {
            lines.extend([view.as_str(), " ", &frame.data, "\n"]);
        }
        lines.extend([view.as_str(), " = ", &serde_json::to_string(&page).unwrap(), "\n"]);
    }
    lines
}

#[test]
fn every_fixture_gives_its_patches_and_pages() {
    for stream in streams() {
        let bytes = std::fs::read(&stream).unwrap();
        check_golden(&stream, "patches", &patch_lines(&bytes));
    }
}
