//! The writer thread: collects queued appends, numbers the records, commits them as one group and
//! notifies followers.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use millpond_engine::event::{Event, Millis, Record};
use tokio::sync::mpsc;

use crate::clock::{now_ms, random_epoch};
use crate::id::{RunId, SessionId};
use crate::limits::COMMIT_RECORDS_MAX;
use crate::store::{Batch, Chunk, RunBoundary, Store, StoreError};

use super::run_indexer::BoundaryKind;
use super::{AppendRequest, CommitListeners, WriterCommand};

/// Starts the writer thread.
pub(super) fn spawn_writer_thread(
    store: Arc<dyn Store>,
    listeners: CommitListeners,
    commands: mpsc::Receiver<WriterCommand>,
) -> std::io::Result<JoinHandle<()>> {
    let writer = LogWriter { store, listeners, cached_ends: HashMap::new() };
    std::thread::Builder::new()
        .name("log-writer".to_owned())
        .spawn(move || writer.process_commands(commands))
}

/// State of the writer thread.
struct LogWriter {
    store: Arc<dyn Store>,
    listeners: CommitListeners,
    /// Ends of the logs written so far.
    cached_ends: HashMap<SessionId, LogEnd>,
}

/// End of a log, and the epoch of what this process appends to it.
#[derive(Clone, Copy)]
struct LogEnd {
    head: u64,
    epoch: u64,
}

/// Cached log ends; the cache is cleared when there are more.
const CACHED_ENDS_MAX: usize = 10_000;

impl LogWriter {
    fn process_commands(mut self, mut commands: mpsc::Receiver<WriterCommand>) {
        let mut stops = false;
        while !stops && let Some(WriterCommand::Append(first)) = commands.blocking_recv() {
            let mut records = first.events.len();
            let mut group = vec![first];
            while records < COMMIT_RECORDS_MAX && !stops {
                match commands.try_recv() {
                    Ok(WriterCommand::Append(next)) => {
                        records += next.events.len();
                        group.push(next);
                    }
                    Ok(WriterCommand::Stop) => stops = true,
                    Err(_) => break,
                }
            }
            self.commit_group_or_each_and_reply(group);
            if CACHED_ENDS_MAX < self.cached_ends.len() {
                self.cached_ends.clear();
            }
        }
    }

    /// Commits a group as one. If that fails, commits each append by itself, so that an invalid one
    /// does not affect the others.
    fn commit_group_or_each_and_reply(&mut self, mut group: Vec<AppendRequest>) {
        match self.try_commit_and_publish(&mut group) {
            Ok(ends) => {
                for (append, end) in group.into_iter().zip(ends) {
                    // The caller may have been dropped; the records are committed.
                    let _gone = append.reply.send(Ok(end));
                }
            }
            Err(error) if group.len() == 1 || error == StoreError::Full => {
                for append in group {
                    let _gone = append.reply.send(Err(error.clone()));
                }
            }
            Err(_) => {
                for append in group {
                    self.commit_group_or_each_and_reply(vec![append]);
                }
            }
        }
    }

    /// Commits a group in one transaction, sorted by session, with one batch for each run. Returns
    /// the new log end of each append.
    fn try_commit_and_publish(
        &mut self,
        group: &mut [AppendRequest],
    ) -> Result<Vec<u64>, StoreError> {
        group.sort_by_key(|append| append.session);
        let mut batches: Vec<Batch> = Vec::new();
        let mut ends = Vec::with_capacity(group.len());
        for appends in group.chunk_by(is_of_same_run) {
            let Some(first) = appends.first() else { continue };
            let previous = batches.last().filter(|batch| batch.session == first.session);
            let mut end = self.log_end_or_new_epoch(first)?;
            end.head = previous.map_or(end.head, |batch| batch.chunk.next_seq());
            let mut draft = BatchDraft::new(first.session, first.run, end);
            for append in appends {
                draft.push_append(append)?;
                ends.push(draft.end);
            }
            batches.push(draft.try_into_batch()?);
        }
        let started_at = Instant::now();
        if let Err(error) = self.store.append(&batches) {
            for batch in &batches {
                self.cached_ends.remove(&batch.session);
            }
            return Err(error);
        }
        self.publish_commit(batches, group, started_at.elapsed());
        Ok(ends)
    }

