//! Control words through whole streams: what they hide, and when one ends the run (F5, L9).

use millpond_engine::event::{Event, MarkupClass, Outcome, Reply, StepId, ToolOutcome};
use millpond_engine::filter::{ControlMeaning, ControlWord};
use millpond_engine::ingest::{Ingest, IngestOptions, Quirk};
use millpond_engine::run::RunOptions;
use serde_json::{Value, json};

use crate::rules::check_well_formed;
use crate::support::{RecordedEvents, ingest};

fn control_words() -> Vec<ControlWord> {
    vec![
        ControlWord::new("!isfinish", ControlMeaning::Finish).unwrap(),
        ControlWord::new("HEARTBEAT_OK", ControlMeaning::NothingToReport).unwrap(),
    ]
}

pub(crate) fn options_with_control_words() -> IngestOptions {
    let run = RunOptions { control_words: control_words(), ..RunOptions::default() };
    IngestOptions { run, ..IngestOptions::default() }
}

/// Reads a stream whole and byte by byte.
#[track_caller]
pub(crate) fn ingest_and_check(stream: &str) -> RecordedEvents {
    let kept = ingest(&options_with_control_words(), [stream.as_bytes()]);
    check_well_formed(&kept, stream);
    let bytewise = ingest(&options_with_control_words(), stream.as_bytes().chunks(1));
    assert_eq!(kept.0, bytewise.0);
    kept
}

pub(crate) fn to_sse(payloads: &[Value]) -> String {
    let mut stream = String::new();
    for payload in payloads {
        stream.extend(["data: ", &payload.to_string(), "\n\n"]);
    }
    stream
}

pub(crate) fn to_json_lines(payloads: &[Value]) -> String {
    let mut stream = String::new();
    for payload in payloads {
        stream.extend([&payload.to_string(), "\n"]);
    }
    stream
}

/// A piece of the chat reply `id`.
pub(crate) fn chat_chunk(id: &str, delta: &Value) -> Value {
    json!({"id": id, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]})
}

