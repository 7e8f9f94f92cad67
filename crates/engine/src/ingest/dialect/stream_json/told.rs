//! What the agent tells about itself: its state, its troubles, its end.

use crate::event::{Event, FailureReason, Level, UnrecognisedReason, Usage};
use crate::ingest::dialect::anthropic::{refuse, stop_of, usage_of};
use crate::ingest::dialect::openai_chat::error_text;
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, elements, is_true, number, string, string_or_json};
use crate::run::Writer;

use super::{Line, StreamJson};

impl StreamJson {
    pub(super) fn system(&mut self, line: &Line<'_>, frame: Frame<'_>, out: &mut Writer<'_>) {
        match line.subtype.as_deref().unwrap_or("") {
            "api_retry" => retry(line, out),
            "compact_boundary" => out.note(Event::HistoryCompacted { summary: None }),
            "permission_denied" => self.permission_denied(line, out),
            "model_refusal_fallback" => {
                if self.is_of_round(line.retracted) {
                    self.withdraw(out);
                }
                words(Level::Warning, line.content, out);
            }
            "model_refusal_no_fallback" => words(Level::Error, line.content, out),
            "notification" => words(Level::Info, line.text, out),
            "informational" | "local_command_output" => {
                let level = match line.level.as_deref() {
                    Some("error") => Level::Error,
                    Some("warning") => Level::Warning,
                    _ => Level::Info,
                };
                words(level, line.content, out);
            }
            "task_notification" => words(Level::Info, line.summary, out),
            "task_progress" => {
                let step = line.call.as_deref().and_then(|call| out.step_of(call));
                if let (Some(step), Some(text)) = (step, line.description.and_then(string)) {
                    out.progress(step, &text);
                }
            }
            "session_writes_lost" | "mirror_error" => {
                words(Level::Warning, line.error.or(line.content), out);
            }
            "init"
            | "status"
            | "thinking_tokens"
            | "session_state_changed"
            | "hook_started"
            | "hook_progress"
            | "hook_response"
            | "task_started"
            | "task_updated"
            | "background_tasks_changed"
            | "files_persisted"
            | "memory_recall"
            | "commands_changed"
            | "plugin_install"
            | "elicitation_complete"
            | "control_request_progress"
            | "worker_shutting_down"
            | "session_start" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
    }

    pub(super) fn result(&mut self, line: &Line<'_>, out: &mut Writer<'_>) {
        self.asks.end_denied(out);
        let subtype = line.subtype.as_deref().unwrap_or("");
        let reason = line.stop_reason.as_deref();
        let terminal = line.terminal_reason.as_deref().unwrap_or("");
        self.error.ends(&failure_words(line), out);
        let stop = if terminal.starts_with("aborted") {
            out.cancelled(&failure_words(line));
            self.round.stop()
        } else if line.is_error.is_some_and(is_true) || subtype.starts_with("error") {
            let kind = match subtype {
                "error_max_turns" | "error_max_budget_usd" => FailureReason::Limit,
                _ if reason == Some("refusal") => FailureReason::Refused,
                _ => FailureReason::Error,
            };
            out.fail(kind, &failure_words(line));
            self.round.stop()
        } else {
            // Most results repeat the last message; one that does not is all there is of it.
            out.declare_final(&line.result.map(string_or_json).unwrap_or_default());
            match reason.map(stop_of) {
                Some(Some(stop)) => out.complete(stop),
                Some(None) => refuse(None, out),
                None => out.complete(self.round.stop_or_end()),
            }
            None
        };
        let usage = line.usage.map(usage_of).unwrap_or_default();
        let usage = Usage { cost_usd: line.cost.and_then(number), ..usage };
        if usage != Usage::default() {
            out.run_usage(usage);
        }
        out.end_round(stop);
        self.round = super::Round::default();
    }
}

fn failure_words(line: &Line<'_>) -> String {
    let result = line.result.map(string_or_json).unwrap_or_default();
    if !result.is_empty() {
        return result.into_owned();
    }
    let errors = line.errors.map(elements).unwrap_or_default();
    if errors.is_empty() {
        if let Some(error) = line.error {
            return error_text(error);
        }
        let subtype = line.subtype.as_deref().unwrap_or("unnamed error");
        return subtype.to_owned();
    }
    let errors: Vec<_> = errors.into_iter().map(string_or_json).collect();
    errors.join("\n")
}

fn retry(line: &Line<'_>, out: &mut Writer<'_>) {
    let error = line.error.map(string_or_json).unwrap_or_default();
    let reason = match line.error_status {
        Some(status) => format!("{error} ({})", status.get()).into(),
        None => error,
    };
    out.note(Event::RetryScheduled {
        attempt: line.attempt.and_then(number),
        attempts_max: line.attempts_max.and_then(number),
        delay_ms: line.retry_delay.and_then(number),
        reason,
    });
}

pub(super) fn progress(line: &Line<'_>, out: &mut Writer<'_>) {
    let step = line.call.as_deref().and_then(|call| out.step_of(call));
    if let (Some(step), Some(seconds)) = (step, line.elapsed) {
        out.progress(step, &format!("{} s", seconds.get()));
    }
}

pub(super) fn notice(text: Option<&RawValue>, out: &mut Writer<'_>) {
    words(Level::Info, text, out);
}

fn words(level: Level, text: Option<&RawValue>, out: &mut Writer<'_>) {
    if let Some(text) = text {
        out.notice(level, &string_or_json(text));
    }
}
