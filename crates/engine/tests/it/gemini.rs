//! Gemini specifics.

use millpond_engine::event::{
    Event, FailureReason, Outcome, ReasoningOrigin, StopReason, ToolKind, ToolOutcome,
};

use crate::event_queries::ingest_fixture;
use crate::support::{RecordedEvents, fixtures_dir, ingest_whole};

fn ingest_gemini(stream: &str) -> RecordedEvents {
    ingest_fixture(&format!("gemini/{stream}"))
}

fn owned_pair(name: &str, arguments: &str) -> (String, String) {
    (name.to_owned(), arguments.to_owned())
}

#[test]
fn thoughts_are_reasoning_and_another_response_is_another_round() {
    let told = ingest_gemini("thinking-text-tool-then-reply.sse");
    assert_eq!(told.visible_text(), "I will read the gauge.The upper pond is 142 cm deep.");
    assert!(told.reasoning_text().starts_with("**Choosing a tool**"));
    assert_eq!(told.round_count(), 2);
    told.assert_completed(StopReason::End);
}

#[test]
fn a_stream_with_crlf_and_without_event_names_or_done_is_complete() {
    let path = fixtures_dir().join("gemini/thinking-text-tool-then-reply.sse");
    let stream = std::fs::read_to_string(path).unwrap();
    assert!(stream.lines().count() <= stream.matches("\r\n").count());
    assert!(!stream.contains("event:") && !stream.contains("[DONE]"));
    let kept = ingest_whole(stream.as_bytes());
    kept.assert_completed(StopReason::End);
    assert_eq!(kept.unrecognised_count(), 0);
}

