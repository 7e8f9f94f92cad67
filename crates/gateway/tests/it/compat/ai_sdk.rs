//! The AI SDK's stream, read as its client reads it.

use std::collections::{BTreeMap, BTreeSet};

use millpond_engine::event::Outcome;
use millpond_gateway::compat::ai_sdk::{AiSdk, Options, Version};
use serde_json::Value;

use super::{
    ExpectedText, check_each_prefix, check_each_stream, encode_payloads, log_from_events,
    parse_payload, require, require_no_nulls, string_member,
};

#[derive(Default)]
struct AiSdkClient {
    /// (id, text), or a call's (id, state), or `step`.
    parts: Vec<(String, String)>,
    open_texts: BTreeSet<String>,
    calls: BTreeMap<String, &'static str>,
    withdrawn: Vec<String>,
    in_step: bool,
    started: bool,
    ended: Option<String>,
}

impl AiSdkClient {
    fn read_payloads(payloads: &[String], version: Version) -> Result<AiSdkClient, String> {
        let (last, parts) = payloads.split_last().ok_or("nothing")?;
        require(last == "[DONE]", || format!("ends with {last}"))?;
        let mut client = AiSdkClient::default();
        for payload in parts {
            client.apply_part(&parse_payload(payload)?, version)?;
        }
        Ok(client)
    }

    fn open_part(&mut self, id: &str) -> Result<(), String> {
        self.parts.push((id.to_owned(), String::new()));
        require(self.open_texts.insert(id.to_owned()), || format!("{id} opened twice"))
    }

    fn set_call_state(&mut self, part: &Value, state: &'static str) -> Result<(), String> {
        let id = string_member(part, "toolCallId")?;
        let previous = self.calls.insert(id.to_owned(), state);
        let is_start = state == "started";
        require(previous.is_some() || is_start, || format!("{state} of unknown call {id}"))?;
        require(previous.is_none_or(|state_before| state_before != "ended"), || {
            format!("{id} after its end")
        })?;
        let needs_input = matches!(state, "asked" | "ended") && part["type"] != "tool-input-error";
        require(!needs_input || previous != Some("started"), || format!("{id} without its input"))
    }

    #[allow(clippy::too_many_lines, reason = "one arm per type of part")]
    fn apply_part(&mut self, part: &Value, version: Version) -> Result<(), String> {
        require_no_nulls(part)?;
        require(self.ended.is_none(), || format!("{part} after the end"))?;
        let kind = string_member(part, "type")?;
        require(self.started || kind == "start", || format!("{kind} before the start"))?;
        match kind {
            "start" => require(!std::mem::replace(&mut self.started, true), || "two starts".into()),
            "start-step" => {
                self.parts.push(("step".to_owned(), String::new()));
                require(!std::mem::replace(&mut self.in_step, true), || "step in step".into())
            }
            "finish-step" => {
                require(self.open_texts.is_empty(), || "a part open at the end of a step".into())?;
                require(std::mem::replace(&mut self.in_step, false), || "no step".into())
            }
            "reset-step" => {
                let step = self.parts.iter().rposition(|(id, _)| id == "step");
                for (id, _) in self.parts.split_off(step.map_or(0, |step| step + 1)) {
                    self.calls.remove(&id);
                }
                self.open_texts.clear();
                require(version == Version::V7, || "version 7 only".into())
            }
            "text-start" | "reasoning-start" => self.open_part(string_member(part, "id")?),
            "text-delta" | "reasoning-delta" => {
                let id = string_member(part, "id")?;
                require(self.open_texts.contains(id), || format!("{id} is not open"))?;
                let existing = self.parts.iter_mut().rfind(|(part_id, _)| part_id == id);
                existing.ok_or("lost")?.1.push_str(string_member(part, "delta")?);
                Ok(())
            }
            "text-end" | "reasoning-end" => {
                let id = string_member(part, "id")?;
                require(self.open_texts.remove(id), || format!("{id} is not open"))
            }
            "tool-input-start" => {
                self.parts.push((string_member(part, "toolCallId")?.to_owned(), String::new()));
                self.set_call_state(part, "started")
            }
            "tool-input-delta" => {
                let id = string_member(part, "toolCallId")?;
                require(self.calls.get(id) == Some(&"started"), || format!("late input of {id}"))
            }
            "tool-input-available" => self.set_call_state(part, "called"),
            "tool-approval-request" => self.set_call_state(part, "asked"),
            "tool-input-error"
            | "tool-output-available"
            | "tool-output-error"
            | "tool-output-denied" => self.set_call_state(part, "ended"),
            "message-metadata" => {
                let withdrawn = part["messageMetadata"]["millpond"]["withdrawn"].as_array();
                let ids = withdrawn.into_iter().flatten().filter_map(Value::as_str);
                self.withdrawn = ids.map(str::to_owned).collect();
                Ok(())
            }
            "error" | "abort" | "finish" => {
                require(self.open_texts.is_empty() && !self.in_step, || "ends while open".into())?;
                self.ended = Some(kind.to_owned());
                Ok(())
            }
            "source-url" | "source-document" | "file" => Ok(()),
            kind if kind.starts_with("data-") => Ok(()),
            kind => Err(format!("unknown part {kind}")),
        }
    }

    fn texts(&self) -> Vec<&str> {
        let messages = self.parts.iter().filter(|(id, text)| {
            id.starts_with('m') && !self.withdrawn.contains(id) && !text.is_empty()
        });
        messages.map(|(_, text)| text.as_str()).collect()
    }
}

