//! Client protocols: every log, and every prefix of one with every ending, gives a stream that a
//! strict client accepts and that has the log's content and ending.

use std::path::{Path, PathBuf};

use millpond_engine::event::{Ending, Event, MessageId, Outcome, Record, Reply, StopReason};
use millpond_gateway::compat::{Encoder, Protocol};
use serde_json::Value;

mod agui;
mod ai_sdk;
mod changes;
mod chat;
mod hiding;
mod responses;

pub(crate) struct NamedLog {
    pub(crate) name: String,
    pub(crate) records: Vec<Record<'static>>,
}

fn find_event_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find_event_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "events") {
            found.push(path);
        }
    }
}

pub(crate) fn fixture_logs() -> Vec<NamedLog> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut paths = Vec::new();
    find_event_files(&dir, &mut paths);
    find_event_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges/logs"), &mut paths);
    paths.sort();
    assert!(paths.len() > 200, "the fixtures are there");
    let logs = paths.iter().map(|path| NamedLog {
        name: path.strip_prefix(&dir).unwrap_or(path).display().to_string(),
        records: parse_records(&std::fs::read_to_string(path).unwrap()),
    });
    logs.collect()
}

pub(crate) fn parse_records(lines: &str) -> Vec<Record<'static>> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Builds a log from its events.
pub(crate) fn log_from_events(events: &[&str]) -> NamedLog {
    let lines = events.iter().enumerate().map(|(seq, event)| {
        let members = event.strip_prefix('{').unwrap();
        format!("{{\"seq\":{seq},\"at_ms\":null,\"run\":\"run\",{members}\n")
    });
    NamedLog { name: "made by hand".to_owned(), records: parse_records(&lines.collect::<String>()) }
}

/// The text that a log ends up with.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExpectedText {
    messages: Vec<(MessageId, String)>,
    pub(crate) is_changed: bool,
    pub(crate) ending: Option<Ending<'static>>,
}

impl ExpectedText {
    pub(crate) fn from_records(records: &[Record<'static>]) -> ExpectedText {
        let mut expected = ExpectedText::default();
        for record in records {
            expected.apply(&record.event);
        }
        expected
    }

    fn apply(&mut self, event: &Event<'static>) {
        match event {
            Event::MessageStarted { message, .. } => self.messages.push((*message, String::new())),
            Event::TextAppended { message, text } => {
                if let Some(message_text) = self.text_mut(*message) {
                    message_text.push_str(text);
                }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                let Some(message_text) = self.text_mut(*message) else { return };
                let is_changed = *kept_bytes < message_text.len();
                message_text.truncate(*kept_bytes);
                message_text.push_str(text);
                self.is_changed |= is_changed;
            }
            Event::Withdrawn { messages, .. } => {
                let count_before = self.messages.len();
                self.messages.retain(|(message, _)| !messages.contains(message));
                self.is_changed |= self.messages.len() < count_before;
            }
            Event::RunEnded { ending } => self.ending = Some(ending.clone()),
            _ => {}
        }
    }

    fn text_mut(&mut self, message: MessageId) -> Option<&mut String> {
        self.messages.iter_mut().find(|(id, _)| *id == message).map(|(_, text)| text)
    }

    /// Every non-empty message.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.messages
            .iter()
            .map(|(_, text)| text.as_str())
            .filter(|text| !text.is_empty())
            .collect()
    }

    pub(crate) fn reply(&self) -> Option<&str> {
        let id = self.ending.as_ref()?.message?;
        self.messages.iter().find(|(known, _)| *known == id).map(|(_, text)| text.as_str())
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.ending.as_ref().map_or(Outcome::Interrupted, |ending| ending.outcome)
    }
}

