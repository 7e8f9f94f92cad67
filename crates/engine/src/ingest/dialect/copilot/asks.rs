//! Permission requests and questions of the agent, and their answers.

use crate::event::{AnsweredBy, AskKind, AskOption};
use crate::ingest::json::{array_elements, as_string, object, string_or_json};
use crate::run::Writer;

use super::EventBody;

/// Applies an event about an ask; returns false for any other event.
pub(super) fn try_apply_ask_event(kind: &str, data: &EventBody<'_>, out: &mut Writer<'_>) -> bool {
    let request = data.request.as_deref().unwrap_or("");
    match kind {
        "permission.requested" => open_permission_ask(request, data, out),
        "permission.completed" => {
            object! { ResultFields { kind; skip _ } }
            let result = data.result.and_then(|raw| ResultFields::from_raw(raw)?.kind);
            let answer = result.and_then(as_string).unwrap_or_default();
            let ruled = answer.contains("rule") || answer.contains("policy");
            let by = if ruled { AnsweredBy::Policy } else { AnsweredBy::Person };
            out.resolve_ask_if_open(request, &answer, by);
        }
        "user_input.requested" | "elicitation.requested" => {
            let words = data.message.map(string_or_json).unwrap_or_default();
            let text = data.question.as_deref().unwrap_or(&words);
            let choices = data.choices.map(array_elements).unwrap_or_default();
            let choices = choices.into_iter().filter_map(as_string);
            let options = choices.map(|id| AskOption { id: id.clone(), label: id }).collect();
            out.open_simple_ask_unless_open(request, AskKind::Followup, text, options, None);
        }
        "user_input.completed" | "elicitation.completed" => {
            let answer = data.answer.or(data.result).map(string_or_json).unwrap_or_default();
            out.resolve_ask_if_open(request, &answer, AnsweredBy::Person);
        }
        _ => return false,
    }
    true
}

/// Writes a permission request as an ask.
fn open_permission_ask(request: &str, data: &EventBody<'_>, out: &mut Writer<'_>) {
    object! { Permission {
        kind, call = "toolCallId", command = "fullCommandText", intention, file = "fileName",
        tool = "toolName", url,
        ; skip _
    } }
    let permission = data.permission.and_then(Permission::from_raw);
    let Permission { kind, call, command, intention, file, tool, url } =
        permission.unwrap_or_default();
    let [kind, call, command, intention, file, tool, url] =
        [kind, call, command, intention, file, tool, url].map(|member| member.and_then(as_string));
    let kind = match kind.as_deref() {
        Some("shell") => AskKind::Command,
        Some("mcp") => AskKind::Mcp,
        _ => AskKind::Tool,
    };
    let what = command.or(file).or(url).or(tool);
    let words: Vec<_> = [what, intention].into_iter().flatten().collect();
    let step = call.and_then(|call| out.find_open_tool(&call));
    out.open_simple_ask_unless_open(request, kind, &words.join("\n"), permission_options(), step);
}

/// Options of a permission, with the answer ids of the agent.
fn permission_options() -> Vec<AskOption<'static>> {
    let option =
        |id: &'static str, label: &'static str| AskOption { id: id.into(), label: label.into() };
    vec![option("approved", "Approve"), option("denied-interactively-by-user", "Deny")]
}
