//! A durable log of agent runs, and any number of readers that follow it.
//!
//! ```text
//! bytes ─ ingest ─▶ events ─ log ─▶ store
//!                             └──▶ channel ─▶ readers (SSE, WebSocket)
//! ```
//!
//! Does: keep, serve, resume, guard. Does not: know a provider, a view's rules or a tool; the engine
//! and the agents do.

pub mod compat;
pub mod id;
pub mod limits;
pub mod store;
