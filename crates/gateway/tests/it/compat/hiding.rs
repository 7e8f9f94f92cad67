//! Nothing hidden is ever sent, in any protocol.

use millpond_gateway::compat::agui::{self, AgUi};
use millpond_gateway::compat::ai_sdk::{self, AiSdk};
use millpond_gateway::compat::openai_chat::body::OpenAiChatBody;
use millpond_gateway::compat::openai_chat::{self, OpenAiChat};
use millpond_gateway::compat::openai_responses::{self, OpenAiResponses};
use millpond_gateway::compat::{Protocol, Reasoning};
use serde_json::Value;

use super::{NamedLog, encode_payloads, fixture_logs, log_from_events, parse_payload};
use millpond_engine::event::Event;

fn encode_log(protocol: impl Protocol, log: &NamedLog) -> Vec<String> {
    encode_payloads(protocol, &log.records)
}

pub(crate) fn each_protocol(
    log: &NamedLog,
    reasoning: Reasoning,
    mut check: impl FnMut(&[String]),
) {
    let mut run = |payloads: Vec<String>| check(&payloads);
    for version in [ai_sdk::Version::V6, ai_sdk::Version::V7] {
        let options = ai_sdk::Options { version, reasoning, ..ai_sdk::Options::default() };
        run(encode_log(AiSdk::new(options), log));
    }
    run(encode_log(AgUi::new(agui::Options { reasoning, ..agui::Options::default() }), log));
    for content in [openai_chat::Content::All, openai_chat::Content::Final] {
        let options =
            openai_chat::Options { content, reasoning, ..openai_chat::Options::default() };
        run(encode_log(OpenAiChat::new(options.clone()), log));
        run(encode_log(OpenAiChatBody::new(options), log));
    }
    let options = openai_responses::Options { reasoning, ..openai_responses::Options::default() };
    run(encode_log(OpenAiResponses::new(options), log));
}

/// Collects all texts of a payload.
fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(members) => members.values().for_each(|member| collect_texts(member, texts)),
        _ => {}
    }
}

#[test]
fn hidden_markup_of_no_fixture_is_sent() {
    let mut hidden_texts = 0;
    for log in fixture_logs() {
        let visible: String = log.records.iter().map(visible_text).collect();
        let hidden = log.records.iter().filter_map(|record| match &record.event {
            Event::MarkupHidden { text, .. } => Some(text.trim().to_owned()),
            _ => None,
        });
        let hidden: Vec<String> =
            hidden.filter(|text| !text.is_empty() && !visible.contains(text.as_str())).collect();
        hidden_texts += hidden.len();
        each_protocol(&log, Reasoning::Show, |payloads| {
            let mut texts = Vec::new();
            for payload in payloads {
                if let Ok(value) = parse_payload(payload) {
                    collect_texts(&value, &mut texts);
                }
            }
            for text in &hidden {
                assert!(!texts.concat().contains(text), "{text:?} of {} is sent", log.name);
            }
        });
    }
    assert!(hidden_texts > 5, "the fixtures hide something");
}

/// Visible text of a record, which may look like markup.
fn visible_text(record: &millpond_engine::event::Record<'_>) -> String {
    match &record.event {
        Event::TextAppended { text, .. }
        | Event::TextRewritten { text, .. }
        | Event::ReasoningAppended { text, .. }
        | Event::ArgumentsAppended { text, .. }
        | Event::OutputAppended { text, .. } => text.to_string(),
        _ => String::new(),
    }
}

const CANARY_EVENTS: [&str; 13] = [
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
    let log = log_from_events(&CANARY_EVENTS);
    each_protocol(&log, Reasoning::Hide, |payloads| {
        let joined = payloads.concat();
        assert!(!joined.contains("CANARY") && !joined.contains("THOUGHT"), "{joined}");
    });
    each_protocol(&log, Reasoning::Show, |payloads| {
        for payload in payloads.iter().filter(|payload| payload.contains("THOUGHT")) {
            assert!(payload.to_lowercase().contains("reasoning"), "{payload}");
        }
        let joined = payloads.concat();
        assert!(!joined.contains("CANARY") && joined.contains("THOUGHT"), "{joined}");
    });
}
