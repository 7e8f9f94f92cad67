//! One run of an external agent: reads its lines, sends it answers, until its turn ends or the run
//! stops.

mod asks;
mod shutdown;
mod start;

use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_engine::event::{AnsweredBy, Event, NoticeLevel};
use millpond_engine::run::InputEnd;
use millpond_log::clock::now_ms;
use millpond_log::runs::Answer;
use tokio::sync::mpsc;

use crate::agent_loop::{ApprovalMode, YOLO_NOTICE};
use crate::run_writer::{AppendFailed, RunWriter};
use crate::stop_signal::StopSignal;

pub(super) use start::run_external_agent;

use start::{NO_IMAGES_NOTICE, start_agent_process};

use super::ExternalAgentConfig;
use super::agent_kind::{
    Transport, find_safe_session_id_in_line, is_safe_session_id, is_unknown_session_error,
};
use super::connection::{Connection, SendError};
use super::hook::{HookRequest, HookServer};
use super::protocol::{Decision, LineOutcome, OutgoingMessage, Protocol, TurnEnd, TurnInput};

/// Reason for which the run stops reading from the agent.
enum RunExit {
    AppendFailed,
    /// The agent reported the end of its turn.
    TurnOver,
    /// The agent's output ended.
    EndOfStream,
    Stopped(InputEnd),
    Failed(String),
    /// The agent does not have the session it was to resume.
    SessionLost,
}

impl From<AppendFailed> for RunExit {
    fn from(_: AppendFailed) -> RunExit {
        RunExit::AppendFailed
    }
}

/// State of one run.
struct AgentRun {
    config: Arc<ExternalAgentConfig>,
    turn: TurnInput,
    writer: RunWriter,
    stop_signal: StopSignal,
    answers: mpsc::Receiver<Answer>,
    /// `None` for an agent that only prints.
    protocol: Option<Protocol>,
    /// Receives the approval requests of an agent that asks through hooks.
    hooks: Option<HookServer>,
    connection: Connection,
    /// The agent's session id, as in the log.
    logged_agent_session: Option<String>,
    /// The agent's session id, not yet in the log.
    unlogged_agent_session: Option<String>,
    started_at: Instant,
    /// Time spent only waiting for people.
    human_wait_time: Duration,
}

/// Next event of the run.
enum RunEvent {
    Stop(InputEnd),
    Line(std::io::Result<Option<Vec<u8>>>),
    Answer(Answer),
    Hook(HookRequest),
    Timeout,
}

/// Waits for the next hook request; for ever if there are no hooks.
async fn next_hook_request_or_pending(hooks: &mut Option<HookServer>) -> HookRequest {
    if let Some(hooks) = hooks
        && let Some(request) = hooks.next_request().await
    {
        return request;
    }
    std::future::pending().await
}

impl AgentRun {
    /// Runs the turn, retries it once in a new session if the old one is lost, and ends the run.
    async fn run_to_end(mut self) {
        let mut close = self.process_until_run_exit().await;
        if let RunExit::SessionLost = close {
            close = match self.restart_with_new_session().await {
                Ok(()) => self.process_until_run_exit().await,
                Err(close) => close,
            };
        }
        match close {
            RunExit::AppendFailed => self.connection.process_group.terminate().await,
            RunExit::TurnOver => {
                self.close_input_then_terminate().await;
                self.writer.finish_run(InputEnd::EndOfInput).await;
            }
            // A new session was rejected too; the agent's error is in the log.
            RunExit::EndOfStream | RunExit::SessionLost => {
                Box::pin(self.finish_after_stream_end()).await;
            }
            RunExit::Stopped(input_end) => {
                self.interrupt_log_rest_and_terminate().await;
                self.writer.finish_run(input_end).await;
            }
            RunExit::Failed(detail) => {
                self.connection.process_group.terminate().await;
                Box::pin(self.finish_as_failed(&detail)).await;
            }
        }
    }

    /// Processes events until the run exits; recognises a lost session.
    async fn process_until_run_exit(&mut self) -> RunExit {
        match self.open_turn_and_process_events().await {
            Ok(never) => match never {},
            Err(RunExit::EndOfStream) if self.is_resumed_without_output() => {
                let errors = self.connection.wait_for_stderr_tail().await;
                if is_unknown_session_error(&errors) {
                    RunExit::SessionLost
                } else {
                    RunExit::EndOfStream
                }
            }
            Err(close) => close,
        }
    }

