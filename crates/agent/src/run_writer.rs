//! Writes one run: parses a model's reply into events, and appends them and the agent's own events
//! in one order.

mod event_sink;

use std::collections::BTreeMap;
use std::time::Duration;

use millpond_engine::event::{Event, Image, Millis, Usage, UsageScope};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::{InputEnd, ReportedEnd, Writer};
use millpond_log::agent::Job;
use millpond_log::clock::now_ms;
use millpond_log::digest::Digest;
use millpond_log::runs::Answer;
use millpond_log::store::StoreError;
use tokio::sync::mpsc;

use crate::conversation::{Conversation, Turn};
use crate::images::{add_omitted_images_note, inline_kept_images};
use crate::model::TokenRates;

use event_sink::{EventSink, RunDebug};
pub use event_sink::{ToolDetails, ToolDetailsByName};

/// Appending to the run's log failed. The agent stops; the gateway ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("could not append to the run's log")]
pub struct AppendFailed;

/// Form in which images are sent to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageMode {
    /// As images.
    Send,
    /// As a note in the text, for models that reject images.
    Describe,
}

/// Images of a conversation that are sent with each call, the newest first.
const SENT_IMAGES_MAX: usize = 8;

/// Exclusive writer of one run: parses replies, appends events, keeps usage totals and open asks.
#[derive(Debug)]
pub struct RunWriter {
    job: Job,
    ingest: Ingest,
    sink: EventSink,
    /// The session's conversation, with this run's events applied.
    pub conversation: Conversation,
    run_usage: UsageTotals,
    /// Totals of all runs of the session.
    session_usage: UsageTotals,
    /// Size of the conversation when a provider last reported usage.
    bytes_at_last_usage: usize,
    output_event_count: usize,
    /// Open asks and when they expire.
    open_asks: BTreeMap<String, Millis>,
}

/// Tokens and cost, as the provider reported them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsageTotals {
    /// Input and output tokens.
    pub tokens: u64,
    /// Cost in US dollars.
    pub cost_usd: f64,
    /// Usage of the last call; `None` after a compaction.
    pub last_round: Option<Usage>,
}

impl UsageTotals {
    /// Adds the usage that an event reports.
    pub fn apply(&mut self, event: &Event<'_>, rates: TokenRates) {
        match event {
            Event::UsageReported { scope: UsageScope::Round, usage } => {
                self.tokens += rates.total_input_tokens(usage) + usage.output_tokens.unwrap_or(0);
                self.cost_usd += usage.cost_usd.unwrap_or(0.0);
                self.last_round = Some(*usage);
            }
            Event::HistoryCompacted { .. } => self.last_round = None,
            _ => {}
        }
    }
}

impl RunWriter {
    /// Creates the writer of the run that `job` holds.
    pub fn new(
        job: Job,
        options: &IngestOptions,
        rates: TokenRates,
        answer_within: Duration,
        conversation: Conversation,
    ) -> RunWriter {
        let mut sink = EventSink::new(rates, answer_within);
        sink.stream_debug = job.log_and_ids().map(|(log, session, run)| RunDebug {
            stream_debug: log.stream_debug().clone(),
            session,
            run,
        });
        let ingest = Ingest::new(options);
        RunWriter {
            job,
            ingest,
            sink,
            conversation,
            run_usage: UsageTotals::default(),
            session_usage: UsageTotals::default(),
            bytes_at_last_usage: 0,
            output_event_count: 0,
            open_asks: BTreeMap::new(),
        }
    }

    /// Drops a `PromptReceived` that repeats `prompt`: the source echoes it.
    pub fn ignore_prompt_echo(&mut self, prompt: &str) {
        self.sink.prompt_echo = Some(prompt.to_owned());
    }

    /// Adds the queued messages that are meant for this run, and removes them from the queue.
    pub async fn move_joining_messages_to_run(&mut self) -> Result<(), AppendFailed> {
        let Some((log, session, _)) = self.job.log_and_ids() else { return Err(AppendFailed) };
        let joined = match self.job.take_joining_messages_and_lock_queue().await {
            Ok(Some(joined)) if !joined.messages.is_empty() => joined,
            Ok(_) => return Ok(()),
            Err(error) => {
                tracing::error!(%error, %session, "cannot read the messages that join this run");
                return Ok(());
            }
        };
        self.write_or_fail_run(|out| {
            for message in &joined.messages {
                out.append_stateless_event(Event::PromptJoined {
                    queued: message.id.to_string().into(),
                });
                out.append_prompt_with_images_unless_finish_requested(
                    &message.text,
                    &message.images,
                );
            }
        })
        .await?;
        if let Err(error) = joined.remove_from_queue(&log, session).await {
            // They are still queued; the scheduler skips queued messages that have joined a run.
            tracing::error!(%error, %session, "joined messages are still queued");
        }
        Ok(())
    }

