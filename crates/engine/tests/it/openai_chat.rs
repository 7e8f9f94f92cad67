//! Chat completions as compatible servers send them.

use millpond_engine::event::{
    Event, FailureReason, MarkupClass, Outcome, StopReason, ToolOutcome, Usage,
};

use crate::event_queries::ingest_fixture;
use crate::support::{RecordedEvents, ingest_whole};

fn ingest_chat(stream: &str) -> RecordedEvents {
    ingest_fixture(&format!("openai-chat/{stream}"))
}

fn owned_pairs(tools: &[(&str, &str)]) -> Vec<(String, String)> {
    tools.iter().map(|&(name, arguments)| (name.to_owned(), arguments.to_owned())).collect()
}

fn reported_usage(told: &RecordedEvents) -> Vec<Usage> {
    let reported = told.events().filter_map(|event| match event {
        Event::UsageReported { usage, .. } => Some(*usage),
        _ => None,
    });
    reported.collect()
}

#[test]
fn tools_are_told_apart_by_index_id_or_name_whichever_there_is() {
    let both = owned_pairs(&[("left", "{\"n\":1}"), ("right", "{\"m\":2}")]);
    assert_eq!(ingest_chat("tools-interleaved.sse").tool_calls(), both);
    assert_eq!(ingest_chat("tools-always-index-0.sse").tool_calls(), both);
    assert_eq!(ingest_chat("tools-without-id-or-index.sse").tool_calls(), both);
    let third = [both, owned_pairs(&[("third", "{}")])].concat();
    assert_eq!(ingest_chat("tools-without-ids.sse").tool_calls(), third);
}

#[test]
fn whole_calls_in_one_chunk_need_no_index() {
    let told = ingest_chat("tools-without-index.sse");
    assert_eq!(told.tool_calls(), owned_pairs(&[("left", "{\"n\": 1}"), ("right", "{\"m\": 2}")]));
    told.assert_completed(StopReason::Tools);
}

#[test]
fn an_empty_id_on_a_continuation_is_no_new_call() {
    let told = ingest_chat("tools-empty-id-on-continuation.sse");
    assert_eq!(told.tool_calls(), owned_pairs(&[("weather", "{\"city\": \"Gdańsk\"}")]));
    assert_eq!(told.tool_outcomes(), [ToolOutcome::NoResult]);
}

#[test]
fn the_function_call_of_old_is_a_tool() {
    let told = ingest_chat("function-call-of-old.sse");
    assert_eq!(told.tool_calls(), owned_pairs(&[("add", "{\"a\": 1}")]));
    told.assert_completed(StopReason::Tools);
}

#[test]
fn thinking_in_a_list_of_parts_is_reasoning() {
    let told = ingest_chat("content-in-parts.sse");
    assert_eq!(told.reasoning_text(), "Two and two.");
    assert_eq!(told.visible_text(), "It is four.");
}

#[test]
fn comments_are_passed_over_and_reasoning_is_read_from_its_other_field() {
    let told = ingest_chat("comments-and-reasoning.sse");
    assert_eq!(told.reasoning_text(), "Let me see.");
    assert_eq!(told.visible_text(), "Here.");
    assert_eq!(reported_usage(&told)[0].cost_usd, Some(0.00012));
    assert_eq!(told.unrecognised_count(), 0);
}

#[test]
fn an_error_in_the_middle_fails_the_run_and_keeps_its_text() {
    let told = ingest_chat("error-in-the-middle.sse");
    told.assert_failed(FailureReason::Error, "the upstream broke");
    assert_eq!(told.final_text(), "Half of it");
    let told = ingest_chat("error-event.sse");
    told.assert_failed(FailureReason::Error, "the tool call does not fit its schema");
    assert_eq!(told.final_text().trim(), "Now");
}

#[test]
fn usage_is_read_wherever_it_stands() {
    let tokens = |input, output| Usage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        ..Usage::default()
    };
    assert_eq!(reported_usage(&ingest_chat("usage-in-x-groq.sse")), [tokens(11, 2)]);
    assert_eq!(reported_usage(&ingest_chat("tools-empty-id-on-continuation.sse")), [tokens(9, 4)]);
    assert_eq!(
        reported_usage(&ingest_chat("usage-and-sources-in-every-chunk.sse")),
        [tokens(6, 4)]
    );
    assert_eq!(reported_usage(&ingest_chat("tools-without-index.sse")), [tokens(5, 7)]);
}

#[test]
fn sources_in_every_chunk_are_cited_once_and_the_last_object_is_the_end() {
    let told = ingest_chat("usage-and-sources-in-every-chunk.sse");
    assert_eq!(told.citation_count(), 2);
    assert_eq!(told.visible_text(), "Water turns the mill.");
    told.assert_completed(StopReason::End);
}

