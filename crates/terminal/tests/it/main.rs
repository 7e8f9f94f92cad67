//! Tests of the rows and the screen as a terminal sees them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::format_collect,
    clippy::format_push_string,
    reason = "a test may fail, and says what it skips"
)]

mod chunks;
mod corpus;
mod emulator;
mod generate;
mod hostile;
mod linear;
mod oracle;
mod resize;
mod restore;
mod session;
mod streaming;
mod tmux;
mod whole;
