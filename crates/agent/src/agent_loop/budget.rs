//! The session's budget: asks a person before the cost passes it.

use std::time::{Duration, Instant};

use millpond_engine::event::{AnsweredBy, AskKind, AskOption, FailureReason, Millis};
use millpond_engine::run::{InputEnd, NewAsk};
use millpond_log::clock::now_ms;
use millpond_log::runs::{Answer, AnswerResult};
use tokio::sync::mpsc;

use super::{AgentLoop, ApprovalMode, LoopExit};

/// Prefix of budget asks' ids; a number follows.
pub const BUDGET_ASK_PREFIX: &str = "budget-";
/// Answer that raises the budget by its initial amount.
pub const RAISE_BUDGET_ANSWER: &str = "go_on";
const STOP_ANSWER: &str = "stop";

impl AgentLoop {
    /// Asks a person if the next round, at the last one's cost, would exceed the budget.
    pub(super) async fn ask_and_wait_if_over_budget(&mut self) -> Result<(), LoopExit> {
        let Some(budget) = self.config.limits.budget_usd else {
            return self.resolve_stale_budget_ask_if_any().await;
        };
        let allowed = budget * f64::from(self.budget_raises + 1);
        let estimated_cost = self.writer.session_cost_usd() + self.writer.last_call_cost_usd();
        let is_budget_reached = allowed < estimated_cost
            || (0.0 < estimated_cost && allowed <= self.writer.session_cost_usd());
        if !is_budget_reached || self.config.approval_mode == ApprovalMode::Yolo {
            return self.resolve_stale_budget_ask_if_any().await;
        }
        // Before the ask is opened: the answer may come at once.
        let answers = self.writer.open_answer_channel_if_run_open()?;
        let (ask, expires_at_ms) = match self.resumed_budget_ask.take() {
            Some(open_ask) => open_ask,
            None => self.open_budget_ask(budget, allowed).await?,
        };
        let since = Instant::now();
        let is_raised = self.wait_and_resolve_budget_ask(answers, &ask, expires_at_ms).await?;
        self.human_wait_time += since.elapsed();
        if is_raised {
            self.budget_raises += 1;
            return Ok(());
        }
        let spent = self.writer.session_cost_usd();
        let detail = format!("stopped at the budget: the session has cost ${spent:.4}");
        Err(LoopExit::Failed(FailureReason::Limit, detail))
    }

    /// Resolves the budget ask of an earlier process, which is no longer needed.
    async fn resolve_stale_budget_ask_if_any(&mut self) -> Result<(), LoopExit> {
        if let Some((ask, _)) = self.resumed_budget_ask.take() {
            self.writer
                .write_or_fail_run(|out| {
                    out.resolve_ask_if_open(&ask, RAISE_BUDGET_ANSWER, AnsweredBy::Policy);
                })
                .await?;
        }
        Ok(())
    }

    async fn open_budget_ask(
        &mut self,
        budget: f64,
        allowed: f64,
    ) -> Result<(String, Millis), LoopExit> {
        let ask = format!("{BUDGET_ASK_PREFIX}{}", self.budget_raises + 1);
        let expires_at_ms = self.writer.expiry_for_new_ask();
        let spent = self.writer.session_cost_usd();
        let text = format!(
            "This session has cost ${spent:.4}. Continuing may exceed its budget of ${allowed:.4}."
        );
        let option =
            |id: &'static str, label: String| AskOption { id: id.into(), label: label.into() };
        let options = vec![
            option(RAISE_BUDGET_ANSWER, format!("Continue for another ${budget:.4}")),
            option(STOP_ANSWER, "Stop".to_owned()),
        ];
        let new_ask = NewAsk {
            id: &ask,
            kind: AskKind::Other,
            text: &text,
            options,
            step: None,
            digest: None,
            expires_at_ms: Some(expires_at_ms),
        };
        self.writer.write_or_fail_run(|out| out.open_ask_unless_open(new_ask)).await?;
        Ok((ask, expires_at_ms))
    }

    /// Waits for the answer or the expiry and resolves the ask; true if the budget is raised.
    async fn wait_and_resolve_budget_ask(
        &mut self,
        mut answers: mpsc::Receiver<Answer>,
        ask: &str,
        expires_at_ms: Millis,
    ) -> Result<bool, LoopExit> {
        loop {
            let remaining = Duration::from_millis(expires_at_ms.saturating_sub(now_ms()));
            let received = tokio::select! {
                biased;
                cut = self.stop_signal.wait_for_stop() => match cut {
                    InputEnd::Interrupted => return Err(LoopExit::LeaveWaiting),
                    cut => return Err(LoopExit::Finish(cut)),
                },
                Some(answer) = answers.recv() => answer,
                () = tokio::time::sleep(remaining) => {
                    self.writer.write_or_fail_run(|out| out.resolve_ask_if_open(ask, "expired", AnsweredBy::Policy)).await?;
                    return Ok(false);
                }
            };
            let Answer { ask: answered_ask, answer, result: result_sender } = received;
            let result = match answer.trim() {
                _ if answered_ask != ask => AnswerResult::NotOpen,
                RAISE_BUDGET_ANSWER | STOP_ANSWER => {
                    let choice = answer.trim();
                    self.writer
                        .write_or_fail_run(|out| {
                            out.resolve_ask_if_open(ask, choice, AnsweredBy::Person);
                        })
                        .await?;
                    let _gone = result_sender.send(AnswerResult::Accepted);
                    return Ok(choice == RAISE_BUDGET_ANSWER);
                }
                _ => AnswerResult::UnknownOption,
            };
            let _gone = result_sender.send(result);
        }
    }
}
