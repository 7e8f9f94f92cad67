//! The writer thread: collects queued appends, numbers the records, commits them as one group and
//! notifies followers.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use millpond_engine::event::{Event, Millis};
use serde::Serialize;
use tokio::sync::mpsc;

use crate::clock::now_ms;
use crate::id::SessionId;
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
    let writer = LogWriter { store, listeners, cached_heads: HashMap::new() };
    std::thread::Builder::new()
        .name("log-writer".to_owned())
        .spawn(move || writer.process_commands(commands))
}

/// State of the writer thread.
struct LogWriter {
    store: Arc<dyn Store>,
    listeners: CommitListeners,
    /// Ends of the logs written so far.
    cached_heads: HashMap<SessionId, u64>,
}

/// Cached log ends; the cache is cleared when there are more.
const CACHED_HEADS_MAX: usize = 10_000;

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
            if CACHED_HEADS_MAX < self.cached_heads.len() {
                self.cached_heads.clear();
            }
        }
    }

    /// Commits a group as one. If that fails, commits each append by itself, so that an invalid one
    /// does not affect the others.
    fn commit_group_or_each_and_reply(&mut self, group: Vec<AppendRequest>) {
        match self.try_commit_and_publish(&group) {
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

    /// Commits a group in one transaction. Returns the new log end of each append.
    fn try_commit_and_publish(&mut self, group: &[AppendRequest]) -> Result<Vec<u64>, StoreError> {
        let mut batches: Vec<BatchDraft> = Vec::new();
        let mut ends = Vec::with_capacity(group.len());
        for append in group {
            if !batches.iter().any(|draft| draft.session == append.session) {
                batches.push(BatchDraft::new(append.session, self.session_head(append.session)?));
            }
            for draft in batches.iter_mut().filter(|draft| draft.session == append.session) {
                draft.push_append(append)?;
                ends.push(draft.end);
            }
        }
        let batches: Vec<Batch> = batches.into_iter().map(BatchDraft::into_batch).collect();
        let started_at = Instant::now();
        if let Err(error) = self.store.append(&batches) {
            for batch in &batches {
                self.cached_heads.remove(&batch.session);
            }
            return Err(error);
        }
        self.publish_commit(batches, started_at.elapsed());
        Ok(ends)
    }

    /// Updates cached heads, tails and metrics after a commit, and notifies subscribers.
    fn publish_commit(&mut self, batches: Vec<Batch>, duration: Duration) {
        let CommitListeners { tails, session_changes, metrics } = &self.listeners;
        metrics.record_commit(batches.iter().map(|batch| batch.chunk.len).sum(), duration);
        tails.clear_if_new_epoch(self.store.epoch());
        for batch in batches {
            self.cached_heads.insert(batch.session, batch.chunk.next_seq());
            tails.cache_chunk_and_notify(batch.session, batch.chunk);
            for turn in &batch.run_boundaries {
                session_changes.notify_changed(batch.session);
                if let RunBoundary::Ended { run, outcome, .. } = turn {
                    metrics.record_run_end(*outcome);
                    tracing::info!(session = %batch.session, %run, ?outcome, "run ended");
                }
            }
        }
    }

    fn session_head(&self, session: SessionId) -> Result<u64, StoreError> {
        if let Some(&head) = self.cached_heads.get(&session) {
            return Ok(head);
        }
        let session_row = self.store.load_session_even_deleted(session)?;
        session_row.map(|session| session.head).ok_or(StoreError::NoSession(session))
    }
}

/// A batch being built.
struct BatchDraft {
    session: SessionId,
    first: u64,
    end: u64,
    lines: String,
    run_boundaries: Vec<RunBoundary>,
    texts: Vec<String>,
}

impl BatchDraft {
    fn new(session: SessionId, head: u64) -> BatchDraft {
        let (run_boundaries, texts) = (Vec::new(), Vec::new());
        BatchDraft { session, first: head, end: head, lines: String::new(), run_boundaries, texts }
    }

    fn push_append(&mut self, append: &AppendRequest) -> Result<(), StoreError> {
        let run = append.run;
        self.run_boundaries.extend(append.index_update.run_boundaries.iter().map(
            |&(at, boundary)| {
                let seq = self.end + at as u64;
                match boundary {
                    BoundaryKind::Began => RunBoundary::Began { run, seq },
                    BoundaryKind::Ended { outcome, usage: used } => {
                        RunBoundary::Ended { run, seq, outcome, usage: used }
                    }
                }
            },
        ));
        self.texts.extend_from_slice(&append.index_update.searchable_texts);
        let name = run.to_string();
        for (at_ms, event) in &append.events {
            let record = RecordLine { seq: self.end, at_ms: *at_ms, run: &name, event };
            let line = serde_json::to_string(&record).map_err(|error| {
                StoreError::Failed(format!("cannot serialise a record: {error}"))
            })?;
            self.lines.push_str(&line);
            self.lines.push('\n');
            self.end += 1;
        }
        Ok(())
    }

    fn into_batch(self) -> Batch {
        Batch {
            session: self.session,
            at_ms: now_ms(),
            chunk: Chunk {
                first: self.first,
                len: self.end - self.first,
                lines: self.lines.into(),
            },
            run_boundaries: self.run_boundaries,
            searchable_texts: self.texts,
        }
    }
}

/// A record that borrows its event. Parses back as `millpond_engine::event::Record`.
#[derive(Serialize)]
struct RecordLine<'a> {
    seq: u64,
    at_ms: Option<Millis>,
    run: &'a str,
    #[serde(flatten)]
    event: &'a Event<'static>,
}
