//! The rules of the run machine, each through a small stream. A test's name begins with the label
//! of the rule it shows.

use engine::event::{Event, MessageId, Outcome, Owner, ReasoningOrigin, Reply, StepId};
use engine::ingest::{Ingest, Options, Quirk};
use engine::run::grammar::Grammar;
use engine::run::{Cut, Run, RunOptions, ToolStart};
use serde_json::{Value, json};

use crate::support::{Kept, ingest, ingest_whole};

fn sse(payloads: &[Value]) -> String {
    let mut stream = String::new();
    for payload in payloads {
        stream.extend(["data: ", &payload.to_string(), "\n\n"]);
    }
    stream
}

#[allow(clippy::needless_pass_by_value, reason = "reads better at its many callers")]
fn delta(delta: Value) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]})
}

fn text(text: &str) -> Value {
    delta(json!({"content": text}))
}

fn finish(reason: &str) -> Value {
    json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn chat(payloads: &[Value]) -> Kept {
    ingest_whole(sse(payloads).as_bytes())
}

fn texts(increments: &[&str]) -> Kept {
    let mut payloads: Vec<Value> = increments.iter().map(|increment| text(increment)).collect();
    payloads.push(finish("stop"));
    chat(&payloads)
}

#[test]
fn x2_increments_are_never_taken_for_repeats() {
    for (increments, expected) in [
        (&["Hel", "l", "o"][..], "Hello"),
        (&["ha", "ha", "ha"], "hahaha"),
        (&["1", "0", "0", "0"], "1000"),
        (&["a", "\n", "\n", "b"], "a\n\nb"),
    ] {
        assert_eq!(texts(increments).messages(), [expected]);
    }
}

#[test]
fn x2_thinking_does_not_eat_the_reply() {
    let kept = chat(&[
        delta(json!({"reasoning_content": "I should help"})),
        text("I"),
        text(" can help."),
        finish("stop"),
    ]);
    assert_eq!(kept.messages(), ["I can help."]);
}

fn cumulative(reports: &[&str]) -> Kept {
    let run = RunOptions { quirks: vec![Quirk::CumulativeText], ..RunOptions::default() };
    let mut payloads: Vec<Value> = reports.iter().map(|report| text(report)).collect();
    payloads.push(finish("stop"));
    ingest(&Options { run, ..Options::default() }, [sse(&payloads).as_bytes()])
}

#[test]
fn x2_a_cumulative_source_gives_increments() {
    let kept = cumulative(&["A", "AB", "ABC"]);
    assert_eq!(kept.texts(), ["A", "B", "C"]);
    assert_eq!(kept.messages(), ["ABC"]);
    assert!(kept.events().any(|event| matches!(event, Event::QuirkActed { .. })));
}

#[test]
fn x2_a_cumulative_source_that_rewrites_gives_a_replace() {
    let kept = cumulative(&["Hello wrld", "Hello world", "Hello world!"]);
    assert_eq!(kept.messages(), ["Hello world!"]);
    let rewritten = kept.events().find_map(|event| match event {
        Event::TextRewritten { kept_bytes, text, .. } => Some((*kept_bytes, text.to_string())),
        _ => None,
    });
    assert_eq!(rewritten, Some(("Hello w".len(), "orld".to_owned())));
}

#[test]
fn x2_a_rewrite_hides_what_it_must() {
    let kept = cumulative(&["a b <think>x</think>c", "a B <think>y</think>d"]);
    assert_eq!(kept.messages(), ["a B d"]);
    let kept = cumulative(&["<think>x", "<think>yz</think>done"]);
    assert_eq!(kept.messages(), ["done"]);
}

#[test]
fn x4_blank_text_before_a_tool_is_no_message() {
    let call = json!({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}]});
    let kept = chat(&[text("\n\n"), delta(call.clone()), finish("tool_calls")]);
    assert_eq!(kept.messages(), Vec::<String>::new());
    assert_eq!(kept.ending().reply, Reply::None);
    let kept = chat(&[text("\n\n"), text("So"), delta(call), finish("tool_calls")]);
    assert_eq!(kept.messages(), ["\n\nSo"]);
}

