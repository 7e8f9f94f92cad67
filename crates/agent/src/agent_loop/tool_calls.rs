//! Tool calls of one round: applies the policy, asks for approval, runs them, writes their output.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use millpond_engine::event::{AnsweredBy, AskOption, StepId, StopReason, ToolOutcome};
use millpond_engine::run::{InputEnd, NewAsk};
use millpond_log::clock::now_ms;
use millpond_log::runs::{Answer, AnswerResult};
use tokio::sync::mpsc;

use crate::approval::{ApprovalAnswer as Verdict, escape_invisible_chars, parse_answer};
use crate::conversation::Call;
use crate::limits::CALLS_PER_ROUND_MAX;
use crate::policy::ToolPolicy;
use crate::session_history::OpenAsk;
use crate::tools::{CallResult, PreparedCall, ToolAction, ToolCallError};

use super::call_batch::{BatchEvent, CallAwaitingApproval, CallBatch};
use super::{AgentLoop, LoopExit};

/// Tool updates buffered before they are written to the log.
const TOOL_UPDATES_QUEUED_MAX: usize = 64;

/// Origin of the first calls that the loop handles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FirstCalls {
    #[default]
    OfThisProcess,
    /// Made by an earlier process, which may have run them in part.
    OfEarlierProcess,
}

/// Open asks and calls that an earlier process left behind.
#[derive(Debug, Default)]
pub(super) struct ResumedAsks {
    /// Open asks by their step.
    by_step: BTreeMap<StepId, OpenAsk>,
    first_calls: FirstCalls,
}

impl ResumedAsks {
    pub(super) fn new(asks: Vec<OpenAsk>, first_calls: FirstCalls) -> ResumedAsks {
        ResumedAsks { by_step: asks.into_iter().map(|ask| (ask.step, ask)).collect(), first_calls }
    }

    /// True if an ask of an earlier process is still open.
    pub(super) fn has_open_asks(&self) -> bool {
        !self.by_step.is_empty()
    }
}

/// Decision on one call.
enum CallRuling {
    Run,
    Ask,
    Deny(String),
}

impl AgentLoop {
    /// Runs all calls of a round concurrently, until each has a result.
    pub(super) async fn run_tool_calls(&mut self, calls: Vec<Call>) -> Result<(), LoopExit> {
        self.writer.discard_reply_ending();
        let answers = self.writer.open_answer_channel_if_run_open()?;
        let (update_sender, updates) = mpsc::channel(TOOL_UPDATES_QUEUED_MAX);
        let mut batch = CallBatch {
            awaiting_approval: BTreeMap::new(),
            running: FuturesUnordered::new(),
            outputs: BTreeMap::new(),
            updates,
            update_sender,
            answers,
        };
        for (index, call) in calls.into_iter().enumerate() {
            if CALLS_PER_ROUND_MAX <= index {
                let detail =
                    format!("Too many calls: the limit is {CALLS_PER_ROUND_MAX} per round.");
                self.write_tool_end(call.step, CallResult::failed(detail)).await?;
            } else {
                self.start_deny_or_ask_about_call(call, &mut batch).await?;
            }
        }
        self.resumed_asks.first_calls = FirstCalls::OfThisProcess;
        while !batch.running.is_empty() || !batch.awaiting_approval.is_empty() {
            self.handle_next_batch_event(&mut batch).await?;
        }
        Ok(())
    }

    /// Runs, denies or asks about one call.
    async fn start_deny_or_ask_about_call(
        &mut self,
        call: Call,
        batch: &mut CallBatch,
    ) -> Result<(), LoopExit> {
        if let Some(resumed) = self.resumed_asks.by_step.remove(&call.step) {
            let OpenAsk { id, digest, expires_at_ms, .. } = resumed;
            batch
                .awaiting_approval
                .insert(id, CallAwaitingApproval { call, approved_digest: digest, expires_at_ms });
            return Ok(());
        }
        if self.resumed_asks.first_calls == FirstCalls::OfEarlierProcess {
            // It may have run in part, so it is not run again.
            let detail = "The process ended before this tool returned. It was not run again.";
            let result =
                CallResult { outcome: ToolOutcome::NoResult, detail: Some(detail.to_owned()) };
            return self.write_tool_end(call.step, result).await;
        }
        let prepared = match self.prepare_call(&call).await? {
            Ok(prepared) => prepared,
            Err(error) => return self.write_tool_end(call.step, CallResult::failed(error.0)).await,
        };
        if let ToolAction::AskPerson(question) = prepared.action {
            return self.complete_run_with_question(call.step, &question).await;
        }
        match self.decide_call_by_policy(&call.name) {
            CallRuling::Run => {
                self.save_checkpoint_if_files_may_change(&prepared.action).await?;
                batch.push_call_future(&self.config.toolbox, call.step, prepared.action);
                Ok(())
            }
            CallRuling::Deny(detail) => {
                self.write_tool_end(call.step, CallResult::denied(detail)).await
            }
            CallRuling::Ask => self.open_approval_ask(call, &prepared, batch).await,
        }
    }

