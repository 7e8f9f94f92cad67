//! Tests of the agents through a gateway: a message in, a log out.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and says what it skips"
)]

mod approvals;
mod checkpoints;
mod concurrent_sessions;
mod demo;
mod external_agents;
mod faults;
mod heartbeats;
mod images;
mod joining_messages;
mod limits;
mod mcp;
mod model;
mod requests;
mod restarts;
mod scripted_provider;
mod stopping;
mod test_gateway;
