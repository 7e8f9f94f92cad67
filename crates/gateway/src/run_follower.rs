//! Follows one run from its first record to its ending.

use millpond_log::id::{RunId, SessionId};
use millpond_log::store::StoreError;
use millpond_log::{Log, LogEnd, ReadChunk};

/// Reads the records of a session from a position on; the caller filters by run.
#[derive(Debug)]
pub struct RunFollower {
    log: Log,
    session: SessionId,
    run_name: String,
    next_seq: u64,
    log_end: LogEnd,
}

impl RunFollower {
    /// Follows a run that began at `from` or will begin later.
    pub async fn new(
        log: &Log,
        session: SessionId,
        run: RunId,
        from: u64,
    ) -> Result<RunFollower, StoreError> {
        let log_end = log.watch_log_end(session).await?;
        Ok(RunFollower {
            log: log.clone(),
            session,
            run_name: run.to_string(),
            next_seq: from,
            log_end,
        })
    }

    /// The run's id as its records have it.
    pub fn run_id_text(&self) -> &str {
        &self.run_name
    }

    /// Waits for the next chunks. Returns them with the sequence number from which they are new, or
    /// `None` when the log is gone.
    pub async fn wait_for_next_chunks_of_session(
        &mut self,
    ) -> Result<Option<(u64, Vec<ReadChunk>)>, StoreError> {
        loop {
            let next_seq = self.next_seq;
            let chunks = self.log.read(self.session, next_seq).await?;
            if let Some(last) = chunks.last() {
                self.next_seq = last.next_seq();
                return Ok(Some((next_seq, chunks)));
            }
            if self.log_end.wait_for(|end| next_seq < *end).await.is_err() {
                return Ok(None);
            }
        }
    }
}