pub(crate) fn chat_finish_chunk(id: &str, reason: &str) -> Value {
    json!({"id": id, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// A chat reply of these pieces of text, and then another.
fn ingest_chat_then_more(pieces: &[&str]) -> RecordedEvents {
    let mut payloads: Vec<Value> =
        pieces.iter().map(|piece| chat_chunk("1", &json!({"content": piece}))).collect();
    payloads.push(chat_finish_chunk("1", "stop"));
    payloads.push(chat_chunk("2", &json!({"content": "MORE"})));
    payloads.push(chat_finish_chunk("2", "stop"));
    ingest_and_check(&to_sse(&payloads))
}

fn tool_call_delta(arguments: &str) -> Value {
    let function = json!({"name": "click", "arguments": arguments});
    json!({"tool_calls": [{"index": 0, "id": "t", "function": function}]})
}

fn hidden_control_words(kept: &RecordedEvents) -> Vec<String> {
    let words = kept.events().filter_map(|event| match event {
        Event::MarkupHidden { class: MarkupClass::Control, text } => Some(text.to_string()),
        _ => None,
    });
    words.collect()
}

pub(crate) fn tool_outcomes(kept: &RecordedEvents) -> Vec<ToolOutcome> {
    let ended = kept.events().filter_map(|event| match event {
        Event::ToolEnded { outcome, .. } => Some(*outcome),
        _ => None,
    });
    ended.collect()
}

#[track_caller]
pub(crate) fn check_ends(kept: &RecordedEvents, messages: &[&str]) {
    assert_eq!(kept.message_texts(), messages);
    let ending = kept.ending();
    assert_eq!((ending.outcome, ending.incomplete), (Outcome::Completed, false));
    assert_eq!(kept.final_text(), messages.last().copied().unwrap_or_default());
    assert!(!hidden_control_words(kept).is_empty());
}

#[test]
fn f5_at_an_edge_of_its_message_it_ends_the_run() {
    for (pieces, message) in [
        (&["Gotowe!isfinish"][..], "Gotowe"),
        (&["Done. ", "!is", "finish"], "Done. "),
        (&["Done. !ISFINISH \n"], "Done.  \n"),
        (&["!isfinish Done."], " Done."),
        (&["\n", "!isfin", "ish\nDone."], "\n\nDone."),
        (&["!isfinish a !isfinish b"], " a  b"),
        (&["a !isfinish b !isfinish"], "a  b "),
        (&["a !isfinish !isfinish"], "a  "),
        (&["a !isfinish<think>b</think> "], "a  "),
        (&["<think>b</think>!isfinish a"], "a"),
        (&["Done. !isfinish."], "Done. "),
        (&["Done. **!is", "finish**"], "Done. "),
        (&["Done. !isfinish ", "🎉", "\n"], "Done.  \n"),
        (&["*", "*!isfinish*", "* Done."], " Done."),
        (&["🎉 !isfinish\nDone."], " \nDone."),
    ] {
        check_ends(&ingest_chat_then_more(pieces), &[message]);
    }
}

#[test]
fn f5_alone_it_ends_the_run_without_a_message() {
    for pieces in [
        &["!isfinish"][..],
        &["!", "isfinish"],
        &["\n!isfinish\n"],
        &["!isfinish."],
        &["**!isfinish**"],
        &["🎉 **!is", "finish!** 🎉"],
    ] {
        let kept = ingest_chat_then_more(pieces);
        check_ends(&kept, &[]);
        assert_eq!(kept.ending().reply, Reply::None);
        assert_eq!(kept.ending_count(), 1);
    }
}

#[test]
fn f5_in_the_middle_it_is_hidden_and_ends_nothing() {
    let kept = ingest_chat_then_more(&["Say !isfi", "nish to end."]);
    assert_eq!(kept.message_texts(), ["Say  to end.", "MORE"]);
    assert_eq!(hidden_control_words(&kept), ["!isfinish"]);
    assert_eq!(kept.final_text(), "MORE");
}

#[test]
fn f5_in_code_and_as_part_of_a_word_it_is_text() {
    for text in ["`!isfinish`", "```\n!isfinish\n```", "    !isfinish", "I !isfinished"] {
        let kept = ingest_chat_then_more(&[text]);
        assert_eq!(kept.message_texts(), [text, "MORE"]);
        assert_eq!(hidden_control_words(&kept), Vec::<String>::new());
    }
}

#[test]
fn f5_in_reasoning_and_tool_markup_it_means_nothing() {
    for reply in [
        json!({"content": "a<think>!isfinish</think>"}),
        json!({"content": "a<tool_call>!isfinish</tool_call>"}),
        json!({"reasoning_content": "!isfinish", "content": "a"}),
    ] {
        let kept =
            ingest_and_check(&to_sse(&[chat_chunk("1", &reply), chat_finish_chunk("1", "stop")]));
        assert_eq!(
            (kept.message_texts(), hidden_control_words(&kept)),
            (vec!["a".to_owned()], vec![])
        );
    }
}

#[test]
fn f5_in_arguments_it_means_nothing() {
    let stream = to_sse(&[
        chat_chunk("1", &json!({"content": "Typing."})),
        chat_chunk("1", &tool_call_delta("{\"text\":\"!isfinish\"}")),
        chat_finish_chunk("1", "tool_calls"),
        chat_chunk("2", &json!({"content": "MORE"})),
        chat_finish_chunk("2", "stop"),
    ]);
    let kept = ingest_and_check(&stream);
    assert_eq!(kept.message_texts(), ["Typing.", "MORE"]);
    assert!(kept.to_json_lines().contains("{\\\"text\\\":\\\"!isfinish\\\"}"));
}

#[test]
fn f5_an_action_of_the_same_reply_comes_first_and_then_the_end() {
    let stream = to_sse(&[
        chat_chunk("1", &json!({"content": "Last click. !isfinish"})),
        chat_chunk("1", &tool_call_delta("{}")),
        chat_finish_chunk("1", "tool_calls"),
        json!({"id": "1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
        chat_chunk("2", &json!({"content": "MORE"})),
        chat_chunk("2", &tool_call_delta("{}")),
        chat_finish_chunk("2", "tool_calls"),
    ]);
    let kept = ingest_and_check(&stream);
    check_ends(&kept, &["Last click. "]);
    assert_eq!(tool_outcomes(&kept), [ToolOutcome::NoResult]);
    assert!(kept.events().any(|event| matches!(event, Event::UsageReported { .. })));
}

/// A line of Claude Code's: a whole message of one content block.
fn assistant_line(id: &str, block: &Value) -> Value {
    json!({"type": "assistant", "session_id": "s", "parent_tool_use_id": null, "message": {
        "id": id, "type": "message", "role": "assistant", "model": "m", "content": [block]}})
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn tool_use_block(call: &str) -> Value {
    json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "echo !isfinish"}})
}

fn tool_result_line(call: &str) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": call, "content": "ran !isfinish"});
    json!({"type": "user", "session_id": "s", "parent_tool_use_id": null, "message": {
        "role": "user", "content": [block]}})
}

fn result_line(text: &str) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "result": text,
        "session_id": "s", "num_turns": 1, "total_cost_usd": 0.5})
}

