//! Rules of the run machine, each tested with a small stream. A test's name starts with the label
//! of its rule.

use millpond_engine::event::{
    Event, ImageOwner, MessageId, Outcome, ReasoningOrigin, Reply, StepId,
};
use millpond_engine::ingest::{Ingest, IngestOptions, Quirk};
use millpond_engine::run::grammar::EventOrderChecker;
use millpond_engine::run::{InputEnd, Run, RunOptions, ToolStart};
use serde_json::{Value, json};

use crate::support::{RecordedEvents, ingest, ingest_whole};

fn to_sse(payloads: &[Value]) -> String {
    let mut stream = String::new();
    for payload in payloads {
        stream.extend(["data: ", &payload.to_string(), "\n\n"]);
    }
    stream
}

#[allow(clippy::needless_pass_by_value, reason = "reads better at its many callers")]
fn chat_delta(delta: Value) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]})
}

fn text_chunk(text: &str) -> Value {
    chat_delta(json!({"content": text}))
}

fn finish_chunk(reason: &str) -> Value {
    json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn ingest_chat(payloads: &[Value]) -> RecordedEvents {
    ingest_whole(to_sse(payloads).as_bytes())
}

fn ingest_text_increments(increments: &[&str]) -> RecordedEvents {
    let mut payloads: Vec<Value> =
        increments.iter().map(|increment| text_chunk(increment)).collect();
    payloads.push(finish_chunk("stop"));
    ingest_chat(&payloads)
}

#[test]
fn x2_increments_are_never_taken_for_repeats() {
    for (increments, expected) in [
        (&["Hel", "l", "o"][..], "Hello"),
        (&["ha", "ha", "ha"], "hahaha"),
        (&["1", "0", "0", "0"], "1000"),
        (&["a", "\n", "\n", "b"], "a\n\nb"),
    ] {
        assert_eq!(ingest_text_increments(increments).message_texts(), [expected]);
    }
}

#[test]
fn x2_thinking_does_not_eat_the_reply() {
    let kept = ingest_chat(&[
        chat_delta(json!({"reasoning_content": "I should help"})),
        text_chunk("I"),
        text_chunk(" can help."),
        finish_chunk("stop"),
    ]);
    assert_eq!(kept.message_texts(), ["I can help."]);
}

fn ingest_cumulative(reports: &[&str]) -> RecordedEvents {
    let run = RunOptions { quirks: vec![Quirk::CumulativeText], ..RunOptions::default() };
    let mut payloads: Vec<Value> = reports.iter().map(|report| text_chunk(report)).collect();
    payloads.push(finish_chunk("stop"));
    ingest(&IngestOptions { run, ..IngestOptions::default() }, [to_sse(&payloads).as_bytes()])
}

#[test]
fn x2_a_cumulative_source_gives_increments() {
    let kept = ingest_cumulative(&["A", "AB", "ABC"]);
    assert_eq!(kept.text_deltas(), ["A", "B", "C"]);
    assert_eq!(kept.message_texts(), ["ABC"]);
    assert!(kept.events().any(|event| matches!(event, Event::QuirkActed { .. })));
}

#[test]
fn x2_a_cumulative_source_that_rewrites_gives_a_replace() {
    let kept = ingest_cumulative(&["Hello wrld", "Hello world", "Hello world!"]);
    assert_eq!(kept.message_texts(), ["Hello world!"]);
    let rewritten = kept.events().find_map(|event| match event {
        Event::TextRewritten { kept_bytes, text, .. } => Some((*kept_bytes, text.to_string())),
        _ => None,
    });
    assert_eq!(rewritten, Some(("Hello w".len(), "orld".to_owned())));
}

#[test]
fn x2_a_rewrite_hides_what_it_must() {
    let kept = ingest_cumulative(&["a b <think>x</think>c", "a B <think>y</think>d"]);
    assert_eq!(kept.message_texts(), ["a B d"]);
    let kept = ingest_cumulative(&["<think>x", "<think>yz</think>done"]);
    assert_eq!(kept.message_texts(), ["done"]);
}

#[test]
fn x4_blank_text_before_a_tool_is_no_message() {
    let call = json!({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}]});
    let kept =
        ingest_chat(&[text_chunk("\n\n"), chat_delta(call.clone()), finish_chunk("tool_calls")]);
    assert_eq!(kept.message_texts(), Vec::<String>::new());
    assert_eq!(kept.ending().reply, Reply::None);
    let kept = ingest_chat(&[
        text_chunk("\n\n"),
        text_chunk("So"),
        chat_delta(call),
        finish_chunk("tool_calls"),
    ]);
    assert_eq!(kept.message_texts(), ["\n\nSo"]);
}

#[test]
fn x4_text_before_and_after_a_tool_are_two_messages() {
    let call = json!({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}]});
    let kept = ingest_chat(&[
        text_chunk("one"),
        chat_delta(call),
        text_chunk("two"),
        finish_chunk("stop"),
    ]);
    assert_eq!(kept.message_texts(), ["one", "two"]);
}

