//! Output and exit status of `millpond show`.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use crate::support::{
    chat_stream, fixture_path, millpond_command, run_millpond, run_with_input,
    unfinished_chat_stream,
};

#[test]
fn text_is_all_visible_messages_with_a_blank_line_between_them_and_nothing_else() {
    let stream = fixture_path("anthropic/two-messages.sse");
    let ran = run_millpond(&["show", stream.to_str().unwrap()]);
    assert_eq!(ran.stdout, "I look first.\n\nThere is one file.\n");
    assert_eq!(ran.status, 0);
    assert_eq!(ran.stderr, "millpond: reading anthropic\n");
}

#[test]
fn final_is_only_the_final_message() {
    let stream = fixture_path("anthropic/two-messages.sse");
    let ran = run_millpond(&["show", "-q", "--output", "final", stream.to_str().unwrap()]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("There is one file.\n", ""));
}

#[test]
fn x13_what_a_run_went_away_waiting_for_stands_at_the_end_of_every_page() {
    let stream = fixture_path("openai-responses/mcp-and-approval.sse");
    for view in ["latest", "steps", "bubbles", "transcript", "sentences"] {
        let ran = run_millpond(&["show", "-q", "--view", view, stream.to_str().unwrap()]);
        assert_eq!(ran.stdout.matches("? drain on pondkeeper").count(), 1, "{}", ran.stdout);
    }
}

#[test]
fn events_are_one_record_per_line() {
    let ran = run_with_input(&["show", "-o", "events", "-q"], &chat_stream(&["Hi"]));
    for (seq, line) in ran.stdout.lines().enumerate() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["seq"], seq);
        assert!(record["at_ms"].is_null(), "the reading machine's time is not the stream's");
        assert!(record["run"].is_string() && record["type"].is_string());
    }
    assert!(ran.stdout.lines().last().unwrap().contains("\"type\":\"run_ended\""));
}

