//! What is special about Cohere.

use engine::event::{Event, FailureReason, Stop, ToolOutcome};

use crate::fixture::told;
use crate::support::Kept;

fn cohere(stream: &str) -> Kept {
    told(&format!("cohere/{stream}"))
}

#[test]
fn the_plan_is_reasoning_and_never_text() {
    let told = cohere("plan-tools-then-cited-reply.sse");
    assert_eq!(told.reasoning(), "I will read the gauge.Say it plainly.");
    assert_eq!(told.visible(), "It is 142 cm.");
    assert_eq!((told.rounds(), told.cited(), told.unrecognised()), (2, 2, 0));
    told.completed(Stop::End);
}

#[test]
fn a_call_without_arguments_is_ready_with_none() {
    let told = cohere("plan-tools-then-cited-reply.sse");
    let calls = [("read_gauge", r#"{"pond": "upper"}"#), ("now", "")];
    assert_eq!(told.tools(), calls.map(|(name, arguments)| (name.into(), arguments.into())));
    assert_eq!(told.count(|event| matches!(event, Event::ToolReady { .. })), 2);
}

#[test]
fn whole_replies_read_like_streams() {
    let told = cohere("whole-reply.json");
    assert_eq!(told.visible(), "Seven ducks.");
    assert_eq!(told.reasoning(), "Ducks first.");
    told.completed(Stop::Length);
    let told = cohere("whole-reply-with-tools.json");
    assert_eq!(told.reasoning(), "I will look.");
    assert_eq!(told.tools(), [("now".to_owned(), "{}".to_owned())]);
    told.completed(Stop::Tools);
}

#[test]
fn an_error_alone_and_one_at_the_end_both_fail_the_run() {
    cohere("error-body.json").failed(FailureReason::Error, "invalid request: no model");
    let told = cohere("error-at-the-end.sse");
    told.failed(FailureReason::Error, "the pond froze");
    assert_eq!(told.visible(), "So far");
}

#[test]
fn a_stream_without_its_end_is_truncated_and_its_call_cut() {
    let told = cohere("cut-off.sse");
    told.truncated();
    assert_eq!(told.outcomes(), [ToolOutcome::Cut]);
}

#[test]
fn a_frame_nobody_knows_is_kept_once_and_the_stream_goes_on() {
    let told = cohere("unknown-frame.jsonl");
    assert_eq!(told.unrecognised(), 1);
    assert_eq!(told.visible(), "Rain.");
    told.completed(Stop::End);
}

#[test]
fn content_after_the_end_is_another_round_and_arguments_of_no_call_are_kept() {
    let told = cohere("another-reply-without-its-start.jsonl");
    assert_eq!((told.visible().as_str(), told.rounds()), ("First.Second, cut", 2));
    assert_eq!(told.unrecognised(), 1);
    told.truncated();
}

#[test]
fn content_that_is_plain_text_is_shown() {
    assert_eq!(cohere("whole-reply-with-plain-text.json").visible(), "Two ponds.");
}
