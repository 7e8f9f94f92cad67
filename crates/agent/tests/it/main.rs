//! Tests of the agents as the gateway sees them: a message in, a log out.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and says what it skips"
)]

mod approvals;
mod checkpoints;
mod demo;
mod driven;
mod faults;
mod heartbeats;
mod house;
mod limits;
mod many;
mod mcp;
mod model;
mod requests;
mod scripted;
mod shown;
mod steering;
mod stopping;
mod surviving;
