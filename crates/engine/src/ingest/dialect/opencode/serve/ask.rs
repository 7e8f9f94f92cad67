//! Permission requests and questions of the server, and their replies.

use crate::event::{AnsweredBy, AskKind, AskOption};
use crate::ingest::json::{RawValue, array_elements, as_string, object, string_or_json};
use crate::limits::OPEN_TOOLS_MAX;
use crate::run::Writer;

use super::super::Opencode;
use super::Properties;

impl Opencode {
    /// Writes a permission request as an ask.
    pub(super) fn write_and_record_permission_ask(
        &mut self,
        event: &Properties<'_>,
        out: &mut Writer<'_>,
    ) {
        object! { ToolFields { call_id = "callID"; skip _ } }
        let id = event.id.as_deref().unwrap_or("");
        let kind = event.permission.as_deref().or(event.permission_kind.as_deref()).unwrap_or("");
        let tool = event.tool.and_then(ToolFields::from_raw).and_then(|tool| tool.call_id);
        let call = event.call.as_deref().map(Into::into).or(tool.and_then(as_string));
        let call = call.unwrap_or_default();
        let text = permission_detail(event)
            .or_else(|| event.title.as_deref().map(str::to_owned))
            .or_else(|| event.patterns.or(event.pattern).map(join_texts));
        let text = format!("{kind}: {}", text.unwrap_or_default());
        let ask = if kind == "bash" { AskKind::Command } else { AskKind::Tool };
        let always = match event.always.filter(|raw| !array_elements(raw).is_empty()) {
            Some(patterns) => format!("Allow always: {}", join_texts(patterns)).into(),
            None => "Allow always".into(),
        };
        let options =
            [("once", "Allow once".into()), ("always", always), ("reject", "Reject".into())];
        let options = options.map(|(id, label)| AskOption { id: id.into(), label });
        out.open_simple_ask_unless_open(id, ask, &text, options.into(), out.find_open_tool(&call));
        if self.sessions.open_asks.len() < OPEN_TOOLS_MAX {
            self.sessions.open_asks.push((id.to_owned(), call.into_owned()));
        }
    }

    /// Resolves an ask; records a denied call.
    pub(super) fn resolve_ask_and_record_denial(
        &mut self,
        event: &Properties<'_>,
        out: &mut Writer<'_>,
    ) {
        let ids = [&event.request, &event.permission_id, &event.id];
        let id = ids.into_iter().flatten().next().map_or("", |id| id.as_ref());
        let reply = event.reply.as_deref().or(event.response.as_deref()).map(str::to_owned);
        let answers = || event.answers.map_or_else(|| "reject".to_owned(), join_texts);
        let reply = reply.unwrap_or_else(answers);
        if let Some(at) = self.sessions.open_asks.iter().position(|(ask, _)| ask == id) {
            let (_, call) = self.sessions.open_asks.swap_remove(at);
            if reply == "reject" {
                self.sessions.denied_calls.insert(&call);
            }
        }
        out.resolve_ask_if_open(id, &reply, AnsweredBy::Person);
    }
}

/// Command, path and diff that a permission is about.
fn permission_detail(event: &Properties<'_>) -> Option<String> {
    object! { Metadata { command, filepath, diff; skip _ } }
    let Metadata { command, filepath, diff } = Metadata::from_raw(event.metadata?)?;
    let words = [command, filepath, diff].into_iter().flatten().filter_map(as_string);
    let words: Vec<_> = words.filter(|words| !words.is_empty()).collect();
    (!words.is_empty()).then(|| words.join("\n"))
}

/// Writes questions as one ask with all their options.
pub(super) fn write_question_ask(event: &Properties<'_>, out: &mut Writer<'_>) {
    object! { Question { words = "question", options; skip _ } }
    object! { OptionFields { label; skip _ } }
    let mut text = Vec::new();
    let mut labels = Vec::new();
    for raw in event.questions.map(array_elements).unwrap_or_default() {
        let Some(question) = Question::from_raw(raw) else {
            continue;
        };
        let Question { words, options } = question;
        text.extend(words.and_then(as_string));
        for option in options.map(array_elements).unwrap_or_default() {
            labels.extend(OptionFields::from_raw(option).and_then(|option| option.label));
        }
    }
    let options = labels.into_iter().filter_map(as_string);
    let options = options.map(|label| AskOption { id: label.clone(), label }).collect();
    let id = event.id.as_deref().unwrap_or("");
    out.open_simple_ask_unless_open(id, AskKind::Followup, &text.join("\n"), options, None);
}

/// Joins the texts of a nested array, or returns the text itself.
fn join_texts(raw: &RawValue) -> String {
    let parts = array_elements(raw);
    if parts.is_empty() {
        return string_or_json(raw).into_owned();
    }
    let parts: Vec<String> = parts.into_iter().map(join_texts).collect();
    parts.join(", ")
}
