//! The one thread that writes: takes what waits, numbers it, commits it as one, says so.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::event::{Event, Millis};
use serde::Serialize;
use tokio::sync::mpsc;

use crate::clock::now_ms;
use crate::id::SessionId;
use crate::limits::COMMIT_RECORDS_MAX;
use crate::store::{Batch, Chunk, Store, StoreError, Turn};

use super::tally::Turning;
use super::{Append, Listeners, Order};

pub(super) fn start(
    store: Arc<dyn Store>,
    listeners: Listeners,
    waiting: mpsc::Receiver<Order>,
) -> std::io::Result<JoinHandle<()>> {
    let writer = Writer { store, listeners, heads: HashMap::new() };
    std::thread::Builder::new().name("log-writer".to_owned()).spawn(move || writer.run(waiting))
}

struct Writer {
    store: Arc<dyn Store>,
    listeners: Listeners,
    /// Where the logs end that were written to.
    heads: HashMap<SessionId, u64>,
}

/// Sessions whose end is remembered; all are forgotten when there are more.
const HEADS_MAX: usize = 10_000;

impl Writer {
    fn run(mut self, mut waiting: mpsc::Receiver<Order>) {
        let mut stops = false;
        while !stops && let Some(Order::Append(first)) = waiting.blocking_recv() {
            let mut records = first.facts.len();
            let mut group = vec![first];
            while records < COMMIT_RECORDS_MAX && !stops {
                match waiting.try_recv() {
                    Ok(Order::Append(next)) => {
                        records += next.facts.len();
                        group.push(next);
                    }
                    Ok(Order::Stop) => stops = true,
                    Err(_) => break,
                }
            }
            self.commit(group);
            if HEADS_MAX < self.heads.len() {
                self.heads.clear();
            }
        }
    }

    /// Commits a group as one; if that fails, each append by itself, so that one that is wrong
    /// costs no other.
    fn commit(&mut self, group: Vec<Append>) {
        match self.try_commit(&group) {
            Ok(ends) => {
                for (append, end) in group.into_iter().zip(ends) {
                    // Whoever appended may have gone; the records stay.
                    let _gone = append.done.send(Ok(end));
                }
            }
            Err(error) if group.len() == 1 || error == StoreError::Full => {
                for append in group {
                    let _gone = append.done.send(Err(error.clone()));
                }
            }
            Err(_) => {
                for append in group {
                    self.commit(vec![append]);
                }
            }
        }
    }

    fn try_commit(&mut self, group: &[Append]) -> Result<Vec<u64>, StoreError> {
        let mut batches: Vec<Draft> = Vec::new();
        let mut ends = Vec::with_capacity(group.len());
        for append in group {
            if !batches.iter().any(|draft| draft.session == append.session) {
                batches.push(Draft::new(append.session, self.head(append.session)?));
            }
            for draft in batches.iter_mut().filter(|draft| draft.session == append.session) {
                draft.push_all(append)?;
                ends.push(draft.end);
            }
        }
        let batches: Vec<Batch> = batches.into_iter().map(Draft::into_batch).collect();
        let began = Instant::now();
        if let Err(error) = self.store.append(&batches) {
            for batch in &batches {
                self.heads.remove(&batch.session);
            }
            return Err(error);
        }
        self.tell(batches, began.elapsed());
        Ok(ends)
    }

    fn tell(&mut self, batches: Vec<Batch>, took: Duration) {
        let Listeners { tails, news, metrics } = &self.listeners;
        metrics.committed(batches.iter().map(|batch| batch.chunk.len).sum(), took);
        tails.enter(self.store.epoch());
        for batch in batches {
            self.heads.insert(batch.session, batch.chunk.end());
            tails.push(batch.session, batch.chunk);
            for turn in &batch.turns {
                news.tell(batch.session);
                if let Turn::Ended { run, outcome, .. } = turn {
                    metrics.run_ended(*outcome);
                    tracing::info!(session = %batch.session, %run, ?outcome, "a run has ended");
                }
            }
        }
    }

    fn head(&self, session: SessionId) -> Result<u64, StoreError> {
        if let Some(&head) = self.heads.get(&session) {
            return Ok(head);
        }
        let found = self.store.session(session)?;
        found.map(|session| session.head).ok_or(StoreError::NoSession(session))
    }
}

/// A batch in the making.
struct Draft {
    session: SessionId,
    first: u64,
    end: u64,
    lines: String,
    turns: Vec<Turn>,
    texts: Vec<String>,
}

impl Draft {
    fn new(session: SessionId, head: u64) -> Draft {
        let (turns, texts) = (Vec::new(), Vec::new());
        Draft { session, first: head, end: head, lines: String::new(), turns, texts }
    }

    fn push_all(&mut self, append: &Append) -> Result<(), StoreError> {
        let run = append.run;
        self.turns.extend(append.told.turns.iter().map(|&(at, turning)| {
            let seq = self.end + at as u64;
            match turning {
                Turning::Began => Turn::Began { run, seq },
                Turning::Ended { outcome, used } => Turn::Ended { run, seq, outcome, used },
            }
        }));
        self.texts.extend_from_slice(&append.told.texts);
        let name = run.to_string();
        for (at_ms, event) in &append.facts {
            let record = Line { seq: self.end, at_ms: *at_ms, run: &name, event };
            let line = serde_json::to_string(&record)
                .map_err(|error| StoreError::Failed(format!("a record is no JSON: {error}")))?;
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
            turns: self.turns,
            texts: self.texts,
        }
    }
}

/// A record that borrows its event: reads back as an `engine::event::Record`.
#[derive(Serialize)]
struct Line<'a> {
    seq: u64,
    at_ms: Option<Millis>,
    run: &'a str,
    #[serde(flatten)]
    event: &'a Event<'static>,
}
