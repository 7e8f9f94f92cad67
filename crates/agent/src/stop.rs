//! Being asked to stop, while something else is waited for.

use std::future::Future;

use engine::run::Cut;
use gateway::runs::Wish;
use tokio::sync::watch;

#[derive(Clone, Debug)]
pub struct Stopping(watch::Receiver<Wish>);

impl Stopping {
    pub fn new(wish: watch::Receiver<Wish>) -> Stopping {
        Stopping(wish)
    }

    /// Done when the run is asked to stop.
    pub async fn asked(&mut self) -> Cut {
        match self.0.wait_for(|wish| *wish != Wish::GoOn).await {
            Ok(wish) if *wish == Wish::Cancel => Cut::Cancelled,
            _ => Cut::Interrupted,
        }
    }

    /// What comes of the work, unless the run is asked to stop first; then the work is dropped.
    pub async fn or<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Cut> {
        tokio::select! {
            biased;
            cut = self.asked() => Err(cut),
            done = work => Ok(done),
        }
    }
}
