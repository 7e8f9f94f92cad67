//! How tools and attempts turn out, in the words that both of Codex's outputs share.

use crate::event::{Event, StepId, ToolOutcome};
use crate::ingest::json::{RawValue, Shape, elements, string, string_or_json};
use crate::run::Writer;

use super::super::anthropic::image_of;
use super::super::openai_chat::error_text;

pub(in super::super) fn outcome_of(status: Option<&str>) -> ToolOutcome {
    match status {
        Some("failed") => ToolOutcome::Failed,
        Some("declined") => ToolOutcome::Denied,
        _ => ToolOutcome::Succeeded,
    }
}

pub(in super::super) fn end_command(
    step: StepId,
    status: Option<&str>,
    exit_code: Option<i64>,
    out: &mut Writer<'_>,
) {
    let failure = exit_code.filter(|&code| code != 0);
    let outcome = match outcome_of(status) {
        ToolOutcome::Succeeded if failure.is_some() => ToolOutcome::Failed,
        outcome => outcome,
    };
    out.end_tool(step, outcome, failure.map(|code| format!("exit code {code}")).as_deref());
}

pub(in super::super) fn end_mcp(
    step: StepId,
    status: Option<&str>,
    result: Option<&RawValue>,
    error: Option<&RawValue>,
    out: &mut Writer<'_>,
) {
    const RESULT: Shape<1> = Shape { read: ["content"], skip: &[] };
    if let Some(content) = result.and_then(|raw| RESULT.read(raw.get())?.read[0]) {
        for part in elements(content) {
            content_part(step, part, out);
        }
    }
    let words = error.map(error_text);
    let outcome = if words.is_some() { ToolOutcome::Failed } else { outcome_of(status) };
    out.end_tool(step, outcome, words.as_deref());
}

/// Text or a picture of a result; anything else as the JSON it is.
pub(in super::super) fn content_part(step: StepId, raw: &RawValue, out: &mut Writer<'_>) {
    const PART: Shape<2> = Shape { read: ["type", "text"], skip: &[] };
    let [kind, text] = PART.read(raw.get()).map(|part| part.read).unwrap_or_default();
    match kind.and_then(string).as_deref() {
        Some("text" | "inputText") => {
            out.output(step, &text.map(string_or_json).unwrap_or_default());
        }
        Some("image") if let Some(image) = image_of(raw) => out.output_image(step, image),
        _ => out.output(step, raw.get()),
    }
}

/// What sub-agents said last, by their own account.
pub(in super::super) fn agents_words(step: StepId, states: &RawValue, out: &mut Writer<'_>) {
    const AGENTS: Shape<0> = Shape { read: [], skip: &[] };
    const STATE: Shape<1> = Shape { read: ["message"], skip: &[] };
    let agents = AGENTS.read(states.get()).map(|agents| agents.unknown).unwrap_or_default();
    for (_, state) in agents {
        let words = STATE.read(state.get()).and_then(|state| state.read[0]).and_then(string);
        out.output(step, &words.unwrap_or_default());
    }
}

/// "Reconnecting... 2/5 (why)".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Retry {
    attempt: Option<u32>,
    attempts_max: Option<u32>,
}

impl Retry {
    pub(in super::super) fn of(words: &str) -> Option<Retry> {
        let rest = words.strip_prefix("Reconnecting")?;
        let fraction = rest.trim_start_matches(['.', '…', ' ']);
        let (attempt, max) = fraction.split_once('/').unwrap_or_default();
        let end = max.find(|char: char| !char.is_ascii_digit()).unwrap_or(max.len());
        let attempts_max = max.get(..end).and_then(|max| max.parse().ok());
        Some(Retry { attempt: attempt.parse().ok(), attempts_max })
    }

    pub(in super::super) fn note(self, words: &str, out: &mut Writer<'_>) {
        let Retry { attempt, attempts_max } = self;
        let reason = words.into();
        out.note(Event::RetryScheduled { attempt, attempts_max, delay_ms: None, reason });
    }
}