#[test]
fn text_comes_as_it_arrives() {
    let mut child = millpond_command(&["show", "-q"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdin.write_all(&unfinished_chat_stream(&["one\n"])).unwrap();
    stdin.flush().unwrap();
    let mut line = [0; 4];
    stdout.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"one\n");
    drop(stdin);
    child.wait().unwrap();
}

#[test]
fn the_exit_status_says_how_it_ended() {
    let length =
        b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\n\n";
    let refused = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"content_filter\"}]}\n\n";
    let nothing = b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    for (input, status, words) in [
        (chat_stream(&["a"]), 0, ""),
        (unfinished_chat_stream(&["a"]), 3, "cut off before its end"),
        (length.to_vec(), 3, "length limit"),
        (refused.to_vec(), 1, "refused"),
        (nothing.to_vec(), 0, "nothing to show"),
        (b"{\"error\":{\"message\":\"no quota\"}}".to_vec(), 1, "failed: no quota"),
        (
            [unfinished_chat_stream(&["a"]), b"data: {oops".to_vec()].concat(),
            3,
            "before its end; unreadable",
        ),
        (
            [chat_stream(&["a"]), b"data: {oops\n\n".to_vec()].concat(),
            0,
            "completed; unreadable lines",
        ),
        (b"".to_vec(), 1, "empty input"),
        (b"hello\nworld\n".to_vec(), 1, "unrecognised input"),
        (b"{\"some\":\"json\"}\n".to_vec(), 1, "unrecognised input"),
    ] {
        let ran = run_with_input(&["show", "-q"], &input);
        assert_eq!(ran.status, status, "{ran:?}");
        let lines = usize::from(!words.is_empty());
        assert!(ran.stderr.contains(words) && ran.stderr.lines().count() == lines, "{ran:?}");
    }
}

#[test]
fn wrong_usage_is_2() {
    assert_eq!(run_millpond(&["show", "--output", "nonsense"]).status, 2);
    let ran = run_millpond(&["show", "--from", "nonsense"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("openai-chat"), "it says what there is: {}", ran.stderr);
    let tags = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(tags.path(), "reasoning: ok\nnonsense").unwrap();
    let ran = run_millpond(&["show", "--tags", tags.path().to_str().unwrap()]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("line 2"), "{}", ran.stderr);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let ran = run_millpond(&["show", "no-such-file"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("no-such-file"), "{}", ran.stderr);
}

#[test]
fn a_closed_output_ends_it_quietly() {
    let mut child = millpond_command(&["show", "-q"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(&unfinished_chat_stream(&["one\n"])).unwrap();
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    drop(stdout);
    let deltas = vec!["more text\n"; 10_000];
    // The program may exit before it has read all of this, which closes the pipe.
    let _ = stdin.write_all(&chat_stream(&deltas));
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn an_output_that_cannot_be_written_is_a_failure() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(full) = full else {
        println!("skipped: there is no /dev/full here");
        return;
    };
    let stream = fixture_path("anthropic/two-messages.sse");
    let args = ["show", "-q", stream.to_str().unwrap()];
    let output = millpond_command(&args).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot write"));
}

#[test]
fn two_replies_with_one_id_are_two_rounds() {
    let both = [chat_stream(&["First."]), chat_stream(&["Second."])].concat();
    assert_eq!(run_with_input(&["show", "-q"], &both).stdout, "First.\n\nSecond.\n");
    assert_eq!(run_with_input(&["show", "-q", "-o", "final"], &both).stdout, "Second.\n");
}

#[test]
fn events_after_a_line_of_text_and_ids_of_odd_types_are_read() {
    let stream = [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), chat_stream(&["Hi."])].concat();
    assert_eq!(run_with_input(&["show", "-q"], &stream).stdout, "Hi.\n");
    let odd = b"data: {\"id\":1,\"choices\":[{\"index\":\"0\",\"delta\":{\"content\":\"Hi.\"},\"message\":null,\"finish_reason\":\"stop\"}]}\n\n";
    let ran = run_with_input(&["show", "-q"], odd);
    assert_eq!((ran.stdout.as_str(), ran.status), ("Hi.\n", 0));
}

#[test]
fn a_message_sent_whole_beside_each_delta_is_not_doubled() {
    let chunk = |delta: &str, message: &str| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{delta}\"}},\"message\":{{\"content\":\"{message}\"}}}}]}}\n\n"
        )
    };
    let stream = chunk("Hi", "Hi") + &chunk(" you", "Hi you");
    assert_eq!(run_with_input(&["show", "-q"], stream.as_bytes()).stdout, "Hi you\n");
}

#[test]
fn indentation_after_thinking_stays() {
    let stream = chat_stream(&["<think>x</think>\n\n    let a = 1;\n    let b = 2;"]);
    let ran = run_with_input(&["show", "-q"], &stream);
    assert_eq!(ran.stdout, "    let a = 1;\n    let b = 2;\n");
}

#[test]
fn thinking_can_be_declared_open_and_tags_can_be_added() {
    let ran = run_with_input(
        &["show", "-q", "--starts-in-thinking"],
        &chat_stream(&["hm</thi", "nk>Yes."]),
    );
    assert_eq!(ran.stdout, "Yes.\n");
    let tags = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(tags.path(), "reasoning: ponder\n").unwrap();
    let args = ["show", "-q", "--tags", tags.path().to_str().unwrap()];
    let ran = run_with_input(&args, &chat_stream(&["<ponder>hm</ponder>", "Yes."]));
    assert_eq!(ran.stdout, "Yes.\n");
}

#[test]
fn x2_a_source_that_lies_is_mended_only_when_asked() {
    let cumulative = chat_stream(&["A", "AB", "ABC"]);
    assert_eq!(run_with_input(&["show", "-q"], &cumulative).stdout, "AABABC\n");
    let args = ["show", "-q", "--quirk", "cumulative-text"];
    assert_eq!(run_with_input(&args, &cumulative).stdout, "ABC\n");
    let args = ["show", "-q", "-o", "events", "--quirk", "cumulative-text"];
    assert!(run_with_input(&args, &cumulative).stdout.contains("\"type\":\"quirk_acted\""));
}

#[test]
fn x17_stream_debug_tells_what_was_held_and_hidden() {
    let stream = chat_stream(&["a <th", "ink>b</think>c"]);
    for ran in [run_with_input(&["show", "-q", "--stream-debug"], &stream), {
        let mut child = millpond_command(&["show", "-q"])
            .env("STREAM_DEBUG", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&stream).unwrap();
        child.wait_with_output().unwrap().into()
    }] {
        for line in ran.stderr.lines() {
            let _: serde_json::Value = serde_json::from_str(line).unwrap();
        }
        for words in ["first_token", "\"held\",\"bytes\":3", "hidden"] {
            assert!(ran.stderr.contains(words), "no {words} in {}", ran.stderr);
        }
        assert_eq!(ran.stdout, "a c\n");
    }
}

#[test]
fn x17_stream_debug_tells_what_the_view_decided_and_which_overlays_came_too_late() {
    let stream = fixture_path("anthropic/two-messages.sse");
    let stream = stream.to_str().unwrap();
    let ran =
        run_millpond(&["show", "-q", "--view", "steps", "--stream-debug", "-o", "text", stream]);
    let lines: Vec<serde_json::Value> =
        ran.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let decided = lines.iter().filter(|line| line["debug"] == "view");
    assert!(decided.clone().all(|line| line["view"] == "steps" && line["at"].is_string()));
    assert!(decided.clone().any(|line| line["patch"]["overlay"]["phase"] == "waiting"));
    let suppressed = lines.iter().find(|line| line["debug"] == "overlays_suppressed").unwrap();
    assert!(0 < suppressed["count"].as_u64().unwrap());
}

#[test]
fn frames_of_a_view_are_one_object_a_line_with_cursor_name_and_payload() {
    let stream = fixture_path("anthropic/two-messages.sse");
    let stream = stream.to_str().unwrap();
    let ran = run_millpond(&["show", "-q", "--view", "bubbles", "-o", "frames", stream]);
    let lines: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|frame| frame["id"].is_string() && frame["data"]["run"] == "r1"));
    assert_eq!(lines.last().unwrap()["event"], "final");
    let deltas = run_millpond(&[
        "show",
        "-q",
        "--view",
        "bubbles",
        "-o",
        "frames",
        "--content",
        "delta",
        stream,
    ]);
    assert!(deltas.stdout.contains("\"append\":true") && !ran.stdout.contains("\"append\""));
    let patches = run_millpond(&[
        "show", "-q", "--view", "bubbles", "-o", "frames", "--format", "patch", stream,
    ]);
    assert!(patches.stdout.contains("\"data\":\" first.\""), "{}", patches.stdout);
}

