//! AG-UI, read as its client's verifier reads it.

use std::collections::{BTreeMap, BTreeSet};

use millpond_engine::event::Outcome;
use millpond_gateway::compat::agui::{AgUi, Options};
use serde_json::Value;

use super::{
    ExpectedText, check_each_stream, encode_payloads, log_from_events, parse_payload, require,
    require_no_nulls, string_member,
};

#[derive(Default)]
struct AgUiClient {
    messages: Vec<(String, String)>,
    arguments: BTreeMap<String, String>,
    open: BTreeSet<(&'static str, String)>,
    started: bool,
    ended: Option<Value>,
}

impl AgUiClient {
    fn read_payloads(payloads: &[String]) -> Result<AgUiClient, String> {
        let mut client = AgUiClient::default();
        for payload in payloads {
            client.apply_event(&parse_payload(payload)?)?;
        }
        Ok(client)
    }

    fn open_part(&mut self, kind: &'static str, id: &str) -> Result<(), String> {
        require(self.open.insert((kind, id.to_owned())), || format!("{kind} {id} opened twice"))
    }

    fn require_open(&self, kind: &'static str, id: &str) -> Result<(), String> {
        require(self.open.contains(&(kind, id.to_owned())), || format!("{kind} {id} is not open"))
    }

    fn close_part(&mut self, kind: &'static str, id: &str) -> Result<(), String> {
        require(self.open.remove(&(kind, id.to_owned())), || format!("{kind} {id} is not open"))
    }

    fn apply_event(&mut self, event: &Value) -> Result<(), String> {
        require_no_nulls(event)?;
        require(self.ended.is_none(), || format!("{event} after the end"))?;
        let kind = string_member(event, "type")?;
        require(self.started || kind == "RUN_STARTED", || format!("{kind} before the start"))?;
        let message = || string_member(event, "messageId");
        let call = || string_member(event, "toolCallId");
        match kind {
            "RUN_STARTED" => {
                require(!std::mem::replace(&mut self.started, true), || "two starts".into())
            }
            "STEP_STARTED" => self.open_part("step", string_member(event, "stepName")?),
            "STEP_FINISHED" => self.close_part("step", string_member(event, "stepName")?),
            "TEXT_MESSAGE_START" => {
                self.messages.push((message()?.to_owned(), String::new()));
                self.open_part("text", message()?)
            }
            "TEXT_MESSAGE_CONTENT" => {
                self.require_open("text", message()?)?;
                let id = message()?;
                let existing = self.messages.iter_mut().find(|(message_id, _)| message_id == id);
                existing.ok_or("lost")?.1.push_str(string_member(event, "delta")?);
                Ok(())
            }
            "TEXT_MESSAGE_END" => self.close_part("text", message()?),
            "REASONING_START" => self.open_part("span", message()?),
            "REASONING_MESSAGE_START" => self.open_part("reasoning", message()?),
            "REASONING_MESSAGE_CONTENT" => self.require_open("reasoning", message()?),
            "REASONING_MESSAGE_END" => self.close_part("reasoning", message()?),
            "REASONING_END" => self.close_part("span", message()?),
            "TOOL_CALL_START" => {
                let previous = self.arguments.insert(call()?.to_owned(), String::new());
                require(previous.is_none(), || "the same call twice".into())?;
                self.open_part("call", call()?)
            }
            "TOOL_CALL_ARGS" => {
                self.require_open("call", call()?)?;
                let arguments = self.arguments.get_mut(call()?).ok_or("lost")?;
                arguments.push_str(string_member(event, "delta")?);
                Ok(())
            }
            "TOOL_CALL_END" => self.close_part("call", call()?),
            "TOOL_CALL_RESULT" => {
                require(self.arguments.contains_key(call()?), || "result of no call".into())?;
                let open = ("call", call()?.to_owned());
                require(!self.open.contains(&open), || "result before the call".into())
            }
            "MESSAGES_SNAPSHOT" => self.apply_snapshot(event),
            "CUSTOM" => require(!event["value"].is_null(), || "no value".into()),
            "RUN_FINISHED" | "RUN_ERROR" => {
                require(self.open.is_empty(), || format!("ends with {:?} open", self.open))?;
                self.ended = Some(event.clone());
                Ok(())
            }
            kind => Err(format!("unknown event {kind}")),
        }
    }