#[test]
fn x4_text_before_and_after_a_tool_are_two_messages() {
    let call = json!({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}]});
    let kept = chat(&[text("one"), delta(call), text("two"), finish("stop")]);
    assert_eq!(kept.messages(), ["one", "two"]);
}

#[test]
fn x6_text_held_back_comes_before_the_tool() {
    let call = json!({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}]});
    let kept = chat(&[text("see <th"), delta(call), finish("tool_calls")]);
    assert_eq!(kept.messages(), ["see <th"]);
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
        assert_eq!(kept.endings(), 1, "{stream:?}");
        assert!(matches!(kept.events().last(), Some(Event::RunEnded { .. })));
    }
}

#[test]
fn x7_finishing_twice_or_feeding_after_the_end_changes_nothing() {
    let mut ingest = Ingest::new(&Options::default());
    let mut kept = Kept::default();
    ingest.push(sse(&[text("a"), finish("stop")]).as_bytes(), None, &mut kept);
    ingest.finish(Cut::EndOfInput, None, &mut kept);
    let before = kept.clone();
    ingest.finish(Cut::Cancelled, None, &mut kept);
    ingest.push(sse(&[text("late")]).as_bytes(), None, &mut kept);
    ingest.finish(Cut::EndOfInput, None, &mut kept);
    assert_eq!(kept.0, before.0);
}

#[test]
fn x7_why_no_more_came_is_the_ending_unless_the_source_had_ended() {
    for (cut, outcome) in [
        (Cut::EndOfInput, Outcome::Truncated),
        (Cut::Cancelled, Outcome::Cancelled),
        (Cut::Stalled, Outcome::Stalled),
        (Cut::Interrupted, Outcome::Interrupted),
    ] {
        let mut ingest = Ingest::new(&Options::default());
        let mut kept = Kept::default();
        ingest.push(sse(&[text("half")]).as_bytes(), None, &mut kept);
        let mut ended = ingest.clone();
        ingest.finish(cut, None, &mut kept);
        assert_eq!(kept.ending().outcome, outcome);
        assert!(kept.ending().incomplete);
        assert_eq!(kept.reply(), "half", "X8: the partial survives");
        let mut kept = Kept::default();
        ended.push(sse(&[finish("stop")]).as_bytes(), None, &mut kept);
        ended.finish(cut, None, &mut kept);
        assert_eq!(kept.ending().outcome, Outcome::Completed);
    }
}

#[test]
fn e_a_stream_that_asks_for_tools_is_completed() {
    let call = json!({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}]});
    let kept = chat(&[delta(call), finish("tool_calls")]);
    assert_eq!(kept.ending().outcome, Outcome::Completed);
}

#[test]
fn e_a_finish_reason_without_done_is_completed() {
    assert_eq!(texts(&["a"]).ending().outcome, Outcome::Completed);
}

#[test]
fn e_a_further_response_is_a_new_round_of_the_same_run() {
    let other = |mut payload: Value| {
        payload["id"] = json!("c2");
        payload
    };
    let kept = chat(&[text("one"), finish("stop"), other(text("two")), other(finish("stop"))]);
    let rounds = kept.events().filter(|event| matches!(event, Event::RoundStarted { .. })).count();
    assert_eq!((rounds, kept.endings()), (2, 1));
    assert_eq!(kept.reply(), "two");
}

#[test]
fn l5_a_last_round_without_a_message_has_no_reply() {
    let other = |mut payload: Value| {
        payload["id"] = json!("c2");
        payload
    };
    let kept = chat(&[text("one"), finish("stop"), other(finish("stop"))]);
    assert_eq!((kept.ending().reply, kept.ending().message), (Reply::None, None));
}

#[test]
fn x12_bad_json_in_one_frame_ends_nothing() {
    let mut stream = sse(&[text("a")]);
    stream.push_str("data: {\"choices\":[{\"delta\n\n");
    stream.push_str(&sse(&[text("b"), finish("stop")]));
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.messages(), ["ab"]);
    assert_eq!(kept.ending().outcome, Outcome::Completed);
    assert!(kept.events().any(|event| matches!(event, Event::Unrecognised { .. })));
}

