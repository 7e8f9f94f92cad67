//! Queries of the terminal behind standard output: its size, its cursor, and whether it can be
//! drawn on.

use std::io::{self, IsTerminal};

use crate::size::Size;

/// Asks the terminal for its size and the row of its cursor, from 0.
pub fn query_size_and_cursor_row() -> io::Result<(Size, u16)> {
    let (_, row) = crossterm::cursor::position()?;
    Ok((query_size()?, row))
}

/// Attempts to learn the cursor's row. Each waits two seconds for the terminal.
const CURSOR_QUERIES_MAX: usize = 2;

/// Asks the terminal for its size and the row of its cursor, from 0. A terminal that is resized
/// again or is busy may not answer: then the cursor counts as in the last row.
pub fn query_size_and_likely_cursor_row() -> io::Result<(Size, u16)> {
    query_cursor_row_or_assume_last(query_size_and_cursor_row, query_size)
}

fn query_cursor_row_or_assume_last(
    query: impl FnMut() -> io::Result<(Size, u16)>,
    query_size: impl FnOnce() -> io::Result<Size>,
) -> io::Result<(Size, u16)> {
    let answer = std::iter::repeat_with(query).take(CURSOR_QUERIES_MAX).find_map(Result::ok);
    if let Some(answer) = answer {
        return Ok(answer);
    }
    let size = query_size()?;
    Ok((size, size.rows.saturating_sub(1)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r4_a_terminal_that_does_not_answer_has_its_cursor_in_the_last_row() {
        let size = Size::new(80, 24);
        let mut answers = [None, Some((size, 5))].into_iter();
        let query = || answers.next().flatten().ok_or_else(|| io::Error::other("no answer"));
        assert_eq!(query_cursor_row_or_assume_last(query, || Ok(size)).unwrap(), (size, 5));
        let silent = || Err(io::Error::other("no answer"));
        assert_eq!(query_cursor_row_or_assume_last(silent, || Ok(size)).unwrap(), (size, 23));
        let closed = || Err(io::Error::other("closed"));
        assert!(query_cursor_row_or_assume_last(silent, closed).is_err());
    }
}
