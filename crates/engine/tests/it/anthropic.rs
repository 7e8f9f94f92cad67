//! Anthropic Messages, straight and bent by proxies.

use engine::event::{Event, FailureReason, ReasoningOrigin, Stop, ToolOutcome};

use crate::fixture::told;
use crate::support::Kept;

fn anthropic(stream: &str) -> Kept {
    told(&format!("anthropic/{stream}"))
}

#[test]
fn a_start_that_is_sent_twice_is_one_message() {
    let told = anthropic("start-sent-twice.sse");
    assert_eq!((told.rounds(), told.visible().as_str()), (1, "Once."));
}

#[test]
fn a_message_spliced_into_another_is_a_round_of_its_own() {
    let told = anthropic("second-message-spliced-in.sse");
    assert_eq!(told.rounds(), 2);
    assert_eq!(told.visible(), "First haSecond whole.");
    assert_eq!(told.reply(), "Second whole.");
}

#[test]
fn empty_deltas_make_neither_message_nor_reasoning_nor_arguments() {
    let told = anthropic("empty-deltas.sse");
    assert_eq!((told.visible().as_str(), told.reasoning().as_str()), ("", ""));
    assert_eq!(told.tools(), [("now".to_owned(), String::new())]);
    assert_eq!(told.count(|event| matches!(event, Event::MessageStarted { .. })), 0);
    told.completed(Stop::Tools);
}

#[test]
fn a_block_start_may_carry_a_whole_result() {
    let told = anthropic("results-in-block-starts.sse");
    assert_eq!(told.outcomes(), [ToolOutcome::Succeeded, ToolOutcome::Failed]);
    assert_eq!(told.visible(), "Mills turn with water.");
    assert_eq!(told.count(|event| matches!(event, Event::MessageStarted { .. })), 1);
    assert_eq!(told.unrecognised(), 0);
}

#[test]
fn a_result_whose_call_came_in_an_earlier_stream_is_a_step() {
    let told = anthropic("result-of-an-earlier-turn.sse");
    assert_eq!(told.tools(), [("web_search".to_owned(), String::new())]);
    assert_eq!(told.outcomes(), [ToolOutcome::Succeeded]);
}

#[test]
fn redacted_thinking_is_a_step_and_a_compaction_an_event() {
    let told = anthropic("redacted-thinking-and-compaction.sse");
    let redacted = |event: &Event<'static>| {
        matches!(event, Event::ReasoningStarted { origin: ReasoningOrigin::Redacted, .. })
    };
    assert_eq!(told.count(redacted), 1);
    let summary = told.events().find_map(|event| match event {
        Event::HistoryCompacted { summary } => summary.clone(),
        _ => None,
    });
    assert_eq!(summary.as_deref(), Some("So far: a mill."));
    assert_eq!(told.visible(), "Shorter now.");
}

#[test]
fn an_error_in_the_middle_fails_the_run_and_keeps_its_text() {
    let told = anthropic("error-in-the-middle.sse");
    told.failed(FailureReason::Error, "Overloaded");
    assert_eq!(told.reply(), "Half of");
}

#[test]
fn a_refusal_fails_with_its_explanation() {
    anthropic("refusal.sse").failed(FailureReason::Refused, "not this");
}

#[test]
fn a_stream_without_its_end_is_truncated_and_its_call_cut() {
    let told = anthropic("cut-off.sse");
    told.truncated();
    assert_eq!(told.outcomes(), [ToolOutcome::Cut]);
    assert_eq!(told.reply(), "Half ");
}

#[test]
fn a_paused_turn_is_complete_for_now() {
    anthropic("paused-turn.sse").completed(Stop::Paused);
}

#[test]
fn a_whole_reply_and_one_payload_per_line_read_like_a_stream() {
    let told = anthropic("whole-reply.json");
    assert_eq!((told.reasoning().as_str(), told.visible().as_str()), ("Easy.", "It is four."));
    assert_eq!(told.tools()[0].0, "note");
    told.completed(Stop::Tools);
    assert_eq!(anthropic("payload-per-line.jsonl").visible(), "One payload per line.");
    anthropic("error-body.json").failed(FailureReason::Error, "invalid x-api-key");
}
