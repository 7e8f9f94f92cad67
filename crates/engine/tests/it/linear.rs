//! Processing time is linear in the input, also for hostile input.
//!
//! Eight times the input may cost at most 24 times the CPU time. Quadratic work would cost 64 times
//! as much. The shortest of several runs counts, so a busy machine does not fail the test.

use std::time::Duration;

use cpu_time::ThreadTime;
use millpond_engine::event::{Event, Millis, Sink};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;
use serde_json::{Value, json};

struct NullSink;

impl Sink for NullSink {
    fn on_event(&mut self, _at: Option<Millis>, event: Event<'_>) {
        std::hint::black_box(&event);
    }
}

fn ingest_cpu_time(stream: &[u8], chunk: usize) -> Duration {
    let run = || {
        let start = ThreadTime::now();
        let mut ingest = Ingest::new(&IngestOptions::default());
        for bytes in stream.chunks(chunk) {
            ingest.push(bytes, None, &mut NullSink);
        }
        ingest.finish(InputEnd::EndOfInput, None, &mut NullSink);
        start.elapsed()
    };
    (0..3).map(|_| run()).min().unwrap()
}

/// Compares a stream of `count` pieces with one of eight times as many.
#[track_caller]
pub(crate) fn check_linear(name: &str, count: usize, make: impl Fn(usize) -> Vec<u8>) {
    for chunk in [usize::MAX, 1 << 10] {
        let small = ingest_cpu_time(&make(count), chunk).max(Duration::from_micros(200));
        let large = ingest_cpu_time(&make(8 * count), chunk);
        assert!(large <= 24 * small, "{name}: {small:?} for one, {large:?} for eight");
    }
}

fn to_sse(payloads: impl Iterator<Item = Value>) -> Vec<u8> {
    let mut stream = String::new();
    for payload in payloads {
        stream.extend(["data: ", &payload.to_string(), "\n\n"]);
    }
    stream.into_bytes()
}

fn text_chunk(text: &str) -> Value {
    json!({"id": "c", "choices": [{"index": 0, "delta": {"content": text}}]})
}

#[test]
fn text_that_is_meant_to_hurt_the_filter_costs_its_length() {
    for piece in [
        "<",
        "`",
        "``` ",
        "<think a='",
        "`<think/>\n\n",
        "<think>",
        "</think>",
        "\\`",
        "> ",
        "- ",
        "` `` ``` <final>",
        "    ",
        "~~~\n",
        "word ",
    ] {
        check_linear(&format!("one delta of {piece:?}"), 4_000, |count| {
            to_sse(std::iter::once(text_chunk(&piece.repeat(count))))
        });
        check_linear(&format!("deltas of {piece:?}"), 1_000, |count| {
            to_sse(std::iter::repeat_n(text_chunk(piece), count))
        });
    }
}

#[test]
fn many_of_everything_cost_their_number() {
    // More than may be open at once: up to that number each is looked for among all.
    check_linear("tools", 2_000, |count| {
        to_sse((0..count).map(|at| {
            let function = json!({"name": "f", "arguments": "{}"});
            let call = json!({"index": at, "id": format!("t{at}"), "function": function});
            json!({"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        }))
    });
    check_linear("rounds", 500, |count| {
        to_sse((0..count).map(|at| {
            let choice = json!({"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"});
            json!({"id": format!("c{at}"), "choices": [choice]})
        }))
    });
    check_linear("unknown fields", 500, |count| {
        to_sse((0..count).map(|at| json!({"id": "c", "choices": [], format!("field{at}"): 1})))
    });
    check_linear("blank lines", 50_000, |count| vec![b'\n'; count]);
    check_linear("noise", 5_000, |count| b"x y\n".repeat(count));
    check_linear("empty data lines", 5_000, |count| b"data:\n".repeat(count));
    check_linear("values on one line", 2_000, |count| b"{\"a\":1}".repeat(count));
}
