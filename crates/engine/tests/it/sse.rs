//! Event streams and their events, with every chunking: the cases of the project, and those of the
//! Web Platform Tests if the corpus is there.

use millpond_engine::ingest::frame::{CutterOutput, SseDecoder};
use serde_json::Value;

use crate::texts::{elements, read_corpus, read_own, text_field};

fn decode_events<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<(String, String)> {
    let mut decoder = SseDecoder::default();
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(chunk, &mut |cutting| match cutting {
            CutterOutput::Frame(frame) => {
                events.push((frame.name.to_owned(), frame.data.to_owned()));
            }
            other => panic!("{other:?}"),
        });
    }
    events
}

fn decode_base64(text: &str) -> Vec<u8> {
    let value = |char: u8| match char {
        b'A'..=b'Z' => char - b'A',
        b'a'..=b'z' => char - b'a' + 26,
        b'0'..=b'9' => char - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = group.iter().fold(0u32, |bits, &char| bits << 6 | u32::from(value(char)));
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

fn decode_hex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

struct StreamCase {
    name: String,
    bytes: Vec<u8>,
    /// Name and data of each event; the name is empty if the stream has none.
    events: Vec<(String, String)>,
}

/// Reads a case of the project, whose stream is text, or hexadecimal if it is not UTF-8.
fn own_case(case: &Value) -> StreamCase {
    let pair = |event: &Value| {
        let text = |at: usize| event[at].as_str().unwrap().to_owned();
        (text(0), text(1))
    };
    StreamCase {
        name: text_field(case, "name").to_owned(),
        bytes: match case["hex"].as_str() {
            Some(hex) => decode_hex(hex),
            None => text_field(case, "stream").as_bytes().to_vec(),
        },
        events: elements(&case["events"]).iter().map(pair).collect(),
    }
}

fn web_platform_case(case: &Value) -> StreamCase {
    let pair = |event: &Value| {
        let name = text_field(event, "type");
        let name = if name == "message" { "" } else { name };
        (name.to_owned(), text_field(event, "data").to_owned())
    };
    StreamCase {
        name: text_field(case, "name").to_owned(),
        bytes: decode_base64(text_field(case, "body_b64")),
        events: elements(&case["events"]).iter().map(pair).collect(),
    }
}

#[test]
fn event_streams_hold_their_events_under_every_cut() {
    let mut cases: Vec<StreamCase> = elements(&read_own("sse.json")).iter().map(own_case).collect();
    assert!(50 <= cases.len(), "only {} cases", cases.len());
    if let Some(corpus) = read_corpus("sse/sse-wpt.json") {
        cases.extend(elements(&corpus["stream_cases"]).iter().map(web_platform_case));
    }
    for StreamCase { name, bytes, events } in cases {
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(decode_events([head, tail]), events, "{name} cut at {cut}");
        }
        assert_eq!(decode_events(bytes.chunks(1)), events, "{name} byte by byte");
    }
}
