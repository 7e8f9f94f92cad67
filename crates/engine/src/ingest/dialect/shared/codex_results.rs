//! Tool results and retry messages of both Codex dialects.

use crate::event::{Event, StepId, ToolOutcome};
use crate::ingest::json::{
    RawValue, array_elements, as_string, non_null_members, object, string_or_json,
};
use crate::run::Writer;

use super::super::anthropic::parse_image;
use super::super::openai_chat::parse_error_message;

/// Outcome of an item's status.
pub(crate) fn tool_outcome(status: Option<&str>) -> ToolOutcome {
    match status {
        Some("failed") => ToolOutcome::Failed,
        Some("declined") => ToolOutcome::Denied,
        _ => ToolOutcome::Succeeded,
    }
}

/// Ends a command step by status and exit code.
pub(crate) fn end_command_step(
    step: StepId,
    status: Option<&str>,
    exit_code: Option<i64>,
    out: &mut Writer<'_>,
) {
    let failure = exit_code.filter(|&code| code != 0);
    let outcome = match tool_outcome(status) {
        ToolOutcome::Succeeded if failure.is_some() => ToolOutcome::Failed,
        outcome => outcome,
    };
    out.end_tool_if_open(step, outcome, failure.map(|code| format!("exit code {code}")).as_deref());
}

/// Writes the content of an MCP result and ends its step.
pub(crate) fn write_mcp_result_and_end(
    step: StepId,
    status: Option<&str>,
    result: Option<&RawValue>,
    error: Option<&RawValue>,
    out: &mut Writer<'_>,
) {
    object! { ResultFields { content; skip _ } }
    if let Some(content) = result.and_then(|raw| ResultFields::from_raw(raw)?.content) {
        for part in array_elements(content) {
            write_content_part(step, part, out);
        }
    }
    let words = error.map(parse_error_message);
    let outcome = if words.is_some() { ToolOutcome::Failed } else { tool_outcome(status) };
    out.end_tool_if_open(step, outcome, words.as_deref());
}

/// Writes a text or image of a result as output; any other part as its JSON.
pub(crate) fn write_content_part(step: StepId, raw: &RawValue, out: &mut Writer<'_>) {
    object! { PartFields { kind = "type", text; skip _ } }
    let PartFields { kind, text } = PartFields::from_raw(raw).unwrap_or_default();
    match kind.and_then(as_string).as_deref() {
        Some("text" | "inputText") => {
            out.append_output_if_open(step, &text.map(string_or_json).unwrap_or_default());
        }
        Some("image") if let Some(image) = parse_image(raw) => out.append_output_image(step, image),
        _ => out.append_output_if_open(step, raw.get()),
    }
}

/// Writes the last message of each sub-agent as output.
pub(crate) fn write_sub_agent_messages(step: StepId, states: &RawValue, out: &mut Writer<'_>) {
    object! { State { message; skip _ } }
    for (_, state) in non_null_members(states.get()).unwrap_or_default() {
        let words = State::from_raw(state).and_then(|state| state.message).and_then(as_string);
        out.append_output_if_open(step, &words.unwrap_or_default());
    }
}

/// Attempt numbers in "Reconnecting... 2/5 (reason)".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RetryNotice {
    attempt: Option<u32>,
    attempts_max: Option<u32>,
}

impl RetryNotice {
    /// Parses an error message; `None` unless it announces a reconnect.
    pub(crate) fn parse(words: &str) -> Option<RetryNotice> {
        let rest = words.strip_prefix("Reconnecting")?;
        let fraction = rest.trim_start_matches(['.', '…', ' ']);
        let (attempt, max) = fraction.split_once('/').unwrap_or_default();
        let end = max.find(|char: char| !char.is_ascii_digit()).unwrap_or(max.len());
        let attempts_max = max.get(..end).and_then(|max| max.parse().ok());
        Some(RetryNotice { attempt: attempt.parse().ok(), attempts_max })
    }

    /// Writes a scheduled retry with `words` as reason.
    pub(crate) fn write_retry(self, words: &str, out: &mut Writer<'_>) {
        let RetryNotice { attempt, attempts_max } = self;
        let reason = words.into();
        out.append_stateless_event(Event::RetryScheduled {
            attempt,
            attempts_max,
            delay_ms: None,
            reason,
        });
    }
}
