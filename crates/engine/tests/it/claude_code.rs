//! Traps of Claude Code's stream.

use millpond_engine::event::{
    Event, FailureReason, MessageId, NoticeLevel, Outcome, StepId, ToolOutcome, UnrecognisedReason,
};

use crate::event_queries::ingest_fixture;
use crate::support::{RecordedEvents, ingest_whole};

fn ingest_claude_code(name: &str) -> RecordedEvents {
    ingest_fixture(&format!("claude-code/{name}"))
}

#[test]
fn a_block_that_is_streamed_and_sent_whole_is_shown_once() {
    let kept = ingest_claude_code("partial-messages.jsonl");
    assert_eq!(kept.visible_text(), "I will count.There are 12 reeds.");
    assert_eq!(kept.tool_calls()[0].1, "{\"command\": \"wc -l reeds\"}");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert_eq!(kept.ending().message, Some(MessageId(1)));
}

#[test]
fn a_whole_block_may_come_before_or_after_its_pieces_or_instead_of_them() {
    let kept = ingest_claude_code("repeats-in-any-order.jsonl");
    assert_eq!(kept.visible_text(), "Whole first.Whole late.");
    assert_eq!(kept.reasoning_text(), "Never streamed.");
    assert_eq!(kept.tool_calls()[0].1, "{\"file_path\":\"c\"}");
    assert_eq!(kept.round_count(), 2);
}

#[test]
fn without_partial_messages_whole_blocks_of_one_id_are_one_round() {
    let kept = ingest_claude_code("whole-messages.jsonl");
    assert_eq!(kept.visible_text(), "Reading both.Only b is there: 3 m.");
    assert_eq!(kept.round_count(), 2);
    assert_eq!(kept.tool_outcomes(), [ToolOutcome::Succeeded, ToolOutcome::Failed]);
}

#[test]
fn text_blocks_in_a_row_are_messages_and_the_last_is_final() {
    let kept = ingest_claude_code("text-blocks-in-a-row.jsonl");
    assert_eq!(kept.visible_text(), "First part.Second part.");
    assert_eq!(kept.ending().message, Some(MessageId(1)));
}

#[test]
fn abandoned_blocks_are_withdrawn_and_the_retry_is_a_new_round() {
    let kept = ingest_claude_code("abandoned-blocks.jsonl");
    assert_eq!(kept.visible_text(), "The whole answer.");
    assert_eq!(kept.count_events(|event| matches!(event, Event::Withdrawn { .. })), 2);
    assert_eq!(kept.round_count(), 3);
    assert_eq!(kept.ending().message, Some(MessageId(2)));
}

#[test]
fn a_success_that_is_an_error_fails_and_its_words_are_no_message() {
    let kept = ingest_claude_code("rate-limited.jsonl");
    assert_eq!(kept.visible_text(), "Let me see.");
    assert_eq!(kept.ending().outcome, Outcome::Failed);
    assert_eq!(kept.ending().detail.as_deref(), Some("API Error: 429 slow down"));
    assert!(kept.notice_texts(NoticeLevel::Error).is_empty(), "the ending says it");
}

#[test]
fn a_second_user_message_goes_on_with_the_run() {
    let kept = ingest_claude_code("second-user-message.jsonl");
    assert_eq!(kept.prompt_texts(), ["Count the ducks.", "And the geese."]);
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert_eq!(kept.visible_text(), "5 ducks, no geese.");
}

#[test]
fn a_second_result_ends_the_same_run() {
    let kept = ingest_claude_code("two-results.jsonl");
    assert_eq!(kept.count_events(|event| matches!(event, Event::RunEnded { .. })), 1);
    assert_eq!(kept.ending().message, Some(MessageId(1)));
}

#[test]
fn retries_are_told_and_a_stream_that_stops_among_them_is_truncated() {
    let kept = ingest_claude_code("retries-until-cut.jsonl");
    let retries = kept.events().filter(|event| matches!(event, Event::RetryScheduled { .. }));
    assert_eq!(retries.count(), 3);
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
}

#[test]
fn a_sub_agent_speaks_in_the_output_of_its_tool() {
    let kept = ingest_claude_code("sub-agent.jsonl");
    assert_eq!(kept.visible_text(), "I will ask someone.The otter is at home.");
    assert_eq!(kept.tool_output(StepId(0)), "Looking around.\nIt is in the den.\nagentId: 4");
    assert!(kept.events().any(|event| matches!(
        event,
        Event::ToolStarted { step: StepId(1), parent: Some(StepId(0)), .. }
    )));
    assert!(kept.events().any(|event| matches!(
        event,
        Event::Unrecognised { reason: UnrecognisedReason::Late, .. }
    )));
}

