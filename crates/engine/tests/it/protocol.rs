//! `docs/PROTOCOL.md` matches the code.

use std::collections::BTreeSet;
use std::path::Path;

use millpond_engine::view::{Page, ViewName};
use millpond_engine::wire::{Cursor, Encoder, Frame, ProtocolVersion};

use crate::fixtures::fixture_streams;
use crate::goldens::golden_lines;
use crate::support::{fixtures_dir, ingest_whole};
use crate::views::{apply_patch_frame, encode_records, new_encoder, patch_stream_kind, to_records};

/// Reads `docs/PROTOCOL.md`.
fn read_protocol_doc() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/PROTOCOL.md");
    std::fs::read_to_string(path).unwrap()
}

/// The examples after comments of this kind: stream, view and lines.
fn examples<'p>(page: &'p str, kind: &str) -> Vec<(&'p str, &'p str, Vec<&'p str>)> {
    let parts = page.split(kind).skip(1);
    let examples = parts.map(|part| {
        let (what, rest) = part.split_once(" -->").unwrap();
        let (_, block) = rest.split_once("```\n").unwrap();
        let (block, _) = block.split_once("\n```").unwrap();
        let (stream, view) = what.trim().split_once(' ').unwrap();
        (stream, view, block.lines().collect())
    });
    examples.collect()
}

/// Returns true if these lines are consecutive in the text.
fn contains_lines(text: &str, lines: &[&str]) -> bool {
    let all: Vec<&str> = text.lines().collect();
    all.windows(lines.len()).any(|window| window == lines)
}

#[test]
fn every_example_of_frames_is_in_its_golden_file() {
    let page = read_protocol_doc();
    let examples = examples(&page, "<!-- golden:");
    assert!(7 <= examples.len());
    for (stream, view, lines) in examples {
        let golden = fixtures_dir().join(format!("{stream}.{view}"));
        let text = std::fs::read_to_string(&golden).unwrap();
        assert!(contains_lines(&text, &lines), "{stream} {view} does not say {lines:#?}");
    }
}

#[test]
fn every_example_of_patches_is_what_the_code_sends() {
    let page = read_protocol_doc();
    let examples = examples(&page, "<!-- patches:");
    assert!(!examples.is_empty());
    for (stream, view, lines) in examples {
        let bytes = std::fs::read(fixtures_dir().join(stream)).unwrap();
        let view: ViewName = view.parse().unwrap();
        let (sent, _) = encode_records(patch_stream_kind(view), &to_records(&ingest_whole(&bytes)));
        let text: String = sent.into_iter().map(|frame| frame.data + "\n").collect();
        assert!(contains_lines(&text, &lines), "{stream} does not say {lines:#?} but\n{text}");
    }
}

/// Words in back-ticks in the first cells of a section's tables.
fn backticked_names(section: &str) -> BTreeSet<&str> {
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.trim_start_matches("| ").split(" | ").next());
    cells.flat_map(|cell| cell.split(", ")).map(|name| name.trim().trim_matches('`')).collect()
}

fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    rest.split("\n## ").next().unwrap()
}

#[test]
fn every_frame_there_is_has_a_row_and_every_row_a_frame() {
    let page = read_protocol_doc();
    let common = backticked_names(section(&page, "Frames of every view"));
    let endings = ["completed", "failed", "cancelled", "truncated", "stalled", "interrupted"];
    for view in ViewName::ALL {
        let own = backticked_names(section(&page, &format!("`{}`", view.as_str())));
        let mut seen = BTreeSet::new();
        for stream in fixture_streams() {
            let frames = golden_lines(view, &std::fs::read(&stream).unwrap());
            for line in frames.lines() {
                let name = line.split(' ').next().unwrap();
                let known = own.contains(name) || common.contains(name) || endings.contains(&name);
                let sentence_end =
                    view == ViewName::Sentences && ["finish", "error"].contains(&name);
                assert!(known || sentence_end, "{} sends {name}, which has no row", view.as_str());
                seen.insert(name.to_owned());
            }
        }
        for name in own {
            assert!(seen.contains(name), "{} never sends {name}", view.as_str());
        }
    }
}

