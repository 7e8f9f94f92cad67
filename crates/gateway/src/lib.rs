//! A durable log of agent runs, and any number of readers that follow it.
//!
//! ```text
//! bytes ─ ingest ─▶ events ─ log ─▶ store
//!                             └──▶ channel ─▶ readers (SSE, WebSocket)
//! ```
//!
//! Does: keep, serve, resume, guard. Does not: know a provider, a view's rules or a tool; the engine
//! and the agents do.

pub mod access;
pub mod agent;
pub mod bounds;
pub mod channel;
pub mod clock;
pub mod compat;
pub mod digest;
pub mod fanout;
pub mod fold;
pub mod follow;
pub mod gateway;
pub mod http;
pub mod id;
pub mod intake;
pub mod limits;
pub mod log;
pub mod messages;
pub mod metrics;
pub mod news;
pub mod pictures;
pub mod reader;
pub mod runs;
pub mod serve;
pub mod site;
pub mod store;
