//! Chat completions as their many speakers send them.

use engine::event::{Event, FailureReason, MarkupClass, Stop, ToolOutcome, Usage};

use crate::fixture::told;
use crate::support::Kept;

fn chat(stream: &str) -> Kept {
    told(&format!("openai-chat/{stream}"))
}

fn pairs(tools: &[(&str, &str)]) -> Vec<(String, String)> {
    tools.iter().map(|&(name, arguments)| (name.to_owned(), arguments.to_owned())).collect()
}

fn usage(told: &Kept) -> Vec<Usage> {
    let reported = told.events().filter_map(|event| match event {
        Event::UsageReported { usage, .. } => Some(*usage),
        _ => None,
    });
    reported.collect()
}

#[test]
fn tools_are_told_apart_by_index_id_or_name_whichever_there_is() {
    let both = pairs(&[("left", "{\"n\":1}"), ("right", "{\"m\":2}")]);
    assert_eq!(chat("tools-interleaved.sse").tools(), both);
    assert_eq!(chat("tools-always-index-0.sse").tools(), both);
    assert_eq!(chat("tools-without-id-or-index.sse").tools(), both);
    let third = [both, pairs(&[("third", "{}")])].concat();
    assert_eq!(chat("tools-without-ids.sse").tools(), third);
}

#[test]
fn whole_calls_in_one_chunk_need_no_index() {
    let told = chat("tools-without-index.sse");
    assert_eq!(told.tools(), pairs(&[("left", "{\"n\": 1}"), ("right", "{\"m\": 2}")]));
    told.completed(Stop::Tools);
}

#[test]
fn an_empty_id_on_a_continuation_is_no_new_call() {
    let told = chat("tools-empty-id-on-continuation.sse");
    assert_eq!(told.tools(), pairs(&[("weather", "{\"city\": \"Gdańsk\"}")]));
    assert_eq!(told.outcomes(), [ToolOutcome::NoResult]);
}

#[test]
fn the_function_call_of_old_is_a_tool() {
    let told = chat("function-call-of-old.sse");
    assert_eq!(told.tools(), pairs(&[("add", "{\"a\": 1}")]));
    told.completed(Stop::Tools);
}

#[test]
fn thinking_in_a_list_of_parts_is_reasoning() {
    let told = chat("content-in-parts.sse");
    assert_eq!(told.reasoning(), "Two and two.");
    assert_eq!(told.visible(), "It is four.");
}

#[test]
fn comments_are_passed_over_and_reasoning_is_read_from_its_other_field() {
    let told = chat("comments-and-reasoning.sse");
    assert_eq!(told.reasoning(), "Let me see.");
    assert_eq!(told.visible(), "Here.");
    assert_eq!(usage(&told)[0].cost_usd, Some(0.00012));
    assert_eq!(told.unrecognised(), 0);
}

#[test]
fn an_error_in_the_middle_fails_the_run_and_keeps_its_text() {
    let told = chat("error-in-the-middle.sse");
    told.failed(FailureReason::Error, "the upstream broke");
    assert_eq!(told.reply(), "Half of it");
    let told = chat("error-event.sse");
    told.failed(FailureReason::Error, "the tool call does not fit its schema");
    assert_eq!(told.reply().trim(), "Now");
}

#[test]
fn usage_is_read_wherever_it_stands() {
    let tokens = |input, output| Usage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        ..Usage::default()
    };
    assert_eq!(usage(&chat("usage-in-x-groq.sse")), [tokens(11, 2)]);
    assert_eq!(usage(&chat("tools-empty-id-on-continuation.sse")), [tokens(9, 4)]);
    assert_eq!(usage(&chat("usage-and-sources-in-every-chunk.sse")), [tokens(6, 4)]);
    assert_eq!(usage(&chat("tools-without-index.sse")), [tokens(5, 7)]);
}

#[test]
fn sources_in_every_chunk_are_cited_once_and_the_last_object_is_the_end() {
    let told = chat("usage-and-sources-in-every-chunk.sse");
    assert_eq!(told.cited(), 2);
    assert_eq!(told.visible(), "Water turns the mill.");
    told.completed(Stop::End);
}

#[test]
fn sources_that_come_before_the_text_are_not_lost() {
    let told = chat("sources-before-the-text.sse");
    assert_eq!(told.cited(), 2);
    assert_eq!(told.visible(), "Water turns the mill.");
}

#[test]
fn a_first_chunk_without_choices_and_random_padding_mean_nothing() {
    let told = chat("filter-results-first.sse");
    assert_eq!(told.visible(), "Fine.");
    assert_eq!((told.rounds(), told.unrecognised()), (1, 0));
}

#[test]
fn a_refusal_is_shown_and_the_run_is_refused() {
    let told = chat("refusal.sse");
    told.failed(FailureReason::Refused, "the model refused");
    assert_eq!(told.reply(), "I cannot do that.");
}

#[test]
fn a_reply_cut_by_length_is_completed_but_incomplete() {
    let told = chat("cut-by-length.sse");
    told.completed(Stop::Length);
    assert!(told.ending().incomplete);
}

#[test]
fn other_choices_are_kept_but_not_shown() {
    let told = chat("other-choices.sse");
    assert_eq!(told.visible(), "First choice.");
    assert_eq!(told.unrecognised(), 1);
}

#[test]
fn tool_calls_that_leak_into_the_text_are_hidden_but_not_in_code() {
    let told = chat("tool-tags-in-the-text.sse");
    assert_eq!(told.visible(), "Checking.  Done. Use `<tool_call>` for it.");
    let hidden = told.events().filter_map(|event| match event {
        Event::MarkupHidden { class: MarkupClass::Tool, text } => Some(text.as_ref()),
        _ => None,
    });
    assert_eq!(hidden.collect::<String>(), "<tool_call>{\"name\":\"f\"}</tool_call>");
}

#[test]
fn a_whole_reply_reads_like_a_stream() {
    let told = chat("whole-reply.json");
    assert_eq!((told.reasoning().as_str(), told.visible().as_str()), ("Easy.", "It is four."));
    told.completed(Stop::End);
    chat("error-body.json").failed(FailureReason::Error, "The key is not valid.");
}

#[test]
fn a_null_first_delta_and_timings_at_the_end_mean_nothing() {
    let told = chat("timings-at-the-end.sse");
    assert_eq!((told.reasoning().as_str(), told.visible().as_str()), ("Hm.", "Oslo is cold."));
    assert_eq!(told.unrecognised(), 0);
}