    /// Updates cached ends, tails and metrics after a commit, and notifies subscribers. Takes the
    /// events of the appends.
    fn publish_commit(
        &mut self,
        batches: Vec<Batch>,
        group: &mut [AppendRequest],
        duration: Duration,
    ) {
        let CommitListeners { tails, session_changes, metrics } = &self.listeners;
        metrics.record_commit(batches.iter().map(|batch| batch.chunk.len).sum(), duration);
        tails.clear_if_reopened(self.store.reopen_count());
        for (batch, appends) in batches.into_iter().zip(group.chunk_by_mut(is_of_same_run)) {
            let first = batch.chunk.first;
            let end = LogEnd { head: batch.chunk.next_seq(), epoch: batch.chunk.epoch };
            self.cached_ends.insert(batch.session, end);
            tails.cache_chunk_if_followed(batch.session, batch.chunk, || {
                take_records(appends, first)
            });
            for turn in &batch.run_boundaries {
                session_changes.notify_changed(batch.session);
                if let RunBoundary::Ended { outcome, .. } = turn {
                    metrics.record_run_end(*outcome);
                    tracing::info!(session = %batch.session, run = %batch.run, ?outcome, "run ended");
                }
            }
        }
    }

    /// The end of a log. Under a new epoch if it is not cached, or if a run begins: the session may
    /// have been erased and created again.
    fn log_end_or_new_epoch(&self, append: &AppendRequest) -> Result<LogEnd, StoreError> {
        let session = append.session;
        match self.cached_ends.get(&session) {
            Some(end) if !append.index_update.begins_run() => Ok(*end),
            Some(_) | None => {
                let row = self.store.load_session_even_deleted(session)?;
                let head = row.ok_or(StoreError::NoSession(session))?.head;
                Ok(LogEnd { head, epoch: random_epoch()? })
            }
        }
    }
}

fn is_of_same_run(one: &AppendRequest, other: &AppendRequest) -> bool {
    (one.session, one.run) == (other.session, other.run)
}

/// Takes the events of the appends, which are of one run, as records from `first` on.
fn take_records(appends: &mut [AppendRequest], first: u64) -> Vec<Record<'static>> {
    let run = appends.first().map(|append| append.run.to_string()).unwrap_or_default();
    let events = appends.iter_mut().flat_map(|append| std::mem::take(&mut append.events));
    (first..)
        .zip(events)
        .map(|(seq, (at_ms, event))| Record { seq, at_ms, run: run.clone().into(), event })
        .collect()
}

/// A batch being built.
struct BatchDraft {
    session: SessionId,
    run: RunId,
    epoch: u64,
    first: u64,
    end: u64,
    lines: Vec<u8>,
    run_boundaries: Vec<RunBoundary>,
    texts: Vec<String>,
}

impl BatchDraft {
    fn new(session: SessionId, run: RunId, LogEnd { head, epoch }: LogEnd) -> BatchDraft {
        BatchDraft {
            session,
            run,
            epoch,
            first: head,
            end: head,
            lines: Vec::new(),
            run_boundaries: Vec::new(),
            texts: Vec::new(),
        }
    }

    fn push_append(&mut self, append: &AppendRequest) -> Result<(), StoreError> {
        let run = self.run;
        self.run_boundaries.extend(append.index_update.run_boundaries.iter().map(
            |&(at, boundary)| {
                let seq = self.end + at as u64;
                match boundary {
                    BoundaryKind::Began => RunBoundary::Began { seq },
                    BoundaryKind::Ended { outcome, usage: used } => {
                        RunBoundary::Ended { seq, outcome, usage: used }
                    }
                }
            },
        ));
        self.texts.extend_from_slice(&append.index_update.searchable_texts);
        for (at_ms, event) in &append.events {
            push_record_line(&mut self.lines, self.end, *at_ms, run, event).map_err(|error| {
                StoreError::Failed(format!("cannot serialise a record: {error}"))
            })?;
            self.end += 1;
        }
        Ok(())
    }

    fn try_into_batch(self) -> Result<Batch, StoreError> {
        let lines = String::from_utf8(self.lines)
            .map_err(|error| StoreError::Failed(format!("cannot serialise a record: {error}")))?;
        Ok(Batch {
            session: self.session,
            run: self.run,
            at_ms: now_ms(),
            chunk: Chunk {
                epoch: self.epoch,
                first: self.first,
                len: self.end - self.first,
                lines: lines.into(),
            },
            run_boundaries: self.run_boundaries,
            searchable_texts: self.texts,
        })
    }
}

/// Appends the line of one record. It parses as a `Record`: the event is an object with its members
/// beside those of the record.
fn push_record_line(
    lines: &mut Vec<u8>,
    seq: u64,
    at_ms: Option<Millis>,
    run: RunId,
    event: &Event<'static>,
) -> Result<(), serde_json::Error> {
    let head = match at_ms {
        Some(at_ms) => write!(lines, "{{\"seq\":{seq},\"at_ms\":{at_ms},\"run\":\"{run}\""),
        None => write!(lines, "{{\"seq\":{seq},\"at_ms\":null,\"run\":\"{run}\""),
    };
    head.map_err(serde_json::Error::io)?;
    let start = lines.len();
    serde_json::to_writer(&mut *lines, event)?;
    // The brace that opens the event becomes the comma after the run.
    if let Some(brace) = lines.get_mut(start) {
        *brace = b',';
    }
    lines.push(b'\n');
    Ok(())
}