    /// Prepares a call on a blocking thread.
    async fn prepare_call(
        &mut self,
        call: &Call,
    ) -> Result<Result<PreparedCall, ToolCallError>, LoopExit> {
        let (config, catalogue) = (Arc::clone(&self.config), Arc::clone(&self.catalogue));
        let call = call.clone();
        let preparing =
            tokio::task::spawn_blocking(move || config.toolbox.prepare_call(&catalogue, &call));
        let prepared = self.stop_signal.run_or_drop_on_stop(preparing).await?;
        Ok(prepared
            .unwrap_or_else(|_| Err(ToolCallError("The tool could not be prepared.".to_owned()))))
    }

    fn decide_call_by_policy(&self, tool: &str) -> CallRuling {
        let config = &self.config;
        match config.effective_tool_policy(tool) {
            ToolPolicy::Deny => CallRuling::Deny(format!("Denied by policy: `{tool}`.")),
            ToolPolicy::Allow => CallRuling::Run,
            ToolPolicy::Ask if self.writer.conversation.is_tool_always_allowed(tool) => {
                CallRuling::Run
            }
            ToolPolicy::Ask => CallRuling::Ask,
        }
    }

    /// Opens an ask for the call and adds it to those awaiting approval.
    async fn open_approval_ask(
        &mut self,
        call: Call,
        prepared: &PreparedCall,
        batch: &mut CallBatch,
    ) -> Result<(), LoopExit> {
        let id = format!("ask-{}", call.step.0);
        let expires_at_ms = self.writer.expiry_for_new_ask();
        let description = escape_invisible_chars(&prepared.description);
        let option =
            |id: &'static str, label: String| AskOption { id: id.into(), label: label.into() };
        let options = vec![
            option("allow", "Allow once".to_owned()),
            option("always", format!("Always allow {} in this session", call.name)),
            option("deny", "Deny".to_owned()),
        ];
        let new_ask = NewAsk {
            id: &id,
            kind: prepared.ask_kind,
            text: &description,
            options,
            step: Some(call.step),
            digest: Some(prepared.digest.as_str()),
            expires_at_ms: Some(expires_at_ms),
        };
        self.writer.write_or_fail_run(|out| out.open_ask_unless_open(new_ask)).await?;
        let digest = prepared.digest.as_str().to_owned();
        batch
            .awaiting_approval
            .insert(id, CallAwaitingApproval { call, approved_digest: digest, expires_at_ms });
        Ok(())
    }

    /// Waits for the next event of the batch and handles it.
    async fn handle_next_batch_event(&mut self, batch: &mut CallBatch) -> Result<(), LoopExit> {
        let idle = batch.running.is_empty().then(Instant::now);
        let expiry = batch.time_to_next_approval_expiry_or_max();
        let event = tokio::select! {
            biased;
            cut = self.stop_signal.wait_for_stop() => BatchEvent::Stop(cut),
            Some(news) = batch.updates.recv() => BatchEvent::ToolUpdate(news),
            Some((step, done)) = batch.running.next() => BatchEvent::CallDone(step, done),
            Some(answer) = batch.answers.recv() => BatchEvent::Answer(answer),
            () = tokio::time::sleep(expiry), if !batch.awaiting_approval.is_empty() => BatchEvent::AskExpired,
        };
        self.human_wait_time += idle.map(|since| since.elapsed()).unwrap_or_default();
        match event {
            BatchEvent::Stop(input_end) => self.stop_calls_or_leave_waiting(batch, input_end).await,
            BatchEvent::ToolUpdate(update) => self.write_tool_update(update, batch).await,
            BatchEvent::CallDone(step, result) => {
                // Its buffered updates come first.
                while let Ok(update) = batch.updates.try_recv() {
                    self.write_tool_update(update, batch).await?;
                }
                self.store_output_and_note_if_cut(step, batch).await?;
                self.write_tool_end(step, result).await
            }
            BatchEvent::Answer(answer) => self.handle_approval_answer(answer, batch).await,
            BatchEvent::AskExpired => self.deny_expired_asks(batch).await,
        }
    }

