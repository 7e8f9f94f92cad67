//! Properties of every view, over every available stream.

mod recut;

use std::path::Path;

use millpond_engine::event::{Event, Record, StopReason};
use millpond_engine::view::{Item, ItemKey, ItemKind, ItemState, Page, Thinking, ViewName};
use millpond_engine::wire::{
    ContentMode, Cursor, Encoder, FrameFormat, ProtocolVersion, StreamKind, patch,
};

use crate::corpus::corpus_streams;
use crate::fixtures::fixture_streams;
use crate::support::{RecordedEvents, ingest_whole};
use crate::texts::find_corpus;

use recut::{join_texts, recut_texts};

/// A frame that was sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SentFrame {
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) data: String,
}

impl SentFrame {
    /// The parsed payload.
    pub(crate) fn data_json(&self) -> serde_json::Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

/// Numbers the events as records of one run.
pub(crate) fn to_records(kept: &RecordedEvents) -> Vec<Record<'static>> {
    let numbered = kept.0.iter().enumerate();
    let records = numbered.map(|(seq, (at_ms, event))| Record {
        seq: seq as u64,
        at_ms: *at_ms,
        run: "r1".into(),
        event: event.clone(),
    });
    records.collect()
}

/// An encoder for a test session.
pub(crate) fn new_encoder(kind: StreamKind) -> Encoder {
    Encoder::new(kind, "session")
}

