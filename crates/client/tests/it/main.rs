//! The client against a server that is scripted byte by byte.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod following;
mod requests;
mod server;