    /// True if a session is resumed and the agent has produced no output.
    fn is_resumed_without_output(&self) -> bool {
        self.turn.agent_session.is_some() && self.writer.output_event_count() == 0
    }

    /// Restarts the agent with a new session.
    async fn restart_with_new_session(&mut self) -> Result<(), RunExit> {
        self.connection.process_group.terminate().await;
        let notice = "the agent no longer has this session; it starts a new one";
        self.writer
            .write_or_fail_run(|out| out.append_notice(NoticeLevel::Warning, notice))
            .await?;
        self.turn.agent_session = None;
        let config = Arc::clone(&self.config);
        let started =
            self.stop_signal.run_or_drop_on_stop(start_agent_process(&config, &self.turn)).await;
        let started = started.map_err(RunExit::Stopped)?;
        (self.connection, self.hooks) = started.map_err(RunExit::Failed)?;
        self.protocol = config.kind.new_protocol(self.turn.clone(), config.sign_in_method.clone());
        Ok(())
    }

    /// Sends the opening messages, then handles events in a loop; always ends with a `RunExit`.
    async fn open_turn_and_process_events(&mut self) -> Result<std::convert::Infallible, RunExit> {
        if self.config.approval_mode == ApprovalMode::Yolo {
            self.writer
                .write_or_fail_run(|out| {
                    out.append_notice(NoticeLevel::Warning, YOLO_NOTICE);
                })
                .await?;
        }
        let opening = self.protocol.as_mut().map(Protocol::opening_messages).unwrap_or_default();
        self.log_lines_and_send_messages(opening).await?;
        loop {
            match self.wait_for_event().await {
                RunEvent::Stop(input_end) => return Err(RunExit::Stopped(input_end)),
                RunEvent::Line(Ok(Some(line))) => self.handle_line(&line).await?,
                RunEvent::Line(Ok(None)) => return Err(RunExit::EndOfStream),
                RunEvent::Line(Err(error)) => {
                    let detail = format!(
                        "lost the output of `{}`: {error}",
                        self.config.program_display_name()
                    );
                    return Err(RunExit::Failed(detail));
                }
                RunEvent::Answer(answer) => self.handle_answer(answer).await?,
                RunEvent::Hook(request) => self.allow_hook_or_open_ask(request).await?,
                RunEvent::Timeout => self.stop_stalled_or_deny_expired_asks().await?,
            }
        }
    }

    /// Waits for a line, an answer, a hook request, a stop, or the timeout.
    async fn wait_for_event(&mut self) -> RunEvent {
        let next_expiry = self.writer.next_ask_expiry();
        let timeout = if let Some(expires_at_ms) = next_expiry {
            Duration::from_millis(expires_at_ms.saturating_sub(now_ms()))
        } else {
            let work_time = self.started_at.elapsed().saturating_sub(self.human_wait_time);
            self.config.idle_time_max.min(self.config.work_time_max.saturating_sub(work_time))
        };
        let since = Instant::now();
        let event = tokio::select! {
            biased;
            cut = self.stop_signal.wait_for_stop() => RunEvent::Stop(cut),
            line = self.connection.lines.next_line() => RunEvent::Line(line),
            Some(answer) = self.answers.recv() => RunEvent::Answer(answer),
            asked = next_hook_request_or_pending(&mut self.hooks) => RunEvent::Hook(asked),
            () = tokio::time::sleep(timeout) => RunEvent::Timeout,
        };
        if next_expiry.is_some() {
            self.human_wait_time += since.elapsed();
        }
        event
    }

