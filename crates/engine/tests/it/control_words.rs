//! Control words through whole streams: what they hide, and when one ends the run (F5, L9).

use engine::event::{Event, MarkupClass, Outcome, Reply, StepId, ToolOutcome};
use engine::ingest::filter::{ControlWord, Meaning};
use engine::ingest::{Ingest, Options, Quirk};
use engine::run::RunOptions;
use serde_json::{Value, json};

use crate::rules::check_well_formed;
use crate::support::{Kept, ingest};

fn words() -> Vec<ControlWord> {
    vec![
        ControlWord::new("!isfinish", Meaning::Finish).unwrap(),
        ControlWord::new("HEARTBEAT_OK", Meaning::NothingToReport).unwrap(),
    ]
}

pub(crate) fn options() -> Options {
    let run = RunOptions { control_words: words(), ..RunOptions::default() };
    Options { run, ..Options::default() }
}

/// Reads a stream whole and byte by byte.
#[track_caller]
fn read(stream: &str) -> Kept {
    let kept = ingest(&options(), [stream.as_bytes()]);
    check_well_formed(&kept, stream);
    let bytewise = ingest(&options(), stream.as_bytes().chunks(1));
    assert_eq!(kept.0, bytewise.0);
    kept
}

fn sse(payloads: &[Value]) -> String {
    let mut stream = String::new();
    for payload in payloads {
        stream.extend(["data: ", &payload.to_string(), "\n\n"]);
    }
    stream
}

fn lines(payloads: &[Value]) -> String {
    let mut stream = String::new();
    for payload in payloads {
        stream.extend([&payload.to_string(), "\n"]);
    }
    stream
}

/// A piece of the chat reply `id`.
fn chat(id: &str, delta: &Value) -> Value {
    json!({"id": id, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]})
}

fn chat_end(id: &str, reason: &str) -> Value {
    json!({"id": id, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// A chat reply of these pieces of text, and then another.
fn chat_then_more(pieces: &[&str]) -> Kept {
    let mut payloads: Vec<Value> =
        pieces.iter().map(|piece| chat("1", &json!({"content": piece}))).collect();
    payloads.push(chat_end("1", "stop"));
    payloads.push(chat("2", &json!({"content": "MORE"})));
    payloads.push(chat_end("2", "stop"));
    read(&sse(&payloads))
}

fn call(arguments: &str) -> Value {
    let function = json!({"name": "click", "arguments": arguments});
    json!({"tool_calls": [{"index": 0, "id": "t", "function": function}]})
}

fn hidden(kept: &Kept) -> Vec<String> {
    let words = kept.events().filter_map(|event| match event {
        Event::MarkupHidden { class: MarkupClass::Control, text } => Some(text.to_string()),
        _ => None,
    });
    words.collect()
}

pub(crate) fn tools(kept: &Kept) -> Vec<ToolOutcome> {
    let ended = kept.events().filter_map(|event| match event {
        Event::ToolEnded { outcome, .. } => Some(*outcome),
        _ => None,
    });
    ended.collect()
}

#[track_caller]
pub(crate) fn check_ends(kept: &Kept, messages: &[&str]) {
    assert_eq!(kept.messages(), messages);
    let ending = kept.ending();
    assert_eq!((ending.outcome, ending.incomplete), (Outcome::Completed, false));
    assert_eq!(kept.reply(), messages.last().copied().unwrap_or_default());
    assert!(!hidden(kept).is_empty());
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
    ] {
        check_ends(&chat_then_more(pieces), &[message]);
    }
}

#[test]
fn f5_alone_it_ends_the_run_without_a_message() {
    for pieces in [&["!isfinish"][..], &["!", "isfinish"], &["\n!isfinish\n"]] {
        let kept = chat_then_more(pieces);
        check_ends(&kept, &[]);
        assert_eq!(kept.ending().reply, Reply::None);
        assert_eq!(kept.endings(), 1);
    }
}

#[test]
fn f5_in_the_middle_it_is_hidden_and_ends_nothing() {
    let kept = chat_then_more(&["Say !isfi", "nish to end."]);
    assert_eq!(kept.messages(), ["Say  to end.", "MORE"]);
    assert_eq!(hidden(&kept), ["!isfinish"]);
    assert_eq!(kept.reply(), "MORE");
}

#[test]
fn f5_in_code_and_as_part_of_a_word_it_is_text() {
    for text in ["`!isfinish`", "```\n!isfinish\n```", "    !isfinish", "I !isfinished"] {
        let kept = chat_then_more(&[text]);
        assert_eq!(kept.messages(), [text, "MORE"]);
        assert_eq!(hidden(&kept), Vec::<String>::new());
    }
}

#[test]
fn f5_in_reasoning_and_tool_markup_it_means_nothing() {
    for reply in [
        json!({"content": "a<think>!isfinish</think>"}),
        json!({"content": "a<tool_call>!isfinish</tool_call>"}),
        json!({"reasoning_content": "!isfinish", "content": "a"}),
    ] {
        let kept = read(&sse(&[chat("1", &reply), chat_end("1", "stop")]));
        assert_eq!((kept.messages(), hidden(&kept)), (vec!["a".to_owned()], vec![]));
    }
}

#[test]
fn f5_in_arguments_it_means_nothing() {
    let stream = sse(&[
        chat("1", &json!({"content": "Typing."})),
        chat("1", &call("{\"text\":\"!isfinish\"}")),
        chat_end("1", "tool_calls"),
        chat("2", &json!({"content": "MORE"})),
        chat_end("2", "stop"),
    ]);
    let kept = read(&stream);
    assert_eq!(kept.messages(), ["Typing.", "MORE"]);
    assert!(kept.lines().contains("{\\\"text\\\":\\\"!isfinish\\\"}"));
}

#[test]
fn f5_an_action_of_the_same_reply_comes_first_and_then_the_end() {
    let stream = sse(&[
        chat("1", &json!({"content": "Last click. !isfinish"})),
        chat("1", &call("{}")),
        chat_end("1", "tool_calls"),
        json!({"id": "1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
        chat("2", &json!({"content": "MORE"})),
        chat("2", &call("{}")),
        chat_end("2", "tool_calls"),
    ]);
    let kept = read(&stream);
    check_ends(&kept, &["Last click. "]);
    assert_eq!(tools(&kept), [ToolOutcome::NoResult]);
    assert!(kept.events().any(|event| matches!(event, Event::UsageReported { .. })));
}

/// A line of Claude Code's: a whole message of one content block.
fn assistant(id: &str, block: &Value) -> Value {
    json!({"type": "assistant", "session_id": "s", "parent_tool_use_id": null, "message": {
        "id": id, "type": "message", "role": "assistant", "model": "m", "content": [block]}})
}

fn says(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn uses(call: &str) -> Value {
    json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "echo !isfinish"}})
}

fn result(call: &str) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": call, "content": "ran !isfinish"});
    json!({"type": "user", "session_id": "s", "parent_tool_use_id": null, "message": {
        "role": "user", "content": [block]}})
}

fn ends(text: &str) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "result": text,
        "session_id": "s", "num_turns": 1, "total_cost_usd": 0.5})
}

