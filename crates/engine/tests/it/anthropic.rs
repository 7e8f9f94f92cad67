//! Anthropic Messages, as specified and as altered by proxies.

use millpond_engine::event::{Event, FailureReason, ReasoningOrigin, StopReason, ToolOutcome};

use crate::event_queries::ingest_fixture;
use crate::support::RecordedEvents;

fn ingest_anthropic(stream: &str) -> RecordedEvents {
    ingest_fixture(&format!("anthropic/{stream}"))
}

#[test]
fn a_start_that_is_sent_twice_is_one_message() {
    let told = ingest_anthropic("start-sent-twice.sse");
    assert_eq!((told.round_count(), told.visible_text().as_str()), (1, "Once."));
}

#[test]
fn a_message_spliced_into_another_is_a_round_of_its_own() {
    let told = ingest_anthropic("second-message-spliced-in.sse");
    assert_eq!(told.round_count(), 2);
    assert_eq!(told.visible_text(), "First haSecond whole.");
    assert_eq!(told.final_text(), "Second whole.");
}

#[test]
fn empty_deltas_make_neither_message_nor_reasoning_nor_arguments() {
    let told = ingest_anthropic("empty-deltas.sse");
    assert_eq!((told.visible_text().as_str(), told.reasoning_text().as_str()), ("", ""));
    assert_eq!(told.tool_calls(), [("now".to_owned(), String::new())]);
    assert_eq!(told.count_events(|event| matches!(event, Event::MessageStarted { .. })), 0);
    told.assert_completed(StopReason::Tools);
}

#[test]
fn a_block_start_may_carry_a_whole_result() {
    let told = ingest_anthropic("results-in-block-starts.sse");
    assert_eq!(told.tool_outcomes(), [ToolOutcome::Succeeded, ToolOutcome::Failed]);
    assert_eq!(told.visible_text(), "Mills turn with water.");
    assert_eq!(told.count_events(|event| matches!(event, Event::MessageStarted { .. })), 1);
    assert_eq!(told.unrecognised_count(), 0);
}

#[test]
fn a_result_whose_call_came_in_an_earlier_stream_is_a_step() {
    let told = ingest_anthropic("result-of-an-earlier-turn.sse");
    assert_eq!(told.tool_calls(), [("web_search".to_owned(), String::new())]);
    assert_eq!(told.tool_outcomes(), [ToolOutcome::Succeeded]);
}

#[test]
fn redacted_thinking_is_a_step_and_a_compaction_an_event() {
    let told = ingest_anthropic("redacted-thinking-and-compaction.sse");
    let redacted = |event: &Event<'static>| {
        matches!(event, Event::ReasoningStarted { origin: ReasoningOrigin::Redacted, .. })
    };
    assert_eq!(told.count_events(redacted), 1);
    let summary = told.events().find_map(|event| match event {
        Event::HistoryCompacted { summary } => summary.clone(),
        _ => None,
    });
    assert_eq!(summary.as_deref(), Some("So far: a mill."));
    assert_eq!(told.visible_text(), "Shorter now.");
}

#[test]
fn an_error_in_the_middle_fails_the_run_and_keeps_its_text() {
    let told = ingest_anthropic("error-in-the-middle.sse");
    told.assert_failed(FailureReason::Error, "Overloaded");
    assert_eq!(told.final_text(), "Half of");
}

#[test]
fn a_refusal_fails_with_its_explanation() {
    ingest_anthropic("refusal.sse").assert_failed(FailureReason::Refused, "not this");
}

#[test]
fn a_stream_without_its_end_is_truncated_and_its_call_cut() {
    let told = ingest_anthropic("cut-off.sse");
    told.assert_truncated();
    assert_eq!(told.tool_outcomes(), [ToolOutcome::Cut]);
    assert_eq!(told.final_text(), "Half ");
}

#[test]
fn a_paused_turn_is_complete_for_now() {
    ingest_anthropic("paused-turn.sse").assert_completed(StopReason::Paused);
}

#[test]
fn a_whole_reply_and_one_payload_per_line_read_like_a_stream() {
    let told = ingest_anthropic("whole-reply.json");
    assert_eq!(
        (told.reasoning_text().as_str(), told.visible_text().as_str()),
        ("Easy.", "It is four.")
    );
    assert_eq!(told.tool_calls()[0].0, "note");
    told.assert_completed(StopReason::Tools);
    assert_eq!(ingest_anthropic("payload-per-line.jsonl").visible_text(), "One payload per line.");
    ingest_anthropic("error-body.json").assert_failed(FailureReason::Error, "invalid x-api-key");
}
