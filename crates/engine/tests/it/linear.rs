//! What is twice as long costs about twice as much, also when it is meant to hurt.
//!
//! Eight times the input may cost at most 24 times the CPU time. Work that grows with the square
//! would cost 64 times as much; a busy machine does not turn 8 into 24, and the shortest of several
//! runs is counted.

use std::time::Duration;

use cpu_time::ThreadTime;
use engine::event::{Event, Millis, Sink};
use engine::ingest::{Ingest, Options};
use engine::run::Cut;
use serde_json::{Value, json};

struct Nowhere;

impl Sink for Nowhere {
    fn event(&mut self, _at: Option<Millis>, event: Event<'_>) {
        std::hint::black_box(&event);
    }
}

fn time_of(stream: &[u8], chunk: usize) -> Duration {
    let run = || {
        let start = ThreadTime::now();
        let mut ingest = Ingest::new(&Options::default());
        for bytes in stream.chunks(chunk) {
            ingest.push(bytes, None, &mut Nowhere);
        }
        ingest.finish(Cut::EndOfInput, None, &mut Nowhere);
        start.elapsed()
    };
    (0..3).map(|_| run()).min().unwrap()
}

/// Compares a stream of `count` pieces with one of eight times as many.
#[track_caller]
pub(crate) fn check(name: &str, count: usize, make: impl Fn(usize) -> Vec<u8>) {
    for chunk in [usize::MAX, 1 << 10] {
        let small = time_of(&make(count), chunk).max(Duration::from_micros(200));
        let large = time_of(&make(8 * count), chunk);
        assert!(large <= 24 * small, "{name}: {small:?} for one, {large:?} for eight");
    }
}

fn sse(payloads: impl Iterator<Item = Value>) -> Vec<u8> {
    let mut stream = String::new();
    for payload in payloads {
        stream.extend(["data: ", &payload.to_string(), "\n\n"]);
    }
    stream.into_bytes()
}

fn text(text: &str) -> Value {
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
        check(&format!("one delta of {piece:?}"), 4_000, |count| {
            sse(std::iter::once(text(&piece.repeat(count))))
        });
        check(&format!("deltas of {piece:?}"), 1_000, |count| {
            sse(std::iter::repeat_n(text(piece), count))
        });
    }
}

#[test]
fn many_of_everything_cost_their_number() {
    // More than may be open at once: up to that number each is looked for among all.
    check("tools", 2_000, |count| {
        sse((0..count).map(|at| {
            let function = json!({"name": "f", "arguments": "{}"});
            let call = json!({"index": at, "id": format!("t{at}"), "function": function});
            json!({"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        }))
    });
    check("rounds", 500, |count| {
        sse((0..count).map(|at| {
            let choice = json!({"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"});
            json!({"id": format!("c{at}"), "choices": [choice]})
        }))
    });
    check("unknown fields", 500, |count| {
        sse((0..count).map(|at| json!({"id": "c", "choices": [], format!("field{at}"): 1})))
    });
    check("blank lines", 50_000, |count| vec![b'\n'; count]);
    check("noise", 5_000, |count| b"x y\n".repeat(count));
    check("empty data lines", 5_000, |count| b"data:\n".repeat(count));
    check("values on one line", 2_000, |count| b"{\"a\":1}".repeat(count));
}
