//! Ends runs whose writer is gone: those an earlier process left open, and those whose events could
//! not be stored.

use std::sync::Arc;
use std::time::Duration;

use millpond_engine::event::{Event, FailureReason, Image, Outcome, Record};
use millpond_engine::run::unfinished::UnfinishedRun;

use crate::agent::{Agent, Job, Prompt, RunHandles};
use crate::clock::{now_ms, random_epoch};
use crate::id::SessionId;
use crate::queue::Queues;
use crate::runs::{ActiveRuns, Ticket};
use crate::store::{Chunk, RunRow, Store, StoreError, TokenUsage};
use crate::{Log, RunAppender};

/// Pause between attempts to append the ending of a run that could not be stored.
const END_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Ends every run that the store has open, because its writer is gone; runs of `agent` that wait
/// for an answer are returned as jobs instead. A run whose log is damaged stays open until it is
/// repaired.
pub async fn interrupt_open_runs_or_make_jobs(
    log: &Log,
    runs: &ActiveRuns,
    queues: &Arc<Queues>,
    agent: Option<&dyn Agent>,
) -> Result<Vec<Job>, StoreError> {
    let mut waiting_runs = Vec::new();
    for row in log.call_store(Store::list_open_runs).await? {
        match interrupt_run_or_make_job(log, runs, queues, agent, &row).await {
            Err(error @ StoreError::Damaged { .. }) => {
                tracing::error!(%error, run = %row.id, "cannot end an open run");
            }
            result => waiting_runs.extend(result?),
        }
    }
    Ok(waiting_runs)
}

/// Reads a log up to `end` and builds the records that close the run open there. A branch in the
/// middle of a run ends with them.
pub async fn read_log_and_build_closing_chunk(
    log: &Log,
    session: SessionId,
    end: u64,
) -> Result<Option<Chunk>, StoreError> {
    let mut open_run: Option<(String, UnfinishedRun)> = None;
    let mut next_seq = 0;
    while next_seq < end {
        let start_seq = next_seq;
        let chunks = log.read(session, start_seq).await?;
        for record in chunks.iter().flat_map(|chunk| chunk.records_from(start_seq)) {
            let record = record.map_err(|error| damaged_error(session, next_seq, &error))?;
            if end <= record.seq {
                break;
            }
            next_seq = record.seq + 1;
            match &mut open_run {
                Some((run, unfinished)) if **run == *record.run => unfinished.apply(&record.event),
                _ => {
                    let mut unfinished = UnfinishedRun::default();
                    unfinished.apply(&record.event);
                    open_run = Some((record.run.to_string(), unfinished));
                }
            }
        }
        if chunks.is_empty() {
            break;
        }
    }
    let Some((run, unfinished)) = open_run else { return Ok(None) };
    let events = unfinished.closing_events(Outcome::Interrupted, None, "");
    if events.is_empty() {
        return Ok(None);
    }
    let mut lines = String::new();
    let at_ms = Some(now_ms());
    let len = events.len() as u64;
    for (seq, event) in (end..).zip(events) {
        let record = Record { seq, at_ms, run: run.as_str().into(), event };
        let line = serde_json::to_string(&record)
            .map_err(|error| StoreError::Failed(format!("cannot serialise a record: {error}")))?;
        lines.push_str(&line);
        lines.push('\n');
    }
    Ok(Some(Chunk { epoch: random_epoch()?, first: end, len, lines: lines.into() }))
}

fn damaged_error(session: SessionId, seq: u64, error: &serde_json::Error) -> StoreError {
    StoreError::Damaged { session, seq, detail: error.to_string() }
}

