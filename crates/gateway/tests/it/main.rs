//! Tests of the gateway as its callers and its operator see it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may fail, and says what it skips"
)]

mod compat;
mod http;
#[path = "../../../log/tests/it/support.rs"]
mod log_support;
