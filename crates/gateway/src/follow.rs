//! One run, from its first record to its ending, as it comes.

use tokio::sync::watch;

use crate::id::{RunId, SessionId};
use crate::log::Log;
use crate::store::{Chunk, StoreError};

/// Reads the records of a session from some place on; whoever uses it looks for its run.
#[derive(Debug)]
pub struct Follower {
    log: Log,
    session: SessionId,
    run: String,
    next: u64,
    end: watch::Receiver<u64>,
}

impl Follower {
    /// A run that began at `from` or will begin later.
    pub async fn new(
        log: &Log,
        session: SessionId,
        run: RunId,
        from: u64,
    ) -> Result<Follower, StoreError> {
        let end = log.follow(session).await?;
        Ok(Follower { log: log.clone(), session, run: run.to_string(), next: from, end })
    }

    /// The name of the run in its records.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The next chunks, as soon as there are some, and from which record on they are new. Nothing
    /// when the log is gone.
    pub async fn next(&mut self) -> Result<Option<(u64, Vec<Chunk>)>, StoreError> {
        loop {
            let from = self.next;
            let chunks = self.log.read(self.session, from).await?;
            if let Some(last) = chunks.last() {
                self.next = last.end();
                return Ok(Some((from, chunks)));
            }
            if self.end.wait_for(|end| from < *end).await.is_err() {
                return Ok(None);
            }
        }
    }
}