pub(crate) fn check(
    payloads: &[String],
    expected_text: &ExpectedText,
    version: Version,
) -> Result<(), String> {
    let client = AiSdkClient::read_payloads(payloads, version)?;
    let expected = match expected_text.outcome() {
        Outcome::Completed => "finish",
        Outcome::Cancelled => "abort",
        _ => "error",
    };
    require(client.ended.as_deref() == Some(expected), || format!("ends as {:?}", client.ended))?;
    let has_open_calls = client.calls.values().any(|&state| state != "ended");
    require(!has_open_calls || expected == "finish", || "a call is left waiting".into())?;
    require(client.texts() == expected_text.texts(), || {
        format!("{:?} for {:?}", client.texts(), expected_text.texts())
    })
}

fn ai_sdk_protocol(version: Version) -> AiSdk {
    AiSdk::new(Options { version, image_prefix: "/pictures/".to_owned(), ..Options::default() })
}

#[test]
fn every_stream_is_well_formed_and_says_what_the_log_says() {
    check_each_stream(&ai_sdk_protocol(Version::V6), |payloads, expected_text| {
        check(payloads, expected_text, Version::V6)
    });
}

#[test]
fn every_stream_for_version_7_is_well_formed_and_takes_back_what_was_withdrawn() {
    check_each_stream(&ai_sdk_protocol(Version::V7), |payloads, expected_text| {
        check(payloads, expected_text, Version::V7)
    });
}

#[test]
fn version_7_drops_a_withdrawn_message_and_keeps_its_neighbours() {
    let log = log_from_events(&[
        r#"{"type":"run_started","version":1,"dialect":"made","mode":"incremental"}"#,
        r#"{"type":"round_started","round":0}"#,
        r#"{"type":"message_started","message":0,"round":0}"#,
        r#"{"type":"text_appended","message":0,"text":"kept"}"#,
        r#"{"type":"message_ended","message":0}"#,
        r#"{"type":"tool_started","step":0,"round":0,"call":"","name":"n","kind":"function","executor":"client"}"#,
        r#"{"type":"message_started","message":1,"round":0}"#,
        r#"{"type":"text_appended","message":1,"text":"gone"}"#,
        r#"{"type":"withdrawn","messages":[1]}"#,
        r#"{"type":"arguments_appended","step":0,"text":"{}"}"#,
        r#"{"type":"tool_ready","step":0}"#,
        r#"{"type":"tool_ended","step":0,"outcome":"no_result"}"#,
        r#"{"type":"withdrawn","steps":[0]}"#,
        r#"{"type":"round_ended","round":0}"#,
        r#"{"type":"run_ended","outcome":"truncated","reply":"none","incomplete":true}"#,
    ]);
    for version in [Version::V6, Version::V7] {
        check_each_prefix(&ai_sdk_protocol(version), &log, &|payloads, said| {
            check(payloads, said, version)
        });
    }
    let client = AiSdkClient::read_payloads(
        &encode_payloads(ai_sdk_protocol(Version::V7), &log.records),
        Version::V7,
    )
    .unwrap();
    assert_eq!(client.texts(), ["kept"]);
    assert!(client.withdrawn.is_empty() && client.calls.is_empty());
}

#[test]
fn arguments_that_change_are_sent_anew() {
    let log = log_from_events(&[
        r#"{"type":"run_started","version":1,"dialect":"made","mode":"incremental"}"#,
        r#"{"type":"round_started","round":0}"#,
        r#"{"type":"tool_started","step":0,"round":0,"call":"c","name":"n","kind":"function","executor":"client"}"#,
        r#"{"type":"arguments_appended","step":0,"text":"{\"a\":1}"}"#,
        r#"{"type":"arguments_replaced","step":0,"text":"{\"b\":\n2}"}"#,
        r#"{"type":"tool_ready","step":0}"#,
        r#"{"type":"output_appended","step":0,"text":"{\"__proto__\":1}"}"#,
        r#"{"type":"tool_ended","step":0,"outcome":"succeeded"}"#,
        r#"{"type":"round_ended","round":0}"#,
        r#"{"type":"run_ended","outcome":"completed","reply":"none","incomplete":false}"#,
    ]);
    let payloads = encode_payloads(ai_sdk_protocol(Version::V6), &log.records);
    let parts: Vec<Value> =
        payloads.iter().filter_map(|payload| parse_payload(payload).ok()).collect();
    let parts_of =
        |kind: &str| parts.iter().filter(|part| part["type"] == kind).collect::<Vec<_>>();
    assert_eq!(parts_of("tool-input-start").len(), 2);
    assert_eq!(parts_of("tool-input-available")[0]["input"], serde_json::json!({"b": 2}));
    let output = &parts_of("tool-output-available")[0]["output"];
    assert_eq!(output, r#"{"__proto__":1}"#, "what clients refuse to parse is sent as text");
}

#[test]
fn a_link_that_runs_is_no_link() {
    let log = log_from_events(&[
        r#"{"type":"run_started","version":1,"dialect":"made","mode":"incremental"}"#,
        r#"{"type":"source_cited","message":0,"url":"javascript:alert(1)","title":"t"}"#,
        r#"{"type":"image_received","message":0,"url":{"url":"javascript:alert(1)"}}"#,
        r#"{"type":"image_received","message":0,"inline":{"media_type":"image/png","base64":"aGk="}}"#,
    ]);
    let payloads = encode_payloads(ai_sdk_protocol(Version::V6), &log.records).concat();
    assert!(!payloads.contains("javascript:") && !payloads.contains("aGk="), "{payloads}");
    assert!(payloads.contains(r#""url":"/pictures/"#), "{payloads}");
}
