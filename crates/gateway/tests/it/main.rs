//! Tests of the gateway from outside.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod compat;