    /// Sets the tool details that are added to `ToolStarted` events.
    pub fn set_tool_details_by_name(&mut self, tools: ToolDetailsByName) {
        self.sink.tool_details = tools;
    }

    /// Usage of this run so far.
    pub fn run_usage(&self) -> UsageTotals {
        self.run_usage
    }

    /// Sets the usage of the session's earlier runs.
    pub fn set_usage_before_run(&mut self, totals: UsageTotals) {
        self.session_usage = totals;
        self.bytes_at_last_usage = self.conversation.approximate_text_bytes();
    }

    /// Cost of the session so far, in US dollars.
    pub fn session_cost_usd(&self) -> f64 {
        self.session_usage.cost_usd
    }

    /// Cost of the last model call, in US dollars.
    pub fn last_call_cost_usd(&self) -> f64 {
        self.session_usage.last_round.and_then(|usage| usage.cost_usd).unwrap_or(0.0)
    }

    /// Estimated input tokens of the next call: those of the last call and what was added since.
    pub fn estimated_context_tokens(&self) -> u64 {
        const BYTES_PER_TOKEN: usize = 4;
        let tokens = |bytes: usize| u64::try_from(bytes / BYTES_PER_TOKEN).unwrap_or(u64::MAX);
        let bytes = self.conversation.approximate_text_bytes();
        self.session_usage.last_round.map_or(tokens(bytes), |usage| {
            let last_call_tokens =
                self.sink.rates.total_input_tokens(&usage) + usage.output_tokens.unwrap_or(0);
            last_call_tokens + tokens(bytes.saturating_sub(self.bytes_at_last_usage))
        })
    }

    /// Number of text, reasoning and tool-start events of this run.
    pub fn output_event_count(&self) -> usize {
        self.output_event_count
    }

    /// Expiry time of an ask opened now.
    pub fn expiry_for_new_ask(&self) -> Millis {
        self.sink.expiry_for_new_ask()
    }

    /// Ids of the open asks.
    pub fn open_ask_ids(&self) -> Vec<String> {
        self.open_asks.keys().cloned().collect()
    }

    /// Earliest expiry of the open asks.
    pub fn next_ask_expiry(&self) -> Option<Millis> {
        self.open_asks.values().min().copied()
    }

    /// Ids of the open asks that have expired.
    pub fn expired_ask_ids(&self) -> Vec<String> {
        let now = now_ms();
        let expired = self.open_asks.iter().filter(|(_, expires_at_ms)| **expires_at_ms <= now);
        expired.map(|(ask, _)| ask.clone()).collect()
    }

    /// Restores state from an event already in the log; appends nothing.
    pub fn replay_logged_event(&mut self, event: &Event<'_>) {
        self.ingest.replay_event(event);
        self.update_totals_and_asks(event);
    }

    /// Parses bytes of a reply and appends the resulting events.
    pub async fn parse_and_append_reply(&mut self, bytes: &[u8]) -> Result<(), AppendFailed> {
        self.ingest.push(bytes, Some(now_ms()), &mut self.sink);
        self.apply_and_append_or_fail_run().await
    }

