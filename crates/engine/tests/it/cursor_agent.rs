//! Traps of Cursor's stream.

use millpond_engine::event::{Event, MessageId, Outcome, StepId, ToolOutcome};

use crate::event_queries::ingest_fixture;
use crate::support::RecordedEvents;

fn ingest_cursor_agent(name: &str) -> RecordedEvents {
    ingest_fixture(&format!("cursor-agent/{name}"))
}

#[test]
fn with_partial_output_replays_and_the_last_flush_are_not_shown_again() {
    let kept = ingest_cursor_agent("partial-output.jsonl");
    assert_eq!(kept.visible_text(), "I will read it.It says slippery.");
    assert_eq!(kept.ending().message, Some(MessageId(1)));
    assert_eq!(kept.reasoning_text(), "Easy.");
}

#[test]
fn without_partial_output_every_message_is_shown() {
    let kept = ingest_cursor_agent("whole-output.jsonl");
    assert_eq!(kept.visible_text(), "I will read it.It says slippery.");
    assert_eq!(kept.final_text(), "It says slippery.");
}

#[test]
fn equal_deltas_are_all_shown() {
    assert_eq!(ingest_cursor_agent("repeated-deltas.jsonl").visible_text(), "hahaha");
}

#[test]
fn the_result_is_not_the_final_message() {
    let kept = ingest_cursor_agent("partial-output.jsonl");
    assert_eq!(kept.final_text(), "It says slippery.");
    assert!(!kept.events().any(|event| matches!(event, Event::FinalDeclared { .. })));
}

#[test]
fn a_call_id_may_contain_a_newline() {
    let kept = ingest_cursor_agent("partial-output.jsonl");
    assert!(kept.events().any(|event| matches!(
        event,
        Event::ToolStarted { call, .. } if call == "call_a\nfc_b"
    )));
    assert_eq!(kept.tool_outcomes(), [ToolOutcome::Succeeded]);
    assert_eq!(kept.tool_output(StepId(1)), "slippery");
}

#[test]
fn the_key_of_a_result_is_the_outcome_of_its_tool() {
    let kept = ingest_cursor_agent("tool-outcomes.jsonl");
    let outcomes = [
        ToolOutcome::Succeeded,
        ToolOutcome::Denied,
        ToolOutcome::Failed,
        ToolOutcome::Succeeded,
        ToolOutcome::Failed,
        ToolOutcome::Succeeded,
        ToolOutcome::NoResult,
    ];
    assert_eq!(kept.tool_outcomes(), outcomes);
    assert_eq!(kept.tool_output(StepId(0)), "eel\nwarn\n");
    assert_eq!(kept.tool_output(StepId(3)), "3 m");
}

#[test]
fn tools_of_one_model_call_are_of_one_round() {
    let kept = ingest_cursor_agent("tool-outcomes.jsonl");
    assert_eq!(kept.round_count(), 4);
}

#[test]
fn a_stream_without_its_result_is_truncated() {
    let kept = ingest_cursor_agent("no-result.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
    assert_eq!(kept.visible_text(), "I am going");
}

#[test]
fn an_error_fails_with_its_words() {
    let kept = ingest_cursor_agent("failed.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Failed);
    assert_eq!(kept.ending().detail.as_deref(), Some("usage limit reached"));
}

#[test]
fn a_result_alone_is_a_reply() {
    assert_eq!(ingest_cursor_agent("result-alone.json").visible_text(), "Only this.");
}

#[test]
fn a_stream_whose_beginning_was_missed_is_put_right_and_doubles_nothing() {
    assert_eq!(
        ingest_cursor_agent("begins-in-the-middle.jsonl").visible_text(),
        "Tail of the eel.Slippery."
    );
}

#[test]
fn what_was_said_before_the_last_tool_is_not_the_reply() {
    let kept = ingest_cursor_agent("nothing-said-after-the-last-tool.jsonl");
    assert_eq!(kept.visible_text(), "Let me look.");
    assert_eq!(kept.ending().message, None);
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn a_result_alone_after_a_run_is_a_reply_and_the_same_line_again_is_not() {
    let kept = ingest_cursor_agent("result-alone-after-a-run.jsonl");
    assert_eq!(kept.visible_text(), "First.Second.");
    assert_eq!(kept.final_text(), "Second.");
}

#[test]
fn calls_without_ids_are_calls_of_their_own() {
    let kept = ingest_cursor_agent("calls-without-ids.jsonl");
    assert_eq!(kept.tool_outcomes(), [ToolOutcome::Succeeded; 2]);
    assert_eq!(kept.tool_output(StepId(0)), "of a");
    assert_eq!(kept.tool_output(StepId(1)), "of b");
}