#[test]
fn f5_in_arguments_and_results_of_an_agent_it_means_nothing() {
    let kept = read(&lines(&[
        assistant("m1", &says("I look.")),
        assistant("m1", &uses("a")),
        result("a"),
        assistant("m2", &says("Seen.")),
        ends("Seen."),
    ]));
    assert_eq!(kept.messages(), ["I look.", "Seen."]);
    assert_eq!(kept.output(StepId(0)), "ran !isfinish");
    assert_eq!(hidden(&kept), Vec::<String>::new());
}

#[test]
fn f5_all_tools_of_the_reply_end_before_the_run() {
    let begin = [
        assistant("m1", &says("Two last things. !isfinish")),
        assistant("m1", &uses("a")),
        assistant("m1", &uses("b")),
        result("a"),
        result("b"),
    ];
    let more = [assistant("m2", &says("MORE")), assistant("m2", &uses("c")), ends("MORE")];
    let kept = read(&lines(&[&begin[..], &more].concat()));
    check_ends(&kept, &["Two last things. "]);
    assert_eq!(tools(&kept), [ToolOutcome::Succeeded; 2]);
    // The tools have ended: the stream may break off now, but not before.
    check_ends(&read(&lines(&begin)), &["Two last things. "]);
    let cut = read(&lines(&begin[..4]));
    assert_eq!(cut.ending().outcome, Outcome::Truncated);
    assert_eq!(cut.messages(), ["Two last things. "]);
}

#[test]
fn f5_the_declared_final_message_is_the_one_that_was_shown() {
    let kept = read(&lines(&[
        assistant("m1", &says("Done. !isfinish")),
        ends("Done. !isfinish"),
        assistant("m2", &says("MORE")),
    ]));
    check_ends(&kept, &["Done. "]);
    let cost = |event: &Event<'_>| matches!(event, Event::UsageReported { usage, .. } if usage.cost_usd.is_some());
    assert!(kept.events().any(cost), "what the source says before it goes on still counts");
}

