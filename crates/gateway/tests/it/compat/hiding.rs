//! Nothing hidden is ever sent, in any protocol.

use gateway::compat::agui::{self, AgUi};
use gateway::compat::ai_sdk::{self, AiSdk};
use gateway::compat::openai_chat::body::OpenAiChatBody;
use gateway::compat::openai_chat::{self, OpenAiChat};
use gateway::compat::openai_responses::{self, OpenAiResponses};
use gateway::compat::{Protocol, Reasoning};
use serde_json::Value;

use super::{Log, encode, json, log, logs};
use engine::event::Event;

fn of(protocol: impl Protocol, log: &Log) -> Vec<String> {
    encode(protocol, &log.records)
}

pub(crate) fn each_protocol(log: &Log, reasoning: Reasoning, mut check: impl FnMut(&[String])) {
    let mut run = |payloads: Vec<String>| check(&payloads);
    for version in [ai_sdk::Version::V6, ai_sdk::Version::V7] {
        let options = ai_sdk::Options { version, reasoning, ..ai_sdk::Options::default() };
        run(of(AiSdk::new(options), log));
    }
    run(of(AgUi::new(agui::Options { reasoning, ..agui::Options::default() }), log));
    for content in [openai_chat::Content::All, openai_chat::Content::Final] {
        let options =
            openai_chat::Options { content, reasoning, ..openai_chat::Options::default() };
        run(of(OpenAiChat::new(options.clone()), log));
        run(of(OpenAiChatBody::new(options), log));
    }
    let options = openai_responses::Options { reasoning, ..openai_responses::Options::default() };
    run(of(OpenAiResponses::new(options), log));
}

/// All texts in a payload.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|member| texts(member, found)),
        _ => {}
    }
}

#[test]
fn hidden_markup_of_no_fixture_is_sent() {
    let mut hidden_texts = 0;
    for log in logs() {
        let shown: String = log.records.iter().map(shown).collect();
        let hidden = log.records.iter().filter_map(|record| match &record.event {
            Event::MarkupHidden { text, .. } => Some(text.trim().to_owned()),
            _ => None,
        });
        let hidden: Vec<String> =
            hidden.filter(|text| !text.is_empty() && !shown.contains(text.as_str())).collect();
        hidden_texts += hidden.len();
        each_protocol(&log, Reasoning::Show, |payloads| {
            let mut found = Vec::new();
            for payload in payloads {
                if let Ok(value) = json(payload) {
                    texts(&value, &mut found);
                }
            }
            for text in &hidden {
                assert!(!found.concat().contains(text), "{text:?} of {} is sent", log.name);
            }
        });
    }
    assert!(hidden_texts > 5, "the fixtures hide something");
}

/// What a log means to show, and may well look like markup.
fn shown(record: &engine::event::Record<'_>) -> String {
    match &record.event {
        Event::TextAppended { text, .. }
        | Event::TextRewritten { text, .. }
        | Event::ReasoningAppended { text, .. }
        | Event::ArgumentsAppended { text, .. }
        | Event::OutputAppended { text, .. } => text.to_string(),
        _ => String::new(),
    }
}

const CANARY: [&str; 13] = [
    r#"{"type":"run_started","version":1,"dialect":"made","mode":"incremental"}"#,
    r#"{"type":"prompt_received","text":"CANARY prompt"}"#,
    r#"{"type":"round_started","round":0,"model":"m","response":"CANARY response"}"#,
    r#"{"type":"reasoning_started","step":0,"round":0,"origin":"native"}"#,
    r#"{"type":"reasoning_appended","step":0,"text":"THOUGHT"}"#,
    r#"{"type":"reasoning_ended","step":0}"#,
    r#"{"type":"markup_hidden","class":"tool","text":"CANARY markup"}"#,
    r#"{"type":"unrecognised","reason":"frame","raw":"CANARY raw"}"#,
    r#"{"type":"quirk_acted","quirk":"q","detail":"CANARY quirk"}"#,
    r#"{"type":"history_compacted","summary":"CANARY summary"}"#,
    r#"{"type":"request_ended","failure":"CANARY request"}"#,
    r#"{"type":"round_ended","round":0}"#,
    r#"{"type":"run_ended","outcome":"completed","stop":"end","reply":"none","incomplete":false}"#,
];

#[test]
fn what_is_no_text_is_not_sent_and_reasoning_only_where_it_is_asked_for() {
    let log = log(&CANARY);
    each_protocol(&log, Reasoning::Hide, |payloads| {
        let all = payloads.concat();
        assert!(!all.contains("CANARY") && !all.contains("THOUGHT"), "{all}");
    });
    each_protocol(&log, Reasoning::Show, |payloads| {
        for payload in payloads.iter().filter(|payload| payload.contains("THOUGHT")) {
            assert!(payload.to_lowercase().contains("reasoning"), "{payload}");
        }
        let all = payloads.concat();
        assert!(!all.contains("CANARY") && all.contains("THOUGHT"), "{all}");
    });
}
