//! Signal that a run is to stop.

use std::future::Future;

use millpond_engine::run::InputEnd;
use millpond_log::runs::RunControl;
use tokio::sync::watch;

/// Receiver of a run's stop and cancel requests.
#[derive(Clone, Debug)]
pub struct StopSignal(watch::Receiver<RunControl>);

impl StopSignal {
    /// Wraps the run's control channel.
    pub fn new(control: watch::Receiver<RunControl>) -> StopSignal {
        StopSignal(control)
    }

    /// Waits until the run is to stop; returns how it ends.
    pub async fn wait_for_stop(&mut self) -> InputEnd {
        match self.0.wait_for(|control| *control != RunControl::Continue).await {
            Ok(control) if *control == RunControl::Cancel => InputEnd::Cancelled,
            _ => InputEnd::Interrupted,
        }
    }

    /// Awaits `work`, or drops it and returns `Err` if the run is to stop first.
    pub async fn run_or_drop_on_stop<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, InputEnd> {
        tokio::select! {
            biased;
            cut = self.wait_for_stop() => Err(cut),
            done = work => Ok(done),
        }
    }
}
