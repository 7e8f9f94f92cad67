//! Drafts, and outputs that their source changes.

use millpond_engine::event::{Ending, Event, Outcome, Record, Reply};
use millpond_engine::view::{ItemKind, ItemState, ViewName};

use crate::event_queries::ingest_fixture;
use crate::views::{final_page, to_records};

#[test]
fn transcript_t1_t2_what_a_person_still_writes_stands_in_its_place_and_blocks() {
    let kept = ingest_fixture("kilo/drafts-interleave.jsonl");
    let records = to_records(&kept);
    let shown = |page: &millpond_engine::view::Page| -> Vec<String> {
        let items = page.items.values().filter(|item| item.kind != ItemKind::Request);
        items.map(|item| format!("{:?} {:?} {}", item.kind, item.state, item.text)).collect()
    };
    let before_completion = records
        .iter()
        .position(|record| matches!(record.event, Event::DraftCompleted { .. }))
        .unwrap();
    let page = final_page(ViewName::Transcript, &records[..before_completion]);
    assert_eq!(
        shown(&page),
        [
            "User Done Build a mill",
            "Text Done It turns.",
            "User Draft Wait a m",
            "Text Done After.",
            "Error Draft Bro",
        ],
    );
    let blocked = page.items.values().position(|item| item.state == ItemState::Draft).unwrap();
    assert_eq!(page.settled.count as usize, blocked);
    let page = final_page(ViewName::Transcript, &records);
    assert_eq!(
        shown(&page)[2..8],
        [
            "User Done Wait a moment",
            "Text Done After.",
            "Error Done Broken pipe",
            "Ask Incomplete Which wheel?",
            "Text Done More.",
            "Notice Done Never who",
        ],
    );
    // The others show what is whole.
    let page = final_page(ViewName::Bubbles, &records);
    assert!(page.items.values().any(|item| item.text == "Wait a moment"));
    assert!(page.items.values().all(|item| item.text != "Wait a m"));
}

#[test]
fn transcript_t5_a_draft_of_a_dead_run_is_closed_and_keeps_its_text() {
    let mut records = to_records(&ingest_fixture("kilo/drafts-interleave.jsonl"));
    let is_draft = |record: &Record<'_>| matches!(record.event, Event::DraftReceived { .. });
    let last_draft = records.iter().rposition(is_draft).unwrap();
    let ending = Ending {
        outcome: Outcome::Interrupted,
        stop: None,
        reason: None,
        detail: None,
        reply: Reply::None,
        message: None,
        incomplete: true,
    };
    let end = Record { event: Event::RunEnded { ending }, ..records[last_draft].clone() };
    records.splice(last_draft + 1.., [Record { seq: end.seq + 1, ..end }]);
    let page = final_page(ViewName::Transcript, &records);
    assert!(page.items.values().all(|item| item.state != ItemState::Draft));
    let text = page.items.values().find(|item| item.text == "Never who").unwrap();
    assert_eq!(text.state, ItemState::Incomplete);
    assert_eq!(page.settled.count as usize, page.items.len());
}

#[test]
fn transcript_t1_outputs_that_their_source_changes_have_their_last_version_once() {
    let records = to_records(&ingest_fixture("kilo/outputs-that-change.jsonl"));
    let texts = |view| -> Vec<String> {
        let page = final_page(view, &records);
        page.items.values().map(|item| item.text.to_string()).collect()
    };
    let transcript = texts(ViewName::Transcript);
    assert_eq!(transcript[3], "ground 100 %\nwarning: dry stone\n");
    assert_eq!(transcript[5], "level: 4 m\nsteady\n");
    assert_eq!(transcript[6], "Both mills ran.");
    assert_eq!(texts(ViewName::Bubbles).last().unwrap(), "Both mills ran.");
    let page = final_page(ViewName::Steps, &records);
    let folded = page.items.values().find(|item| !item.steps.is_empty()).unwrap();
    let results =
        folded.steps.iter().map(|step| step.result.as_deref().unwrap()).collect::<Vec<_>>();
    assert_eq!(results, ["ground 100 %\nwarning: dry stone\n", "level: 4 m\nsteady\n"]);
}

#[test]
fn transcript_t2_output_that_has_settled_stays_and_its_new_version_follows() {
    let records = to_records(&ingest_fixture("codex/message-grows-and-changes.jsonl"));
    let page = final_page(ViewName::Transcript, &records);
    let output = page.items.values().find(|item| item.text.starts_with("line 1")).unwrap();
    assert_eq!(output.text, "line 1\nline 8\nline 9\n");
}
