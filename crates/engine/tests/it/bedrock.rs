//! What is special about Bedrock.

use engine::event::{Event, FailureReason, ReasoningOrigin, Stop, ToolOutcome};

use crate::fixture::told;
use crate::support::Kept;

fn bedrock(stream: &str) -> Kept {
    told(&format!("bedrock/{stream}"))
}

#[test]
fn usage_after_the_end_belongs_to_the_round_that_ended() {
    let told = bedrock("thinking-text-tool-then-reply.jsonl");
    assert_eq!(told.visible(), "Let me look.It is 142 cm.");
    assert_eq!(told.reasoning(), "The gauge knows.");
    let calls = [("read_gauge", r#"{"pond":"upper"}"#), ("now", "")];
    assert_eq!(told.tools(), calls.map(|(name, arguments)| (name.into(), arguments.into())));
    let usages = told.count(|event| matches!(event, Event::UsageReported { .. }));
    assert_eq!((told.rounds(), usages, told.unrecognised()), (2, 2, 0));
    told.completed(Stop::End);
}

#[test]
fn neither_a_message_nor_a_text_needs_a_start() {
    let told = bedrock("no-message-start.jsonl");
    assert_eq!(told.visible(), "Calling. Now.");
    assert_eq!(told.rounds(), 1);
    told.completed(Stop::Tools);
}

#[test]
fn redacted_thinking_is_one_step_however_many_pieces_it_has() {
    let told = bedrock("redacted-thinking.jsonl");
    let is_redacted = |event: &Event<'_>| {
        matches!(event, Event::ReasoningStarted { origin: ReasoningOrigin::Redacted, .. })
    };
    assert_eq!(told.count(is_redacted), 1);
    assert_eq!(told.visible(), "Fine.");
}

#[test]
fn a_tool_of_the_provider_has_its_result_in_the_same_reply() {
    let told = bedrock("server-tool.jsonl");
    assert_eq!(told.outcomes(), [ToolOutcome::Succeeded]);
    assert_eq!((told.rounds(), told.visible().as_str()), (1, "Two."));
}

#[test]
fn exceptions_in_the_stream_and_bodies_of_errors_fail_the_run() {
    let told = bedrock("throttled-after-text.jsonl");
    told.failed(FailureReason::Error, "Too many requests, please wait.");
    assert_eq!(told.visible(), "It all");
    bedrock("exception-alone.jsonl").failed(FailureReason::Error, "the model went away");
    bedrock("error-body.json").failed(FailureReason::Error, "1 validation error: modelId");
}

#[test]
fn what_a_guardrail_stops_is_refused_and_keeps_its_words() {
    let told = bedrock("guardrail.jsonl");
    told.failed(FailureReason::Refused, "a guardrail intervened");
    assert_eq!(told.visible(), "I cannot say that.");
}

#[test]
fn a_whole_reply_reads_like_a_stream() {
    let told = bedrock("whole-reply.json");
    assert_eq!(told.visible(), "Seven. They quack.");
    assert_eq!((told.reasoning().as_str(), told.cited()), ("Count them.", 1));
    assert_eq!(told.tools().len(), 1);
    told.completed(Stop::Tools);
}

#[test]
fn a_frame_nobody_knows_is_kept_once_and_the_stream_goes_on() {
    let told = bedrock("unknown-frame.jsonl");
    assert_eq!(told.unrecognised(), 1);
    told.completed(Stop::Length);
}

#[test]
fn a_stream_without_its_end_is_truncated() {
    bedrock("cut-off.jsonl").truncated();
}

#[test]
fn pieces_without_their_start_and_blocks_nobody_knows_are_each_kept() {
    let told = bedrock("pieces-without-their-start.jsonl");
    assert_eq!((told.visible().as_str(), told.unrecognised()), ("Done.", 4));
    told.completed(Stop::End);
}