#[test]
fn f5_in_arguments_and_results_of_an_agent_it_means_nothing() {
    let kept = ingest_and_check(&to_json_lines(&[
        assistant_line("m1", &text_block("I look.")),
        assistant_line("m1", &tool_use_block("a")),
        tool_result_line("a"),
        assistant_line("m2", &text_block("Seen.")),
        result_line("Seen."),
    ]));
    assert_eq!(kept.message_texts(), ["I look.", "Seen."]);
    assert_eq!(kept.tool_output(StepId(0)), "ran !isfinish");
    assert_eq!(hidden_control_words(&kept), Vec::<String>::new());
}

#[test]
fn f5_all_tools_of_the_reply_end_before_the_run() {
    let begin = [
        assistant_line("m1", &text_block("Two last things. !isfinish")),
        assistant_line("m1", &tool_use_block("a")),
        assistant_line("m1", &tool_use_block("b")),
        tool_result_line("a"),
        tool_result_line("b"),
    ];
    let more = [
        assistant_line("m2", &text_block("MORE")),
        assistant_line("m2", &tool_use_block("c")),
        result_line("MORE"),
    ];
    let kept = ingest_and_check(&to_json_lines(&[&begin[..], &more].concat()));
    check_ends(&kept, &["Two last things. "]);
    assert_eq!(tool_outcomes(&kept), [ToolOutcome::Succeeded; 2]);
    // The tools have ended: the stream may break off now, but not before.
    check_ends(&ingest_and_check(&to_json_lines(&begin)), &["Two last things. "]);
    let cut = ingest_and_check(&to_json_lines(&begin[..4]));
    assert_eq!(cut.ending().outcome, Outcome::Truncated);
    assert_eq!(cut.message_texts(), ["Two last things. "]);
}

#[test]
fn f5_the_declared_final_message_is_the_one_that_was_shown() {
    let kept = ingest_and_check(&to_json_lines(&[
        assistant_line("m1", &text_block("Done. !isfinish")),
        result_line("Done. !isfinish"),
        assistant_line("m2", &text_block("MORE")),
    ]));
    check_ends(&kept, &["Done. "]);
    let cost = |event: &Event<'_>| matches!(event, Event::UsageReported { usage, .. } if usage.cost_usd.is_some());
    assert!(kept.events().any(cost), "what the source says before it goes on still counts");
}

fn anthropic_reply(id: &str, texts: &[&str], stop: Option<&str>) -> Vec<Value> {
    let message = json!({"id": id, "type": "message", "role": "assistant", "model": "m"});
    let mut payloads = vec![json!({"type": "message_start", "message": message})];
    for text in texts {
        let delta = json!({"type": "text_delta", "text": text});
        payloads.push(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    }
    if let Some(stop) = stop {
        payloads.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}}));
        payloads.push(json!({"type": "message_stop"}));
    }
    payloads
}

#[test]
fn f5_it_ends_a_run_of_another_dialect_alike() {
    let more = anthropic_reply("2", &["MORE"], Some("end_turn"));
    let edge = anthropic_reply("1", &["Done", "! !IsFin", "ISH"], Some("end_turn"));
    check_ends(&ingest_and_check(&to_sse(&[edge, more.clone()].concat())), &["Done! "]);
    let middle = anthropic_reply("1", &["Do", "ne!isfinish?", " No"], Some("end_turn"));
    let kept = ingest_and_check(&to_sse(&[middle, more].concat()));
    assert_eq!(kept.message_texts(), ["Done? No", "MORE"]);
}

#[test]
fn f5_a_stream_that_is_cut_is_never_called_finished() {
    for dialect in ["chat", "anthropic"] {
        let stream = match dialect {
            "chat" => to_sse(&[chat_chunk("1", &json!({"content": "Done. !isfinish"}))]),
            _ => to_sse(&anthropic_reply("1", &["Done. !isfinish"], None)),
        };
        let kept = ingest_and_check(&stream);
        assert_eq!(kept.ending().outcome, Outcome::Truncated, "{dialect}");
        assert_eq!(kept.final_text(), "Done. ");
        let half = ingest_and_check(&stream.replace("!isfinish", "!isfin"));
        assert_eq!(half.final_text(), "Done. !isfin", "what is not the word is text");
    }
}