#[test]
fn a_call_that_a_person_or_a_rule_refused_is_denied() {
    let kept = ingest_claude_code("permissions.jsonl");
    let denied = ToolOutcome::Denied;
    assert_eq!(kept.tool_outcomes(), [denied, ToolOutcome::Succeeded, denied, denied]);
    assert_eq!(kept.visible_text(), "I was not allowed to.");
    let words = kept.events().filter_map(|event| match event {
        Event::ToolEnded { outcome: ToolOutcome::Denied, detail, .. } => detail.as_deref(),
        _ => None,
    });
    assert_eq!(words.collect::<Vec<_>>(), ["not allowed here", "no"]);
}

#[test]
fn a_turn_limit_is_a_limit() {
    let kept = ingest_claude_code("turn-limit.jsonl");
    assert_eq!(kept.ending().reason, Some(FailureReason::Limit));
    assert_eq!(kept.ending().detail.as_deref(), Some("Reached maximum number of turns (1)"));
}

#[test]
fn what_a_fallback_after_a_refusal_retracts_is_withdrawn() {
    let kept = ingest_claude_code("refusal-retracted.jsonl");
    assert_eq!(kept.visible_text(), "Here is what I can say.");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn a_refusal_fails() {
    assert_eq!(ingest_claude_code("refused.jsonl").ending().reason, Some(FailureReason::Refused));
}

#[test]
fn an_interruption_is_a_cancellation_that_keeps_the_text() {
    let kept = ingest_claude_code("interrupted.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Cancelled);
    assert_eq!(kept.visible_text(), "I was about");
    assert!(kept.prompt_texts().is_empty());
}

#[test]
fn a_stream_without_its_result_is_truncated() {
    let kept = ingest_claude_code("cut-mid-text.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
    assert_eq!(kept.visible_text(), "The water is co");
}

#[test]
fn a_stream_whose_beginning_was_missed_does_not_double_its_text() {
    let kept = ingest_claude_code("begins-in-the-middle.jsonl");
    assert_eq!(kept.visible_text(), "The reeds are tall.Two metres.");
    assert_eq!(
        ingest_claude_code("joined-inside-a-block-that-stops.jsonl").visible_text(),
        "Hello."
    );
}

#[test]
fn a_result_alone_is_a_reply() {
    assert_eq!(ingest_claude_code("result-alone.json").visible_text(), "Only this.");
}

#[test]
fn unknown_lines_and_fields_are_kept_and_the_stream_goes_on() {
    let kept = ingest_claude_code("unknown-line-and-field.jsonl");
    assert_eq!(kept.visible_text(), "Fine.");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert!(kept.events().any(|event| matches!(
        event,
        Event::Unrecognised { reason: UnrecognisedReason::Field, raw } if raw.contains("tide")
    )));
}

#[test]
fn a_whole_block_that_goes_on_from_its_pieces_adds_the_rest() {
    let kept = ingest_claude_code("whole-goes-on-from-its-pieces.jsonl");
    assert_eq!(kept.visible_text(), "Hello.");
    assert_eq!(kept.ending().message, Some(MessageId(0)));
}

#[test]
fn a_whole_block_that_is_not_what_was_streamed_is_shown_too() {
    let kept = ingest_claude_code("whole-is-not-what-was-streamed.jsonl");
    assert_eq!(kept.visible_text(), "HalfSomething else.");
    assert_eq!(kept.final_text(), "Something else.");
}

#[test]
fn a_line_that_is_sent_twice_is_shown_once() {
    assert_eq!(ingest_claude_code("line-sent-twice.jsonl").visible_text(), "Once.Twice.");
}

#[test]
fn a_request_nobody_knows_and_a_text_that_is_none_are_kept() {
    let kept = ingest_claude_code("unknown-request-and-odd-text.jsonl");
    assert_eq!(kept.unrecognised_count(), 2);
    assert_eq!(kept.visible_text(), "Fine.");
}

/// A stream of `count` sub-agents that start, write once and get no result.
fn unanswered_sub_agents(count: usize) -> Vec<u8> {
    let lines = (0..count).map(|call| {
        format!(
            r#"{{"type":"assistant","uuid":"a{call}","message":{{"id":"m{call}","content":[{{"type":"tool_use","id":"t{call}","name":"Task","input":{{}}}}]}}}}
{{"type":"assistant","uuid":"b{call}","parent_tool_use_id":"t{call}","message":{{"id":"s{call}","content":[{{"type":"text","text":"here"}}]}}}}
"#
        )
    });
    lines.collect::<String>().into_bytes()
}

#[test]
fn sub_agents_that_are_never_answered_do_not_slow_down_the_rest() {
    let kept = ingest_whole(&unanswered_sub_agents(20_000));
    let spoke = kept.events().filter(|event| matches!(event, Event::OutputAppended { .. }));
    assert_eq!(spoke.count(), 20_000);
    // More than may be open at once, so that what each costs no longer grows.
    crate::linear::check_linear("sub-agents", 2_000, unanswered_sub_agents);
}
