//! The examples of the view's design, and its bubbles as a client keeps them, in every fixture.

use std::collections::{BTreeMap, BTreeSet};

use millpond_engine::view::{ItemKind, ViewName};
use millpond_engine::wire::StreamKind;
use serde_json::json;

use super::seed_example_log;
use crate::control_words::options_with_control_words;
use crate::fixtures::fixture_streams;
use crate::support::{ingest, ingest_whole};
use crate::views::{encode_records, final_page, to_records};

#[test]
fn sentences_f1_in_every_fixture_a_bubble_is_all_of_its_deltas_and_comes_once() {
    for stream in fixture_streams() {
        let records = to_records(&ingest_whole(&std::fs::read(&stream).unwrap()));
        let sent = encode_records(StreamKind::new(ViewName::Sentences), &records).0;
        let (mut live, mut done) = (BTreeMap::<String, String>::new(), BTreeSet::<String>::new());
        for frame in &sent {
            let data = frame.data_json();
            let id = data["id"].as_str().unwrap_or_default().to_owned();
            match frame.event.as_str() {
                "text-delta" => {
                    assert!(!done.contains(&id), "{}: {data}", stream.display());
                    live.entry(id).or_default().push_str(data["delta"].as_str().unwrap());
                }
                "text-message" => {
                    let deltas = live.remove(&id);
                    assert_eq!(deltas.as_deref(), data["content"].as_str(), "{}", stream.display());
                    assert!(done.insert(id), "{}: {data}", stream.display());
                }
                "withdrawn" => {
                    for id in data["ids"].as_array().unwrap() {
                        live.remove(id.as_str().unwrap());
                    }
                }
                "finish" | "error" => assert!(live.is_empty(), "{}: {live:?}", stream.display()),
                _ => {}
            }
        }
    }
}

#[test]
fn sentences_f4_in_the_example_each_action_is_a_card_between_the_sentences() {
    let page = final_page(ViewName::Sentences, &seed_example_log().records());
    let kinds: Vec<ItemKind> = page.items.values().map(|item| item.kind).collect();
    let (text, action) = (ItemKind::Text, ItemKind::Action);
    assert_eq!(kinds, [text, action, text, text, action, text, text]);
}

#[test]
fn sentences_f5_the_example_ends_the_run_and_shows_nothing_of_the_word() {
    let text = "Zakończyłem zadanie! Wszystko działa poprawnie. !isfinish";
    let delta = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let stream = format!("data: {delta}\n\ndata: {end}\n\n");
    let kept = ingest(&options_with_control_words(), [stream.as_bytes()]);
    let (sent, page) = encode_records(StreamKind::new(ViewName::Sentences), &to_records(&kept));
    assert!(sent.iter().all(|frame| !frame.data.contains("isfinish")), "{sent:?}");
    assert_eq!(sent.last().unwrap().event, "finish");
    let texts: Vec<&str> = page.items.values().map(|item| &*item.text).collect();
    assert_eq!(texts, ["Zakończyłem zadanie! ", "Wszystko działa poprawnie. "]);
}
