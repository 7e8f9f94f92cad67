//! Tests of rows and screen against a terminal emulator.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::format_collect,
    clippy::format_push_string,
    reason = "a test may fail, and says what it skips"
)]

mod agreement;
mod chunks;
mod emulator;
mod expected_rows;
mod generators;
mod hostile;
mod linear;
mod mini_chat;
mod pulldown_oracle;
mod raw_calls;
mod resize;
mod restore;
mod shown_pages;
mod streaming;
mod texts;
mod tmux;
mod whole_chat;
