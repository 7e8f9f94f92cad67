//! Queries of the terminal behind standard output: its size, its cursor, and whether it can be
//! drawn on.

use std::io::{self, IsTerminal};

use crate::size::Size;

/// Asks the terminal for its size and the row of its cursor, from 0.
pub fn query_size_and_cursor_row() -> io::Result<(Size, u16)> {
    let (_, row) = crossterm::cursor::position()?;
    Ok((query_size()?, row))
}

/// Asks the terminal for its size.
pub fn query_size() -> io::Result<Size> {
    let (cols, rows) = crossterm::terminal::size()?;
    Ok(Size::new(cols, rows))
}

/// Returns true if standard output is a terminal with cursor movement and this process is in the
/// foreground. `variable` reads an environment variable.
pub fn can_draw_on_stdout(variable: impl Fn(&str) -> Option<String>) -> bool {
    io::stdout().is_terminal()
        && variable("TERM").is_none_or(|term| term != "dumb")
        && is_foreground_job()
}

/// Returns true for a foreground job; a background one would be stopped by a terminal query.
#[cfg(unix)]
fn is_foreground_job() -> bool {
    let front = rustix::termios::tcgetpgrp(io::stdout());
    front.is_ok_and(|front| front == rustix::process::getpgrp())
}

#[cfg(not(unix))]
fn is_foreground_job() -> bool {
    true
}
