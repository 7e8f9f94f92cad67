//! `StreamDebug`: decisions about the streams of this process, as JSON lines (`STREAM_DEBUG`).
//!
//! Invariant: while it is off, a decision costs one look at an atomic.

use std::fmt;
use std::sync::{Arc, OnceLock};

use millpond_engine::event::Trace;
use serde::Serialize;

use crate::id::{RunId, SessionId};

/// Receiver of lines.
type WriteLine = Box<dyn Fn(&str) + Send + Sync>;

/// Log of decisions about streams; off until it is turned on. Cheap to clone.
#[derive(Clone, Default)]
pub struct StreamDebug {
    write_line: Arc<OnceLock<WriteLine>>,
}

impl fmt::Debug for StreamDebug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamDebug").field("is_on", &self.is_on()).finish()
    }
}

/// A trace and the run that it is about.
#[derive(Serialize)]
struct TraceLine<'a> {
    #[serde(flatten)]
    trace: &'a Trace<'a>,
    session: String,
    run: String,
}

impl StreamDebug {
    /// Turns it on, for good: each decision is one line for `write_line`.
    pub fn turn_on(&self, write_line: impl Fn(&str) + Send + Sync + 'static) {
        // A second receiver is ignored.
        let _second = self.write_line.set(Box::new(write_line));
    }

    /// True if it is on.
    pub fn is_on(&self) -> bool {
        self.write_line.get().is_some()
    }

    /// Writes a decision on the way from bytes to events.
    pub fn write_trace_if_on(&self, session: SessionId, run: RunId, trace: &Trace<'_>) {
        let Some(write_line) = self.write_line.get() else { return };
        let (session, run) = (session.to_string(), run.to_string());
        if let Ok(line) = serde_json::to_string(&TraceLine { trace, session, run }) {
            write_line(&line);
        }
    }

    /// Writes another line; `build_line` is called only if it is on.
    pub fn write_line_if_on(&self, build_line: impl FnOnce() -> String) {
        if let Some(write_line) = self.write_line.get() {
            write_line(&build_line());
        }
    }
}
