//! Permissions and questions: what the server asks a person.

use crate::event::{AnsweredBy, AskKind, AskOption};
use crate::ingest::json::{RawValue, Shape, elements, string, string_or_json};
use crate::limits::OPEN_TOOLS_MAX;
use crate::run::Writer;

use super::super::Opencode;
use super::Properties;

impl Opencode {
    pub(super) fn permission(&mut self, event: &Properties<'_>, out: &mut Writer<'_>) {
        const TOOL: Shape<1> = Shape { read: ["callID"], skip: &[] };
        let id = event.id.as_deref().unwrap_or("");
        let kind = event.permission.as_deref().or(event.permission_kind.as_deref()).unwrap_or("");
        let tool = event.tool.and_then(|raw| TOOL.read(raw.get())).and_then(|tool| tool.read[0]);
        let call = event.call.as_deref().map(Into::into).or(tool.and_then(string));
        let call = call.unwrap_or_default();
        let text = what_exactly(event)
            .or_else(|| event.title.as_deref().map(str::to_owned))
            .or_else(|| event.patterns.or(event.pattern).map(list));
        let text = format!("{kind}: {}", text.unwrap_or_default());
        let ask = if kind == "bash" { AskKind::Command } else { AskKind::Tool };
        let always = match event.always.filter(|raw| !elements(raw).is_empty()) {
            Some(patterns) => format!("Allow always: {}", list(patterns)).into(),
            None => "Allow always".into(),
        };
        let options =
            [("once", "Allow once".into()), ("always", always), ("reject", "Reject".into())];
        let options = options.map(|(id, label)| AskOption { id: id.into(), label });
        out.ask(id, ask, &text, options.into(), out.step_of(&call));
        if self.serve.asks.len() < OPEN_TOOLS_MAX {
            self.serve.asks.push((id.to_owned(), call.into_owned()));
        }
    }

    pub(super) fn replied(&mut self, event: &Properties<'_>, out: &mut Writer<'_>) {
        let ids = [&event.request, &event.permission_id, &event.id];
        let id = ids.into_iter().flatten().next().map_or("", |id| id.as_ref());
        let reply = event.reply.as_deref().or(event.response.as_deref()).map(str::to_owned);
        let answers = || event.answers.map_or_else(|| "reject".to_owned(), list);
        let reply = reply.unwrap_or_else(answers);
        if let Some(at) = self.serve.asks.iter().position(|(ask, _)| ask == id) {
            let (_, call) = self.serve.asks.swap_remove(at);
            if reply == "reject" {
                self.serve.denied.add(&call);
            }
        }
        out.resolve_ask(id, &reply, AnsweredBy::Person);
    }
}

/// What would be done, in the server's own words: the command, or the change to a file.
fn what_exactly(event: &Properties<'_>) -> Option<String> {
    const METADATA: Shape<3> = Shape { read: ["command", "filepath", "diff"], skip: &[] };
    let metadata = METADATA.read(event.metadata?.get())?.read;
    let words = metadata.into_iter().flatten().filter_map(string);
    let words: Vec<_> = words.filter(|words| !words.is_empty()).collect();
    (!words.is_empty()).then(|| words.join("\n"))
}

pub(super) fn question(event: &Properties<'_>, out: &mut Writer<'_>) {
    const QUESTION: Shape<2> = Shape { read: ["question", "options"], skip: &[] };
    const OPTION: Shape<1> = Shape { read: ["label"], skip: &[] };
    let mut text = Vec::new();
    let mut labels = Vec::new();
    for raw in event.questions.map(elements).unwrap_or_default() {
        let Some(question) = QUESTION.read(raw.get()) else {
            continue;
        };
        let [words, options] = question.read;
        text.extend(words.and_then(string));
        for option in options.map(elements).unwrap_or_default() {
            labels.extend(OPTION.read(option.get()).and_then(|option| option.read[0]));
        }
    }
    let options = labels.into_iter().filter_map(string);
    let options = options.map(|label| AskOption { id: label.clone(), label }).collect();
    let id = event.id.as_deref().unwrap_or("");
    out.ask(id, AskKind::Followup, &text.join("\n"), options, None);
}

/// Texts of an array, however deep, or the text itself.
fn list(raw: &RawValue) -> String {
    let parts = elements(raw);
    if parts.is_empty() {
        return string_or_json(raw).into_owned();
    }
    let parts: Vec<String> = parts.into_iter().map(list).collect();
    parts.join(", ")
}
