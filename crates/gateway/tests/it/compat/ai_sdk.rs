//! The AI SDK's stream, read as its client reads it.

use std::collections::{BTreeMap, BTreeSet};

use engine::event::Outcome;
use gateway::compat::ai_sdk::{AiSdk, Options, Version};
use serde_json::Value;

use super::{Said, each_beginning, each_stream, encode, json, log, no_nulls, rule, text};

#[derive(Default)]
struct Client {
    /// (id, text) or a call's (id, state), `step` where one began.
    parts: Vec<(String, String)>,
    open_texts: BTreeSet<String>,
    calls: BTreeMap<String, &'static str>,
    withdrawn: Vec<String>,
    in_step: bool,
    started: bool,
    ended: Option<String>,
}

impl Client {
    fn read(payloads: &[String], version: Version) -> Result<Client, String> {
        let (last, parts) = payloads.split_last().ok_or("nothing")?;
        rule(last == "[DONE]", || format!("ends with {last}"))?;
        let mut client = Client::default();
        for payload in parts {
            client.part(&json(payload)?, version)?;
        }
        Ok(client)
    }

    fn open(&mut self, id: &str) -> Result<(), String> {
        self.parts.push((id.to_owned(), String::new()));
        rule(self.open_texts.insert(id.to_owned()), || format!("{id} opened twice"))
    }

    fn call(&mut self, part: &Value, state: &'static str) -> Result<(), String> {
        let id = text(part, "toolCallId")?;
        let known = self.calls.insert(id.to_owned(), state);
        let is_start = state == "started";
        rule(known.is_some() || is_start, || format!("{state} of unknown call {id}"))?;
        rule(known.is_none_or(|known| known != "ended"), || format!("{id} after its end"))?;
        let needs_input = matches!(state, "asked" | "ended") && part["type"] != "tool-input-error";
        rule(!needs_input || known != Some("started"), || format!("{id} without its input"))
    }

    fn part(&mut self, part: &Value, version: Version) -> Result<(), String> {
        no_nulls(part)?;
        rule(self.ended.is_none(), || format!("{part} after the end"))?;
        let kind = text(part, "type")?;
        rule(self.started || kind == "start", || format!("{kind} before the start"))?;
        match kind {
            "start" => rule(!std::mem::replace(&mut self.started, true), || "two starts".into()),
            "start-step" => {
                self.parts.push(("step".to_owned(), String::new()));
                rule(!std::mem::replace(&mut self.in_step, true), || "step in step".into())
            }
            "finish-step" => {
                rule(self.open_texts.is_empty(), || "a part open at the end of a step".into())?;
                rule(std::mem::replace(&mut self.in_step, false), || "no step".into())
            }
            "reset-step" => {
                let step = self.parts.iter().rposition(|(id, _)| id == "step");
                for (id, _) in self.parts.split_off(step.map_or(0, |step| step + 1)) {
                    self.calls.remove(&id);
                }
                self.open_texts.clear();
                rule(version == Version::V7, || "version 7 only".into())
            }
            "text-start" | "reasoning-start" => self.open(text(part, "id")?),
            "text-delta" | "reasoning-delta" => {
                let id = text(part, "id")?;
                rule(self.open_texts.contains(id), || format!("{id} is not open"))?;
                let known = self.parts.iter_mut().rfind(|(known, _)| known == id);
                known.ok_or("lost")?.1.push_str(text(part, "delta")?);
                Ok(())
            }
            "text-end" | "reasoning-end" => {
                let id = text(part, "id")?;
                rule(self.open_texts.remove(id), || format!("{id} is not open"))
            }
            "tool-input-start" => {
                self.parts.push((text(part, "toolCallId")?.to_owned(), String::new()));
                self.call(part, "started")
            }
            "tool-input-delta" => {
                let id = text(part, "toolCallId")?;
                rule(self.calls.get(id) == Some(&"started"), || format!("late input of {id}"))
            }
            "tool-input-available" => self.call(part, "called"),
            "tool-approval-request" => self.call(part, "asked"),
            "tool-input-error"
            | "tool-output-available"
            | "tool-output-error"
            | "tool-output-denied" => self.call(part, "ended"),
            "message-metadata" => {
                let withdrawn = part["messageMetadata"]["millpond"]["withdrawn"].as_array();
                let ids = withdrawn.into_iter().flatten().filter_map(Value::as_str);
                self.withdrawn = ids.map(str::to_owned).collect();
                Ok(())
            }
            "error" | "abort" | "finish" => {
                rule(self.open_texts.is_empty() && !self.in_step, || "ends while open".into())?;
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

pub(crate) fn check(payloads: &[String], said: &Said, version: Version) -> Result<(), String> {
    let client = Client::read(payloads, version)?;
    let expected = match said.outcome() {
        Outcome::Completed => "finish",
        Outcome::Cancelled => "abort",
        _ => "error",
    };
    rule(client.ended.as_deref() == Some(expected), || format!("ends as {:?}", client.ended))?;
    let waits = client.calls.values().any(|&state| state != "ended");
    rule(!waits || expected == "finish", || "a call is left waiting".into())?;
    rule(client.texts() == said.texts(), || format!("{:?} for {:?}", client.texts(), said.texts()))
}

fn of(version: Version) -> AiSdk {
    AiSdk::new(Options { version, picture_prefix: "/pictures/".to_owned(), ..Options::default() })
}

#[test]
fn every_stream_is_well_formed_and_says_what_the_log_says() {
    each_stream(&of(Version::V6), |payloads, said| check(payloads, said, Version::V6));
}

#[test]
fn every_stream_for_version_7_is_well_formed_and_takes_back_what_was_withdrawn() {
    each_stream(&of(Version::V7), |payloads, said| check(payloads, said, Version::V7));
}

#[test]
fn version_7_drops_a_withdrawn_message_and_keeps_its_neighbours() {
    let log = log(&[
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
        each_beginning(&of(version), &log, &|payloads, said| check(payloads, said, version));
    }
    let client = Client::read(&encode(of(Version::V7), &log.records), Version::V7).unwrap();
    assert_eq!(client.texts(), ["kept"]);
    assert!(client.withdrawn.is_empty() && client.calls.is_empty());
}

#[test]
fn arguments_that_change_are_sent_anew() {
    let log = log(&[
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
    let payloads = encode(of(Version::V6), &log.records);
    let parts: Vec<Value> = payloads.iter().filter_map(|payload| json(payload).ok()).collect();
    let of = |kind: &str| parts.iter().filter(|part| part["type"] == kind).collect::<Vec<_>>();
    assert_eq!(of("tool-input-start").len(), 2);
    assert_eq!(of("tool-input-available")[0]["input"], serde_json::json!({"b": 2}));
    let output = &of("tool-output-available")[0]["output"];
    assert_eq!(output, r#"{"__proto__":1}"#, "what clients refuse to parse is sent as text");
}

#[test]
fn a_link_that_runs_is_no_link() {
    let log = log(&[
        r#"{"type":"run_started","version":1,"dialect":"made","mode":"incremental"}"#,
        r#"{"type":"source_cited","message":0,"url":"javascript:alert(1)","title":"t"}"#,
        r#"{"type":"image_received","message":0,"url":{"url":"javascript:alert(1)"}}"#,
        r#"{"type":"image_received","message":0,"inline":{"media_type":"image/png","base64":"aGk="}}"#,
    ]);
    let payloads = encode(of(Version::V6), &log.records).concat();
    assert!(!payloads.contains("javascript:") && !payloads.contains("aGk="), "{payloads}");
    assert!(payloads.contains(r#""url":"/pictures/"#), "{payloads}");
}