#[test]
fn calls_without_ids_get_ids_of_their_own() {
    let told = ingest_gemini("thinking-text-tool-then-reply.sse");
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
    let told = ingest_gemini("vertex-streamed-arguments.jsonl");
    let plants = concat!(
        r#"{"bed":{"plants":[{"name":"water \"lily\"\n","count":12,"rare":false},{"name":"reed"}],"#,
        r#""shade":null},"depth cm":0.5}"#
    );
    let expected = [
        owned_pair("no_arguments", ""),
        owned_pair("plant", plants),
        owned_pair("water", r#"{"litres":3}"#),
    ];
    assert_eq!(told.tool_calls(), expected);
    told.assert_completed(StopReason::Tools);
}

#[test]
fn a_streamed_call_whose_end_is_missing_is_still_a_call() {
    let told = ingest_gemini("vertex-arguments-without-their-end.jsonl");
    let expected = [
        owned_pair("plant", r#"{"names":["reed","iris"]}"#),
        owned_pair("water", r#"{"where":"the bank"}"#),
    ];
    assert_eq!(told.tool_calls(), expected);
    assert_eq!(told.count_events(|event| matches!(event, Event::ToolReady { .. })), 2);
    told.assert_completed(StopReason::Tools);
}

#[test]
fn a_call_cut_in_its_arguments_is_never_ready() {
    let told = ingest_gemini("vertex-arguments-cut-off.jsonl");
    assert_eq!(told.count_events(|event| matches!(event, Event::ToolReady { .. })), 0);
    assert_eq!(told.tool_outcomes(), [ToolOutcome::Cut]);
    told.assert_truncated();
}

#[test]
fn code_that_the_provider_runs_is_a_tool_with_its_result() {
    let told = ingest_gemini("code-execution-and-image.sse");
    let is_code = |event: &Event<'_>| {
        matches!(event, Event::ToolStarted { kind: ToolKind::CodeInterpreter, .. })
    };
    assert_eq!(told.count_events(is_code), 2);
    assert_eq!(told.tool_outcomes(), [ToolOutcome::Succeeded, ToolOutcome::Failed]);
    assert_eq!(told.count_events(|event| matches!(event, Event::ImageReceived { .. })), 1);
    told.assert_completed(StopReason::End);
}

#[test]
fn sources_that_are_repeated_are_cited_once() {
    assert_eq!(ingest_gemini("grounding-and-citations.sse").citation_count(), 3);
}

#[test]
fn an_array_and_a_whole_reply_read_like_a_stream() {
    assert_eq!(ingest_gemini("array.json").visible_text(), "Two parts.");
    let whole = ingest_gemini("whole-reply.json");
    assert_eq!(whole.visible_text(), "Seven ducks.");
    assert_eq!(whole.reasoning_text(), "Counting the ducks.");
    whole.assert_completed(StopReason::End);
}

#[test]
fn what_a_filter_stops_is_refused_and_what_breaks_is_an_error() {
    let words = "prompt blocked (PROHIBITED_CONTENT): not this";
    ingest_gemini("prompt-blocked.sse").assert_failed(FailureReason::Refused, words);
    let stopped = ingest_gemini("stopped-for-safety.sse");
    stopped.assert_failed(FailureReason::Refused, "reply blocked (SAFETY)");
    assert_eq!(stopped.visible_text(), "First you ");
    let words = "reply failed (MALFORMED_FUNCTION_CALL): print(read_gauge(";
    ingest_gemini("malformed-function-call.sse").assert_failed(FailureReason::Error, words);
    ingest_gemini("length.sse").assert_completed(StopReason::Length);
}

#[test]
fn an_error_alone_and_one_after_text_both_fail_the_run() {
    ingest_gemini("error-body.json")
        .assert_failed(FailureReason::Error, "Quota is used up; try in 9 s.");
    let told = ingest_gemini("error-after-text.sse");
    told.assert_failed(FailureReason::Error, "The model is overloaded.");
    assert_eq!(told.visible_text(), "Half an ans");
}

#[test]
fn only_the_first_candidate_is_shown() {
    let told = ingest_gemini("two-candidates.sse");
    assert_eq!(told.visible_text(), "Blue.");
    told.assert_completed(StopReason::End);
}

#[test]
fn fields_nobody_knows_are_kept_and_the_stream_goes_on() {
    let told = ingest_gemini("unknown-fields.sse");
    assert_eq!(told.unrecognised_count(), 2);
    assert_eq!(told.visible_text(), "All Fine.");
}

#[test]
fn a_stream_without_its_end_is_truncated() {
    ingest_gemini("cut-off.sse").assert_truncated();
    ingest_gemini("interaction-cut-off.jsonl").assert_truncated();
}

#[test]
fn an_interaction_is_a_round_and_its_steps_are_ours() {
    let told = ingest_gemini("interaction.sse");
    assert_eq!(told.visible_text(), "One moment.142 cm, which is deep.");
    assert_eq!(told.reasoning_text(), "Ask the gauge.");
    let expected = [
        owned_pair("read_gauge", r#"{"pond":"upper"}"#),
        owned_pair("google_search", r#"{"queries":["pond depth"]}"#),
    ];
    assert_eq!(told.tool_calls(), expected);
    assert_eq!((told.round_count(), told.citation_count(), told.unrecognised_count()), (2, 1, 0));
    told.assert_completed(StopReason::End);
}

#[test]
fn a_thought_without_words_is_redacted_reasoning() {
    let told = ingest_gemini("interaction.sse");
    let is_redacted = |event: &Event<'_>| {
        matches!(event, Event::ReasoningStarted { origin: ReasoningOrigin::Redacted, .. })
    };
    assert_eq!(told.count_events(is_redacted), 1);
}

#[test]
fn an_interaction_in_one_piece_reads_like_a_stream() {
    let told = ingest_gemini("interaction-whole.json");
    assert_eq!(told.visible_text(), "Two.");
    assert_eq!(told.tool_outcomes(), [ToolOutcome::Succeeded]);
    told.assert_completed(StopReason::End);
    ingest_gemini("interaction-error.jsonl")
        .assert_failed(FailureReason::Error, "The pond ran dry.");
}

#[test]
fn a_reply_without_an_id_after_one_that_ended_is_another_round() {
    let told = ingest_gemini("another-reply-without-an-id.jsonl");
    assert_eq!((told.visible_text().as_str(), told.round_count()), ("First.Second, cut", 2));
    told.assert_truncated();
    let told = ingest_gemini("reply-after-an-error.jsonl");
    assert_eq!(told.round_count(), 2);
    told.assert_completed(StopReason::End);
}

#[test]
fn a_reply_that_ends_in_every_chunk_is_one_and_its_last_end_counts() {
    let told = ingest_gemini("stop-in-every-chunk.jsonl");
    assert_eq!((told.visible_text().as_str(), told.round_count()), ("One two three.", 1));
    told.assert_completed(StopReason::Length);
}

#[test]
fn arguments_that_fit_nowhere_are_kept_and_leave_no_trace_in_the_call() {
    let told = ingest_gemini("arguments-of-no-call.jsonl");
    assert_eq!(told.tool_calls(), [owned_pair("plant", r#"{"a":"x"}"#)]);
    assert_eq!(told.unrecognised_count(), 2);
}

#[test]
fn an_interaction_joined_in_its_middle_says_nothing_twice() {
    let told = ingest_gemini("interaction-joined-in-the-middle.jsonl");
    assert_eq!((told.visible_text().as_str(), told.unrecognised_count()), ("Still water.", 2));
    told.assert_completed(StopReason::End);
}

#[test]
fn x7_a_finish_reason_that_is_unknown_is_not_completed() {
    let told = ingest_fixture("gemini/unknown-finish-reason.sse");
    assert_eq!(told.visible_text(), "Once upon a pond");
    assert_eq!((told.ending().outcome, told.ending().incomplete), (Outcome::Failed, true));
    assert!(told.ending().detail.as_deref().unwrap_or_default().contains("TIDE_TURNED"));
}
