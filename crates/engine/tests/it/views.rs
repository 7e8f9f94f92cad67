//! What must hold in every view, over every stream there is.

use std::path::Path;

use engine::event::{Event, Record, Stop};
use engine::view::{Item, Key, Kind as ItemKind, Picture, State, Thinking, ViewName};
use engine::wire::{Content, Cursor, Encoder, Format, Kind, patch};

use crate::corpus::corpus;
use crate::fixtures::streams;
use crate::support::{Kept, ingest_whole};

/// A frame that has been sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) data: String,
}

impl Sent {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

pub(crate) fn records(kept: &Kept) -> Vec<Record<'static>> {
    let numbered = kept.0.iter().enumerate();
    let records = numbered.map(|(seq, (at_ms, event))| Record {
        seq: seq as u64,
        at_ms: *at_ms,
        run: "r1".into(),
        event: event.clone(),
    });
    records.collect()
}

pub(crate) fn encoder(kind: Kind) -> Encoder {
    Encoder::new(kind, "session", 0)
}

pub(crate) fn frames(kind: Kind, records: &[Record<'_>]) -> (Vec<Sent>, Picture) {
    let mut encoder = encoder(kind);
    let mut sent = Vec::new();
    for record in records {
        encoder.push(record, &mut |frame| {
            sent.push(Sent {
                id: frame.id.to_string(),
                event: frame.event.to_owned(),
                data: frame.data.to_owned(),
            });
        });
    }
    (sent, encoder.picture().clone())
}

pub(crate) fn picture(view: ViewName, records: &[Record<'_>]) -> Picture {
    frames(Kind::new(view), records).1
}

pub(crate) fn patches(view: ViewName) -> Kind {
    Kind { format: Format::Patch, ..Kind::new(view) }
}

/// All kinds of stream of a view.
fn kinds(view: ViewName) -> Vec<Kind> {
    let mut kinds = Vec::new();
    for format in [Format::Own, Format::Patch] {
        for content in [Content::Accumulated, Content::Delta] {
            for thinking in [Thinking::AsUsual, Thinking::Hide, Thinking::Latest, Thinking::Show] {
                kinds.push(Kind { view, format, content, thinking });
            }
        }
    }
    kinds
}

/// Every stream of the project, and the corpus where it is there.
fn each_log(test: &str, check: impl Fn(&str, &[Record<'_>])) {
    let mut files = streams();
    if let Some(corpus) = corpus(test) {
        files.extend(crate::corpus::streams(&corpus));
    }
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        check(&name(&file), &records(&ingest_whole(&bytes)));
    }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

/// Positions at which a log of so many records is looked at: all of a short one.
fn places(len: usize) -> impl Iterator<Item = usize> {
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
    each_log("x7_every_run_has_exactly_one_ending", |name, records| {
        for view in ViewName::ALL {
            let (sent, picture) = frames(Kind::new(view), records);
            let endings = sent.iter().filter(|frame| NAMES.contains(&frame.event.as_str()));
            assert_eq!(endings.count(), 1, "{name} {view:?}");
            assert!(NAMES.contains(&sent.last().unwrap().event.as_str()), "{name} {view:?}");
            let ended = picture.ended.as_ref().unwrap();
            let waits = ended.stop.is_some_and(Stop::leaves_asks_open);
            assert!(waits || picture.asks.is_empty(), "{name} {view:?}");
            assert!(picture.overlay.is_none(), "{name} {view:?}");
            let is_asked = |item: &Item<'_>| picture.asks.iter().any(|ask| ask.id == item.id);
            let mut items = picture.items.values();
            let live = items.any(|item| item.state == State::Live && !is_asked(item));
            assert!(!live, "{name} {view:?}: something is live after the end");
        }
    });
}

#[test]
fn x9_resume_at_every_frame_equals_never_stopping() {
    each_log("x9_resume_at_every_frame", |name, records| {
        for view in ViewName::ALL {
            for kind in [Kind::new(view), patches(view)] {
                let (sent, _) = frames(kind, records);
                for at in places(sent.len()) {
                    let cursor: Cursor = sent[at].id.parse().unwrap();
                    assert_eq!(cursor.to_string(), sent[at].id);
                    let mut resumed = Vec::new();
                    let mut encoder = encoder(kind);
                    for record in records {
                        encoder.catch_up(record, &cursor, &mut |frame| {
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
    each_log("x9_a_snapshot_at_every_record", |name, records| {
        for view in ViewName::ALL {
            let (_, whole) = frames(patches(view), records);
            let looked_at: Vec<usize> = places(records.len()).collect();
            let mut encoder = encoder(patches(view));
            for (at, record) in records.iter().enumerate() {
                encoder.push(record, &mut |_| {});
                if !looked_at.contains(&at) {
                    continue;
                }
                let mut page = None;
                encoder.snapshot(record.seq + 1, &mut |frame| {
                    let data: serde_json::Value = serde_json::from_str(frame.data).unwrap();
                    let is_going = encoder.picture().ended.is_none();
                    assert_eq!(data["run"], serde_json::json!(is_going.then_some("r1")));
                    page =
                        Some(serde_json::from_value::<Picture>(data["picture"].clone()).unwrap());
                });
                let mut page = page.unwrap();
                assert_eq!(page, *encoder.picture(), "{name} {view:?} at {at}");
                let mut rest = encoder.clone();
                for record in &records[at + 1..] {
                    rest.push(record, &mut |frame| apply(&mut page, frame.data));
                }
                assert!(page == whole, "{name} {view:?} from {at}");
            }
        }
    });
}

/// What a client does with a patch frame.
pub(crate) fn apply(page: &mut Picture, data: &str) {
    let patch = patch::decode(data, page).unwrap_or_else(|no| panic!("{data}: {}", no.problem));
    page.apply(&patch);
}

#[test]
fn a_patch_read_back_is_the_patch_that_was_written() {
    each_log("a_patch_read_back", |name, records| {
        for view in ViewName::ALL {
            let (sent, whole) = frames(patches(view), records);
            let mut page = Picture::default();
            for frame in &sent {
                apply(&mut page, &frame.data);
            }
            assert!(page == whole, "{name} {view:?}");
        }
    });
}

/// The same log with its texts cut into characters, or joined as far as they can be.
fn recut(records: &[Record<'_>], cut: impl Fn(&str) -> Vec<String>) -> Vec<Record<'static>> {
    let mut events: Vec<(Option<u64>, Event<'static>)> = Vec::new();
    for record in records {
        match &record.event {
            Event::TextAppended { message, text } => {
                let pieces = cut(text).into_iter();
                events.extend(pieces.map(|text| {
                    (record.at_ms, Event::TextAppended { message: *message, text: text.into() })
                }));
            }
            Event::ReasoningAppended { step, text } => {
                let pieces = cut(text).into_iter();
                events.extend(pieces.map(|text| {
                    (record.at_ms, Event::ReasoningAppended { step: *step, text: text.into() })
                }));
            }
            Event::OutputAppended { step, text } => {
                let pieces = cut(text).into_iter();
                events.extend(pieces.map(|text| {
                    (record.at_ms, Event::OutputAppended { step: *step, text: text.into() })
                }));
            }
            other => events.push((record.at_ms, other.clone().into_owned())),
        }
    }
    records_of(events)
}

fn records_of(events: Vec<(Option<u64>, Event<'static>)>) -> Vec<Record<'static>> {
    records(&Kept(events))
}

fn joined(records: &[Record<'_>]) -> Vec<Record<'static>> {
    let mut events: Vec<(Option<u64>, Event<'static>)> = Vec::new();
    for record in records {
        if let (
            Event::TextAppended { message, text },
            Some((_, Event::TextAppended { message: last, text: before })),
        ) = (&record.event, events.last_mut())
            && message == last
        {
            before.to_mut().push_str(text);
            continue;
        }
        events.push((record.at_ms, record.event.clone().into_owned()));
    }
    records_of(events)
}

#[test]
fn x1_how_the_text_was_cut_does_not_show_in_any_page() {
    each_log("x1_how_the_text_was_cut", |name, records| {
        let characters = recut(records, |text| text.chars().map(String::from).collect());
        let whole = joined(records);
        for view in ViewName::ALL {
            for thinking in [Thinking::AsUsual, Thinking::Show] {
                let kind = Kind { thinking, ..patches(view) };
                let page = frames(kind, records).1;
                assert!(frames(kind, &characters).1 == page, "{name} {view:?} cut small");
                assert!(frames(kind, &whole).1 == page, "{name} {view:?} joined");
            }
        }
    });
}

#[test]
fn x6_merged_frames_say_the_same_and_end_where_the_last_of_them_did() {
    each_log("x6_merged_frames", |name, records| {
        for view in ViewName::ALL {
            for kind in kinds(view) {
                let (sent, whole) = frames(kind, records);
                let mut encoder = encoder(kind).merging();
                let mut merged = Vec::new();
                let mut keep = |frame: engine::wire::Frame<'_>| {
                    merged.push((frame.id.to_string(), frame.data.to_owned()));
                };
                for (at, record) in records.iter().enumerate() {
                    encoder.push(record, &mut keep);
                    if at % 5 == 0 {
                        encoder.flush(&mut keep);
                    }
                }
                encoder.flush(&mut keep);
                assert!(*encoder.picture() == whole, "{name} {kind:?}");
                assert!(merged.len() <= sent.len());
                assert_eq!(merged.last().unwrap().0, sent.last().unwrap().id, "{name} {kind:?}");
                if kind.format == Format::Patch {
                    let mut page = Picture::default();
                    for (_, data) in &merged {
                        apply(&mut page, data);
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
    each_log("x7_what_comes_after_the_end", |name, records| {
        for view in ViewName::ALL {
            let mut encoder = encoder(patches(view));
            for record in records {
                encoder.push(record, &mut |_| {});
            }
            let page = encoder.picture().clone();
            for record in
                records.iter().filter(|one| !matches!(one.event, Event::RunStarted { .. }))
            {
                encoder.push(record, &mut |frame| panic!("{name} {view:?}: {frame:?}"));
            }
            assert!(*encoder.picture() == page);
        }
    });
}

#[test]
fn x4_every_visible_character_is_on_the_page_once() {
    each_log("x4_every_visible_character", |name, records| {
        let kept =
            Kept(records.iter().map(|one| (one.at_ms, one.event.clone().into_owned())).collect());
        for view in [ViewName::Steps, ViewName::Bubbles, ViewName::Transcript, ViewName::Sentences]
        {
            let page = picture(view, records);
            // What was printed for good stays, and is said not to count.
            let withdrawals = page.items.values().filter(|item| item.kind == ItemKind::Withdrawal);
            let gone: Vec<Key> = withdrawals
                .flat_map(|item| serde_json::from_str::<Vec<Key>>(&item.text).unwrap())
                .collect();
            let texts = page
                .items
                .iter()
                .filter(|(key, item)| item.kind == ItemKind::Text && !gone.contains(key));
            let shown: String = texts.map(|(_, item)| &*item.text).collect();
            assert_eq!(shown, kept.visible(), "{name} {view:?}");
        }
    });
}

#[test]
fn l4_the_ending_of_every_view_carries_the_final_message() {
    each_log("l4_the_ending_of_every_view", |name, records| {
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
            let (sent, _) = frames(Kind::new(view), records);
            let last = sent.last().unwrap().json();
            assert_eq!(last["content"], *reply, "{name} {view:?}");
            assert_eq!(last["incomplete"], ending.incomplete, "{name} {view:?}");
            assert_eq!(last["run"], "r1");
            assert_eq!(last["outcome"], serde_json::to_value(ending.outcome).unwrap());
        }
    });
}

#[test]
fn every_own_frame_carries_its_run() {
    each_log("every_own_frame_carries_its_run", |name, records| {
        for view in ViewName::ALL {
            for frame in frames(Kind::new(view), records).0 {
                assert_eq!(frame.json()["run"], "r1", "{name} {view:?} {frame:?}");
            }
        }
    });
}