#[test]
fn f5_every_cut_of_a_stream_shows_nothing_of_the_word() {
    let stream = to_sse(&[
        chat_chunk("1", &json!({"content": "Gotowe"})),
        chat_chunk("1", &json!({"content": "!is"})),
        chat_chunk("1", &json!({"content": "finish"})),
        chat_chunk("1", &tool_call_delta("{}")),
        chat_finish_chunk("1", "tool_calls"),
    ]);
    for cut in 0..stream.len() {
        let mut ingest = Ingest::new(&options_with_control_words());
        let mut kept = RecordedEvents::default();
        ingest.push(&stream.as_bytes()[..cut], None, &mut kept);
        assert!(
            "Gotowe".starts_with(&kept.visible_text()),
            "cut at {cut}: {}",
            kept.visible_text()
        );
    }
}

#[test]
fn f5_off_unless_asked_for() {
    let stream = to_sse(&[
        chat_chunk("1", &json!({"content": "a !isfinish"})),
        chat_finish_chunk("1", "stop"),
    ]);
    let kept = ingest(&IngestOptions::default(), [stream.as_bytes()]);
    assert_eq!(kept.message_texts(), ["a !isfinish"]);
}

#[test]
fn l9_a_reply_that_is_only_the_marker_is_no_message() {
    for pieces in [
        &["HEARTBEAT_OK"][..],
        &["HEART", "BEAT", "_OK", "\n"],
        &["heartbeat_ok."],
        &["**heartbeat_ok.**"],
    ] {
        let mut payloads: Vec<Value> =
            pieces.iter().map(|piece| chat_chunk("1", &json!({"content": piece}))).collect();
        payloads.push(chat_finish_chunk("1", "stop"));
        let kept = ingest_and_check(&to_sse(&payloads));
        assert_eq!((kept.message_texts(), kept.ending().outcome), (vec![], Outcome::Completed));
        assert_eq!(kept.ending().reply, Reply::None);
    }
}

#[test]
fn l9_the_marker_is_hidden_beside_text_and_ends_nothing() {
    let kept = ingest_chat_then_more(&["All is well. HEARTBEAT_OK"]);
    assert_eq!(kept.message_texts(), ["All is well. ", "MORE"]);
    let kept = ingest_and_check(&to_json_lines(&[
        assistant_line("m1", &text_block("I look.")),
        assistant_line("m1", &tool_use_block("a")),
        tool_result_line("a"),
        assistant_line("m2", &text_block("HEARTBEAT_OK")),
        result_line("HEARTBEAT_OK"),
    ]));
    assert_eq!(kept.message_texts(), ["I look."]);
    assert_eq!((kept.ending().reply, kept.ending().outcome), (Reply::None, Outcome::Completed));
}

#[test]
fn f5_a_source_that_repeats_itself_hides_and_ends_alike() {
    let mut options = options_with_control_words();
    options.run.quirks = vec![Quirk::CumulativeText];
    let reports = |reports: &[&str]| {
        let mut payloads: Vec<Value> =
            reports.iter().map(|report| chat_chunk("1", &json!({"content": report}))).collect();
        payloads
            .extend([chat_finish_chunk("1", "stop"), chat_chunk("2", &json!({"content": "MORE"}))]);
        let kept = ingest(&options, [to_sse(&payloads).as_bytes()]);
        check_well_formed(&kept, "repeats");
        kept.message_texts()
    };
    assert_eq!(reports(&["Do", "Done!is", "Done!isfinish"]), ["Done"]);
    assert_eq!(reports(&["Done!isfinish", "Done!isfinish b"]), ["Done b", "MORE"]);
    assert_eq!(reports(&["Dome!isfinish ", "Done!isfinish "]), ["Done "]);
    assert_eq!(reports(&["Dome!isfinish ", "Done!isfinish b"]), ["Done b", "MORE"]);
    assert_eq!(reports(&["!isfinish ", "Done"]), ["Done", "MORE"]);
    assert_eq!(reports(&["Dome", "!isfinish Done"]), [" Done"]);
}
