//! The log of every session: one writer, any number of readers, one order.
//!
//! Does: number records, commit them in groups, say when there is more, and read history and news
//! through the same door. Does not: buffer for anybody; a reader that falls behind reads again.
//!
//! Invariant: what a reader is told of has been committed.

mod tail;
mod tally;
mod writer;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use engine::event::{Event, Millis};
use tokio::sync::{mpsc, oneshot, watch};

use crate::id::{RunId, SessionId};
use crate::limits::{APPENDS_WAITING_MAX, READ_BYTES_MAX};
use crate::metrics::Metrics;
use crate::news::News;
use crate::pictures::put_aside;
use crate::store::{Chunk, Store, StoreError};

use tail::Tails;
use tally::{Tally, Told};

/// A fact on its way into the log.
pub type Fact = (Option<Millis>, Event<'static>);

#[derive(Debug)]
enum Order {
    Append(Append),
    Stop,
}

#[derive(Debug)]
struct Append {
    session: SessionId,
    run: RunId,
    facts: Vec<Fact>,
    told: Told,
    done: oneshot::Sender<Result<u64, StoreError>>,
}

/// Whoever is told what was committed.
struct Listeners {
    tails: Arc<Tails>,
    news: News,
    metrics: Arc<Metrics>,
}

/// Cheap to clone; all clones are the same log.
#[derive(Clone)]
pub struct Log {
    store: Arc<dyn Store>,
    orders: mpsc::Sender<Order>,
    writer: Arc<Mutex<Option<JoinHandle<()>>>>,
    tails: Arc<Tails>,
    news: News,
    metrics: Arc<Metrics>,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

impl Log {
    /// Starts the writer. It stops when the log is closed, or the last clone is gone.
    pub fn open(store: Arc<dyn Store>) -> std::io::Result<Log> {
        let (orders, waiting) = mpsc::channel(APPENDS_WAITING_MAX);
        let tails = Arc::new(Tails::default());
        let (news, metrics) = (News::default(), Arc::new(Metrics::default()));
        let told = Listeners {
            tails: Arc::clone(&tails),
            news: news.clone(),
            metrics: Arc::clone(&metrics),
        };
        let writer = writer::start(Arc::clone(&store), told, waiting)?;
        let writer = Arc::new(Mutex::new(Some(writer)));
        Ok(Log { store, orders, writer, tails, news, metrics })
    }

    /// Told of sessions whose runs begin and end.
    pub fn news(&self) -> &News {
        &self.news
    }

    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Stops the writer once what waits has been written.
    pub async fn close(&self) {
        // One that has stopped needs no order.
        let _stopped = self.orders.send(Order::Stop).await;
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            let _joined = tokio::task::spawn_blocking(move || writer.join()).await;
        }
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// A run that is about to begin, or has been found open.
    pub fn run(&self, session: SessionId, run: RunId) -> RunLog {
        RunLog { log: self.clone(), session, run, tally: Tally::default() }
    }

    /// The records from `from` on, as far as one read goes; nothing means that this is the end.
    pub async fn read(&self, session: SessionId, from: u64) -> Result<Vec<Chunk>, StoreError> {
        self.tails.enter(self.store.epoch());
        if let Some(chunks) = self.tails.read(session, from) {
            return Ok(chunks);
        }
        self.blocking(move |store| store.read(session, from, READ_BYTES_MAX)).await
    }

    /// Where the log of a session ends, now and whenever it grows.
    pub async fn follow(&self, session: SessionId) -> Result<watch::Receiver<u64>, StoreError> {
        self.tails.enter(self.store.epoch());
        if let Some(end) = self.tails.follow(session) {
            return Ok(end);
        }
        let found = self.blocking(move |store| store.session(session)).await?;
        let head = found.ok_or(StoreError::NoSession(session))?.head;
        Ok(self.tails.follow_from(session, head))
    }

    /// The log of a session is gone: whoever follows it finds that out now.
    pub fn forget(&self, session: SessionId) {
        self.tails.forget(session);
    }

    /// Nobody needs the tail of a session that nobody follows and no run writes.
    pub fn forget_if_idle(&self, session: SessionId) {
        self.tails.forget_if_idle(session);
    }

    /// Calls the store from a thread that may wait.
    pub async fn blocking<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = Arc::clone(&self.store);
        tokio::task::spawn_blocking(move || call(&*store))
            .await
            .unwrap_or_else(|error| Err(StoreError::Failed(error.to_string())))
    }
}

/// The pen of one run: nobody else writes its facts.
#[derive(Debug)]
pub struct RunLog {
    log: Log,
    session: SessionId,
    run: RunId,
    tally: Tally,
}

impl RunLog {
    pub fn log(&self) -> &Log {
        &self.log
    }

    pub fn session(&self) -> SessionId {
        self.session
    }

    pub fn id(&self) -> RunId {
        self.run
    }

    /// Counts a fact that is in the log already: whoever wrote it is gone, and the run is ended by
    /// this pen.
    pub fn recall(&mut self, event: &Event<'_>) {
        self.tally.hear(event);
    }

    /// Adds facts; all are kept or none. Returns the log's new end once they are committed. Pictures
    /// in them are kept beside the log first.
    pub async fn append(&mut self, mut facts: Vec<Fact>) -> Result<u64, StoreError> {
        put_aside(&self.log, self.session, &mut facts).await?;
        let (done, committed) = oneshot::channel();
        let stopped = || StoreError::Failed("the writer has stopped".to_owned());
        let told = self.tally.hear_all(&facts);
        let append = Append { session: self.session, run: self.run, facts, told, done };
        self.log.orders.send(Order::Append(append)).await.map_err(|_| stopped())?;
        committed.await.map_err(|_| stopped())?
    }
}
