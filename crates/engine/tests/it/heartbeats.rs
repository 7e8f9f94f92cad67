//! Runs of heartbeats on pages (L9): the prompt is never shown, and nothing of a run that reports
//! nothing is.

use millpond_engine::event::{Event, Outcome, PromptOrigin, Record, Usage, UsageScope};
use millpond_engine::view::{ItemKind, Page, ViewName};
use millpond_engine::wire::StreamKind;

use crate::log::Log;
use crate::views::{encode_records, final_page, new_encoder, patch_stream_kind};

const PROMPT: &str = "How is it? If there is nothing to report, answer with HEARTBEAT_OK.";

/// A run of the person, and then one of a heartbeat with these events.
fn with_heartbeat(build: impl FnOnce(&mut Log)) -> (Vec<Record<'static>>, usize) {
    let mut first = Log::new();
    first.prompt("Watch the pond.").start_round().push_message(&["I will."]).end_round();
    let mut records = first.complete_run().records();
    let before = records.len();
    let mut beat = Log::new();
    beat.push(Event::PromptReceived {
        text: PROMPT.into(),
        images: Vec::new(),
        origin: PromptOrigin::Heartbeat,
    });
    build(&mut beat);
    records.extend(beat.records().into_iter().map(|record| Record {
        seq: record.seq + before as u64,
        run: "r2".into(),
        ..record
    }));
    (records, before)
}

fn look_and_stay_silent(beat: &mut Log) {
    beat.start_round().push_reasoning(&["Hm."]).push_message(&["I look."]).start_tool("look");
    beat.succeed_tool(1, "All calm.").end_round().start_round().end_round();
    beat.push(Event::UsageReported { scope: UsageScope::Run, usage: Usage::default() });
    beat.end_run(Outcome::Completed, None);
}