/// Encodes the records; returns the frames and the page.
pub(crate) fn encode_records(kind: StreamKind, records: &[Record<'_>]) -> (Vec<SentFrame>, Page) {
    let mut encoder = new_encoder(kind);
    let mut sent = Vec::new();
    for record in records {
        encoder.push(record, &mut |frame| {
            sent.push(SentFrame {
                id: frame.id.to_string(),
                event: frame.event.to_owned(),
                data: frame.data.to_owned(),
            });
        });
    }
    (sent, encoder.page().clone())
}

/// The page after the records.
pub(crate) fn final_page(view: ViewName, records: &[Record<'_>]) -> Page {
    encode_records(StreamKind::new(view), records).1
}

/// Stream kind of a view's patch frames.
pub(crate) fn patch_stream_kind(view: ViewName) -> StreamKind {
    StreamKind { format: FrameFormat::Patch, ..StreamKind::new(view) }
}

/// All stream kinds of a view.
fn all_kinds(view: ViewName) -> Vec<StreamKind> {
    let mut kinds = Vec::new();
    for format in [FrameFormat::Native, FrameFormat::Patch] {
        for content in [ContentMode::Accumulated, ContentMode::Delta] {
            for thinking in
                [Thinking::ViewDefault, Thinking::Hide, Thinking::Latest, Thinking::Show]
            {
                kinds.push(StreamKind { view, format, content, thinking });
            }
        }
    }
    kinds
}

/// Calls `check` with every stream of the project, and of the corpus if it is available.
pub(crate) fn for_each_log(check: impl Fn(&str, &[Record<'_>])) {
    let mut files = fixture_streams();
    files.extend(find_corpus().iter().flat_map(|corpus| corpus_streams(corpus)));
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        check(&display_name(&file), &to_records(&ingest_whole(&bytes)));
    }
}

fn display_name(path: &Path) -> String {
    path.display().to_string()
}

/// Positions to check in a log of `len` records: all of a short one.
pub(crate) fn sample_positions(len: usize) -> impl Iterator<Item = usize> {
    const LOOKED_AT_MAX: usize = 60;
    (0..len).step_by(len.div_ceil(LOOKED_AT_MAX).max(1))
}

#[test]
fn x7_every_run_has_exactly_one_ending_and_it_is_the_last_frame() {
    const NAMES: [&str; 12] = [
        "completed",
        "failed",
        "cancelled",
        "truncated",
        "stalled",
        "interrupted",
        "final",
        "error",
        "aborted",
        "finish",
        "error",
        "error",
    ];
    for_each_log(|name, records| {
        for view in ViewName::ALL {
            let (sent, picture) = encode_records(StreamKind::new(view), records);
            let endings = sent.iter().filter(|frame| NAMES.contains(&frame.event.as_str()));
            assert_eq!(endings.count(), 1, "{name} {view:?}");
            assert!(NAMES.contains(&sent.last().unwrap().event.as_str()), "{name} {view:?}");
            let ended = picture.ended.as_ref().unwrap();
            let waits = ended.stop.is_some_and(StopReason::can_leave_asks_open);
            assert!(waits || picture.asks.is_empty(), "{name} {view:?}");
            assert!(picture.overlay.is_none(), "{name} {view:?}");
            let is_asked = |item: &Item<'_>| picture.asks.iter().any(|ask| ask.id == item.id);
            let mut items = picture.items.values();
            let may_change = |state| matches!(state, ItemState::Live | ItemState::Pending);
            let live = items.any(|item| {
                (may_change(item.state) && !is_asked(item))
                    || item.steps.iter().any(|step| may_change(step.state))
            });
            assert!(!live, "{name} {view:?}: something is live after the end");
        }
    });
}

#[test]
fn x9_resume_at_every_frame_equals_never_stopping() {
    for_each_log(|name, records| {
        for view in ViewName::ALL {
            for kind in [StreamKind::new(view), patch_stream_kind(view)] {
                let (sent, _) = encode_records(kind, records);
                for at in sample_positions(sent.len()) {
                    let cursor: Cursor = sent[at].id.parse().unwrap();
                    assert_eq!(cursor.to_string(), sent[at].id);
                    let mut resumed = Vec::new();
                    let mut encoder = new_encoder(kind);
                    for record in records {
                        encoder.push_after_cursor(record, &cursor, &mut |frame| {
                            resumed.push((frame.id.to_string(), frame.data.to_owned()));
                        });
                    }
                    let rest = sent[at + 1..].iter();
                    let rest: Vec<_> =
                        rest.map(|frame| (frame.id.clone(), frame.data.clone())).collect();
                    assert!(resumed == rest, "{name} {kind:?} from frame {at}");
                }
            }
        }
    });
}

#[test]
fn x9_a_snapshot_at_every_record_and_the_rest_make_the_whole_page() {
    for_each_log(|name, records| {
        for view in ViewName::ALL {
            let (_, whole) = encode_records(patch_stream_kind(view), records);
            let looked_at: Vec<usize> = sample_positions(records.len()).collect();
            let mut encoder = new_encoder(patch_stream_kind(view));
            for (at, record) in records.iter().enumerate() {
                encoder.push(record, &mut |_| {});
                if !looked_at.contains(&at) {
                    continue;
                }
                let mut page = None;
                encoder.emit_snapshot(record.seq + 1, ProtocolVersion::V2, &mut |frame| {
                    let data: serde_json::Value = serde_json::from_str(frame.data).unwrap();
                    let is_going = encoder.page().ended.is_none();
                    assert_eq!(data["run"], serde_json::json!(is_going.then_some("r1")));
                    page = Some(serde_json::from_value::<Page>(data["page"].clone()).unwrap());
                });
                let mut page = page.unwrap();
                assert_eq!(page, *encoder.page(), "{name} {view:?} at {at}");
                let mut rest = encoder.clone();
                for record in &records[at + 1..] {
                    rest.push(record, &mut |frame| apply_patch_frame(&mut page, frame.data));
                }
                assert!(page == whole, "{name} {view:?} from {at}");
            }
        }
    });
}

/// Decodes a patch frame and applies it, as a client does.
pub(crate) fn apply_patch_frame(page: &mut Page, data: &str) {
    let patch = patch::decode(data, page).unwrap_or_else(|no| panic!("{data}: {}", no.problem));
    page.apply(&patch);
}

#[test]
fn a_patch_read_back_is_the_patch_that_was_written() {
    for_each_log(|name, records| {
        for view in ViewName::ALL {
            let (sent, whole) = encode_records(patch_stream_kind(view), records);
            let mut page = Page::default();
            let mut decoder = patch::PatchDecoder::after_page(&page);
            let mut encoder = patch::PatchEncoder::after_page(&page);
            for frame in &sent {
                // The decoder that keeps no page agrees with the one that has it.
                let patch = decoder.decode(&frame.data).unwrap();
                assert_eq!(patch, patch::decode(&frame.data, &page).unwrap(), "{name} {view:?}");
                let mut again = String::new();
                encoder.encode_next_into_cleared(&patch.into_owned(), &mut again);
                assert_eq!(again, frame.data, "{name} {view:?}");
                apply_patch_frame(&mut page, &frame.data);
            }
            assert!(page == whole, "{name} {view:?}");
        }
    });
}

#[test]
fn x1_how_the_text_was_cut_does_not_show_in_any_page() {
    for_each_log(|name, records| {
        let characters = recut_texts(records, |text| text.chars().map(String::from).collect());
        let whole = join_texts(records);
        for view in ViewName::ALL {
            for thinking in [Thinking::ViewDefault, Thinking::Show] {
                let kind = StreamKind { thinking, ..patch_stream_kind(view) };
                let page = encode_records(kind, records).1;
                assert!(encode_records(kind, &characters).1 == page, "{name} {view:?} cut small");
                assert!(encode_records(kind, &whole).1 == page, "{name} {view:?} joined");
            }
        }
    });
}

#[test]
fn x6_merged_frames_say_the_same_and_end_where_the_last_of_them_did() {
    for_each_log(|name, records| {
        for view in ViewName::ALL {
            for kind in all_kinds(view) {
                let (sent, whole) = encode_records(kind, records);
                let mut encoder = new_encoder(kind).with_merging();
                let mut merged = Vec::new();
                let mut keep = |frame: millpond_engine::wire::Frame<'_>| {
                    merged.push((frame.id.to_string(), frame.data.to_owned()));
                };
                for (at, record) in records.iter().enumerate() {
                    encoder.push(record, &mut keep);
                    if at % 5 == 0 {
                        encoder.flush(&mut keep);
                    }
                }
                encoder.flush(&mut keep);
                assert!(*encoder.page() == whole, "{name} {kind:?}");
                assert!(merged.len() <= sent.len());
                assert_eq!(merged.last().unwrap().0, sent.last().unwrap().id, "{name} {kind:?}");
                if kind.format == FrameFormat::Patch {
                    let mut page = Page::default();
                    for (_, data) in &merged {
                        apply_patch_frame(&mut page, data);
                    }
                    assert!(page == whole, "{name} {kind:?}");
                }
                // Every merged frame is at a place where an unmerged one is.
                let ids: std::collections::BTreeSet<_> = sent.iter().map(|one| &one.id).collect();
                assert!(merged.iter().all(|(id, _)| ids.contains(id)), "{name} {kind:?}");
            }
        }
    });
}

#[test]
fn x7_what_comes_after_the_end_changes_nothing() {
    for_each_log(|name, records| {
        for view in ViewName::ALL {
            let mut encoder = new_encoder(patch_stream_kind(view));
            for record in records {
                encoder.push(record, &mut |_| {});
            }
            let page = encoder.page().clone();
            for record in
                records.iter().filter(|one| !matches!(one.event, Event::RunStarted { .. }))
            {
                encoder.push(record, &mut |frame| panic!("{name} {view:?}: {frame:?}"));
            }
            assert!(*encoder.page() == page);
        }
    });
}

/// Number of the message in an item's id, such as `m3` or `m3.1`.
fn message_number(id: &str) -> u32 {
    let number = id.trim_start_matches('m').split('.').next();
    number.and_then(|number| number.parse().ok()).unwrap_or(u32::MAX)
}

#[test]
fn x4_every_visible_character_is_on_the_page_once() {
    for_each_log(|name, records| {
        let kept = RecordedEvents(
            records.iter().map(|one| (one.at_ms, one.event.clone().into_owned())).collect(),
        );
        for view in [ViewName::Steps, ViewName::Bubbles, ViewName::Transcript, ViewName::Sentences]
        {
            let page = final_page(view, records);
            // What was printed for good stays, and is said not to count.
            let withdrawals = page.items.values().filter(|item| item.kind == ItemKind::Withdrawal);
            let gone: Vec<ItemKey> = withdrawals
                .flat_map(|item| serde_json::from_str::<Vec<ItemKey>>(&item.text).unwrap())
                .collect();
            let texts = page
                .items
                .iter()
                .filter(|(key, item)| item.kind == ItemKind::Text && !gone.contains(key));
            let mut texts: Vec<&Item<'_>> = texts.map(|(_, item)| item).collect();
            // Parts of messages that are open side by side may stand between one another.
            texts.sort_by_key(|item| message_number(&item.id));
            let shown: String = texts.iter().map(|item| &*item.text).collect();
            assert_eq!(shown, kept.visible_text(), "{name} {view:?}");
        }
    });
}

#[test]
fn l4_the_ending_of_every_view_carries_the_final_message() {
    for_each_log(|name, records| {
        let Some(Event::RunEnded { ending }) = records.last().map(|one| &one.event) else {
            panic!()
        };
        let mut reply = String::new();
        for record in records {
            match &record.event {
                Event::TextAppended { message, text } if Some(*message) == ending.message => {
                    reply.push_str(text);
                }
                Event::TextRewritten { message, kept_bytes, text }
                    if Some(*message) == ending.message =>
                {
                    reply.truncate(*kept_bytes);
                    reply.push_str(text);
                }
                _ => {}
            }
        }
        for view in ViewName::ALL {
            let (sent, _) = encode_records(StreamKind::new(view), records);
            let last = sent.last().unwrap().data_json();
            assert_eq!(last["content"], *reply, "{name} {view:?}");
            assert_eq!(last["incomplete"], ending.incomplete, "{name} {view:?}");
            assert_eq!(last["run"], "r1");
            assert_eq!(last["outcome"], serde_json::to_value(ending.outcome).unwrap());
        }
    });
}

#[test]
fn every_own_frame_carries_its_run() {
    for_each_log(|name, records| {
        for view in ViewName::ALL {
            for frame in encode_records(StreamKind::new(view), records).0 {
                assert_eq!(frame.data_json()["run"], "r1", "{name} {view:?} {frame:?}");
            }
        }
    });
}
