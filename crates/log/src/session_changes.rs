//! Bounded broadcast of sessions that have changed; the message does not say what changed.
//!
//! A subscriber looks the session up. One that lagged must list all sessions again.

use tokio::sync::broadcast;

use crate::id::SessionId;
use crate::limits::SESSION_CHANGES_QUEUED_MAX;

/// A change of the session list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionChange {
    /// Created, renamed, moved, or its run began or ended.
    Changed(SessionId),
    /// Some sessions were erased. Their ids are not sent: the owner can no longer be checked.
    Erased,
}

/// Broadcast sender. Cheap to clone; all clones reach the same subscribers.
#[derive(Clone, Debug)]
pub struct SessionChanges(broadcast::Sender<SessionChange>);

impl Default for SessionChanges {
    fn default() -> SessionChanges {
        SessionChanges(broadcast::Sender::new(SESSION_CHANGES_QUEUED_MAX))
    }
}

impl SessionChanges {
    /// Notifies that a session has changed.
    pub fn notify_changed(&self, session: SessionId) {
        // An error means that there is no subscriber.
        let _no_receiver = self.0.send(SessionChange::Changed(session));
    }

    /// Notifies that sessions were erased.
    pub fn notify_some_sessions_erased(&self) {
        let _no_receiver = self.0.send(SessionChange::Erased);
    }

    /// Subscribes to changes.
    pub fn subscribe(&self) -> broadcast::Receiver<SessionChange> {
        self.0.subscribe()
    }
}