fn sample_endings() -> Vec<Ending<'static>> {
    let ending = |outcome, stop| Ending {
        outcome,
        stop,
        reason: None,
        detail: None,
        reply: Reply::None,
        message: None,
        incomplete: outcome != Outcome::Completed,
    };
    vec![
        ending(Outcome::Completed, Some(StopReason::End)),
        ending(Outcome::Completed, Some(StopReason::Tools)),
        ending(Outcome::Failed, None),
        ending(Outcome::Cancelled, None),
        ending(Outcome::Truncated, None),
        ending(Outcome::Stalled, None),
        ending(Outcome::Interrupted, None),
    ]
}

pub(crate) fn encode_payloads<P: Protocol>(protocol: P, records: &[Record<'_>]) -> Vec<String> {
    let mut encoder = Encoder::new(protocol);
    let mut payloads = Vec::new();
    for record in records {
        encoder.push(record, &mut |payload| payloads.push(payload.to_owned()));
    }
    encoder.end_as_interrupted_unless_ended(&mut |payload| payloads.push(payload.to_owned()));
    assert!(encoder.is_ended());
    payloads
}

/// Checks the stream of every log, of every prefix with every ending, and of every prefix that just
/// stops.
pub(crate) fn check_each_stream<P: Protocol + Clone>(
    protocol: &P,
    check: impl Fn(&[String], &ExpectedText) -> Result<(), String>,
) {
    for log in fixture_logs() {
        check_each_prefix(protocol, &log, &check);
    }
}

pub(crate) fn check_each_prefix<P: Protocol + Clone>(
    protocol: &P,
    log: &NamedLog,
    check: &impl Fn(&[String], &ExpectedText) -> Result<(), String>,
) {
    let mut encoder = Encoder::new(protocol.clone());
    let mut payloads: Vec<String> = Vec::new();
    let mut expected = ExpectedText::default();
    for (index, record) in log.records.iter().enumerate() {
        let check_or_panic = |payloads: &[String], expected: &ExpectedText, description: &str| {
            if let Err(error) = check(payloads, expected) {
                panic!(
                    "{} before {index}, {description}: {error}\n{}",
                    log.name,
                    payloads.join("\n")
                );
            }
        };
        for ending in sample_endings() {
            let (mut encoder, mut payloads) = (encoder.clone(), payloads.clone());
            let mut expected = expected.clone();
            expected.ending = Some(ending.clone());
            let description = format!("{:?}", ending.outcome);
            let run = record.run.clone();
            let event = Event::RunEnded { ending };
            if index == 0 {
                continue;
            }
            encoder.push(&Record { seq: 0, at_ms: None, run, event }, &mut |payload| {
                payloads.push(payload.to_owned());
            });
            encoder.push(record, &mut |payload| panic!("{payload} after the end"));
            check_or_panic(&payloads, &expected, &description);
        }
        let (mut stopped, mut all_payloads) = (encoder.clone(), payloads.clone());
        stopped
            .end_as_interrupted_unless_ended(&mut |payload| all_payloads.push(payload.to_owned()));
        check_or_panic(&all_payloads, &expected, "stopped");
        encoder.push(record, &mut |payload| payloads.push(payload.to_owned()));
        expected.apply(&record.event);
    }
    if let Err(error) = check(&payloads, &expected) {
        panic!("{}: {error}\n{}", log.name, payloads.join("\n"));
    }
}

pub(crate) fn parse_payload(payload: &str) -> Result<Value, String> {
    if payload.contains(['\n', '\r']) {
        return Err(format!("a line break in {payload}"));
    }
    serde_json::from_str(payload).map_err(|error| format!("{error} in {payload}"))
}

pub(crate) fn string_member<'a>(value: &'a Value, name: &str) -> Result<&'a str, String> {
    value[name].as_str().ok_or_else(|| format!("no {name} in {value}"))
}

pub(crate) fn require(condition: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(message()) }
}

/// Most clients reject `null`.
pub(crate) fn require_no_nulls(value: &Value) -> Result<(), String> {
    let members = value.as_object().ok_or_else(|| format!("no object: {value}"))?;
    let null = members.iter().find(|(_, member)| member.is_null());
    require(null.is_none(), || format!("null in {value}"))
}
