//! Turns: start, plan, usage, errors and end.

use crate::event::{FailureReason, NoticeLevel, StopReason, ToolKind, ToolOutcome};
use crate::ingest::json::{RawValue, as_string, is_true, json_object_of_members, object};
use crate::run::Writer;

use super::super::openai_chat::parse_error_message;
use super::super::shared::calls_without_id::CallMatcher;
use super::super::shared::cli_agent::{
    LastModelOutput, PendingError, build_tool_start_without_call_id,
};
use super::super::shared::codex_results::RetryNotice;
use super::super::shared::usage::UsageNames;
use super::{CodexAppServer, Params, TurnState, message_or_summary_text};

object! { Turn { status, error; skip _ } }

impl CodexAppServer {
    /// Starts a turn of the main thread and its round.
    pub(super) fn apply_turn_start_if_main_thread(
        &mut self,
        params: &Params<'_>,
        out: &mut Writer<'_>,
    ) {
        let thread = params.thread_id.as_deref().unwrap_or("");
        if self.is_sub_agent_thread(thread) {
            return;
        }
        match self.turn {
            TurnState::Idle => thread.clone_into(&mut self.main_thread),
            TurnState::Running if self.is_about_main_or_unnamed_thread(params) => {}
            TurnState::Running => return,
        }
        self.turn = TurnState::Running;
        self.thread_texts.reset_except_sub_agent_texts();
        self.calls = CallMatcher::default();
        self.last_plan.clear();
        self.pending_error.write_held_error_or_forget_reported(out);
        self.pending_error = PendingError::default();
        self.last_output = LastModelOutput::Text;
        out.start_round_or_end_run(self.model.as_deref(), None);
    }

    /// Ends the turn, and with it the run.
    pub(super) fn apply_turn_end_if_main_thread(
        &mut self,
        params: &Params<'_>,
        out: &mut Writer<'_>,
    ) {
        if !self.is_about_main_or_unnamed_thread(params) {
            return;
        }
        self.turn = TurnState::Idle;
        if let Some(total) = self.total_usage.take() {
            out.emit_run_usage(total);
        }
        let turn = params.turn.and_then(Turn::from_raw);
        let Turn { status, error } = turn.unwrap_or_default();
        let status = status.and_then(as_string);
        if status.as_deref() != Some("failed") {
            self.pending_error.write_held_error_or_forget_reported(out);
        }
        match status.as_deref() {
            Some("interrupted") => out.report_cancelled_and_end_text("interrupted"),
            Some("failed") => {
                let words = error.map(parse_error_message);
                let words = words.as_deref().unwrap_or("the turn failed");
                self.pending_error.clear_and_write_held_unless_repeated(words, out);
                out.report_failed_and_end_text(parse_failure_reason(error), words);
            }
            _ => self.last_output.ensure_reply_round_and_report_completed(StopReason::End, out),
        }
    }

    /// Writes each new version of the plan as one finished call.
    pub(super) fn write_changed_plan_as_call(&mut self, params: &Params<'_>, out: &mut Writer<'_>) {
        let plan =
            json_object_of_members(&[("explanation", params.explanation), ("plan", params.plan)]);
        if !self.is_about_main_or_unnamed_thread(params) || plan == self.last_plan {
            return;
        }
        let step =
            out.start_tool(build_tool_start_without_call_id("update_plan", ToolKind::Builtin));
        out.replace_arguments_if_changed(step, &plan);
        out.end_tool_if_open(step, ToolOutcome::Succeeded, None);
        self.last_plan = plan;
    }

    /// Writes the usage of the last model call and keeps the total.
    pub(super) fn write_last_usage_and_hold_total(
        &mut self,
        params: &Params<'_>,
        out: &mut Writer<'_>,
    ) {
        object! { UsageFields { total, last; skip _ } }
        if !self.is_about_main_or_unnamed_thread(params) {
            return;
        }
        let usage = params.token_usage.and_then(UsageFields::from_raw);
        let UsageFields { total, last } = usage.unwrap_or_default();
        self.total_usage = total.map(|total| USAGE.parse_usage_by_names(total));
        if let Some(last) = last {
            out.update_or_emit_round_usage(USAGE.parse_usage_by_names(last));
        }
    }

    /// Writes a retry and withdraws unfinished text, or holds the error.
    pub(super) fn withdraw_for_retry_or_hold_error(
        &mut self,
        params: &Params<'_>,
        out: &mut Writer<'_>,
    ) {
        let words = params
            .error
            .map_or_else(|| message_or_summary_text(params).into_owned(), parse_error_message);
        if params.will_retry.is_some_and(is_true) {
            if self.is_about_main_or_unnamed_thread(params) {
                self.thread_texts.withdraw_unfinished_and_end_round(out);
            }
            RetryNotice::parse(&words).unwrap_or_default().write_retry(&words, out);
        } else if self.is_about_main_or_unnamed_thread(params) {
            self.pending_error.hold_error_and_write_previous(&words, out);
        } else {
            out.append_notice(NoticeLevel::Error, &words);
        }
    }
}

/// Failure reason of an error object.
fn parse_failure_reason(error: Option<&RawValue>) -> FailureReason {
    object! { ErrorFields { codex_error_info = "codexErrorInfo"; skip _ } }
    let info =
        error.and_then(|raw| ErrorFields::from_raw(raw)?.codex_error_info).and_then(as_string);
    match info.as_deref() {
        Some("usageLimitExceeded" | "sessionBudgetExceeded") => FailureReason::Limit,
        _ => FailureReason::Error,
    }
}

const USAGE: UsageNames = UsageNames {
    input: "inputTokens",
    output: "outputTokens",
    reasoning: "reasoningOutputTokens",
    cache_read: "cachedInputTokens",
    cache_write: "cacheWriteInputTokens",
};
