//! AG-UI, read as its client's verifier reads it.

use std::collections::{BTreeMap, BTreeSet};

use engine::event::Outcome;
use gateway::compat::agui::{AgUi, Options};
use serde_json::Value;

use super::{Said, each_stream, encode, json, log, no_nulls, rule, text};

#[derive(Default)]
struct Client {
    messages: Vec<(String, String)>,
    arguments: BTreeMap<String, String>,
    open: BTreeSet<(&'static str, String)>,
    started: bool,
    ended: Option<Value>,
}

impl Client {
    fn read(payloads: &[String]) -> Result<Client, String> {
        let mut client = Client::default();
        for payload in payloads {
            client.event(&json(payload)?)?;
        }
        Ok(client)
    }

    fn opens(&mut self, kind: &'static str, id: &str) -> Result<(), String> {
        rule(self.open.insert((kind, id.to_owned())), || format!("{kind} {id} opened twice"))
    }

    fn goes_on(&self, kind: &'static str, id: &str) -> Result<(), String> {
        rule(self.open.contains(&(kind, id.to_owned())), || format!("{kind} {id} is not open"))
    }

    fn closes(&mut self, kind: &'static str, id: &str) -> Result<(), String> {
        rule(self.open.remove(&(kind, id.to_owned())), || format!("{kind} {id} is not open"))
    }

    fn event(&mut self, event: &Value) -> Result<(), String> {
        no_nulls(event)?;
        rule(self.ended.is_none(), || format!("{event} after the end"))?;
        let kind = text(event, "type")?;
        rule(self.started || kind == "RUN_STARTED", || format!("{kind} before the start"))?;
        let message = || text(event, "messageId");
        let call = || text(event, "toolCallId");
        match kind {
            "RUN_STARTED" => {
                rule(!std::mem::replace(&mut self.started, true), || "two starts".into())
            }
            "STEP_STARTED" => self.opens("step", text(event, "stepName")?),
            "STEP_FINISHED" => self.closes("step", text(event, "stepName")?),
            "TEXT_MESSAGE_START" => {
                self.messages.push((message()?.to_owned(), String::new()));
                self.opens("text", message()?)
            }
            "TEXT_MESSAGE_CONTENT" => {
                self.goes_on("text", message()?)?;
                let id = message()?;
                let known = self.messages.iter_mut().find(|(known, _)| known == id);
                known.ok_or("lost")?.1.push_str(text(event, "delta")?);
                Ok(())
            }
            "TEXT_MESSAGE_END" => self.closes("text", message()?),
            "REASONING_START" => self.opens("span", message()?),
            "REASONING_MESSAGE_START" => self.opens("reasoning", message()?),
            "REASONING_MESSAGE_CONTENT" => self.goes_on("reasoning", message()?),
            "REASONING_MESSAGE_END" => self.closes("reasoning", message()?),
            "REASONING_END" => self.closes("span", message()?),
            "TOOL_CALL_START" => {
                let known = self.arguments.insert(call()?.to_owned(), String::new());
                rule(known.is_none(), || "the same call twice".into())?;
                self.opens("call", call()?)
            }
            "TOOL_CALL_ARGS" => {
                self.goes_on("call", call()?)?;
                let known = self.arguments.get_mut(call()?).ok_or("lost")?;
                known.push_str(text(event, "delta")?);
                Ok(())
            }
            "TOOL_CALL_END" => self.closes("call", call()?),
            "TOOL_CALL_RESULT" => {
                rule(self.arguments.contains_key(call()?), || "result of no call".into())?;
                let open = ("call", call()?.to_owned());
                rule(!self.open.contains(&open), || "result before the call".into())
            }
            "MESSAGES_SNAPSHOT" => self.snapshot(event),
            "CUSTOM" => rule(!event["value"].is_null(), || "no value".into()),
            "RUN_FINISHED" | "RUN_ERROR" => {
                rule(self.open.is_empty(), || format!("ends with {:?} open", self.open))?;
                self.ended = Some(event.clone());
                Ok(())
            }
            kind => Err(format!("unknown event {kind}")),
        }
    }