    /// Stops the running calls. If all calls only await approval, leaves them for the next process.
    async fn stop_calls_or_leave_waiting(
        &mut self,
        batch: &mut CallBatch,
        input_end: InputEnd,
    ) -> Result<(), LoopExit> {
        if input_end == InputEnd::Interrupted && batch.running.is_empty() {
            return Err(LoopExit::LeaveWaiting);
        }
        batch.running.clear();
        for id in std::mem::take(&mut batch.awaiting_approval).into_keys() {
            self.writer
                .write_or_fail_run(|out| {
                    out.resolve_ask_if_open(&id, "", AnsweredBy::Nobody);
                })
                .await?;
        }
        Err(LoopExit::Finish(input_end))
    }

    /// Applies an answer to an ask: runs or denies the call.
    async fn handle_approval_answer(
        &mut self,
        answer: Answer,
        batch: &mut CallBatch,
    ) -> Result<(), LoopExit> {
        let Answer { ask, answer, result: result_sender } = answer;
        // The answer is valid even if its client has disconnected.
        let send_result = |result| {
            let _gone = result_sender.send(result);
        };
        let Some(pending) = batch.awaiting_approval.get(&ask) else {
            send_result(AnswerResult::NotOpen);
            return Ok(());
        };
        let Some(approval) = parse_answer(&answer) else {
            send_result(AnswerResult::UnknownOption);
            return Ok(());
        };
        if pending.expires_at_ms <= now_ms() {
            send_result(AnswerResult::NotOpen);
            return self.deny_expired_asks(batch).await;
        }
        let Some(pending) = batch.awaiting_approval.remove(&ask) else { return Ok(()) };
        // Logged before the call runs, so that an answer is used at most once.
        let answer = answer.trim();
        self.writer
            .write_or_fail_run(|out| {
                out.resolve_ask_if_open(&ask, answer, AnsweredBy::Person);
            })
            .await?;
        send_result(AnswerResult::Accepted);
        match approval {
            Verdict::Deny(reason) => {
                let detail = match reason {
                    Some(reason) => format!("Denied by user: {reason}"),
                    None => "Denied by user.".to_owned(),
                };
                self.write_tool_end(pending.call.step, CallResult::denied(detail)).await
            }
            Verdict::Allow | Verdict::Always => {
                self.start_approved_or_deny_changed_call(pending, batch).await
            }
        }
    }

    /// Runs an approved call if its digest is still the one that was shown.
    async fn start_approved_or_deny_changed_call(
        &mut self,
        pending: CallAwaitingApproval,
        batch: &mut CallBatch,
    ) -> Result<(), LoopExit> {
        let CallAwaitingApproval { call, approved_digest: digest, .. } = pending;
        match self.prepare_call(&call).await? {
            Ok(prepared) if prepared.digest.is_approved_by(&digest) => {
                self.save_checkpoint_if_files_may_change(&prepared.action).await?;
                batch.push_call_future(&self.config.toolbox, call.step, prepared.action);
                Ok(())
            }
            Ok(_) => {
                let detail = "Not run: the action has changed since it was approved.";
                self.write_tool_end(call.step, CallResult::denied(detail)).await
            }
            Err(error) => self.write_tool_end(call.step, CallResult::failed(error.0)).await,
        }
    }

    /// Denies the calls whose asks have expired.
    async fn deny_expired_asks(&mut self, batch: &mut CallBatch) -> Result<(), LoopExit> {
        let now = now_ms();
        let expired =
            batch.awaiting_approval.extract_if(.., |_, pending| pending.expires_at_ms <= now);
        for (id, pending) in expired.collect::<Vec<_>>() {
            self.writer
                .write_or_fail_run(|out| {
                    out.resolve_ask_if_open(&id, "expired", AnsweredBy::Policy);
                })
                .await?;
            let detail = "Denied: no answer in time.";
            self.write_tool_end(pending.call.step, CallResult::denied(detail)).await?;
        }
        Ok(())
    }

    /// Ends the run with the question as its last message; the next prompt is the answer.
    async fn complete_run_with_question(
        &mut self,
        step: StepId,
        question: &str,
    ) -> Result<(), LoopExit> {
        self.writer
            .write_or_fail_run(|out| {
                out.append_output_if_open(
                    step,
                    "(question sent; the next user message is the answer)",
                );
                out.end_tool_if_open(step, ToolOutcome::Succeeded, None);
                out.end_message_and_declare_or_append_final_text(question);
                out.report_completed_unless_failed(StopReason::End);
            })
            .await?;
        Err(LoopExit::Finish(InputEnd::EndOfInput))
    }
}
