//! The logs of all sessions: one writer thread, any number of readers, one order.
//!
//! Does: number records, commit them in groups, notify followers, read from the cached tail or the
//! store. Does not: buffer for a reader; one that falls behind reads again.
//!
//! Invariant: a reader is notified only of committed records.

mod read_chunk;
mod run_indexer;
mod tail;
mod writer;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use millpond_engine::event::{Event, Millis};
use tokio::sync::{mpsc, oneshot};

use crate::id::{RunId, SessionId};
use crate::images::move_inline_images_to_blobs;
use crate::limits::{APPENDS_QUEUED_MAX, READ_BYTES_MAX};
use crate::metrics::Metrics;
use crate::session_changes::SessionChanges;
use crate::store::{Store, StoreError};
use crate::stream_debug::StreamDebug;

pub use read_chunk::{ReadChunk, ReadRecord};
use run_indexer::{IndexUpdate, RunIndexer};
pub use tail::LogEnd;
use tail::Tails;

/// An event with its time, before it has a sequence number.
pub type TimedEvent = (Option<Millis>, Event<'static>);

/// Command to the writer thread.
#[derive(Debug)]
enum WriterCommand {
    Append(AppendRequest),
    Stop,
}

/// Events to append to one run.
#[derive(Debug)]
struct AppendRequest {
    session: SessionId,
    run: RunId,
    events: Vec<TimedEvent>,
    index_update: IndexUpdate,
    reply: oneshot::Sender<Result<u64, StoreError>>,
}

/// Components that the writer thread notifies after a commit.
struct CommitListeners {
    tails: Tails,
    session_changes: SessionChanges,
    metrics: Arc<Metrics>,
}

/// Handle of the logs of all sessions. Cheap to clone; all clones share one writer thread.
#[derive(Clone)]
pub struct Log {
    store: Arc<dyn Store>,
    commands: mpsc::Sender<WriterCommand>,
    writer: Arc<Mutex<Option<JoinHandle<()>>>>,
    tails: Tails,
    session_changes: SessionChanges,
    metrics: Arc<Metrics>,
    stream_debug: StreamDebug,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

impl Log {
    /// Starts the writer thread. It stops on `close`, or when the last clone is dropped.
    pub fn open(store: Arc<dyn Store>) -> std::io::Result<Log> {
        let (commands, command_receiver) = mpsc::channel(APPENDS_QUEUED_MAX);
        let tails = Tails::default();
        let (session_changes, metrics) = (SessionChanges::default(), Arc::new(Metrics::default()));
        let listeners = CommitListeners {
            tails: tails.clone(),
            session_changes: session_changes.clone(),
            metrics: Arc::clone(&metrics),
        };
        let writer = writer::spawn_writer_thread(Arc::clone(&store), listeners, command_receiver)?;
        let writer = Arc::new(Mutex::new(Some(writer)));
        let stream_debug = StreamDebug::default();
        Ok(Log { store, commands, writer, tails, session_changes, metrics, stream_debug })
    }

    /// Broadcast of changed sessions.
    pub fn session_changes(&self) -> &SessionChanges {
        &self.session_changes
    }

    /// Metrics of this process.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Log of decisions about the streams of this process.
    pub fn stream_debug(&self) -> &StreamDebug {
        &self.stream_debug
    }

    /// Stops the writer thread after it has written all queued appends.
    pub async fn close(&self) {
        // An error means that the writer has stopped already.
        let _stopped = self.commands.send(WriterCommand::Stop).await;
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            let _joined = tokio::task::spawn_blocking(move || writer.join()).await;
        }
    }

    /// The store behind the log.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the append handle of a run that is about to begin, or was found open.
    pub fn build_run_appender(&self, session: SessionId, run: RunId) -> RunAppender {
        RunAppender { log: self.clone(), session, run_id: run, indexer: RunIndexer::default() }
    }

    /// Reads records from `from` on, up to `READ_BYTES_MAX`. Empty at the end of the log.
    pub async fn read(&self, session: SessionId, from: u64) -> Result<Vec<ReadChunk>, StoreError> {
        self.tails.clear_if_reopened(self.store.reopen_count());
        if let Some(chunks) = self.tails.read_if_cached(session, from) {
            return Ok(chunks);
        }
        let chunks =
            self.call_store(move |store| store.read(session, from, READ_BYTES_MAX)).await?;
        Ok(chunks.into_iter().map(ReadChunk::from_store).collect())
    }

    /// Watches the end of a session's log.
    pub async fn watch_log_end(&self, session: SessionId) -> Result<LogEnd, StoreError> {
        self.tails.clear_if_reopened(self.store.reopen_count());
        if let Some(end) = self.tails.watch_end_if_known(session) {
            return Ok(end);
        }
        let end = self.tails.follow(session);
        let session_row =
            self.call_store(move |store| store.load_session_even_deleted(session)).await?;
        self.tails.set_end(session, session_row.ok_or(StoreError::NoSession(session))?.head);
        Ok(end)
    }

    /// Drops the cached tail of an erased session, which ends its followers.
    pub fn drop_tail_and_end_followers(&self, session: SessionId) {
        self.tails.remove_and_end_followers(session);
    }

    /// Calls the store on a blocking thread.
    pub async fn call_store<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = Arc::clone(&self.store);
        tokio::task::spawn_blocking(move || call(&*store))
            .await
            .unwrap_or_else(|error| Err(StoreError::Failed(error.to_string())))
    }
}

/// Exclusive append handle for one run.
#[derive(Debug)]
pub struct RunAppender {
    log: Log,
    session: SessionId,
    run_id: RunId,
    indexer: RunIndexer,
}

impl RunAppender {
    /// The log that the run is in.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The session of the run.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The id of the run.
    pub fn run_id(&self) -> RunId {
        self.run_id
    }

    /// Indexes an event that is already in the log, for a run that an earlier process began.
    /// Appends nothing.
    pub fn index_logged_event(&mut self, event: &Event<'_>) {
        self.indexer.apply_text_or_usage(event);
    }

    /// Appends events, all or none. Returns the log's new end once they are committed. Inline
    /// images are stored as blobs first.
    pub async fn append(&mut self, mut events: Vec<TimedEvent>) -> Result<u64, StoreError> {
        move_inline_images_to_blobs(&self.log, self.session, &mut events).await?;
        let (commit_sender, committed) = oneshot::channel();
        let stopped = || StoreError::Failed("the writer has stopped".to_owned());
        let index_update = self.indexer.apply_batch(&events);
        let append = AppendRequest {
            session: self.session,
            run: self.run_id,
            events,
            index_update,
            reply: commit_sender,
        };
        self.log.commands.send(WriterCommand::Append(append)).await.map_err(|_| stopped())?;
        committed.await.map_err(|_| stopped())?
    }
}