    fn snapshot(&mut self, event: &Value) -> Result<(), String> {
        self.messages.clear();
        for message in event["messages"].as_array().ok_or("no messages")? {
            no_nulls(message)?;
            if let Some(content) = message["content"].as_str()
                && message["role"] == "assistant"
            {
                self.messages.push((text(message, "id")?.to_owned(), content.to_owned()));
            }
            for call in message["toolCalls"].as_array().into_iter().flatten() {
                let arguments = text(&call["function"], "arguments")?.to_owned();
                self.arguments.insert(text(call, "id")?.to_owned(), arguments);
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

pub(crate) fn check(payloads: &[String], said: &Said) -> Result<(), String> {
    let client = Client::read(payloads)?;
    let ended = client.ended.as_ref().ok_or("no ending")?;
    let expected = match said.outcome() {
        Outcome::Completed => ("RUN_FINISHED", Some("success")),
        Outcome::Cancelled => ("RUN_FINISHED", Some("cancelled")),
        _ => ("RUN_ERROR", None),
    };
    let found = (text(ended, "type")?, ended["outcome"]["type"].as_str());
    rule(found == expected, || format!("ends as {found:?}"))?;
    rule(client.texts() == said.texts(), || format!("{:?} for {:?}", client.texts(), said.texts()))
}

fn agui() -> AgUi {
    AgUi::new(Options { thread: "thread".to_owned(), ..Options::default() })
}

#[test]
fn every_stream_passes_the_verifiers_rules_and_says_what_the_log_says() {
    each_stream(&agui(), check);
}

#[test]
fn arguments_that_change_come_with_a_snapshot_that_keeps_the_history() {
    let log = log(&[
        r#"{"type":"run_started","version":1,"dialect":"made","mode":"incremental"}"#,
        r#"{"type":"tool_started","step":0,"round":0,"call":"c","name":"n","kind":"function","executor":"client"}"#,
        r#"{"type":"arguments_appended","step":0,"text":"{\"a\":1}"}"#,
        r#"{"type":"arguments_replaced","step":0,"text":"{\"b\":2}"}"#,
    ]);
    let history = "{\"id\":\"u1\",\n\"role\":\"user\",\"content\":\"hi\"}";
    let options =
        Options { history: vec![serde_json::from_str(history).unwrap()], ..Options::default() };
    let payloads = encode(AgUi::new(options), &log.records);
    let client = Client::read(&payloads).unwrap();
    assert_eq!(client.arguments["c"], r#"{"b":2}"#);
    let snapshot = payloads.iter().find(|payload| payload.contains("MESSAGES_SNAPSHOT")).unwrap();
    assert_eq!(json(snapshot).unwrap()["messages"][0]["id"], "u1");
}

#[test]
fn calls_left_to_the_client_are_named_and_only_where_the_run_completed() {
    let names_pending = |ending: &str| {
        let log = log(&[
            r#"{"type":"run_started","version":1,"dialect":"made","mode":"incremental"}"#,
            r#"{"type":"tool_started","step":0,"round":0,"call":"c","name":"n","kind":"function","executor":"client"}"#,
            r#"{"type":"tool_ready","step":0}"#,
            r#"{"type":"tool_ended","step":0,"outcome":"no_result"}"#,
            ending,
        ]);
        let payloads = encode(agui(), &log.records);
        let ended = Client::read(&payloads).unwrap().ended.unwrap();
        let has_result = payloads.iter().any(|payload| payload.contains("TOOL_CALL_RESULT"));
        (ended["outcome"]["pendingToolCallIds"].to_string(), has_result)
    };
    let completed = r#"{"type":"run_ended","outcome":"completed","stop":"tools","reply":"none","incomplete":false}"#;
    assert_eq!(names_pending(completed), (r#"["c"]"#.to_owned(), false));
    let failed = r#"{"type":"run_ended","outcome":"failed","reply":"none","incomplete":true}"#;
    assert_eq!(names_pending(failed), ("null".to_owned(), true));
}
