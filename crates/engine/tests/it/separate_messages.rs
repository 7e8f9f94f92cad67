//! Messages that their source keeps apart: what one leaves open, or says at its end, concerns no
//! other; what follows a completion is a task of its own.

use millpond_engine::event::{Ending, Event, Outcome, Reply, ToolOutcome};
use millpond_engine::view::{ItemKind, ViewName};
use millpond_engine::wire::StreamKind;

use crate::event_queries::ingest_fixture;
use crate::support::RecordedEvents;
use crate::views::{encode_records, final_page, to_records};

fn ending(kept: &RecordedEvents) -> Ending<'static> {
    let Some(Event::RunEnded { ending }) = kept.events().last() else { panic!("no ending") };
    ending.clone().into_owned()
}

/// Texts of a page's items that are not empty, without the failure at its end.
fn page_texts(kept: &RecordedEvents, view: ViewName) -> Vec<String> {
    let page = final_page(view, &to_records(kept));
    let items = page.items.values().filter(|item| item.kind != ItemKind::Error);
    let texts = items.map(|item| item.text.to_string());
    texts.filter(|text| !text.is_empty()).collect()
}

#[test]
fn x5_a_tag_that_a_complete_message_leaves_open_hides_nothing_of_the_next() {
    let expected: [(&str, &[&str]); 3] = [
        ("kilo/unclosed-tags.jsonl", &["Mind the ", "Answer to ", "And ", "Final answer."]),
        ("cline/ends-say-more-than-their-parts.jsonl", &["Mind the ", "Hello there!", "Done."]),
        ("codex/unclosed-tag-and-output-that-changes.jsonl", &["Mind the ", "Still ", "Final."]),
    ];
    for (fixture, texts) in expected {
        let kept = ingest_fixture(fixture);
        let shown = page_texts(&kept, ViewName::Bubbles);
        let of_agent: Vec<&str> =
            shown.iter().map(String::as_str).filter(|text| texts.contains(text)).collect();
        assert_eq!(of_agent, texts, "{fixture}: {shown:?}");
        // What is behind the tag is in no frame.
        for view in [ViewName::Latest, ViewName::Bubbles, ViewName::Sentences] {
            let (frames, _) = encode_records(StreamKind::new(view), &to_records(&kept));
            assert!(frames.iter().all(|frame| !frame.data.contains(" tag.")), "{fixture}");
        }
    }
}

#[test]
fn latest_l5_what_follows_a_completion_never_ends_with_the_answer_before_it() {
    let kept = ingest_fixture("kilo/follow-up-cut-after-completion.jsonl");
    assert_eq!(ending(&kept).outcome, Outcome::Truncated);
    assert_eq!(page_texts(&kept, ViewName::Latest).last().unwrap(), "I mix the pa");
    let kept = ingest_fixture("kilo/prompt-after-completion-unanswered.jsonl");
    assert_eq!((ending(&kept).outcome, ending(&kept).reply), (Outcome::Truncated, Reply::None));
}

#[test]
fn x7_what_is_partial_after_a_completion_is_cut_and_the_completion_is_shown_once() {
    let kept = ingest_fixture("kilo/partial-after-completion.jsonl");
    assert_eq!(ending(&kept).outcome, Outcome::Truncated);
    assert_eq!(page_texts(&kept, ViewName::Bubbles)[1..], ["First final.", "Sec"]);
}

#[test]
fn x4_what_an_end_says_beyond_its_parts_is_shown() {
    let texts = |fixture| page_texts(&ingest_fixture(fixture), ViewName::Transcript);
    let acp = texts("acp/output-in-every-update.jsonl");
    assert!(acp.contains(&"built\n3 warnings".to_owned()), "{acp:?}");
    assert!(acp.contains(&"ground".to_owned()) && !acp.contains(&"10 %".to_owned()), "{acp:?}");
    assert!(acp.contains(&"one two three".to_owned()), "{acp:?}");
    let cline = ingest_fixture("cline/ends-say-more-than-their-parts.jsonl");
    let shown = page_texts(&cline, ViewName::Transcript);
    assert!(shown.contains(&"one\ntwo\n".to_owned()), "{shown:?}");
    assert!(shown.contains(&"exit 1: no grain".to_owned()), "{shown:?}");
    let is_failed =
        |event: &Event<'_>| matches!(event, Event::ToolEnded { outcome: ToolOutcome::Failed, .. });
    assert_eq!(cline.count_events(is_failed), 1);
    let pi = texts("pi/ends-say-more-than-their-parts.jsonl");
    assert!(pi.contains(&"20 %".to_owned()) && pi.contains(&"Fin. More.".to_owned()), "{pi:?}");
    let kilo = texts("kilo/results-in-calls.jsonl");
    assert!(kilo.contains(&"FOUND in a.c".to_owned()), "{kilo:?}");
    assert!(kilo.contains(&"a.c\nb.c".to_owned()), "{kilo:?}");
}