    fn apply_snapshot(&mut self, event: &Value) -> Result<(), String> {
        self.messages.clear();
        for message in event["messages"].as_array().ok_or("no messages")? {
            require_no_nulls(message)?;
            if let Some(content) = message["content"].as_str()
                && message["role"] == "assistant"
            {
                self.messages.push((string_member(message, "id")?.to_owned(), content.to_owned()));
            }
            for call in message["toolCalls"].as_array().into_iter().flatten() {
                let arguments = string_member(&call["function"], "arguments")?.to_owned();
                self.arguments.insert(string_member(call, "id")?.to_owned(), arguments);
            }
        }
        Ok(())
    }

    fn texts(&self) -> Vec<&str> {
        self.messages
            .iter()
            .map(|(_, text)| text.as_str())
            .filter(|text| !text.is_empty())
            .collect()
    }
}

pub(crate) fn check(payloads: &[String], expected_text: &ExpectedText) -> Result<(), String> {
    let client = AgUiClient::read_payloads(payloads)?;
    let ended = client.ended.as_ref().ok_or("no ending")?;
    let expected = match expected_text.outcome() {
        Outcome::Completed => ("RUN_FINISHED", Some("success")),
        Outcome::Cancelled => ("RUN_FINISHED", Some("cancelled")),
        _ => ("RUN_ERROR", None),
    };
    let last_type_and_outcome = (string_member(ended, "type")?, ended["outcome"]["type"].as_str());
    require(last_type_and_outcome == expected, || format!("ends as {last_type_and_outcome:?}"))?;
    require(client.texts() == expected_text.texts(), || {
        format!("{:?} for {:?}", client.texts(), expected_text.texts())
    })
}

fn agui_protocol() -> AgUi {
    AgUi::new(Options { thread: "thread".to_owned(), ..Options::default() })
}

#[test]
fn every_stream_passes_the_verifiers_rules_and_says_what_the_log_says() {
    check_each_stream(&agui_protocol(), check);
}

#[test]
fn arguments_that_change_come_with_a_snapshot_that_keeps_the_history() {
    let log = log_from_events(&[
        r#"{"type":"run_started","version":1,"dialect":"made","mode":"incremental"}"#,
        r#"{"type":"tool_started","step":0,"round":0,"call":"c","name":"n","kind":"function","executor":"client"}"#,
        r#"{"type":"arguments_appended","step":0,"text":"{\"a\":1}"}"#,
        r#"{"type":"arguments_replaced","step":0,"text":"{\"b\":2}"}"#,
    ]);
    let history = "{\"id\":\"u1\",\n\"role\":\"user\",\"content\":\"hi\"}";
    let options =
        Options { history: vec![serde_json::from_str(history).unwrap()], ..Options::default() };
    let payloads = encode_payloads(AgUi::new(options), &log.records);
    let client = AgUiClient::read_payloads(&payloads).unwrap();
    assert_eq!(client.arguments["c"], r#"{"b":2}"#);
    let snapshot = payloads.iter().find(|payload| payload.contains("MESSAGES_SNAPSHOT")).unwrap();
    assert_eq!(parse_payload(snapshot).unwrap()["messages"][0]["id"], "u1");
}

#[test]
fn calls_left_to_the_client_are_named_and_only_where_the_run_completed() {
    let names_pending = |ending: &str| {
        let log = log_from_events(&[
            r#"{"type":"run_started","version":1,"dialect":"made","mode":"incremental"}"#,
            r#"{"type":"tool_started","step":0,"round":0,"call":"c","name":"n","kind":"function","executor":"client"}"#,
            r#"{"type":"tool_ready","step":0}"#,
            r#"{"type":"tool_ended","step":0,"outcome":"no_result"}"#,
            ending,
        ]);
        let payloads = encode_payloads(agui_protocol(), &log.records);
        let ended = AgUiClient::read_payloads(&payloads).unwrap().ended.unwrap();
        let has_result = payloads.iter().any(|payload| payload.contains("TOOL_CALL_RESULT"));
        (ended["outcome"]["pendingToolCallIds"].to_string(), has_result)
    };
    let completed = r#"{"type":"run_ended","outcome":"completed","stop":"tools","reply":"none","incomplete":false}"#;
    assert_eq!(names_pending(completed), (r#"["c"]"#.to_owned(), false));
    let failed = r#"{"type":"run_ended","outcome":"failed","reply":"none","incomplete":true}"#;
    assert_eq!(names_pending(failed), ("null".to_owned(), true));
}
