//! Other people's protocols: every log, and every beginning of one with every ending, gives a stream
//! that a strict client takes, says what the log says, and ends as it should.

use std::path::{Path, PathBuf};

use engine::event::{Ending, Event, MessageId, Outcome, Record, Reply, Stop};
use gateway::compat::{Encoder, Protocol};
use serde_json::Value;

mod agui;
mod ai_sdk;
mod changes;
mod chat;
mod hiding;
mod responses;

pub(crate) struct Log {
    pub(crate) name: String,
    pub(crate) records: Vec<Record<'static>>,
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "events") {
            found.push(path);
        }
    }
}

pub(crate) fn logs() -> Vec<Log> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut paths = Vec::new();
    files(&dir, &mut paths);
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges/logs"), &mut paths);
    paths.sort();
    assert!(paths.len() > 200, "the fixtures are there");
    let logs = paths.iter().map(|path| Log {
        name: path.strip_prefix(&dir).unwrap_or(path).display().to_string(),
        records: read(&std::fs::read_to_string(path).unwrap()),
    });
    logs.collect()
}

pub(crate) fn read(lines: &str) -> Vec<Record<'static>> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A log from its events alone.
pub(crate) fn log(events: &[&str]) -> Log {
    let lines = events.iter().enumerate().map(|(seq, event)| {
        let members = event.strip_prefix('{').unwrap();
        format!("{{\"seq\":{seq},\"at_ms\":null,\"run\":\"run\",{members}\n")
    });
    Log { name: "made by hand".to_owned(), records: read(&lines.collect::<String>()) }
}

/// What a log says when all is said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    messages: Vec<(MessageId, String)>,
    pub(crate) is_changed: bool,
    pub(crate) ending: Option<Ending<'static>>,
}

impl Said {
    pub(crate) fn of(records: &[Record<'static>]) -> Said {
        let mut said = Said::default();
        for record in records {
            said.apply(&record.event);
        }
        said
    }

    fn apply(&mut self, event: &Event<'static>) {
        match event {
            Event::MessageStarted { message, .. } => self.messages.push((*message, String::new())),
            Event::TextAppended { message, text } => {
                if let Some(known) = self.text(*message) {
                    known.push_str(text);
                }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                let Some(known) = self.text(*message) else { return };
                let is_changed = *kept_bytes < known.len();
                known.truncate(*kept_bytes);
                known.push_str(text);
                self.is_changed |= is_changed;
            }
            Event::Withdrawn { messages, .. } => {
                let before = self.messages.len();
                self.messages.retain(|(message, _)| !messages.contains(message));
                self.is_changed |= self.messages.len() < before;
            }
            Event::RunEnded { ending } => self.ending = Some(ending.clone()),
            _ => {}
        }
    }

    fn text(&mut self, message: MessageId) -> Option<&mut String> {
        self.messages.iter_mut().find(|(known, _)| *known == message).map(|(_, text)| text)
    }

    /// Every message that stands and is not empty.
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

fn endings() -> Vec<Ending<'static>> {
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
        ending(Outcome::Completed, Some(Stop::End)),
        ending(Outcome::Completed, Some(Stop::Tools)),
        ending(Outcome::Failed, None),
        ending(Outcome::Cancelled, None),
        ending(Outcome::Truncated, None),
        ending(Outcome::Stalled, None),
        ending(Outcome::Interrupted, None),
    ]
}

pub(crate) fn encode<P: Protocol>(protocol: P, records: &[Record<'_>]) -> Vec<String> {
    let mut encoder = Encoder::new(protocol);
    let mut payloads = Vec::new();
    for record in records {
        encoder.push(record, &mut |payload| payloads.push(payload.to_owned()));
    }
    encoder.finish(&mut |payload| payloads.push(payload.to_owned()));
    assert!(encoder.is_ended());
    payloads
}

/// Runs `check` on the stream of every log, of every beginning of it with every ending, and of every
/// beginning that just stops.
pub(crate) fn each_stream<P: Protocol + Clone>(
    protocol: &P,
    check: impl Fn(&[String], &Said) -> Result<(), String>,
) {
    for log in logs() {
        each_beginning(protocol, &log, &check);
    }
}

pub(crate) fn each_beginning<P: Protocol + Clone>(
    protocol: &P,
    log: &Log,
    check: &impl Fn(&[String], &Said) -> Result<(), String>,
) {
    let mut encoder = Encoder::new(protocol.clone());
    let mut payloads: Vec<String> = Vec::new();
    let mut said = Said::default();
    for (at, record) in log.records.iter().enumerate() {
        let judge = |payloads: &[String], said: &Said, how: &str| {
            if let Err(error) = check(payloads, said) {
                panic!("{} before {at}, {how}: {error}\n{}", log.name, payloads.join("\n"));
            }
        };
        for ending in endings() {
            let (mut encoder, mut payloads) = (encoder.clone(), payloads.clone());
            let mut said = said.clone();
            said.ending = Some(ending.clone());
            let how = format!("{:?}", ending.outcome);
            let run = record.run.clone();
            let event = Event::RunEnded { ending };
            if at == 0 {
                continue;
            }
            encoder.push(&Record { seq: 0, at_ms: None, run, event }, &mut |payload| {
                payloads.push(payload.to_owned());
            });
            encoder.push(record, &mut |payload| panic!("{payload} after the end"));
            judge(&payloads, &said, &how);
        }
        let (mut stopped, mut all) = (encoder.clone(), payloads.clone());
        stopped.finish(&mut |payload| all.push(payload.to_owned()));
        judge(&all, &said, "stopped");
        encoder.push(record, &mut |payload| payloads.push(payload.to_owned()));
        said.apply(&record.event);
    }
    if let Err(error) = check(&payloads, &said) {
        panic!("{}: {error}\n{}", log.name, payloads.join("\n"));
    }
}

pub(crate) fn json(payload: &str) -> Result<Value, String> {
    if payload.contains(['\n', '\r']) {
        return Err(format!("a line break in {payload}"));
    }
    serde_json::from_str(payload).map_err(|error| format!("{error} in {payload}"))
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Result<&'a str, String> {
    value[name].as_str().ok_or_else(|| format!("no {name} in {value}"))
}

pub(crate) fn rule(holds: bool, broken: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(broken()) }
}

/// `null` is an error to most clients.
pub(crate) fn no_nulls(value: &Value) -> Result<(), String> {
    let members = value.as_object().ok_or_else(|| format!("no object: {value}"))?;
    let null = members.iter().find(|(_, member)| member.is_null());
    rule(null.is_none(), || format!("null in {value}"))
}