#[test]
fn text_of_a_view_is_its_page_when_it_is_done() {
    let stream = fixture_path("anthropic/two-messages.sse");
    let page = |view: &str| {
        run_millpond(&["show", "-q", "--view", view, "-o", "text", stream.to_str().unwrap()]).stdout
    };
    assert_eq!(page("latest"), "There is one file.\n");
    assert_eq!(page("bubbles"), "I look first.\n\nThere is one file.\n");
    let sentences = "I look first.\n\n* bash_code_execution (done)\n\nThere is one file.\n";
    assert_eq!(page("sentences"), sentences);
}

#[test]
fn thinking_can_be_asked_for_and_hidden() {
    let stream = fixture_path("anthropic/thinking-text-tool.sse");
    let stream = stream.to_str().unwrap();
    let frames = |thinking: &str| {
        run_millpond(&[
            "show",
            "-q",
            "--view",
            "latest",
            "-o",
            "frames",
            "--thinking",
            thinking,
            stream,
        ])
        .stdout
    };
    assert!(
        frames("latest").contains("\"event\":\"thinking\",\"data\":{\"run\":\"r1\",\"content\"")
    );
    assert!(!frames("hide").contains("thinking"));
}

#[test]
fn x16_withdrawn_text_cannot_be_unprinted_but_is_named() {
    let stream = fixture_path("claude-code/abandoned-blocks.jsonl");
    let ran = run_millpond(&["show", "-q", stream.to_str().unwrap()]);
    assert!(ran.stderr.contains("withdrew"), "{ran:?}");
}