#[test]
fn sources_that_come_before_the_text_are_not_lost() {
    let told = ingest_chat("sources-before-the-text.sse");
    assert_eq!(told.citation_count(), 2);
    assert_eq!(told.visible_text(), "Water turns the mill.");
}

#[test]
fn a_first_chunk_without_choices_and_random_padding_mean_nothing() {
    let told = ingest_chat("filter-results-first.sse");
    assert_eq!(told.visible_text(), "Fine.");
    assert_eq!((told.round_count(), told.unrecognised_count()), (1, 0));
}

#[test]
fn a_refusal_is_shown_and_the_run_is_refused() {
    let told = ingest_chat("refusal.sse");
    told.assert_failed(FailureReason::Refused, "the model refused");
    assert_eq!(told.final_text(), "I cannot do that.");
}

#[test]
fn a_reply_cut_by_length_is_completed_but_incomplete() {
    let told = ingest_chat("cut-by-length.sse");
    told.assert_completed(StopReason::Length);
    assert!(told.ending().incomplete);
}

#[test]
fn other_choices_are_kept_but_not_shown() {
    let told = ingest_chat("other-choices.sse");
    assert_eq!(told.visible_text(), "First choice.");
    assert_eq!(told.unrecognised_count(), 1);
}

#[test]
fn tool_calls_that_leak_into_the_text_are_hidden_but_not_in_code() {
    let told = ingest_chat("tool-tags-in-the-text.sse");
    assert_eq!(told.visible_text(), "Checking.  Done. Use `<tool_call>` for it.");
    let hidden = told.events().filter_map(|event| match event {
        Event::MarkupHidden { class: MarkupClass::Tool, text } => Some(text.as_ref()),
        _ => None,
    });
    assert_eq!(hidden.collect::<String>(), "<tool_call>{\"name\":\"f\"}</tool_call>");
}

#[test]
fn a_whole_reply_reads_like_a_stream() {
    let told = ingest_chat("whole-reply.json");
    assert_eq!(
        (told.reasoning_text().as_str(), told.visible_text().as_str()),
        ("Easy.", "It is four.")
    );
    told.assert_completed(StopReason::End);
    ingest_chat("error-body.json").assert_failed(FailureReason::Error, "The key is not valid.");
}

#[test]
fn a_null_first_delta_and_timings_at_the_end_mean_nothing() {
    let told = ingest_chat("timings-at-the-end.sse");
    assert_eq!(
        (told.reasoning_text().as_str(), told.visible_text().as_str()),
        ("Hm.", "Oslo is cold.")
    );
    assert_eq!(told.unrecognised_count(), 0);
}

#[test]
fn x7_text_after_done_with_the_same_id_is_late() {
    let told = ingest_chat("text-after-done.sse");
    assert_eq!(told.message_texts(), ["I look it up.", "Found."]);
    assert!(reported_usage(&told).is_empty());
    told.assert_completed(StopReason::End);
}

#[test]
fn x7_an_empty_finish_reason_is_no_end() {
    let told = ingest_chat("empty-finish-reason-and-string-parts.sse");
    assert_eq!(told.message_texts(), ["Half a word."]);
    told.assert_completed(StopReason::End);
    let cut = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half\"},\
               \"finish_reason\":\"\"}]}\n\n";
    assert_eq!(ingest_whole(cut.as_bytes()).ending().outcome, Outcome::Truncated);
}

#[test]
fn x2_a_character_split_over_two_deltas_is_whole_in_every_dialect() {
    for stream in [
        "anthropic/emoji-split-over-two-deltas.sse",
        "ollama/emoji-split-over-two-deltas.jsonl",
        "openai-chat/emoji-split-over-two-deltas.sse",
        "gemini/emoji-split-over-two-deltas.sse",
        "openai-responses/emoji-split-over-two-deltas.sse",
    ] {
        let told = ingest_fixture(stream);
        assert_eq!(told.message_texts()[0], "Lift off 🚀!", "{stream}");
        told.assert_completed(StopReason::End);
        assert!(!told.to_json_lines().contains("unrecognised"), "{stream}");
    }
    let told = ingest_chat("emoji-split-over-two-deltas.sse");
    assert_eq!(told.reasoning_text(), "Fly 🚀 now.");
    assert_eq!(told.tool_calls(), owned_pairs(&[("launch", "{\"to\":\"🚀\"}")]));
    assert_eq!(told.final_text(), "Done 🚀");
    let interleaved = ingest_fixture("openai-responses/emoji-split-in-two-open-messages.sse");
    assert_eq!(interleaved.message_texts(), ["a😀A", "b🎉B"]);
    let withdrawn = |event: &Event<'_>| matches!(event, Event::TextRewritten { .. });
    assert_eq!(interleaved.count_events(withdrawn), 0);
    let lone = ingest_fixture("ollama/emoji-never-completed.jsonl");
    assert_eq!(lone.visible_text(), "Lift off ! \u{fffd}Done.");
}