    /// Appends the events that `write` produces; returns its result.
    pub async fn write_or_fail_run<T>(
        &mut self,
        write: impl FnOnce(&mut Writer<'_>) -> T,
    ) -> Result<T, AppendFailed> {
        let written = write(&mut self.ingest.writer(Some(now_ms()), &mut self.sink));
        self.apply_and_append_or_fail_run().await?;
        Ok(written)
    }

    /// Ends the reply and returns how it ended.
    pub async fn end_model_reply(&mut self) -> Result<ReportedEnd, AppendFailed> {
        let reported_end = self.ingest.end_reply(Some(now_ms()), &mut self.sink);
        self.apply_and_append_or_fail_run().await?;
        Ok(reported_end)
    }

    /// Appends the run's ending: as the last reply or a reported failure declared it, else by
    /// `input_end`.
    pub async fn finish_run(mut self, input_end: InputEnd) {
        self.ingest.finish(input_end, Some(now_ms()), &mut self.sink);
        // If appending fails, dropping the job ends the run.
        let _stored = self.apply_and_append_or_fail_run().await;
    }

    /// Leaves the run open: it waits for an answer, and the next process resumes it.
    pub fn leave_run_waiting(self) {
        self.job.leave_run_waiting_for_restart();
    }

    /// Opens the channel that receives answers to this run's asks.
    pub fn open_answer_channel_if_run_open(&self) -> Result<mpsc::Receiver<Answer>, AppendFailed> {
        self.job.open_answer_channel_if_run_open().ok_or(AppendFailed)
    }

    /// Turns to send to a model, with the newest images loaded or replaced by a note.
    pub async fn build_turns_and_load_newest_images(&self, image_mode: ImageMode) -> Vec<Turn> {
        let mut turns = self.conversation.build_sendable_turns();
        if image_mode == ImageMode::Send {
            self.load_newest_images_into_turns(&mut turns).await;
        }
        for turn in &mut turns {
            if let Turn::Person(prompt) = turn {
                let attached = prompt.images.len();
                prompt.images.retain(|image| {
                    image_mode == ImageMode::Send && !matches!(image, Image::Kept { .. })
                });
                prompt.text = add_omitted_images_note(&prompt.text, attached - prompt.images.len());
            } else if let Turn::Results(results) = turn
                && image_mode == ImageMode::Describe
            {
                for result in results {
                    result.images.clear();
                }
            }
        }
        turns
    }

    /// True if the conversation has any image.
    pub fn has_images(&self) -> bool {
        self.conversation.has_images()
    }

    async fn load_newest_images_into_turns(&self, turns: &mut [Turn]) {
        let Some((log, session, _)) = self.job.log_and_ids() else { return };
        let images = turns.iter_mut().rev().flat_map(|turn| match turn {
            Turn::Person(prompt) => prompt.images.iter_mut().rev().collect(),
            Turn::Agent(_) => Vec::new(),
            Turn::Results(results) => {
                results.iter_mut().rev().flat_map(|result| result.images.iter_mut().rev()).collect()
            }
        });
        let newest: Vec<&mut Image<'static>> = images.take(SENT_IMAGES_MAX).collect();
        inline_kept_images(&log, session, newest).await;
    }

    /// Forgets the ending that the last reply declared, so that the run continues.
    pub fn discard_reply_ending(&mut self) {
        self.ingest.writer(None, &mut self.sink).clear_reported_end();
    }

    /// True if the model has asked to end the run.
    pub fn is_end_requested_or_ended(&mut self) -> bool {
        self.ingest.writer(None, &mut self.sink).is_end_requested_or_ended()
    }

    /// Stores bytes as a blob of the session; returns `blob DIGEST`.
    pub async fn store_blob(
        &self,
        kind: &'static str,
        bytes: Vec<u8>,
    ) -> Result<String, StoreError> {
        let (log, session, _) = self
            .job
            .log_and_ids()
            .ok_or_else(|| StoreError::Failed("the run has ended".to_owned()))?;
        let digest = Digest::sha256(&bytes);
        log.call_store(move |store| store.store_blob_for_session(session, digest.0, kind, &bytes))
            .await?;
        Ok(format!("blob {digest}"))
    }

    async fn apply_and_append_or_fail_run(&mut self) -> Result<(), AppendFailed> {
        let events = std::mem::take(&mut self.sink.pending_events);
        for (_, event) in &events {
            self.conversation.apply_event(event);
            self.update_totals_and_asks(event);
        }
        self.job.append_events_or_fail_run(events).await.map_err(|_| AppendFailed)
    }

    fn update_totals_and_asks(&mut self, event: &Event<'_>) {
        match event {
            Event::TextAppended { .. }
            | Event::ReasoningAppended { .. }
            | Event::ToolStarted { .. } => {
                self.output_event_count += 1;
            }
            Event::UsageReported { .. } | Event::HistoryCompacted { .. } => {
                self.run_usage.apply(event, self.sink.rates);
                self.session_usage.apply(event, self.sink.rates);
                self.bytes_at_last_usage = self.conversation.approximate_text_bytes();
            }
            Event::AskOpened { ask, expires_at_ms, .. } => {
                self.open_asks.insert(ask.to_string(), expires_at_ms.unwrap_or(Millis::MAX));
            }
            Event::AskResolved { ask, .. } => {
                self.open_asks.remove(&**ask);
            }
            _ => {}
        }
    }
}