#[test]
fn completions_and_the_manual_come_from_the_arguments() {
    let ran = run_millpond(&["completions", "bash"]);
    assert!(ran.stdout.contains("--starts-in-thinking"));
    let ran = run_millpond(&["man", "show"]);
    assert!(ran.stdout.contains("starts\\-in\\-thinking"), "{}", ran.stdout);
    assert_eq!(run_millpond(&["man", "nonsense"]).status, 2);
}

#[test]
fn f5_the_finish_word_is_hidden_and_ends_the_run() {
    let more = String::from_utf8(chat_stream(&["MORE"]))
        .unwrap()
        .replace("\"choices\"", "\"id\":\"2\",\"choices\"");
    let stream = [chat_stream(&["Gotowe", "!isfin", "ISH"]), more.into_bytes()].concat();
    let ran = run_with_input(&["show", "-q", "--finish-word", "!isfinish"], &stream);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.status), ("Gotowe\n", "", 0));
    let ran = run_with_input(&["show", "-q"], &stream);
    assert_eq!(ran.stdout, "Gotowe!isfinISH\n\nMORE\n", "off unless asked for");
    let ran =
        run_with_input(&["show", "-q", "--finish-word", "!isfinish"], &chat_stream(&["!isfinish"]));
    assert!(ran.stdout.is_empty() && ran.status == 0 && ran.stderr.contains("nothing to show"));
}

#[test]
fn f5_a_finish_word_that_cannot_be_one_is_wrong_usage() {
    let long = "!".repeat(1000);
    for (word, words) in [
        ("", "control word is empty"),
        ("is finish", "white space"),
        ("`done`", "contains ```"),
        (&long, "longer than 64 bytes"),
    ] {
        let ran = run_with_input(&["show", "--finish-word", word], &chat_stream(&["a"]));
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    let ran = run_with_input(&["show", "--finish-word", "DONE"], &chat_stream(&["a DONE"]));
    assert_eq!((ran.stdout.as_str(), ran.status), ("a \n", 0));
    assert!(ran.stderr.contains("`!DONE` is safer"), "{}", ran.stderr);
}

#[test]
fn nothing_to_show_is_said_only_if_nothing_was_printed() {
    let chat = |id: &str, delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"{id}\",\"choices\":[{{\"delta\":{delta},\"finish_reason\":\"{finish}\"}}]}}\n\n"
        )
    };
    let call = r#"{"content":"I look.","tool_calls":[{"index":0,"id":"c","function":{"name":"look","arguments":"{}"}}]}"#;
    let only_call = call.replace("I look.", "");
    let text_first = chat("1", call, "tool_calls") + &chat("2", "{}", "stop");
    let call_first = chat("1", &only_call, "tool_calls") + &chat("2", "{}", "stop");
    for (arguments, input, printed, is_said) in [
        (&["show", "-q"][..], &text_first, "I look.", false),
        (&["show", "-q", "-o", "final"][..], &text_first, "", true),
        (&["show", "-q"][..], &call_first, "", true),
        (&["show", "-q", "--view", "transcript"][..], &call_first, "look", false),
        (&["show", "-q", "--view", "bubbles"][..], &call_first, "", true),
    ] {
        let ran = run_with_input(arguments, input.as_bytes());
        assert!(ran.stdout.contains(printed), "{arguments:?} {ran:?}");
        let said = ran.stderr.contains("nothing to show");
        assert_eq!((said, ran.status), (is_said, 0), "{arguments:?} {ran:?}");
    }
}
