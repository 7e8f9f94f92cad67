//! What is special about Gemini.

use engine::event::{Event, FailureReason, ReasoningOrigin, Stop, ToolKind, ToolOutcome};

use crate::fixture::told;
use crate::support::{Kept, fixtures_dir, ingest_whole};

fn gemini(stream: &str) -> Kept {
    told(&format!("gemini/{stream}"))
}

fn pair(name: &str, arguments: &str) -> (String, String) {
    (name.to_owned(), arguments.to_owned())
}

#[test]
fn thoughts_are_reasoning_and_another_response_is_another_round() {
    let told = gemini("thinking-text-tool-then-reply.sse");
    assert_eq!(told.visible(), "I will read the gauge.The upper pond is 142 cm deep.");
    assert!(told.reasoning().starts_with("**Choosing a tool**"));
    assert_eq!(told.rounds(), 2);
    told.completed(Stop::End);
}

#[test]
fn a_stream_with_crlf_and_without_event_names_or_done_is_complete() {
    let path = fixtures_dir().join("gemini/thinking-text-tool-then-reply.sse");
    let stream = std::fs::read_to_string(path).unwrap();
    assert!(stream.lines().count() <= stream.matches("\r\n").count());
    assert!(!stream.contains("event:") && !stream.contains("[DONE]"));
    let kept = ingest_whole(stream.as_bytes());
    kept.completed(Stop::End);
    assert_eq!(kept.unrecognised(), 0);
}

#[test]
fn calls_without_ids_get_ids_of_their_own() {
    let told = gemini("thinking-text-tool-then-reply.sse");
    let calls: Vec<&str> = told
        .events()
        .filter_map(|event| match event {
            Event::ToolStarted { call, .. } => Some(call.as_ref()),
            _ => None,
        })
        .collect();
    assert_eq!(calls, ["call_1", "call_2"]);
}

