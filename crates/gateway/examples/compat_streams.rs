//! Writes the streams of every log in the given folders, in every protocol, with the expected
//! client state, for the real clients in `tests/judges`.
//!
//! `compat_streams OUT LOGS...`

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use millpond_engine::event::{Event, MessageId, Record};
use millpond_gateway::compat::agui::{self, AgUi};
use millpond_gateway::compat::ai_sdk::{self, AiSdk, Version};
use millpond_gateway::compat::openai_chat::body::OpenAiChatBody;
use millpond_gateway::compat::openai_chat::{self, Content, IncludeUsage, OpenAiChat};
use millpond_gateway::compat::openai_responses::{self, OpenAiResponses};
use millpond_gateway::compat::{Encoder, Protocol};
use serde_json::{Value, json};

/// Numbers of records cut off a long log, to test streams that stop.
const CUT_POSITIONS: [usize; 4] = [0, 1, 3, 7];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments.next().ok_or("usage: compat_streams OUT LOGS...")?;
    let out = Path::new(&out);
    std::fs::create_dir_all(out)?;
    let mut cases = Vec::new();
    for logs in arguments {
        let logs = Path::new(&logs);
        let mut paths = Vec::new();
        find_event_files(logs, &mut paths)?;
        paths.sort();
        for path in &paths {
            let name = path.strip_prefix(logs)?.with_extension("").display().to_string();
            let text = std::fs::read_to_string(path)?;
            let records: Vec<Record<'_>> =
                text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
            write_cases(out, &name, &records, &mut cases)?;
        }
    }
    std::fs::write(out.join("cases.json"), serde_json::to_string_pretty(&cases)?)?;
    Ok(())
}

fn write_cases(
    out: &Path,
    name: &str,
    records: &[Record<'_>],
    cases: &mut Vec<Value>,
) -> std::io::Result<()> {
    for cut in CUT_POSITIONS {
        let Some(records) = records.get(..records.len().saturating_sub(cut)) else { continue };
        if cut == 0 || records.len() > 1 {
            let name = format!("{}~{cut}", name.replace(['/', '\\'], "~"));
            write_streams(&out.join(&name), records)?;
            cases.push(expected_client_state(&name, records));
        }
    }
    Ok(())
}

fn find_event_files(dir: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            find_event_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "events") {
            found.push(path);
        }
    }
    Ok(())
}

fn write_streams(stem: &Path, records: &[Record<'_>]) -> std::io::Result<()> {
    let put = |protocol: &str, text: String| {
        let mut name = stem.as_os_str().to_owned();
        name.push(format!(".{protocol}"));
        std::fs::write(name, text)
    };
    let ai = |version| {
        let picture_prefix = "/pictures/".to_owned();
        AiSdk::new(ai_sdk::Options {
            version,
            image_prefix: picture_prefix,
            ..ai_sdk::Options::default()
        })
    };
    let model = || "pond".to_owned();
    let chat = |content| openai_chat::Options {
        model: model(),
        content,
        usage: IncludeUsage::Yes,
        ..openai_chat::Options::default()
    };
    put("ai6", sse_body(ai(Version::V6), records))?;
    put("ai7", sse_body(ai(Version::V7), records))?;
    let history = serde_json::from_str(r#"{"id":"u1","role":"user","content":"hi"}"#)?;
    let options = agui::Options {
        thread: "t".to_owned(),
        run: Some("r".to_owned()),
        history: vec![history],
        ..agui::Options::default()
    };
    put("agui", sse_body(AgUi::new(options), records))?;
    put("chat", sse_body(OpenAiChat::new(chat(Content::All)), records))?;
    put("chat-final", sse_body(OpenAiChat::new(chat(Content::Final)), records))?;
    put("chat-body", payloads(OpenAiChatBody::new(chat(Content::All)), records).concat())?;
    let options = openai_responses::Options { model: model(), ..Default::default() };
    put("responses", sse_body(OpenAiResponses::new(options), records))
}

fn payloads(protocol: impl Protocol, records: &[Record<'_>]) -> Vec<String> {
    let mut encoder = Encoder::new(protocol);
    let mut payloads = Vec::new();
    for record in records {
        encoder.push(record, &mut |payload| payloads.push(payload.to_owned()));
    }
    encoder.end_as_interrupted_unless_ended(&mut |payload| payloads.push(payload.to_owned()));
    payloads
}

fn sse_body(protocol: impl Protocol, records: &[Record<'_>]) -> String {
    payloads(protocol, records).iter().fold(String::new(), |mut text, payload| {
        // Writing to a string cannot fail.
        let _ = write!(text, "data: {payload}\n\n");
        text
    })
}

/// The expected client state, computed from the log without the encoders.
fn expected_client_state(name: &str, records: &[Record<'_>]) -> Value {
    let mut messages: Vec<(MessageId, String)> = Vec::new();
    let (mut is_changed, mut ending) = (false, json!({"outcome": "interrupted"}));
    for record in records {
        match &record.event {
            Event::MessageStarted { message, .. } => messages.push((*message, String::new())),
            Event::TextAppended { message, text } => {
                for (_, known) in messages.iter_mut().filter(|(known, _)| known == message) {
                    known.push_str(text);
                }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                for (_, known) in messages.iter_mut().filter(|(known, _)| known == message) {
                    is_changed |= *kept_bytes < known.len();
                    known.truncate(*kept_bytes);
                    known.push_str(text);
                }
            }
            Event::Withdrawn { messages: gone, .. } => {
                is_changed |= messages.iter().any(|(message, _)| gone.contains(message));
                messages.retain(|(message, _)| !gone.contains(message));
            }
            Event::RunEnded { ending: told } => ending = json!(told),
            _ => {}
        }
    }
    let reply = messages.iter().find(|(message, _)| ending["message"] == message.0);
    let reply = reply.map(|(_, text)| text.clone());
    let texts = messages.into_iter().map(|(_, text)| text).filter(|text| !text.is_empty());
    let texts: Vec<String> = texts.collect();
    json!({ "name": name, "texts": texts, "reply": reply, "changed": is_changed, "ending": ending })
}
