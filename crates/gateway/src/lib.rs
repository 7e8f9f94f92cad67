//! A durable log of agent runs, and any number of readers that follow it.
//!
//! ```text
//! bytes ─ ingest ─▶ events ─ log ─▶ store
//!                             └──▶ channel ─▶ readers (SSE, WebSocket)
//! ```
//!
//! Does: serve, resume and restrict access. Does not: interpret a provider's format, a view's rules
//! or a tool; the engine and the agents do.

pub mod access;
pub mod channel;
pub mod compat;
pub mod connection_limits;
pub mod fanout;
pub mod fold;
pub mod gateway;
pub mod http;
pub mod ingest_run;
pub mod limits;
pub mod reader;
pub mod run_follower;
pub mod serve;
pub mod site;