fn anthropic(id: &str, texts: &[&str], stop: Option<&str>) -> Vec<Value> {
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
    let more = anthropic("2", &["MORE"], Some("end_turn"));
    let edge = anthropic("1", &["Done", "! !IsFin", "ISH"], Some("end_turn"));
    check_ends(&read(&sse(&[edge, more.clone()].concat())), &["Done! "]);
    let middle = anthropic("1", &["Do", "ne!isfinish?", " No"], Some("end_turn"));
    let kept = read(&sse(&[middle, more].concat()));
    assert_eq!(kept.messages(), ["Done? No", "MORE"]);
}

#[test]
fn f5_a_stream_that_is_cut_is_never_called_finished() {
    for dialect in ["chat", "anthropic"] {
        let stream = match dialect {
            "chat" => sse(&[chat("1", &json!({"content": "Done. !isfinish"}))]),
            _ => sse(&anthropic("1", &["Done. !isfinish"], None)),
        };
        let kept = read(&stream);
        assert_eq!(kept.ending().outcome, Outcome::Truncated, "{dialect}");
        assert_eq!(kept.reply(), "Done. ");
        let half = read(&stream.replace("!isfinish", "!isfin"));
        assert_eq!(half.reply(), "Done. !isfin", "what is not the word is text");
    }
}

#[test]
fn f5_every_cut_of_a_stream_shows_nothing_of_the_word() {
    let stream = sse(&[
        chat("1", &json!({"content": "Gotowe"})),
        chat("1", &json!({"content": "!is"})),
        chat("1", &json!({"content": "finish"})),
        chat("1", &call("{}")),
        chat_end("1", "tool_calls"),
    ]);
    for cut in 0..stream.len() {
        let mut ingest = Ingest::new(&options());
        let mut kept = Kept::default();
        ingest.push(&stream.as_bytes()[..cut], None, &mut kept);
        assert!("Gotowe".starts_with(&kept.visible()), "cut at {cut}: {}", kept.visible());
    }
}

#[test]
fn f5_off_unless_asked_for() {
    let stream = sse(&[chat("1", &json!({"content": "a !isfinish"})), chat_end("1", "stop")]);
    let kept = ingest(&Options::default(), [stream.as_bytes()]);
    assert_eq!(kept.messages(), ["a !isfinish"]);
}

#[test]
fn l9_a_reply_that_is_only_the_marker_is_no_message() {
    for pieces in [&["HEARTBEAT_OK"][..], &["HEART", "BEAT", "_OK", "\n"], &["heartbeat_ok."]] {
        let mut payloads: Vec<Value> =
            pieces.iter().map(|piece| chat("1", &json!({"content": piece}))).collect();
        payloads.push(chat_end("1", "stop"));
        let kept = read(&sse(&payloads));
        let shown = if pieces[0].ends_with('.') { vec![".".to_owned()] } else { vec![] };
        assert_eq!((kept.messages(), kept.ending().outcome), (shown, Outcome::Completed));
        assert_eq!(kept.reply().is_empty(), kept.ending().reply == Reply::None);
    }
}

#[test]
fn l9_the_marker_is_hidden_beside_text_and_ends_nothing() {
    let kept = chat_then_more(&["All is well. HEARTBEAT_OK"]);
    assert_eq!(kept.messages(), ["All is well. ", "MORE"]);
    let kept = read(&lines(&[
        assistant("m1", &says("I look.")),
        assistant("m1", &uses("a")),
        result("a"),
        assistant("m2", &says("HEARTBEAT_OK")),
        ends("HEARTBEAT_OK"),
    ]));
    assert_eq!(kept.messages(), ["I look."]);
    assert_eq!((kept.ending().reply, kept.ending().outcome), (Reply::None, Outcome::Completed));
}

#[test]
fn f5_a_source_that_repeats_itself_hides_and_ends_alike() {
    let mut options = options();
    options.run.quirks = vec![Quirk::CumulativeText];
    let reports = |reports: &[&str]| {
        let mut payloads: Vec<Value> =
            reports.iter().map(|report| chat("1", &json!({"content": report}))).collect();
        payloads.extend([chat_end("1", "stop"), chat("2", &json!({"content": "MORE"}))]);
        let kept = ingest(&options, [sse(&payloads).as_bytes()]);
        check_well_formed(&kept, "repeats");
        kept.messages()
    };
    assert_eq!(reports(&["Do", "Done!is", "Done!isfinish"]), ["Done"]);
    assert_eq!(reports(&["Done!isfinish", "Done!isfinish b"]), ["Done b", "MORE"]);
    assert_eq!(reports(&["Dome!isfinish ", "Done!isfinish "]), ["Done "]);
    assert_eq!(reports(&["Dome!isfinish ", "Done!isfinish b"]), ["Done b", "MORE"]);
    assert_eq!(reports(&["!isfinish ", "Done"]), ["Done", "MORE"]);
    assert_eq!(reports(&["Dome", "!isfinish Done"]), [" Done"]);
}
