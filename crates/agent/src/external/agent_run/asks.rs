//! Asks of an external agent: opens them, answers them, denies expired ones.

use millpond_engine::event::AnsweredBy;
use millpond_engine::run::InputEnd;
use millpond_log::runs::{Answer, AnswerResult};

use crate::agent_loop::ApprovalMode;
use crate::external::hook::HookRequest;
use crate::external::protocol::{Decision, OutgoingMessage};

use super::{AgentRun, RunExit};

impl AgentRun {
    /// Allows a hook request at once, or opens an ask for it.
    pub(super) async fn allow_hook_or_open_ask(
        &mut self,
        request: HookRequest,
    ) -> Result<(), RunExit> {
        if request.is_read_only() || self.config.approval_mode == ApprovalMode::Yolo {
            request.into_allow_reply().send().await;
        } else if let Some(hooks) = &mut self.hooks {
            self.writer.write_or_fail_run(|out| hooks.open_ask(request, out)).await?;
        }
        Ok(())
    }

    /// Applies a person's answer to an open ask.
    pub(super) async fn handle_answer(&mut self, answer: Answer) -> Result<(), RunExit> {
        let Answer { ask, answer, result: result_sender } = answer;
        if !self.writer.open_ask_ids().contains(&ask) {
            let _gone = result_sender.send(AnswerResult::NotOpen);
            return Ok(());
        }
        let accepted = self
            .try_log_and_send_decision(&ask, Decision::Answer(&answer), AnsweredBy::Person)
            .await?;
        let _gone = result_sender.send(if accepted {
            AnswerResult::Accepted
        } else {
            AnswerResult::UnknownOption
        });
        Ok(())
    }

    /// Sends a decision to the hook or the agent and logs it. False if the ask does not accept it.
    pub(super) async fn try_log_and_send_decision(
        &mut self,
        ask: &str,
        decision: Decision<'_>,
        by: AnsweredBy,
    ) -> Result<bool, RunExit> {
        let answer = match decision {
            Decision::Answer(text) => text,
            Decision::Allow => "allow",
            Decision::Deny => "expired",
        };
        if let Some(hooks) = self.hooks.as_mut().filter(|hooks| hooks.has_open_ask(ask)) {
            let Some(reply) = hooks.try_take_reply_for(ask, decision) else { return Ok(false) };
            self.writer.write_or_fail_run(|out| out.resolve_ask_if_open(ask, answer, by)).await?;
            reply.send().await;
            return Ok(true);
        }
        let message = self
            .protocol
            .as_mut()
            .and_then(|protocol| protocol.try_build_answer_and_close_ask(ask, decision));
        let Some(message) = message else { return Ok(false) };
        // The engine reads an answer from the lines as a person's; HTTP requests are not lines.
        if by != AnsweredBy::Person || matches!(message, OutgoingMessage::Post { .. }) {
            self.writer.write_or_fail_run(|out| out.resolve_ask_if_open(ask, answer, by)).await?;
        }
        self.log_lines_and_send_messages(vec![message]).await?;
        Ok(true)
    }

    /// Denies expired asks; with none open, ends an agent that is idle or out of time.
    pub(super) async fn stop_stalled_or_deny_expired_asks(&mut self) -> Result<(), RunExit> {
        if self.writer.next_ask_expiry().is_none() {
            let work_time = self.started_at.elapsed().saturating_sub(self.human_wait_time);
            if self.config.work_time_max <= work_time {
                let detail = format!("stopped after {} s of work", work_time.as_secs());
                return Err(RunExit::Failed(detail));
            }
            return Err(RunExit::Stopped(InputEnd::Stalled));
        }
        for ask in self.writer.expired_ask_ids() {
            self.try_log_and_send_decision(&ask, Decision::Deny, AnsweredBy::Policy).await?;
            // Resolved even if the agent cannot be sent the denial.
            self.writer
                .write_or_fail_run(|out| {
                    out.resolve_ask_if_open(&ask, "expired", AnsweredBy::Policy);
                })
                .await?;
        }
        Ok(())
    }
}
