//! The terminal behind standard output: whether it can be drawn on, how large it is, and where its
//! cursor stands.

use std::io::{self, IsTerminal};

use crate::size::Size;

/// How large the terminal is, and in which row its cursor, counted from nought.
pub fn place() -> io::Result<(Size, u16)> {
    let (_, row) = crossterm::cursor::position()?;
    Ok((size()?, row))
}

pub fn size() -> io::Result<Size> {
    let (cols, rows) = crossterm::terminal::size()?;
    Ok(Size::new(cols, rows))
}

/// Whether standard output is a terminal that can move its cursor and is ours to ask. The
/// environment is asked for one variable at a time.
pub fn can_draw(variable: impl Fn(&str) -> Option<String>) -> bool {
    io::stdout().is_terminal()
        && variable("TERM").is_none_or(|term| term != "dumb")
        && is_in_front()
}

/// A job in the background would be stopped if it asked the terminal anything.
#[cfg(unix)]
fn is_in_front() -> bool {
    let front = rustix::termios::tcgetpgrp(io::stdout());
    front.is_ok_and(|front| front == rustix::process::getpgrp())
}

#[cfg(not(unix))]
fn is_in_front() -> bool {
    true
}