/// Ends an open run as interrupted, or returns it as a job if the agent can resume it.
async fn interrupt_run_or_make_job(
    log: &Log,
    runs: &ActiveRuns,
    queues: &Arc<Queues>,
    agent: Option<&dyn Agent>,
    row: &RunRow,
) -> Result<Option<Job>, StoreError> {
    let mut run = log.build_run_appender(row.session, row.id);
    let (mut is_resumable, mut prompt, mut joined) = (false, None, Vec::new());
    let unfinished = read_unfinished_run_from_log(log, row, |event| {
        run.index_logged_event(event);
        match event {
            Event::RunStarted { dialect, .. } => {
                is_resumable = agent
                    .is_some_and(|agent| agent.can_resume_waiting_run() && agent.name() == dialect);
            }
            Event::PromptReceived { text, images, .. } if prompt.is_none() => {
                let images = images.iter().cloned().map(Image::into_owned).collect();
                prompt = Some(Prompt { text: text.to_string(), images });
            }
            Event::PromptJoined { queued } => joined.push(queued.to_string()),
            _ => {}
        }
    })
    .await?;
    if !joined.is_empty() {
        remove_joined_from_queue(log, row.session, joined).await?;
    }
    if is_resumable
        && unfinished.is_waiting_for_answer()
        && let Some(ticket) = runs.try_register_run(row.session, row.id)
    {
        ticket.buffer_early_answers();
        let handles = RunHandles { appender: run, ticket, queues: Arc::clone(queues) };
        return Ok(Some(Job::from_waiting_run(prompt.unwrap_or_default(), handles, unfinished)));
    }
    let events = unfinished.closing_events(Outcome::Interrupted, None, "");
    let at = Some(now_ms());
    let timed_events = events.into_iter().map(|event| (at, event)).collect();
    run.append(timed_events).await?;
    Ok(None)
}

/// Removes joined messages that an earlier process left in the queue, because it ended between the
/// two writes.
async fn remove_joined_from_queue(
    log: &Log,
    session: SessionId,
    joined: Vec<String>,
) -> Result<(), StoreError> {
    log.call_store(move |store| {
        let mut queue = store.load_queue(session)?;
        let len_before = queue.len();
        queue.retain(|queued| !joined.contains(&queued.id.to_string()));
        if queue.len() == len_before { Ok(()) } else { store.set_queue(session, &queue) }
    })
    .await
}

/// Replays the events of one run from the log into an `UnfinishedRun`, calling
/// `on_event` with each.
async fn read_unfinished_run_from_log(
    log: &Log,
    row: &RunRow,
    mut on_event: impl FnMut(&Event<'_>),
) -> Result<UnfinishedRun, StoreError> {
    let name = row.id.to_string();
    let mut unfinished = UnfinishedRun::default();
    let mut next_seq = row.first;
    loop {
        let chunks = log.read(row.session, next_seq).await?;
        let Some(end) = chunks.last().map(|chunk| chunk.next_seq()) else {
            return Ok(unfinished);
        };
        for record in chunks.iter().flat_map(|chunk| chunk.records_from(next_seq)) {
            let record = record.map_err(|error| damaged_error(row.session, next_seq, &error))?;
            if record.run == name {
                unfinished.apply(&record.event);
                on_event(&record.event);
            }
        }
        next_seq = end;
    }
}

/// Ends a run as failed because its events could not be stored. Retries until that is committed;
/// until then no other run of the session begins.
pub async fn retry_ending_run_as_storage_failure(
    mut run: RunAppender,
    ticket: Ticket,
    error: StoreError,
) {
    let row = RunRow {
        id: run.run_id(),
        session: run.session(),
        first: 0,
        ended: None,
        usage: TokenUsage::default(),
    };
    loop {
        let result = match read_unfinished_run_from_log(run.log(), &row, |_| {}).await {
            Ok(unfinished) => {
                let reason = Some(FailureReason::Storage);
                let events = unfinished.closing_events(Outcome::Failed, reason, &error.to_string());
                let at = Some(now_ms());
                run.append(events.into_iter().map(|event| (at, event)).collect()).await
            }
            Err(error) => Err(error),
        };
        match result {
            Ok(_) | Err(StoreError::NoSession(_) | StoreError::RunEnded(_)) => break,
            Err(_) => tokio::time::sleep(END_RETRY_INTERVAL).await,
        }
    }
    drop(ticket);
}
