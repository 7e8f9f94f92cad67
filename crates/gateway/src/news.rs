//! News of sessions: that something about one has changed, not what.
//!
//! Whoever hears looks it up; whoever misses some lists again. Bounded: nothing is kept for a slow
//! listener.

use tokio::sync::broadcast;

use crate::id::SessionId;
use crate::limits::NEWS_WAITING_MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tidings {
    /// Made, named, moved, or its run began or ended.
    Changed(SessionId),
    /// Some are gone for good. Which is not told: whose they were is not known any more.
    Erased,
}

/// Cheap to clone; all clones tell the same listeners.
#[derive(Clone, Debug)]
pub struct News(broadcast::Sender<Tidings>);

impl Default for News {
    fn default() -> News {
        News(broadcast::Sender::new(NEWS_WAITING_MAX))
    }
}

impl News {
    pub fn tell(&self, session: SessionId) {
        // That nobody listens at this moment is no fault.
        let _nobody = self.0.send(Tidings::Changed(session));
    }

    pub fn tell_erased(&self) {
        let _nobody = self.0.send(Tidings::Erased);
    }

    pub fn listen(&self) -> broadcast::Receiver<Tidings> {
        self.0.subscribe()
    }
}
