//! One model call: sends the request, retries where that is safe, writes the reply to the log.

use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt;
use millpond_engine::event::{Event, FailureReason, NoticeLevel, StopReason};
use millpond_engine::run::{InputEnd, ReportedEnd};

use crate::limits::{ATTEMPTS_MAX, REPLY_BYTES_MAX, RETRY_DELAY_MAX};
use crate::provider::{CallFailure, CallTimeouts, ReplyStream, Retry};
use crate::request::ModelInput;
use crate::run_writer::ImageMode;

use super::{AgentLoop, LoopExit};

/// End of a reply's stream.
enum ReplyEnd {
    End,
    ConnectionLost(String),
    Stalled,
    TooLong,
}

impl AgentLoop {
    /// Calls the model, with retries, and writes its reply. `Ok` if the reply has calls to run.
    pub(super) async fn call_model_and_log_reply(&mut self) -> Result<(), LoopExit> {
        let mut attempt = 1;
        loop {
            let failure = match self.send_conversation_to_model(attempt).await? {
                Ok(reply) => match self.log_reply_and_exit_unless_calls_or_retry(reply).await? {
                    None => return Ok(()),
                    Some(failure) => failure,
                },
                Err(failure) => failure,
            };
            if failure.retry == Retry::WithChanges
                && self.image_mode == ImageMode::Send
                && self.writer.has_images()
            {
                self.stop_sending_images_with_notice(&failure).await?;
                continue;
            }
            if failure.is_permanent() || ATTEMPTS_MAX <= attempt {
                return Err(LoopExit::Failed(FailureReason::Error, failure.detail));
            }
            self.log_retry_and_wait(attempt, &failure).await?;
            attempt += 1;
        }
    }

    /// Sends the conversation to the model once.
    async fn send_conversation_to_model(
        &mut self,
        attempt: u32,
    ) -> Result<Result<ReplyStream, CallFailure>, LoopExit> {
        let turns = self.writer.build_turns_and_load_newest_images(self.image_mode).await;
        let (config, catalogue) = (Arc::clone(&self.config), Arc::clone(&self.catalogue));
        let input = ModelInput {
            system_prompt: &config.system_prompt,
            turns: &turns,
            tools: &catalogue.specs,
        };
        Ok(self.stop_signal.run_or_drop_on_stop(config.provider.call_model(input, attempt)).await?)
    }

    /// Sends images as notes from now on: a rejected image must not block the session.
    async fn stop_sending_images_with_notice(
        &mut self,
        failure: &CallFailure,
    ) -> Result<(), LoopExit> {
        self.image_mode = ImageMode::Describe;
        let notice = format!(
            "The model rejected the request. Retrying without images. ({})",
            failure.detail
        );
        Ok(self
            .writer
            .write_or_fail_run(|out| out.append_notice(NoticeLevel::Warning, &notice))
            .await?)
    }

    /// Writes `RetryScheduled` and sleeps for the delay.
    pub(super) async fn log_retry_and_wait(
        &mut self,
        attempt: u32,
        failure: &CallFailure,
    ) -> Result<(), LoopExit> {
        let delay = match failure.retry {
            Retry::After(delay) => delay,
            Retry::Never | Retry::WithChanges | Retry::WithBackoff => {
                self.config.provider.timeouts().retry_delay * 2_u32.saturating_pow(attempt - 1)
            }
        };
        let delay = delay.min(RETRY_DELAY_MAX);
        let retry = Event::RetryScheduled {
            attempt: Some(attempt),
            attempts_max: Some(ATTEMPTS_MAX - 1),
            delay_ms: u64::try_from(delay.as_millis()).ok(),
            reason: failure.detail.clone().into(),
        };
        self.writer.write_or_fail_run(|out| out.append_stateless_event(retry)).await?;
        Ok(self.stop_signal.run_or_drop_on_stop(tokio::time::sleep(delay)).await?)
    }

    /// Writes a reply to the log, to its end. `Some` if the call may be retried: it had no output.
    async fn log_reply_and_exit_unless_calls_or_retry(
        &mut self,
        reply: ReplyStream,
    ) -> Result<Option<CallFailure>, LoopExit> {
        let outputs_before = self.writer.output_event_count();
        let timeouts = self.config.provider.timeouts();
        let reply_end = self.stream_reply_chunks_to_log(reply, timeouts).await?;
        let reported_end = self.writer.end_model_reply().await?;
        let has_output = outputs_before < self.writer.output_event_count();
        let retry = |detail: String| Ok(Some(CallFailure { detail, retry: Retry::WithBackoff }));
        match (reported_end, reply_end) {
            (ReportedEnd::Completed(stop), _) => self.exit_unless_calls_can_run(stop),
            (ReportedEnd::Failed { reason: FailureReason::Error, detail }, _) if !has_output => {
                retry(detail)
            }
            (ReportedEnd::Failed { .. } | ReportedEnd::Cancelled { .. }, _) => {
                Err(LoopExit::Finish(InputEnd::EndOfInput))
            }
            (ReportedEnd::Pending, ReplyEnd::Stalled) => Err(LoopExit::Finish(InputEnd::Stalled)),
            (ReportedEnd::Pending, ReplyEnd::TooLong) => Err(LoopExit::Finish(InputEnd::TooLong)),
            (ReportedEnd::Pending, ReplyEnd::ConnectionLost(error)) => {
                let detail = format!("connection to the model lost: {error}");
                if has_output {
                    Err(LoopExit::Failed(FailureReason::Error, detail))
                } else {
                    retry(detail)
                }
            }
            (ReportedEnd::Pending, ReplyEnd::End) if !has_output => Err(LoopExit::Failed(
                FailureReason::Error,
                "the model's server sent no readable reply".to_owned(),
            )),
            (ReportedEnd::Pending, ReplyEnd::End) => Err(LoopExit::Finish(InputEnd::EndOfInput)),
        }
    }

    /// Returns `LoopExit::Finish` unless there are calls to run. Calls that a length limit cut are
    /// not run.
    fn exit_unless_calls_can_run(&self, stop: StopReason) -> Result<Option<CallFailure>, LoopExit> {
        let has_calls = !self.writer.conversation.pending_calls().is_empty();
        if has_calls && stop != StopReason::Length {
            Ok(None)
        } else {
            Err(LoopExit::Finish(InputEnd::EndOfInput))
        }
    }

    /// Copies the reply's bytes to the run writer, within the timeouts and size limit.
    async fn stream_reply_chunks_to_log(
        &mut self,
        mut reply: ReplyStream,
        timeouts: CallTimeouts,
    ) -> Result<ReplyEnd, LoopExit> {
        let mut bytes = 0;
        let deadline = Instant::now() + timeouts.total;
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            let next_chunk = tokio::time::timeout(timeouts.idle.min(remaining), reply.next());
            let chunk = match self.stop_signal.run_or_drop_on_stop(next_chunk).await? {
                Err(_) => return Ok(ReplyEnd::Stalled),
                Ok(None) => return Ok(ReplyEnd::End),
                Ok(Some(Err(error))) => return Ok(ReplyEnd::ConnectionLost(error)),
                Ok(Some(Ok(chunk))) => chunk,
            };
            bytes += chunk.len();
            if REPLY_BYTES_MAX < bytes {
                return Ok(ReplyEnd::TooLong);
            }
            self.writer.parse_and_append_reply(&chunk).await?;
        }
    }
}
