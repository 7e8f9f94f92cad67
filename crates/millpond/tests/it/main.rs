//! End-to-end tests of the `millpond` binary.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and says what it skips"
)]

mod architecture;
mod bounded;
mod chat;
mod compare;
mod demo;
mod documents;
mod gateway;
mod pty;
mod recording;
mod screen;
mod secrets;
mod show;
mod signals;
mod stream_debug;
mod support;
mod tmux;