#[test]
fn x6_text_held_back_comes_before_the_tool() {
    let call = json!({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}]});
    let kept = ingest_chat(&[text_chunk("see <th"), chat_delta(call), finish_chunk("tool_calls")]);
    assert_eq!(kept.message_texts(), ["see <th"]);
    let order: Vec<&str> = kept
        .events()
        .filter_map(|event| match event {
            Event::TextAppended { .. } => Some("text"),
            Event::MessageEnded { .. } => Some("message ended"),
            Event::ToolStarted { .. } => Some("tool"),
            _ => None,
        })
        .collect();
    assert_eq!(order, ["text", "text", "message ended", "tool"]);
}

#[test]
fn x7_there_is_one_ending_and_it_is_last() {
    for stream in ["", "nonsense", "data: {\"choices\":[]}\n\n", "{\"error\":\"x\"}"] {
        let kept = ingest_whole(stream.as_bytes());
        assert_eq!(kept.ending_count(), 1, "{stream:?}");
        assert!(matches!(kept.events().last(), Some(Event::RunEnded { .. })));
    }
}

#[test]
fn x7_finishing_twice_or_feeding_after_the_end_changes_nothing() {
    let mut ingest = Ingest::new(&IngestOptions::default());
    let mut kept = RecordedEvents::default();
    ingest.push(to_sse(&[text_chunk("a"), finish_chunk("stop")]).as_bytes(), None, &mut kept);
    ingest.finish(InputEnd::EndOfInput, None, &mut kept);
    let before = kept.clone();
    ingest.finish(InputEnd::Cancelled, None, &mut kept);
    ingest.push(to_sse(&[text_chunk("late")]).as_bytes(), None, &mut kept);
    ingest.finish(InputEnd::EndOfInput, None, &mut kept);
    assert_eq!(kept.0, before.0);
}

#[test]
fn x7_why_no_more_came_is_the_ending_unless_the_source_had_ended() {
    for (cut, outcome) in [
        (InputEnd::EndOfInput, Outcome::Truncated),
        (InputEnd::Cancelled, Outcome::Cancelled),
        (InputEnd::Stalled, Outcome::Stalled),
        (InputEnd::Interrupted, Outcome::Interrupted),
    ] {
        let mut ingest = Ingest::new(&IngestOptions::default());
        let mut kept = RecordedEvents::default();
        ingest.push(to_sse(&[text_chunk("half")]).as_bytes(), None, &mut kept);
        let mut ended = ingest.clone();
        ingest.finish(cut, None, &mut kept);
        assert_eq!(kept.ending().outcome, outcome);
        assert!(kept.ending().incomplete);
        assert_eq!(kept.final_text(), "half", "X8: the partial survives");
        let mut kept = RecordedEvents::default();
        ended.push(to_sse(&[finish_chunk("stop")]).as_bytes(), None, &mut kept);
        ended.finish(cut, None, &mut kept);
        assert_eq!(kept.ending().outcome, Outcome::Completed);
    }
}

#[test]
fn e_a_stream_that_asks_for_tools_is_completed() {
    let call = json!({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}]});
    let kept = ingest_chat(&[chat_delta(call), finish_chunk("tool_calls")]);
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn e_a_finish_reason_without_done_is_completed() {
    assert_eq!(ingest_text_increments(&["a"]).ending().outcome, Outcome::Completed);
}

#[test]
fn e_a_further_response_is_a_new_round_of_the_same_run() {
    let other = |mut payload: Value| {
        payload["id"] = json!("c2");
        payload
    };
    let kept = ingest_chat(&[
        text_chunk("one"),
        finish_chunk("stop"),
        other(text_chunk("two")),
        other(finish_chunk("stop")),
    ]);
    let rounds = kept.events().filter(|event| matches!(event, Event::RoundStarted { .. })).count();
    assert_eq!((rounds, kept.ending_count()), (2, 1));
    assert_eq!(kept.final_text(), "two");
}

#[test]
fn l5_a_last_round_without_a_message_has_no_reply() {
    let other = |mut payload: Value| {
        payload["id"] = json!("c2");
        payload
    };
    let kept = ingest_chat(&[text_chunk("one"), finish_chunk("stop"), other(finish_chunk("stop"))]);
    assert_eq!((kept.ending().reply, kept.ending().message), (Reply::None, None));
}

#[test]
fn x12_bad_json_in_one_frame_ends_nothing() {
    let mut stream = to_sse(&[text_chunk("a")]);
    stream.push_str("data: {\"choices\":[{\"delta\n\n");
    stream.push_str(&to_sse(&[text_chunk("b"), finish_chunk("stop")]));
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.message_texts(), ["ab"]);
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert!(kept.events().any(|event| matches!(event, Event::Unrecognised { .. })));
}

