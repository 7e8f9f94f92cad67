//! Tests of the gateway as its callers and its operator see it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod http;