    /// Handles one line of the agent's output.
    async fn handle_line(&mut self, line: &[u8]) -> Result<(), RunExit> {
        let text = String::from_utf8_lossy(line);
        if self.hooks.as_ref().is_some_and(|hooks| !hooks.has_session_start_hook_run()) {
            // Killed before the agent can use a tool.
            self.connection.process_group.kill();
            let detail = "it does not run its hooks and would act without approval";
            return Err(RunExit::Failed(format!(
                "`{}` was stopped: {detail}",
                self.config.program_display_name()
            )));
        }
        let line_outcome = match &mut self.protocol {
            Some(protocol) => protocol.handle_line(text.trim_end()),
            None => LineOutcome::for_log(),
        };
        if line_outcome.turn_end == TurnEnd::Failed
            && self.is_resumed_without_output()
            && is_unknown_session_error(&text)
        {
            return Err(RunExit::SessionLost);
        }
        if line_outcome.is_for_log {
            self.ingest_line_to_log('<', line).await?;
        }
        if line_outcome.is_session_lost {
            let notice = "the agent no longer has this session; it starts a new one";
            self.writer
                .write_or_fail_run(|out| out.append_notice(NoticeLevel::Warning, notice))
                .await?;
        }
        if line_outcome.cannot_show_images {
            self.writer
                .write_or_fail_run(|out| {
                    out.append_notice(NoticeLevel::Warning, NO_IMAGES_NOTICE);
                })
                .await?;
        }
        self.log_agent_session_once_output_exists(&text).await?;
        self.log_lines_and_send_messages(line_outcome.replies).await?;
        if self.config.approval_mode == ApprovalMode::Yolo {
            for ask in self.writer.open_ask_ids() {
                self.try_log_and_send_decision(&ask, Decision::Allow, AnsweredBy::Policy).await?;
            }
        }
        if line_outcome.turn_end == TurnEnd::Over {
            self.log_agent_session_if_changed().await?;
        }
        if line_outcome.turn_end == TurnEnd::NotYet { Ok(()) } else { Err(RunExit::TurnOver) }
    }

    /// Parses a line into events and appends them. In JSON-lines protocols the line is marked with
    /// its direction, and dropped if it is not JSON.
    async fn ingest_line_to_log(
        &mut self,
        direction: char,
        line: &[u8],
    ) -> Result<(), AppendFailed> {
        let is_marked = self.config.kind.transport() == Transport::JsonLines;
        if is_marked && !line.starts_with(b"{") {
            // Not part of the protocol, and could be mistaken for a marked line.
            return Ok(());
        }
        let mut marked = Vec::with_capacity(line.len() + 2);
        if is_marked {
            marked.extend([direction as u8, b' ']);
        }
        marked.extend_from_slice(line);
        self.writer.parse_and_append_reply(&marked).await
    }

    /// Logs the agent's session id once the agent has produced output, so that the next run resumes
    /// it.
    async fn log_agent_session_once_output_exists(
        &mut self,
        line: &str,
    ) -> Result<(), AppendFailed> {
        let name = match &self.protocol {
            Some(protocol) => protocol.agent_session_id().map(str::to_owned),
            None => find_safe_session_id_in_line(line),
        };
        if let Some(name) = name.filter(|name| is_safe_session_id(name)) {
            self.unlogged_agent_session = Some(name);
        }
        // An empty session is not worth resuming.
        if 0 < self.writer.output_event_count() {
            self.log_agent_session_if_changed().await
        } else {
            Ok(())
        }
    }

    /// Appends `SessionNamed` if the agent's session id has changed.
    async fn log_agent_session_if_changed(&mut self) -> Result<(), AppendFailed> {
        let Some(name) = self.unlogged_agent_session.take() else { return Ok(()) };
        if self.logged_agent_session.as_ref() != Some(&name) {
            let event = Event::SessionNamed { name: name.clone().into() };
            self.writer.write_or_fail_run(|out| out.append_stateless_event(event)).await?;
            self.logged_agent_session = Some(name);
        }
        Ok(())
    }

    /// Logs each message, then sends it: an answer is never sent twice.
    async fn log_lines_and_send_messages(
        &mut self,
        messages: Vec<OutgoingMessage>,
    ) -> Result<(), RunExit> {
        for message in messages {
            if let OutgoingMessage::Line(line) = &message {
                self.ingest_line_to_log('>', format!("{line}\n").as_bytes()).await?;
            }
            let sent = self.stop_signal.run_or_drop_on_stop(self.connection.send(&message)).await;
            match sent {
                Err(input_end) => return Err(RunExit::Stopped(input_end)),
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    // The agent's own output says why.
                    tracing::debug!(%error, "cannot write to the agent");
                    if let OutgoingMessage::Post { .. } = message {
                        let is_session_lost = self.is_resumed_without_output()
                            && matches!(error, SendError::NotFound(_));
                        let broken = RunExit::Failed(error.to_string());
                        return Err(if is_session_lost { RunExit::SessionLost } else { broken });
                    }
                }
            }
        }
        Ok(())
    }
}
