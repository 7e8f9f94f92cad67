//! Stop requests by signal. The first signal lets the program finish with what it has; the second
//! ends it at once.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Flag set by the first stop signal.
#[derive(Debug, Default)]
pub(super) struct StopFlag {
    requested: Mutex<bool>,
    changed: Condvar,
}

impl StopFlag {
    /// Returns true if a stop was requested.
    pub(super) fn is_requested(&self) -> bool {
        *self.requested.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits up to `time` for a stop request; true if there is one.
    pub(super) fn sleep_unless_stop_requested(&self, time: Duration) -> bool {
        let asked = self.requested.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(asked, time, |asked| !*asked);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Requests a stop; returns the state before.
    fn request_stop_and_return_previous(&self) -> PreviousState {
        let mut asked = self.requested.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed.notify_all();
        if std::mem::replace(&mut *asked, true) {
            PreviousState::StopRequested
        } else {
            PreviousState::Running
        }
    }
}

/// State of the flag before a request.
enum PreviousState {
    Running,
    StopRequested,
}

/// Handles SIGHUP, SIGINT and SIGTERM on a new thread: the first one sets the flag and calls
/// `wake`, the second ends the process.
pub(super) fn spawn_stop_signal_thread(
    wake: impl Fn() + Send + 'static,
) -> std::io::Result<Arc<StopFlag>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let stop = Arc::new(StopFlag::default());
    let handled = Arc::clone(&stop);
    std::thread::spawn(move || {
        for signal in signals.forever() {
            match handled.request_stop_and_return_previous() {
                PreviousState::Running => wake(),
                PreviousState::StopRequested => {
                    // Fails only for signals that cannot be emulated; these can.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            }
        }
    });
    Ok(stop)
}