#[test]
fn x12_an_unknown_field_is_kept_once() {
    let mut odd = text("a");
    odd["shiny"] = json!({"new": 1});
    let kept = chat(&[odd.clone(), odd, finish("stop")]);
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
    let mut second = text("other");
    second["choices"][0]["index"] = json!(1);
    let kept = chat(&[text("a"), second, text("b"), finish("stop")]);
    assert_eq!(kept.messages(), ["ab"]);
}

#[test]
fn x18_images_and_citations_belong_to_their_message() {
    let kept = chat(&[
        text("Look:"),
        delta(
            json!({"images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}),
        ),
        delta(
            json!({"annotations": [{"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}]}),
        ),
        finish("stop"),
    ]);
    let owners: Vec<Owner> = kept
        .events()
        .filter_map(|event| match event {
            Event::ImageReceived { owner, .. } => Some(*owner),
            Event::SourceCited { message, .. } => Some(Owner::Message(*message)),
            _ => None,
        })
        .collect();
    assert_eq!(owners, [Owner::Message(MessageId(0)); 2]);
    assert_eq!(kept.messages(), ["Look:"]);
}

/// What a run says it takes back.
fn withdrawn(kept: &Kept) -> Vec<(Vec<MessageId>, Vec<StepId>)> {
    let withdrawn = kept.events().filter_map(|event| match event {
        Event::Withdrawn { messages, steps } => Some((messages.clone(), steps.clone())),
        _ => None,
    });
    withdrawn.collect()
}

#[test]
fn x16_only_what_is_unfinished_is_taken_back() {
    let mut kept = Kept::default();
    let mut run = Run::new(&RunOptions::default());
    let mut out = run.writer(None, &mut kept);
    out.start("test", engine::event::TextMode::Incremental);
    out.text("Keep me");
    let step = out.tool(ToolStart::function("c", "look"));
    out.text("Other");
    let other = out.open_message().unwrap();
    out.begin_message(None);
    // The end of it is held: it may be a tag.
    out.text("Hal <thi");
    out.withdraw_unfinished(&[other]);
    assert!(!out.in_round() && out.is_open(step));
    out.finish(Cut::EndOfInput);
    check_well_formed(&kept, "unfinished");
    assert_eq!(withdrawn(&kept), [(vec![MessageId(1), MessageId(2)], vec![])]);
    assert_eq!(kept.visible(), "Keep me");
    assert_eq!(kept.reply(), "Keep me");
}

#[test]
fn x16_reasoning_that_is_unfinished_is_taken_back() {
    let mut kept = Kept::default();
    let mut run = Run::new(&RunOptions::default());
    let mut out = run.writer(None, &mut kept);
    out.start("test", engine::event::TextMode::Incremental);
    out.reasoning("Done.", ReasoningOrigin::Native);
    out.text("Keep me");
    out.end_message();
    out.reasoning("Hal", ReasoningOrigin::Native);
    out.withdraw_unfinished(&[]);
    out.finish(Cut::EndOfInput);
    check_well_formed(&kept, "unfinished");
    assert_eq!(withdrawn(&kept), [(vec![], vec![StepId(1)])]);
    assert_eq!(kept.reply(), "Keep me");
}

/// Every `*_started` has exactly one `*_ended`, and nothing of a thing comes outside of it.
#[track_caller]
pub(crate) fn check_well_formed(kept: &Kept, name: &str) {
    let mut grammar = Grammar::default();
    for (at, event) in kept.events().enumerate() {
        if let Err(broken) = grammar.apply(event) {
            panic!("{name}, event {at}, {broken:?}: {event:?}");
        }
    }
    assert!(grammar.is_ended(), "{name} has no ending");
}

#[test]
fn x1_frames_that_waited_for_their_dialect_keep_the_times_at_which_they_came() {
    let mut ingest = Ingest::new(&Options::default());
    let mut kept = Kept::default();
    ingest.push(b"noise before the stream\n", Some(1), &mut kept);
    ingest.push(sse(&[json!({"type": "ping"})]).as_bytes(), Some(2), &mut kept);
    assert!(kept.0.is_empty(), "nothing is certain yet");
    ingest.push(sse(&[text("Hi"), finish("stop")]).as_bytes(), Some(30), &mut kept);
    let times: Vec<u64> = kept.0.iter().map(|(at, _)| at.unwrap()).collect();
    assert_eq!(times.first(), Some(&1));
    assert_eq!(times.last(), Some(&30));
}
