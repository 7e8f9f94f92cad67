//! The end of a run: after a finished turn, a stop, or the end of the agent's output.

use std::time::{Duration, Instant};

use millpond_engine::event::FailureReason;
use millpond_engine::run::{InputEnd, ReportedEnd};

use crate::approval::escape_invisible_chars;
use crate::external::agent_kind::Transport;
use crate::external::protocol::{LineOutcome, Protocol, TurnEnd};
use crate::limits::{CANCEL_TIME_MAX, KILL_GRACE_TIME};
use crate::process::{is_secret_name, utf8_environment_variables};
use crate::run_writer::AppendFailed;

use super::AgentRun;

/// Time an interrupted agent has to finish its output.
const INTERRUPT_GRACE_TIME: Duration = Duration::from_millis(800);
/// Time an agent has to exit after its turn.
const EXIT_GRACE_TIME: Duration = Duration::from_millis(700);

const _: () = assert!(
    INTERRUPT_GRACE_TIME.as_millis() + KILL_GRACE_TIME.as_millis() < CANCEL_TIME_MAX.as_millis(),
    "an agent that ignores the interrupt and SIGTERM is killed in time"
);

impl AgentRun {
    /// Closes the agent's input, waits for it to exit, and terminates it if it does not.
    pub(super) async fn close_input_then_terminate(&mut self) {
        self.connection.close_input();
        if self.config.kind.transport() != Transport::HttpServer {
            let is_running =
                async { while let Ok(Some(_)) = self.connection.lines.next_line().await {} };
            let _late = tokio::time::timeout(EXIT_GRACE_TIME, is_running).await;
        }
        self.connection.process_group.terminate().await;
    }

    /// Sends the interrupt, logs the lines that follow, and terminates the agent.
    pub(super) async fn interrupt_log_rest_and_terminate(&mut self) {
        let deadline = Instant::now() + INTERRUPT_GRACE_TIME;
        let interrupt = self.protocol.as_mut().and_then(Protocol::interrupt_message);
        if let Some(message) = interrupt {
            let sent =
                tokio::time::timeout(INTERRUPT_GRACE_TIME, self.connection.send(&message)).await;
            if let Ok(Ok(())) = sent {
                self.log_lines_until_turn_end(deadline).await;
            }
        }
        self.connection.process_group.terminate().await;
    }

    /// Logs the agent's lines until its turn ends or the time is up.
    async fn log_lines_until_turn_end(&mut self, deadline: Instant) {
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            let line_result =
                tokio::time::timeout(remaining, self.connection.lines.next_line()).await;
            let Ok(Ok(Some(line))) = line_result else { return };
            let text = String::from_utf8_lossy(&line);
            let outcome =
                self.protocol.as_mut().map(|protocol| protocol.handle_line(text.trim_end()));
            // The run's ending is decided already, so an end reported by the agent is not logged.
            let Some(LineOutcome { is_for_log, turn_end: TurnEnd::NotYet, .. }) = outcome else {
                return;
            };
            if is_for_log && self.ingest_line_to_log('<', &line).await.is_err() {
                return;
            }
        }
    }

    /// Ends the run after the agent's output ended: by its last message, else its exit status.
    pub(super) async fn finish_after_stream_end(mut self) {
        let status = tokio::time::timeout(
            EXIT_GRACE_TIME,
            self.connection.process_group.wait_then_kill_rest(),
        )
        .await;
        self.connection.process_group.terminate().await;
        let reported_end = match self.writer.end_model_reply().await {
            Ok(reported_end) => reported_end,
            Err(AppendFailed) => return,
        };
        let failed = match status {
            Ok(Some(status)) if !status.success() => Some(status.to_string()),
            _ => None,
        };
        match (reported_end, failed) {
            (ReportedEnd::Pending, Some(status)) => {
                let errors = self.connection.wait_for_stderr_tail().await;
                let errors = self.redact_secrets_and_escape(&errors);
                let title = self.config.program_display_name();
                let detail = format!("`{title}` ended with {status}. {errors}");
                Box::pin(self.finish_as_failed(detail.trim_end())).await;
            }
            (ReportedEnd::Completed(_), _) => {
                if self.log_agent_session_if_changed().await.is_ok() {
                    self.writer.finish_run(InputEnd::EndOfInput).await;
                }
            }
            _ => self.writer.finish_run(InputEnd::EndOfInput).await,
        }
    }

    /// Ends the run as failed.
    pub(super) async fn finish_as_failed(mut self, detail: &str) {
        if self
            .writer
            .write_or_fail_run(|out| {
                out.report_failed_and_end_text(FailureReason::Error, detail);
            })
            .await
            .is_ok()
        {
            self.writer.finish_run(InputEnd::EndOfInput).await;
        }
    }

    /// Replaces the values of secret environment variables in `text`, and escapes invisible
    /// characters.
    fn redact_secrets_and_escape(&self, text: &str) -> String {
        let configured = self.config.environment.clone();
        let secrets = utf8_environment_variables().chain(configured).filter(|(name, value)| {
            // Shorter values occur in any text.
            6 <= value.len() && is_secret_name(name)
        });
        escape_invisible_chars(
            &secrets.fold(text.to_owned(), |text, (_, value)| text.replace(&value, "[hidden]")),
        )
    }
}
