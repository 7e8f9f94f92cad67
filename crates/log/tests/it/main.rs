//! Tests of the store through its traits: promises, crashes, damage, upgrades.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may fail, and says what it skips"
)]

mod log;
mod store;
mod support;
