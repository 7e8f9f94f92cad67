//! Every stream in `fixtures/`: its events are those of its `.events` file for every chunking, and
//! every prefix of it ends exactly once.

use std::path::{Path, PathBuf};

use millpond_engine::event::Event;
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;

use crate::cuts::check_cuts;
use crate::rules::check_well_formed;
use crate::support::{RecordedEvents, files_below, fixtures_dir, ingest, ingest_whole};

/// All streams in `fixtures/`.
pub(crate) fn fixture_streams() -> Vec<PathBuf> {
    let mut files = files_below(&fixtures_dir());
    files.retain(|path| {
        let extension = path.extension().and_then(|name| name.to_str()).unwrap_or("");
        matches!(extension, "sse" | "jsonl" | "json" | "txt")
    });
    assert!(!files.is_empty(), "no fixtures in {}", fixtures_dir().display());
    files
}

/// Compares `lines` with the file beside the stream that has this extension; `UPDATE=1` writes it
/// instead.
pub(crate) fn check_golden(stream: &Path, extension: &str, lines: &str) {
    let golden = stream.with_extension(extension);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&golden, lines).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    assert!(
        lines == expected,
        "{} differs from its .{extension} (UPDATE=1 rewrites it); first difference:\n{}",
        stream.display(),
        first_difference(lines, &expected)
    );
}

/// The first line that differs.
fn first_difference(got: &str, expected: &str) -> String {
    let mut expected = expected.lines();
    for line in got.lines() {
        let other = expected.next();
        if other != Some(line) {
            return format!("got      {line}\nexpected {}", other.unwrap_or("nothing"));
        }
    }
    format!("got      nothing\nexpected {}", expected.next().unwrap_or("nothing"))
}

#[test]
fn every_fixture_gives_its_events_and_is_recognised_as_its_folder_says() {
    for stream in fixture_streams() {
        let bytes = std::fs::read(&stream).unwrap();
        let kept = ingest_whole(&bytes);
        check_golden(&stream, "events", &kept.to_json_lines());
        check_well_formed(&kept, &stream.display().to_string());
        let folder = stream.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let chosen = match kept.events().next() {
            Some(Event::RunStarted { dialect, .. }) => dialect.to_string(),
            other => panic!("{} begins with {other:?}", stream.display()),
        };
        assert_eq!(chosen, folder, "{}", stream.display());
    }
}

/// Cut in two anywhere, a small stream is read from its start for every cut; the linear way of
/// `check_cuts`, which larger ones need, is thereby shown to say the same.
const READ_FOR_EVERY_CUT_BYTES_MAX: usize = 3 << 10;

#[test]
fn every_cut_of_every_fixture_gives_the_same_events() {
    for stream in fixture_streams() {
        let name = stream.display().to_string();
        let bytes = std::fs::read(&stream).unwrap();
        let whole = ingest_whole(&bytes);
        check_cuts(&name, &bytes, |_| true);
        if bytes.len() <= READ_FOR_EVERY_CUT_BYTES_MAX {
            for cut in 0..=bytes.len() {
                let (head, tail) = bytes.split_at(cut);
                let cut_up = ingest(&IngestOptions::default(), [head, tail]);
                assert!(cut_up.0 == whole.0, "{name} cut at {cut}");
            }
        }
        let byte_by_byte = ingest(&IngestOptions::default(), bytes.chunks(1));
        assert!(byte_by_byte.0 == whole.0, "{name} byte by byte");
    }
}

#[test]
fn every_beginning_of_every_fixture_ends_once_and_keeps_its_text() {
    for stream in fixture_streams() {
        let bytes = std::fs::read(&stream).unwrap();
        let mut state = Ingest::new(&IngestOptions::default());
        let mut so_far = RecordedEvents::default();
        for (at, byte) in bytes.chunks(1).enumerate() {
            let mut cut_off = state.clone();
            let mut rest = RecordedEvents::default();
            cut_off.finish(InputEnd::EndOfInput, None, &mut rest);
            // The last line may lack only its line break, and may take text back.
            let taken_back = rest.events().any(|event| {
                matches!(event, Event::TextRewritten { .. } | Event::Withdrawn { .. })
            });
            let mut all = so_far.clone();
            all.0.append(&mut rest.0);
            assert_eq!(all.ending_count(), 1, "{} ended after {at} bytes", stream.display());
            let (before, after) = (so_far.message_texts(), all.message_texts());
            let is_kept =
                before.iter().zip(&after).all(|(before, after)| after.starts_with(before));
            assert!(
                taken_back || is_kept,
                "{} ended after {at} bytes lost {before:?}, has {after:?}",
                stream.display()
            );
            state.push(byte, None, &mut so_far);
        }
    }
}
