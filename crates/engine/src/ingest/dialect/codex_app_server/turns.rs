//! Turns: how they begin, what they cost, and how they end.

use crate::event::{FailureReason, Level, Stop, ToolKind, ToolOutcome, Usage};
use crate::ingest::json::{RawValue, Shape, is_true, number, object_text, string};
use crate::run::Writer;

use super::super::agents::{LastError, Voice, agent_tool};
use super::super::codex::calls::Calls;
use super::super::codex::results::Retry;
use super::super::openai_chat::error_text;
use super::{CodexAppServer, Params, Turn, words_of};

const TURN: Shape<2> = Shape { read: ["status", "error"], skip: &[] };

impl CodexAppServer {
    pub(super) fn turn_started(&mut self, params: &Params<'_>, out: &mut Writer<'_>) {
        let thread = params.thread_id.as_deref().unwrap_or("");
        if self.is_agent(thread) {
            return;
        }
        match self.turn {
            Turn::Idle => thread.clone_into(&mut self.thread),
            Turn::Running if self.is_main(params) => {}
            Turn::Running => return,
        }
        self.turn = Turn::Running;
        self.speech.next_turn();
        self.calls = Calls::default();
        self.plan.clear();
        self.error.tell(out);
        self.error = LastError::default();
        self.voice = Voice::Heard;
        out.round(self.model.as_deref(), None);
    }

    pub(super) fn turn_completed(&mut self, params: &Params<'_>, out: &mut Writer<'_>) {
        if !self.is_main(params) {
            return;
        }
        self.turn = Turn::Idle;
        if let Some(total) = self.total.take() {
            out.run_usage(total);
        }
        let turn = params.turn.and_then(|raw| TURN.read(raw.get()));
        let [status, error] = turn.map(|turn| turn.read).unwrap_or_default();
        let status = status.and_then(string);
        if status.as_deref() != Some("failed") {
            self.error.tell(out);
        }
        match status.as_deref() {
            Some("interrupted") => out.cancelled("interrupted"),
            Some("failed") => {
                let words = error.map(error_text);
                let words = words.as_deref().unwrap_or("the turn failed");
                self.error.ends(words, out);
                out.fail(failure_of(error), words);
            }
            _ => self.voice.complete(Stop::End, out),
        }
    }

    /// Each version of the plan is a call that is over.
    pub(super) fn plan(&mut self, params: &Params<'_>, out: &mut Writer<'_>) {
        let plan = object_text(&[("explanation", params.explanation), ("plan", params.plan)]);
        if !self.is_main(params) || plan == self.plan {
            return;
        }
        // A plan has no result that the model would have to answer.
        let step = out.tool(agent_tool("update_plan", ToolKind::Builtin));
        out.whole_arguments(step, &plan);
        out.end_tool(step, ToolOutcome::Succeeded, None);
        self.plan = plan;
    }

    pub(super) fn token_usage(&mut self, params: &Params<'_>, out: &mut Writer<'_>) {
        const USAGE: Shape<2> = Shape { read: ["total", "last"], skip: &[] };
        if !self.is_main(params) {
            return;
        }
        let usage = params.token_usage.and_then(|raw| USAGE.read(raw.get()));
        let [total, last] = usage.map(|usage| usage.read).unwrap_or_default();
        self.total = total.map(usage_of);
        if let Some(last) = last {
            out.round_usage(usage_of(last));
        }
    }

    pub(super) fn error(&mut self, params: &Params<'_>, out: &mut Writer<'_>) {
        let words = params.error.map_or_else(|| words_of(params).into_owned(), error_text);
        if params.will_retry.is_some_and(is_true) {
            if self.is_main(params) {
                self.speech.take_back_unfinished(out);
            }
            Retry::of(&words).unwrap_or_default().note(&words, out);
        } else if self.is_main(params) {
            self.error.hold(&words, out);
        } else {
            out.notice(Level::Error, &words);
        }
    }
}

fn failure_of(error: Option<&RawValue>) -> FailureReason {
    const ERROR: Shape<1> = Shape { read: ["codexErrorInfo"], skip: &[] };
    let info = error.and_then(|raw| ERROR.read(raw.get())?.read[0]).and_then(string);
    match info.as_deref() {
        Some("usageLimitExceeded" | "sessionBudgetExceeded") => FailureReason::Limit,
        _ => FailureReason::Error,
    }
}

fn usage_of(raw: &RawValue) -> Usage {
    const USAGE: Shape<5> = Shape {
        read: [
            "inputTokens",
            "outputTokens",
            "reasoningOutputTokens",
            "cachedInputTokens",
            "cacheWriteInputTokens",
        ],
        skip: &[],
    };
    let usage = USAGE.read(raw.get()).map(|usage| usage.read).unwrap_or_default();
    let [input, output, reasoning, cache_read, cache_write] =
        usage.map(|member| member.and_then(number));
    Usage {
        input_tokens: input,
        output_tokens: output,
        reasoning_tokens: reasoning,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        cost_usd: None,
    }
}
