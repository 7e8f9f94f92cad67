//! Traps of Claude Code's stream.

use engine::event::{
    Event, FailureReason, Level, MessageId, Outcome, StepId, ToolOutcome, UnrecognisedReason,
};

use crate::fixture::told;
use crate::support::{Kept, ingest_whole};

fn claude(name: &str) -> Kept {
    told(&format!("claude-code/{name}"))
}

#[test]
fn a_block_that_is_streamed_and_sent_whole_is_shown_once() {
    let kept = claude("partial-messages.jsonl");
    assert_eq!(kept.visible(), "I will count.There are 12 reeds.");
    assert_eq!(kept.tools()[0].1, "{\"command\": \"wc -l reeds\"}");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert_eq!(kept.ending().message, Some(MessageId(1)));
}

#[test]
fn a_whole_block_may_come_before_or_after_its_pieces_or_instead_of_them() {
    let kept = claude("repeats-in-any-order.jsonl");
    assert_eq!(kept.visible(), "Whole first.Whole late.");
    assert_eq!(kept.reasoning(), "Never streamed.");
    assert_eq!(kept.tools()[0].1, "{\"file_path\":\"c\"}");
    assert_eq!(kept.rounds(), 2);
}

#[test]
fn without_partial_messages_whole_blocks_of_one_id_are_one_round() {
    let kept = claude("whole-messages.jsonl");
    assert_eq!(kept.visible(), "Reading both.Only b is there: 3 m.");
    assert_eq!(kept.rounds(), 2);
    assert_eq!(kept.outcomes(), [ToolOutcome::Succeeded, ToolOutcome::Failed]);
}

#[test]
fn text_blocks_in_a_row_are_messages_and_the_last_is_final() {
    let kept = claude("text-blocks-in-a-row.jsonl");
    assert_eq!(kept.visible(), "First part.Second part.");
    assert_eq!(kept.ending().message, Some(MessageId(1)));
}

#[test]
fn abandoned_blocks_are_withdrawn_and_the_retry_is_a_new_round() {
    let kept = claude("abandoned-blocks.jsonl");
    assert_eq!(kept.visible(), "The whole answer.");
    assert_eq!(kept.count(|event| matches!(event, Event::Withdrawn { .. })), 2);
    assert_eq!(kept.rounds(), 3);
    assert_eq!(kept.ending().message, Some(MessageId(2)));
}

#[test]
fn a_success_that_is_an_error_fails_and_its_words_are_no_message() {
    let kept = claude("rate-limited.jsonl");
    assert_eq!(kept.visible(), "Let me see.");
    assert_eq!(kept.ending().outcome, Outcome::Failed);
    assert_eq!(kept.ending().detail.as_deref(), Some("API Error: 429 slow down"));
    assert!(kept.notices(Level::Error).is_empty(), "the ending says it");
}

#[test]
fn a_second_user_message_goes_on_with_the_run() {
    let kept = claude("second-user-message.jsonl");
    assert_eq!(kept.prompts(), ["Count the ducks.", "And the geese."]);
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert_eq!(kept.visible(), "5 ducks, no geese.");
}

#[test]
fn a_second_result_ends_the_same_run() {
    let kept = claude("two-results.jsonl");
    assert_eq!(kept.count(|event| matches!(event, Event::RunEnded { .. })), 1);
    assert_eq!(kept.ending().message, Some(MessageId(1)));
}

#[test]
fn retries_are_told_and_a_stream_that_stops_among_them_is_truncated() {
    let kept = claude("retries-until-cut.jsonl");
    let retries = kept.events().filter(|event| matches!(event, Event::RetryScheduled { .. }));
    assert_eq!(retries.count(), 3);
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
}

#[test]
fn a_sub_agent_speaks_in_the_output_of_its_tool() {
    let kept = claude("sub-agent.jsonl");
    assert_eq!(kept.visible(), "I will ask someone.The otter is at home.");
    assert_eq!(kept.output(StepId(0)), "Looking around.\nIt is in the den.\nagentId: 4");
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
    let kept = claude("permissions.jsonl");
    let denied = ToolOutcome::Denied;
    assert_eq!(kept.outcomes(), [denied, ToolOutcome::Succeeded, denied, denied]);
    assert_eq!(kept.visible(), "I was not allowed to.");
    let words = kept.events().filter_map(|event| match event {
        Event::ToolEnded { outcome: ToolOutcome::Denied, detail, .. } => detail.as_deref(),
        _ => None,
    });
    assert_eq!(words.collect::<Vec<_>>(), ["not allowed here", "no"]);
}

#[test]
fn a_turn_limit_is_a_limit() {
    let kept = claude("turn-limit.jsonl");
    assert_eq!(kept.ending().reason, Some(FailureReason::Limit));
    assert_eq!(kept.ending().detail.as_deref(), Some("Reached maximum number of turns (1)"));
}

#[test]
fn what_a_fallback_after_a_refusal_retracts_is_withdrawn() {
    let kept = claude("refusal-retracted.jsonl");
    assert_eq!(kept.visible(), "Here is what I can say.");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn a_refusal_fails() {
    assert_eq!(claude("refused.jsonl").ending().reason, Some(FailureReason::Refused));
}

#[test]
fn an_interruption_is_a_cancellation_that_keeps_the_text() {
    let kept = claude("interrupted.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Cancelled);
    assert_eq!(kept.visible(), "I was about");
    assert!(kept.prompts().is_empty());
}

#[test]
fn a_stream_without_its_result_is_truncated() {
    let kept = claude("cut-mid-text.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
    assert_eq!(kept.visible(), "The water is co");
}

#[test]
fn a_stream_whose_beginning_was_missed_does_not_double_its_text() {
    let kept = claude("begins-in-the-middle.jsonl");
    assert_eq!(kept.visible(), "The reeds are tall.Two metres.");
    assert_eq!(claude("joined-inside-a-block-that-stops.jsonl").visible(), "Hello.");
}

#[test]
fn a_result_alone_is_a_reply() {
    assert_eq!(claude("result-alone.json").visible(), "Only this.");
}

#[test]
fn unknown_lines_and_fields_are_kept_and_the_stream_goes_on() {
    let kept = claude("unknown-line-and-field.jsonl");
    assert_eq!(kept.visible(), "Fine.");
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert!(kept.events().any(|event| matches!(
        event,
        Event::Unrecognised { reason: UnrecognisedReason::Field, raw } if raw.contains("tide")
    )));
}

#[test]
fn a_whole_block_that_goes_on_from_its_pieces_adds_the_rest() {
    let kept = claude("whole-goes-on-from-its-pieces.jsonl");
    assert_eq!(kept.visible(), "Hello.");
    assert_eq!(kept.ending().message, Some(MessageId(0)));
}

#[test]
fn a_whole_block_that_is_not_what_was_streamed_is_shown_too() {
    let kept = claude("whole-is-not-what-was-streamed.jsonl");
    assert_eq!(kept.visible(), "HalfSomething else.");
    assert_eq!(kept.reply(), "Something else.");
}

#[test]
fn a_line_that_is_sent_twice_is_shown_once() {
    assert_eq!(claude("line-sent-twice.jsonl").visible(), "Once.Twice.");
}

#[test]
fn a_request_nobody_knows_and_a_text_that_is_none_are_kept() {
    let kept = claude("unknown-request-and-odd-text.jsonl");
    assert_eq!(kept.unrecognised(), 2);
    assert_eq!(kept.visible(), "Fine.");
}

/// So many sub-agents that are begun, speak once and are never answered.
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
    crate::linear::check("sub-agents", 2_000, unanswered_sub_agents);
}