#[test]
fn x6_appends_in_a_row_are_one_frame_and_nothing_else_is() {
    let mut in_all = 0;
    for stream in fixture_streams() {
        let records = to_records(&ingest_whole(&std::fs::read(&stream).unwrap()));
        for view in ViewName::ALL {
            let (alone, page) = encode_records(patch_stream_kind(view), &records);
            let mut encoder = new_encoder(patch_stream_kind(view)).with_merging();
            let mut merged: Vec<String> = Vec::new();
            let mut ids = Vec::new();
            let mut keep = |frame: Frame<'_>| {
                merged.push(frame.data.to_owned());
                ids.push(frame.id.to_string());
            };
            for record in &records {
                encoder.push(record, &mut keep);
            }
            encoder.flush(&mut keep);
            let name = stream.display();
            assert_eq!(
                encoder.merged_append_count(),
                (alone.len() - merged.len()) as u64,
                "{view:?} {name}"
            );
            in_all += encoder.merged_append_count();
            let mut left = alone.iter().map(|frame| &frame.id);
            assert!(ids.iter().all(|id| left.any(|of| of == id)), "{view:?} {name}");
            assert_eq!(left.next(), None, "{view:?} {name}: it ends where the last one does");
            for two in merged.windows(2) {
                let grows = two[0].starts_with('"') || two[0].starts_with("{\"next\"");
                assert!(!(grows && two[1].starts_with('"')), "{view:?} {name}: {two:?}");
            }
            let mut shown = Page::default();
            for data in &merged {
                apply_patch_frame(&mut shown, data);
            }
            assert!(shown == page, "{view:?} {name}");
        }
    }
    assert!(0 < in_all);
}

#[test]
fn x6_a_reader_goes_on_after_any_frame_and_a_new_one_gets_the_page() {
    for stream in ["anthropic/two-messages.sse", "claude-code/partial-messages.jsonl"] {
        let records =
            to_records(&ingest_whole(&std::fs::read(fixtures_dir().join(stream)).unwrap()));
        for view in ViewName::ALL {
            let (sent, page) = encode_records(patch_stream_kind(view), &records);
            for (at, frame) in sent.iter().enumerate() {
                let cursor: Cursor = frame.id.parse().unwrap();
                let mut shown = Page::default();
                for frame in &sent[..=at] {
                    apply_patch_frame(&mut shown, &frame.data);
                }
                let mut encoder = new_encoder(patch_stream_kind(view)).with_merging();
                let mut rest = Vec::new();
                let mut keep = |frame: Frame<'_>| {
                    rest.push(frame.id.to_string());
                    apply_patch_frame(&mut shown, frame.data);
                };
                for record in &records {
                    encoder.push_after_cursor(record, &cursor, &mut keep);
                }
                encoder.flush(&mut keep);
                let mut after = sent[at + 1..].iter().map(|frame| &frame.id);
                assert!(rest.iter().all(|id| after.any(|later| later == id)), "{view:?} {stream}");
                assert_eq!(after.next(), None, "{view:?} {stream}: ends where the last one does");
                assert!(shown == page, "{view:?} {stream} from frame {at}");
            }
            let mut encoder = new_encoder(patch_stream_kind(view));
            let whole = |encoder: &Encoder, next| {
                let mut told = Vec::new();
                encoder.emit_snapshot(next, ProtocolVersion::V2, &mut |frame| {
                    assert_eq!(
                        (frame.event, frame.id.seq, frame.id.frames_sent),
                        ("snapshot", next, 0)
                    );
                    told.push(serde_json::from_str::<serde_json::Value>(frame.data).unwrap());
                });
                assert_eq!(told.len(), 1);
                told.remove(0)
            };
            assert!(whole(&encoder, 0)["run"].is_null(), "nothing has begun");
            let (first, last) = records.split_at(records.len() / 2);
            for record in first {
                encoder.push(record, &mut |_| {});
            }
            assert_eq!(whole(&encoder, 5)["run"], "r1", "it is going");
            for record in last {
                encoder.push(record, &mut |_| {});
            }
            let told = whole(&encoder, 9);
            assert!(told["run"].is_null(), "it has ended");
            assert_eq!(serde_json::from_value::<Page>(told["page"].clone()).unwrap(), page);
        }
    }
}

#[test]
fn only_the_view_with_overlays_has_any_that_come_too_late() {
    let late = |view| -> u64 {
        let each = fixture_streams().into_iter().map(|stream| {
            let mut encoder = new_encoder(patch_stream_kind(view));
            for record in &to_records(&ingest_whole(&std::fs::read(stream).unwrap())) {
                encoder.push(record, &mut |_| {});
            }
            encoder.suppressed_overlay_count()
        });
        each.sum()
    };
    assert!(1 < late(ViewName::Steps));
    assert_eq!(late(ViewName::Latest), 0);
}