#[test]
fn arguments_at_json_paths_become_one_json_object() {
    let told = gemini("vertex-streamed-arguments.jsonl");
    let plants = concat!(
        r#"{"bed":{"plants":[{"name":"water \"lily\"\n","count":12,"rare":false},{"name":"reed"}],"#,
        r#""shade":null},"depth cm":0.5}"#
    );
    let expected =
        [pair("no_arguments", ""), pair("plant", plants), pair("water", r#"{"litres":3}"#)];
    assert_eq!(told.tools(), expected);
    told.completed(Stop::Tools);
}

#[test]
fn a_streamed_call_whose_end_is_missing_is_still_a_call() {
    let told = gemini("vertex-arguments-without-their-end.jsonl");
    let expected =
        [pair("plant", r#"{"names":["reed","iris"]}"#), pair("water", r#"{"where":"the bank"}"#)];
    assert_eq!(told.tools(), expected);
    assert_eq!(told.count(|event| matches!(event, Event::ToolReady { .. })), 2);
    told.completed(Stop::Tools);
}

#[test]
fn a_call_cut_in_its_arguments_is_never_ready() {
    let told = gemini("vertex-arguments-cut-off.jsonl");
    assert_eq!(told.count(|event| matches!(event, Event::ToolReady { .. })), 0);
    assert_eq!(told.outcomes(), [ToolOutcome::Cut]);
    told.truncated();
}

#[test]
fn code_that_the_provider_runs_is_a_tool_with_its_result() {
    let told = gemini("code-execution-and-image.sse");
    let is_code = |event: &Event<'_>| {
        matches!(event, Event::ToolStarted { kind: ToolKind::CodeInterpreter, .. })
    };
    assert_eq!(told.count(is_code), 2);
    assert_eq!(told.outcomes(), [ToolOutcome::Succeeded, ToolOutcome::Failed]);
    assert_eq!(told.count(|event| matches!(event, Event::ImageReceived { .. })), 1);
    told.completed(Stop::End);
}

#[test]
fn sources_that_are_repeated_are_cited_once() {
    assert_eq!(gemini("grounding-and-citations.sse").cited(), 3);
}

#[test]
fn an_array_and_a_whole_reply_read_like_a_stream() {
    assert_eq!(gemini("array.json").visible(), "Two parts.");
    let whole = gemini("whole-reply.json");
    assert_eq!(whole.visible(), "Seven ducks.");
    assert_eq!(whole.reasoning(), "Counting the ducks.");
    whole.completed(Stop::End);
}

#[test]
fn what_a_filter_stops_is_refused_and_what_breaks_is_an_error() {
    let words = "the prompt was blocked (PROHIBITED_CONTENT): not this";
    gemini("prompt-blocked.sse").failed(FailureReason::Refused, words);
    let stopped = gemini("stopped-for-safety.sse");
    stopped.failed(FailureReason::Refused, "the reply was stopped (SAFETY)");
    assert_eq!(stopped.visible(), "First you ");
    let words = "the reply broke off (MALFORMED_FUNCTION_CALL): print(read_gauge(";
    gemini("malformed-function-call.sse").failed(FailureReason::Error, words);
    gemini("length.sse").completed(Stop::Length);
}

#[test]
fn an_error_alone_and_one_after_text_both_fail_the_run() {
    gemini("error-body.json").failed(FailureReason::Error, "Quota is used up; try in 9 s.");
    let told = gemini("error-after-text.sse");
    told.failed(FailureReason::Error, "The model is overloaded.");
    assert_eq!(told.visible(), "Half an ans");
}

#[test]
fn only_the_first_candidate_is_shown() {
    let told = gemini("two-candidates.sse");
    assert_eq!(told.visible(), "Blue.");
    told.completed(Stop::End);
}

#[test]
fn fields_nobody_knows_are_kept_and_the_stream_goes_on() {
    let told = gemini("unknown-fields.sse");
    assert_eq!(told.unrecognised(), 2);
    assert_eq!(told.visible(), "All Fine.");
}

#[test]
fn a_stream_without_its_end_is_truncated() {
    gemini("cut-off.sse").truncated();
    gemini("interaction-cut-off.jsonl").truncated();
}

#[test]
fn an_interaction_is_a_round_and_its_steps_are_ours() {
    let told = gemini("interaction.sse");
    assert_eq!(told.visible(), "One moment.142 cm, which is deep.");
    assert_eq!(told.reasoning(), "Ask the gauge.");
    let expected = [
        pair("read_gauge", r#"{"pond":"upper"}"#),
        pair("google_search", r#"{"queries":["pond depth"]}"#),
    ];
    assert_eq!(told.tools(), expected);
    assert_eq!((told.rounds(), told.cited(), told.unrecognised()), (2, 1, 0));
    told.completed(Stop::End);
}

#[test]
fn a_thought_without_words_is_redacted_reasoning() {
    let told = gemini("interaction.sse");
    let is_redacted = |event: &Event<'_>| {
        matches!(event, Event::ReasoningStarted { origin: ReasoningOrigin::Redacted, .. })
    };
    assert_eq!(told.count(is_redacted), 1);
}

#[test]
fn an_interaction_in_one_piece_reads_like_a_stream() {
    let told = gemini("interaction-whole.json");
    assert_eq!(told.visible(), "Two.");
    assert_eq!(told.outcomes(), [ToolOutcome::Succeeded]);
    told.completed(Stop::End);
    gemini("interaction-error.jsonl").failed(FailureReason::Error, "The pond ran dry.");
}

#[test]
fn a_reply_without_an_id_after_one_that_ended_is_another_round() {
    let told = gemini("another-reply-without-an-id.jsonl");
    assert_eq!((told.visible().as_str(), told.rounds()), ("First.Second, cut", 2));
    told.truncated();
    let told = gemini("reply-after-an-error.jsonl");
    assert_eq!(told.rounds(), 2);
    told.completed(Stop::End);
}

#[test]
fn a_reply_that_ends_in_every_chunk_is_one_and_its_last_end_counts() {
    let told = gemini("stop-in-every-chunk.jsonl");
    assert_eq!((told.visible().as_str(), told.rounds()), ("One two three.", 1));
    told.completed(Stop::Length);
}

#[test]
fn arguments_that_fit_nowhere_are_kept_and_leave_no_trace_in_the_call() {
    let told = gemini("arguments-of-no-call.jsonl");
    assert_eq!(told.tools(), [pair("plant", r#"{"a":"x"}"#)]);
    assert_eq!(told.unrecognised(), 2);
}

#[test]
fn an_interaction_joined_in_its_middle_says_nothing_twice() {
    let told = gemini("interaction-joined-in-the-middle.jsonl");
    assert_eq!((told.visible().as_str(), told.unrecognised()), ("Still water.", 2));
    told.completed(Stop::End);
}
