//! The frames of every stream in `fixtures/`, in every view, are those of the file beside it whose
//! extension names the view. `UPDATE=1` writes them.

use engine::view::ViewName;
use engine::wire::{Content, Kind};

use crate::fixtures::{check_golden, streams};
use crate::support::ingest_whole;
use crate::views::{frames, records};

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
