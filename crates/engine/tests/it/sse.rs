//! The 26 event-stream cases of the Web Platform Tests, with every chunking.

use millpond_engine::ingest::frame::{CutterOutput, SseDecoder};
use serde_json::Value;

use crate::corpus::find_corpus;

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

#[test]
fn the_web_platforms_cases_hold_under_every_cut() {
    let Some(corpus) = find_corpus("the event-stream cases") else { return };
    let text = std::fs::read_to_string(corpus.join("sse/sse-wpt.json")).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    let cases = cases["stream_cases"].as_array().unwrap();
    assert!(26 <= cases.len(), "only {} cases", cases.len());
    for case in cases {
        let bytes = decode_base64(case["body_b64"].as_str().unwrap());
        let expected: Vec<(String, String)> = case["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| {
                let name = event["type"].as_str().unwrap();
                let name = if name == "message" { "" } else { name };
                (name.to_owned(), event["data"].as_str().unwrap().to_owned())
            })
            .collect();
        let name = &case["name"];
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(decode_events([head, tail]), expected, "{name} cut at {cut}");
        }
        assert_eq!(decode_events(bytes.chunks(1)), expected, "{name} byte by byte");
    }
}
