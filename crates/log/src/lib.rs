//! A durable log of agent runs: the store, the append handles, active runs and queued messages.
//!
//! ```text
//! messages ─▶ queue ─ scheduler ─▶ agent ─ events ─▶ log ─▶ store
//! ```
//!
//! Does: number records, commit them in groups, start and end runs. Does not: serve HTTP, call a
//! model, or depend on a view.

pub mod agent;
pub mod clock;
pub mod digest;
pub mod expiry;
pub mod id;
mod images;
pub mod limits;
mod log;
pub mod metrics;
pub mod queue;
pub mod recovery;
pub mod runs;
pub mod scheduler;
pub mod session_changes;
pub mod store;
pub mod stream_debug;

pub use self::log::{Log, LogEnd, ReadChunk, ReadRecord, RunAppender, TimedEvent};
