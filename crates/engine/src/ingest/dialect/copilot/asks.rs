//! What the agent asks of a person.

use crate::event::{AnsweredBy, AskKind, AskOption};
use crate::ingest::json::{Shape, elements, string, string_or_json};
use crate::run::Writer;

use super::Data;

/// Whether the event was about an ask.
pub(super) fn handle(kind: &str, data: &Data<'_>, out: &mut Writer<'_>) -> bool {
    let request = data.request.as_deref().unwrap_or("");
    match kind {
        "permission.requested" => permission(request, data, out),
        "permission.completed" => {
            const RESULT: Shape<1> = Shape { read: ["kind"], skip: &[] };
            let result = data.result.and_then(|raw| RESULT.read(raw.get())?.read[0]);
            let answer = result.and_then(string).unwrap_or_default();
            let ruled = answer.contains("rule") || answer.contains("policy");
            let by = if ruled { AnsweredBy::Policy } else { AnsweredBy::Person };
            out.resolve_ask(request, &answer, by);
        }
        "user_input.requested" | "elicitation.requested" => {
            let words = data.message.map(string_or_json).unwrap_or_default();
            let text = data.question.as_deref().unwrap_or(&words);
            let choices = data.choices.map(elements).unwrap_or_default();
            let choices = choices.into_iter().filter_map(string);
            let options = choices.map(|id| AskOption { id: id.clone(), label: id }).collect();
            out.ask(request, AskKind::Followup, text, options, None);
        }
        "user_input.completed" | "elicitation.completed" => {
            let answer = data.answer.or(data.result).map(string_or_json).unwrap_or_default();
            out.resolve_ask(request, &answer, AnsweredBy::Person);
        }
        _ => return false,
    }
    true
}

fn permission(request: &str, data: &Data<'_>, out: &mut Writer<'_>) {
    const PERMISSION: Shape<7> = Shape {
        read: ["kind", "toolCallId", "fullCommandText", "intention", "fileName", "toolName", "url"],
        skip: &[],
    };
    let permission = data.permission.and_then(|raw| PERMISSION.read(raw.get()));
    let [kind, call, command, intention, file, tool, url] = permission
        .map(|permission| permission.read)
        .unwrap_or_default()
        .map(|member| member.and_then(string));
    let kind = match kind.as_deref() {
        Some("shell") => AskKind::Command,
        Some("mcp") => AskKind::Mcp,
        _ => AskKind::Tool,
    };
    let what = command.or(file).or(url).or(tool);
    let words: Vec<_> = [what, intention].into_iter().flatten().collect();
    let step = call.and_then(|call| out.step_of(&call));
    out.ask(request, kind, &words.join("\n"), decisions(), step);
}

/// What a person may say to a permission, in the words of its answer.
fn decisions() -> Vec<AskOption<'static>> {
    let option =
        |id: &'static str, label: &'static str| AskOption { id: id.into(), label: label.into() };
    vec![option("approved", "Approve"), option("denied-interactively-by-user", "Deny")]
}