#[test]
fn x12_an_unknown_field_is_kept_once() {
    let mut odd = text_chunk("a");
    odd["shiny"] = json!({"new": 1});
    let kept = ingest_chat(&[odd.clone(), odd, finish_chunk("stop")]);
    let kept_fields: Vec<String> = kept
        .events()
        .filter_map(|event| match event {
            Event::Unrecognised { raw, .. } => Some(raw.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(kept_fields, ["\"shiny\":{\"new\":1}"]);
}

#[test]
fn x18_only_choice_0_is_shown() {
    let mut second = text_chunk("other");
    second["choices"][0]["index"] = json!(1);
    let kept = ingest_chat(&[text_chunk("a"), second, text_chunk("b"), finish_chunk("stop")]);
    assert_eq!(kept.message_texts(), ["ab"]);
}

#[test]
fn x18_images_and_citations_belong_to_their_message() {
    let kept = ingest_chat(&[
        text_chunk("Look:"),
        chat_delta(
            json!({"images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}),
        ),
        chat_delta(
            json!({"annotations": [{"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}]}),
        ),
        finish_chunk("stop"),
    ]);
    let owners: Vec<ImageOwner> = kept
        .events()
        .filter_map(|event| match event {
            Event::ImageReceived { owner, .. } => Some(*owner),
            Event::SourceCited { message, .. } => Some(ImageOwner::Message(*message)),
            _ => None,
        })
        .collect();
    assert_eq!(owners, [ImageOwner::Message(MessageId(0)); 2]);
    assert_eq!(kept.message_texts(), ["Look:"]);
}

/// Messages and steps of every withdrawal.
fn withdrawals(kept: &RecordedEvents) -> Vec<(Vec<MessageId>, Vec<StepId>)> {
    let withdrawn = kept.events().filter_map(|event| match event {
        Event::Withdrawn { messages, steps } => Some((messages.clone(), steps.clone())),
        _ => None,
    });
    withdrawn.collect()
}

#[test]
fn x16_only_what_is_unfinished_is_taken_back() {
    let mut kept = RecordedEvents::default();
    let mut run = Run::new(&RunOptions::default());
    let mut out = run.writer(None, &mut kept);
    out.start_run("test", millpond_engine::event::TextMode::Incremental);
    out.append_text("Keep me");
    let step = out.start_tool(ToolStart::client_function("c", "look"));
    out.append_text("Other");
    let other = out.open_message_id().unwrap();
    out.close_message_and_set_next_phase(None);
    // The end of it is held: it may be a tag.
    out.append_text("Hal <thi");
    out.withdraw_unfinished_and_end_round(&[other]);
    assert!(!out.has_open_round() && out.is_tool_open(step));
    out.end_run(InputEnd::EndOfInput);
    check_well_formed(&kept, "unfinished");
    assert_eq!(withdrawals(&kept), [(vec![MessageId(1), MessageId(2)], vec![])]);
    assert_eq!(kept.visible_text(), "Keep me");
    assert_eq!(kept.final_text(), "Keep me");
}

#[test]
fn x16_reasoning_that_is_unfinished_is_taken_back() {
    let mut kept = RecordedEvents::default();
    let mut run = Run::new(&RunOptions::default());
    let mut out = run.writer(None, &mut kept);
    out.start_run("test", millpond_engine::event::TextMode::Incremental);
    out.append_reasoning("Done.", ReasoningOrigin::Native);
    out.append_text("Keep me");
    out.close_message_and_defer_end();
    out.append_reasoning("Hal", ReasoningOrigin::Native);
    out.withdraw_unfinished_and_end_round(&[]);
    out.end_run(InputEnd::EndOfInput);
    check_well_formed(&kept, "unfinished");
    assert_eq!(withdrawals(&kept), [(vec![], vec![StepId(1)])]);
    assert_eq!(kept.final_text(), "Keep me");
}

/// Every `*_started` has exactly one `*_ended`, and nothing of a thing comes outside of it.
#[track_caller]
pub(crate) fn check_well_formed(kept: &RecordedEvents, name: &str) {
    let mut grammar = EventOrderChecker::default();
    for (at, event) in kept.events().enumerate() {
        if let Err(broken) = grammar.apply(event) {
            panic!("{name}, event {at}, {broken:?}: {event:?}");
        }
    }
    assert!(grammar.is_ended(), "{name} has no ending");
}

#[test]
fn x1_frames_that_waited_for_their_dialect_keep_the_times_at_which_they_came() {
    let mut ingest = Ingest::new(&IngestOptions::default());
    let mut kept = RecordedEvents::default();
    ingest.push(b"noise before the stream\n", Some(1), &mut kept);
    ingest.push(to_sse(&[json!({"type": "ping"})]).as_bytes(), Some(2), &mut kept);
    assert!(kept.0.is_empty(), "nothing is certain yet");
    ingest.push(to_sse(&[text_chunk("Hi"), finish_chunk("stop")]).as_bytes(), Some(30), &mut kept);
    let times: Vec<u64> = kept.0.iter().map(|(at, _)| at.unwrap()).collect();
    assert_eq!(times.first(), Some(&1));
    assert_eq!(times.last(), Some(&30));
}
