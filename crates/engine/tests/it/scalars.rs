//! Numbers and booleans of an unexpected JSON type do not make a frame unreadable.

use millpond_engine::event::{Event, UnrecognisedReason};

use crate::fixtures::fixture_streams;
use crate::support::{RecordedEvents, ingest_whole};

/// Fields that a dialect reads as a number or a boolean.
const FIELDS: &[&str] = &[
    "attempt",
    "command_index",
    "contentBlockIndex",
    "contentIndex",
    "content_index",
    "cost",
    "delayMs",
    "done",
    "emittedAtMs",
    "eval_count",
    "exitCode",
    "exit_code",
    "hadToolCalls",
    "index",
    "input_tokens",
    "isAnswered",
    "is_error",
    "maxAttempts",
    "output_index",
    "output_tokens",
    "partial",
    "promptTokenCount",
    "prompt_eval_count",
    "recoverable",
    "redacted",
    "sequence_number",
    "startedAtMs",
    "summaryIndex",
    "success",
    "summary_index",
    "synthetic",
    "thought",
    "timestamp",
    "timestamp_ms",
    "willContinue",
];

/// The stream with the values of [`FIELDS`] replaced by `write`, and their number.
fn rewrite_scalars(stream: &str, write: impl Fn(&str) -> String) -> (String, usize) {
    let (mut done, mut count) = (String::new(), 0);
    let mut rest = stream;
    while let Some(at) = rest.find("\":") {
        let (head, tail) = rest.split_at(at + 2);
        done.push_str(head);
        let name = head[..at].rsplit('"').next().unwrap();
        let end = tail.find([',', '}', ']', '\n', '\r']).unwrap_or(tail.len());
        let value = &tail[..end];
        let is_scalar = matches!(value, "true" | "false") || value.parse::<f64>().is_ok();
        rest = tail;
        if FIELDS.contains(&name) && is_scalar {
            done.push_str(&write(value));
            rest = &tail[end..];
            count += 1;
        }
    }
    done.push_str(rest);
    (done, count)
}

fn unreadable_count(kept: &RecordedEvents) -> usize {
    kept.count_events(|event| {
        matches!(event, Event::Unrecognised { reason: UnrecognisedReason::Unreadable, .. })
    })
}

/// All events except the unrecognised ones.
fn recognised_events(kept: &RecordedEvents) -> Vec<&Event<'static>> {
    kept.events().filter(|event| !matches!(event, Event::Unrecognised { .. })).collect()
}

fn quote(value: &str) -> String {
    format!("\"{value}\"")
}

fn as_fraction_or_number(value: &str) -> String {
    match value {
        "true" => "1".to_owned(),
        "false" => "0".to_owned(),
        whole if whole.bytes().all(|byte| byte.is_ascii_digit()) => format!("{whole}.0"),
        other => other.to_owned(),
    }
}

#[test]
fn every_fixture_gives_the_same_events_whatever_the_type_of_its_scalars() {
    let mut count = 0;
    for path in fixture_streams() {
        let stream = std::fs::read_to_string(&path).unwrap();
        let plain = ingest_whole(stream.as_bytes());
        for write in [quote, as_fraction_or_number] {
            let (odd, values) = rewrite_scalars(&stream, write);
            let kept = ingest_whole(odd.as_bytes());
            let (got, expected) = (recognised_events(&kept), recognised_events(&plain));
            for (got, expected) in got.iter().zip(&expected) {
                assert_eq!(got, expected, "{}", path.display());
            }
            assert_eq!(got.len(), expected.len(), "{}", path.display());
            count += values;
        }
    }
    assert!(1000 < count, "only {count} values");
}

#[test]
fn an_object_or_an_array_for_a_scalar_costs_no_frame() {
    for path in fixture_streams() {
        let stream = std::fs::read_to_string(&path).unwrap();
        let plain = ingest_whole(stream.as_bytes());
        for value in [r#"{"a":[1]}"#, "[3,{}]", "\"\"", "-7", "1e30"] {
            let (odd, _) = rewrite_scalars(&stream, |_| value.to_owned());
            let kept = ingest_whole(odd.as_bytes());
            assert_eq!(
                unreadable_count(&kept),
                unreadable_count(&plain),
                "{} {value}",
                path.display()
            );
        }
    }
}

#[test]
fn the_text_beside_an_odd_value_is_shown() {
    for (dialect, line) in [
        (
            "openai-chat",
            r#"{"object":"chat.completion.chunk","choices":[{"index":?,"delta":{"content":"Pond"}}]}"#,
        ),
        (
            "openai-responses",
            r#"{"type":"response.output_text.delta","output_index":?,"content_index":?,"sequence_number":?,"delta":"Pond"}"#,
        ),
        (
            "anthropic",
            r#"{"type":"content_block_delta","index":?,"delta":{"type":"text_delta","text":"Pond"}}"#,
        ),
        (
            "gemini",
            r#"{"candidates":[{"index":?,"content":{"role":"model","parts":[{"text":"Pond","thought":?}]}}]}"#,
        ),
        (
            "ollama",
            r#"{"model":"m","created_at":"x","message":{"role":"assistant","content":"Pond"},"done":?,"eval_count":?}"#,
        ),
        (
            "cohere",
            r#"{"type":"content-delta","index":?,"delta":{"message":{"content":{"text":"Pond"}}}}"#,
        ),
        ("bedrock", r#"{"contentBlockDelta":{"contentBlockIndex":?,"delta":{"text":"Pond"}}}"#),
        (
            "claude-code",
            r#"{"type":"stream_event","session_id":"s","parent_tool_use_id":null,"uuid":"u","event":{"type":"content_block_delta","index":?,"delta":{"type":"text_delta","text":"Pond"}}}"#,
        ),
        (
            "codex-app-server",
            r#"{"method":"item/agentMessage/delta","params":{"threadId":"t","itemId":"i","delta":"Pond","startedAtMs":?},"emittedAtMs":?}"#,
        ),
        (
            "pi",
            r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":?,"delta":"Pond"},"message":{}}"#,
        ),
        (
            "opencode",
            r#"{"type":"text","timestamp":?,"sessionID":"s","part":{"id":"p","sessionID":"s","messageID":"m","type":"text","text":"Pond","cost":?,"synthetic":?}}"#,
        ),
        (
            "cline",
            r#"{"type":"agent_event","event":{"type":"content_start","contentType":"text","text":"Pond","redacted":?}}"#,
        ),
        ("kilo", r#"{"ts":2,"type":"say","say":"text","text":"Pond","partial":?,"isAnswered":?}"#),
    ] {
        for value in ["\"0\"", "0.0", "\"x\"", "{\"a\":[0]}", "[0]", "-1"] {
            let kept = ingest_whole((line.replace('?', value) + "\n").as_bytes());
            assert_eq!(kept.visible_text(), "Pond", "{dialect} with {value}");
            let began = kept.events().next();
            assert!(
                matches!(began, Some(Event::RunStarted { dialect: name, .. }) if name == dialect),
                "{dialect} with {value}: {began:?}"
            );
        }
    }
}
