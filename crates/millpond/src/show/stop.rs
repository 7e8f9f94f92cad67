//! A person or the system asks the program to stop: what has come is still shown, with an ending.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Whether a stop has been asked for.
#[derive(Debug, Default)]
pub(super) struct Stop {
    asked: Mutex<bool>,
    bell: Condvar,
}

impl Stop {
    pub(super) fn is_asked(&self) -> bool {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits so long, or until a stop is asked for.
    pub(super) fn is_asked_within(&self, time: Duration) -> bool {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.bell.wait_timeout_while(asked, time, |asked| !*asked);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn ask(&self) -> Before {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        self.bell.notify_all();
        if std::mem::replace(&mut *asked, true) { Before::Asked } else { Before::Running }
    }
}

enum Before {
    Running,
    Asked,
}

/// Listens for the signals that ask a program to stop. The second one ends it at once.
pub(super) fn listen(wake: impl Fn() + Send + 'static) -> std::io::Result<Arc<Stop>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let stop = Arc::new(Stop::default());
    let heard = Arc::clone(&stop);
    std::thread::spawn(move || {
        for signal in signals.forever() {
            match heard.ask() {
                Before::Running => wake(),
                Before::Asked => {
                    // Only signals that cannot be emulated fail, and these are not among them.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            }
        }
    });
    Ok(stop)
}