fn check_prompt_is_not_shown(view: ViewName, records: &[Record<'_>]) {
    for kind in [StreamKind::new(view), patch_stream_kind(view)] {
        for frame in encode_records(kind, records).0 {
            let shown = frame.data.contains("How is it?") || frame.data.contains("HEARTBEAT_OK");
            assert!(!shown, "{view:?}: {}", frame.data);
        }
    }
}

fn item_kinds(page: &Page) -> Vec<ItemKind> {
    page.items.iter().map(|(_, item)| item.kind).collect()
}

#[test]
fn l9_a_heartbeat_with_nothing_to_report_leaves_nothing_on_any_page() {
    let (records, before) = with_heartbeat(look_and_stay_silent);
    for view in ViewName::ALL {
        let expected = final_page(view, &records[..before]);
        let mut encoder = new_encoder(patch_stream_kind(view));
        for record in &records {
            encoder.push(record, &mut |_| {});
            if before as u64 <= record.seq {
                assert_eq!(encoder.page().items, expected.items, "{view:?} at {}", record.seq);
            }
        }
        assert_eq!(encoder.page().status, expected.status, "{view:?}");
        assert_eq!((&encoder.page().ended, encoder.page().label.as_str()), (&None, ""), "{view:?}");
        check_prompt_is_not_shown(view, &records);
    }
}

#[test]
fn l9_a_heartbeat_that_reports_is_shown_and_marked_without_its_prompt() {
    let (records, before) = with_heartbeat(|beat| {
        beat.start_round().push_message(&["It rose."]).end_round().complete_run();
    });
    for view in ViewName::ALL {
        let page = final_page(view, &records);
        let kinds = item_kinds(&page);
        assert_eq!(kinds.iter().filter(|kind| **kind == ItemKind::User).count(), 1, "{view:?}");
        let texts: String = page.items.iter().map(|(_, item)| item.text.to_string()).collect();
        assert!(texts.contains("It rose."), "{view:?}: {texts}");
        assert_eq!(kinds.contains(&ItemKind::Notice), view == ViewName::Transcript, "{view:?}");
        assert!(item_kinds(&final_page(view, &records[..before])).len() < kinds.len());
        check_prompt_is_not_shown(view, &records);
    }
}

#[test]
fn l9_a_heartbeat_that_fails_or_asks_is_shown() {
    let (failed, before) = with_heartbeat(|beat| {
        beat.start_round().end_run(Outcome::Failed, None);
    });
    let (asked, _) = with_heartbeat(|beat| {
        beat.start_round().push_message(&["May I?"]).start_tool("drain").open_ask("a", "Drain?");
    });
    for view in ViewName::ALL {
        let asks = final_page(view, &asked).asks;
        assert!(asks.iter().any(|ask| ask.text.contains("Drain?")), "{view:?}");
        let page = final_page(view, &failed);
        assert_ne!(page, final_page(view, &failed[..before]), "{view:?}");
        check_prompt_is_not_shown(view, &asked);
        check_prompt_is_not_shown(view, &failed);
    }
}

/// A heartbeat looks, the person joins it, and it answers them.
fn look_and_answer_the_person(beat: &mut Log) {
    beat.start_round().push_reasoning(&["Hm."]).start_tool("look");
    beat.push(Event::PromptJoined { queued: "q1".into() }).prompt("How deep?");
    beat.succeed_tool(1, "All calm.").end_round();
    beat.start_round().push_message(&["2 m."]).end_round().start_round().end_round();
    beat.push(Event::UsageReported { scope: UsageScope::Run, usage: Usage::default() });
    beat.end_run(Outcome::Completed, None);
}

#[test]
fn l9_x10_a_message_that_joins_a_heartbeat_is_shown_at_once_with_what_was_held() {
    let (records, _) = with_heartbeat(look_and_answer_the_person);
    let is_joined = |record: &Record<'_>| matches!(&record.event, Event::PromptReceived { text, .. } if text == "How deep?");
    let joined = records.iter().position(is_joined).unwrap();
    for view in ViewName::ALL {
        let mut encoder = new_encoder(patch_stream_kind(view));
        for (at, record) in records.iter().enumerate() {
            encoder.push(record, &mut |_| {});
            let texts = encoder.page().items.iter().map(|(_, item)| item.text.to_string());
            let is_shown = texts.collect::<Vec<_>>().contains(&"How deep?".to_owned());
            assert_eq!(is_shown, joined <= at, "{view:?} at {at}");
        }
        let page = final_page(view, &records);
        assert_eq!(&page, encoder.page(), "{view:?}");
        assert!(page.ended.is_some(), "{view:?}");
        check_prompt_is_not_shown(view, &records);
    }
    let page = final_page(ViewName::Bubbles, &records);
    assert!(page.items.iter().any(|(_, item)| item.text == "2 m."));
    assert!(item_kinds(&final_page(ViewName::Transcript, &records)).contains(&ItemKind::Notice));
}

#[test]
fn l9_a_prompt_in_an_old_log_is_of_the_person() {
    let old = r#"{"seq":1,"at_ms":null,"run":"r","type":"prompt_received","text":"Hi"}"#;
    let record: Record<'_> = serde_json::from_str(old).unwrap();
    let Event::PromptReceived { origin, .. } = record.event.clone() else { panic!() };
    assert_eq!(origin, PromptOrigin::Person);
    assert_eq!(serde_json::to_string(&record).unwrap(), old);
}

#[test]
fn x14_a_heartbeat_past_the_limit_is_shown_while_it_runs() {
    let megabyte = "x".repeat(1 << 20);
    let (records, before) = with_heartbeat(|beat| {
        beat.start_round().start_tool("look");
        for _ in 0..5 {
            beat.succeed_tool(0, &megabyte);
        }
    });
    let page = final_page(ViewName::Steps, &records[..records.len() - 6]);
    assert_eq!(page.items, final_page(ViewName::Steps, &records[..before]).items);
    assert_ne!(final_page(ViewName::Transcript, &records), page);
    assert!(item_kinds(&final_page(ViewName::Transcript, &records)).contains(&ItemKind::Notice));
}
