//! System and result lines: notices, retries, tool progress and the end of the run.

use crate::event::{Event, FailureReason, NoticeLevel, UnrecognisedReason, Usage};
use crate::ingest::dialect::anthropic::{
    parse_stop_reason, parse_usage, report_refusal_and_end_text,
};
use crate::ingest::dialect::openai_chat::parse_error_message;
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, array_elements, as_scalar, as_string, is_true, string_or_json,
};
use crate::run::Writer;

use super::{StreamJson, StreamLine};

impl StreamJson {
    /// Applies a `system` line.
    pub(super) fn apply_system_line(
        &mut self,
        line: &StreamLine<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        match line.subtype.as_deref().unwrap_or("") {
            "api_retry" => write_retry(line, out),
            "compact_boundary" => {
                out.append_stateless_event(Event::HistoryCompacted { summary: None });
            }
            "permission_denied" => self.record_denial_or_write_notice(line, out),
            "model_refusal_fallback" => {
                if self.is_any_line_in_round(line.retracted) {
                    self.withdraw_open_round(out);
                }
                write_notice(NoticeLevel::Warning, line.content, out);
            }
            "model_refusal_no_fallback" => write_notice(NoticeLevel::Error, line.content, out),
            "notification" => write_notice(NoticeLevel::Info, line.text, out),
            "informational" | "local_command_output" => {
                let level = match line.level.as_deref() {
                    Some("error") => NoticeLevel::Error,
                    Some("warning") => NoticeLevel::Warning,
                    _ => NoticeLevel::Info,
                };
                write_notice(level, line.content, out);
            }
            "task_notification" => write_notice(NoticeLevel::Info, line.summary, out),
            "task_progress" => {
                let step = line.call.as_deref().and_then(|call| out.find_open_tool(call));
                if let (Some(step), Some(text)) = (step, line.description.and_then(as_string)) {
                    out.append_tool_progress_if_open(step, &text);
                }
            }
            "session_writes_lost" | "mirror_error" => {
                write_notice(NoticeLevel::Warning, line.error.or(line.content), out);
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
            _ => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
        }
    }

    /// Applies the `result` line: ends the round and the run.
    pub(super) fn apply_result_line(&mut self, line: &StreamLine<'_>, out: &mut Writer<'_>) {
        self.asks.end_denied_calls_without_result(out);
        let subtype = line.subtype.as_deref().unwrap_or("");
        let reason = line.stop_reason.as_deref();
        let terminal = line.terminal_reason.as_deref().unwrap_or("");
        self.pending_error.clear_and_write_held_unless_repeated(&failure_text(line), out);
        // Without a reason of its own, an error after an interruption is only its consequence.
        let is_interrupted =
            terminal.is_empty() && subtype == "error_during_execution" && self.is_interrupted;
        let stop = if terminal.starts_with("aborted") || is_interrupted {
            out.report_cancelled_and_end_text(&failure_text(line));
            self.round.reported_or_inferred_stop()
        } else if line.is_error.is_some_and(is_true) || subtype.starts_with("error") {
            let kind = match subtype {
                "error_max_turns" | "error_max_budget_usd" => FailureReason::Limit,
                _ if reason == Some("refusal") => FailureReason::Refused,
                _ => FailureReason::Error,
            };
            if kind == FailureReason::Limit {
                // The model's reply was complete: the agent does not ask it again.
                out.end_round(self.round.reported_or_inferred_stop());
            }
            out.report_failed_and_end_text(kind, &failure_text(line));
            self.round.reported_or_inferred_stop()
        } else {
            // Most results repeat the last message; otherwise the result is the only copy.
            out.end_message_and_declare_or_append_final_text(
                &line.result.map(string_or_json).unwrap_or_default(),
            );
            match reason.map(parse_stop_reason) {
                Some(Some(stop)) => out.report_completed_unless_failed(stop),
                Some(None) => report_refusal_and_end_text(None, out),
                None => out.report_completed_unless_failed(self.round.non_tool_stop_or_end()),
            }
            None
        };
        let usage = line.usage.map(parse_usage).unwrap_or_default();
        let usage = Usage { cost_usd: line.cost.and_then(as_scalar), ..usage };
        if usage != Usage::default() {
            out.emit_run_usage(usage);
        }
        out.end_round(stop);
        self.round = super::CurrentRound::default();
        self.is_interrupted = false;
    }
}

/// Failure text of a `result` line.
fn failure_text(line: &StreamLine<'_>) -> String {
    let result = line.result.map(string_or_json).unwrap_or_default();
    if !result.is_empty() {
        return result.into_owned();
    }
    let errors = line.errors.map(array_elements).unwrap_or_default();
    if errors.is_empty() {
        if let Some(error) = line.error {
            return parse_error_message(error);
        }
        let subtype = line.subtype.as_deref().unwrap_or("unnamed error");
        return subtype.to_owned();
    }
    let errors: Vec<_> = errors.into_iter().map(string_or_json).collect();
    errors.join("\n")
}

/// Writes a retry.
fn write_retry(line: &StreamLine<'_>, out: &mut Writer<'_>) {
    let error = line.error.map(string_or_json).unwrap_or_default();
    let reason = match line.error_status {
        Some(status) => format!("{error} ({})", status.get()).into(),
        None => error,
    };
    out.append_stateless_event(Event::RetryScheduled {
        attempt: line.attempt.and_then(as_scalar),
        attempts_max: line.attempts_max.and_then(as_scalar),
        delay_ms: line.retry_delay.and_then(as_scalar),
        reason,
    });
}

/// Writes the elapsed seconds of a tool.
pub(super) fn write_tool_elapsed_seconds(line: &StreamLine<'_>, out: &mut Writer<'_>) {
    let step = line.call.as_deref().and_then(|call| out.find_open_tool(call));
    if let (Some(step), Some(seconds)) = (step, line.elapsed) {
        out.append_tool_progress_if_open(step, &format!("{} s", seconds.get()));
    }
}

/// Writes an info notice, if there is text.
pub(super) fn write_info_notice(text: Option<&RawValue>, out: &mut Writer<'_>) {
    write_notice(NoticeLevel::Info, text, out);
}

/// Writes a notice, unless `text` is missing. JSON that is no string stays JSON.
fn write_notice(level: NoticeLevel, text: Option<&RawValue>, out: &mut Writer<'_>) {
    if let Some(text) = text {
        out.append_notice(level, &string_or_json(text));
    }
}
