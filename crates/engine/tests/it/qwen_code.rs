//! Traps of Qwen Code's stream.

use millpond_engine::event::{MessageId, Outcome};

use crate::event_queries::ingest_fixture;
use crate::support::RecordedEvents;

fn ingest_qwen_code(name: &str) -> RecordedEvents {
    ingest_fixture(&format!("qwen-code/{name}"))
}

#[test]
fn blocks_that_are_all_at_index_0_and_repeated_under_other_ids_are_shown_once() {
    let kept = ingest_qwen_code("index-always-0.jsonl");
    assert_eq!(kept.visible_text(), "Looking.One carp.");
    assert_eq!(kept.reasoning_text(), "Look first.");
    assert_eq!(kept.tool_calls()[0].1, "{\"command\":\"ls\"}");
    assert_eq!(kept.round_count(), 2);
    assert_eq!(kept.unrecognised_count(), 0);
}

#[test]
fn whole_blocks_are_one_round_until_a_tool_is_answered() {
    let kept = ingest_qwen_code("whole-messages.jsonl");
    assert_eq!(kept.visible_text(), "Editing.It is not there.");
    assert_eq!(kept.round_count(), 2);
}

#[test]
fn a_result_with_tags_names_the_message_shown_without_them() {
    let kept = ingest_qwen_code("tags-in-the-text.jsonl");
    assert_eq!(kept.visible_text(), "It is deep.");
    assert_eq!(kept.ending().message, Some(MessageId(0)));
}

#[test]
fn an_error_fails_with_its_words() {
    let kept = ingest_qwen_code("failed.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Failed);
    assert_eq!(kept.ending().detail.as_deref(), Some("the line went dead"));
    assert_eq!(kept.visible_text(), "I sta");
}

#[test]
fn a_stream_without_its_result_is_truncated() {
    assert_eq!(ingest_qwen_code("cut-mid-text.jsonl").ending().outcome, Outcome::Truncated);
}

#[test]
fn a_stream_whose_beginning_was_missed_still_declares_its_whole_reply() {
    let kept = ingest_qwen_code("begins-in-the-middle.jsonl");
    assert_eq!(kept.visible_text(), "All ears.");
    assert_eq!(kept.ending().message, Some(MessageId(0)));
}

#[test]
fn a_whole_reply_that_is_not_what_was_streamed_is_shown_too() {
    let kept = ingest_qwen_code("whole-is-not-what-was-streamed.jsonl");
    assert_eq!(kept.visible_text(), "HalfWhole different answer.");
    assert_eq!(kept.final_text(), "Whole different answer.");
}
