//! Where the person sits: before a screen that is drawn on, or behind lines.
//!
//! Invariant: behind lines nothing is written but settled rows, without any escape.

use std::io::{self, Stdout, Write, stdout};

use super::keyboard::{Happened, Keyboard};
use super::typed::Typed;
use crate::chat::Live;
use crate::modes::{Guard, Keys};
use crate::place::{place, size};
use crate::plain::Plain;
use crate::row::Row;
use crate::screen::{Cursor, Features, Frame, Leave, Screen};
use crate::size::Size;

#[derive(Debug)]
pub(super) enum Front {
    Screen {
        screen: Box<Screen<Stdout>>,
        /// Nothing while something else has the terminal.
        guard: Option<Guard>,
        keyboard: Keyboard,
        features: Features,
    },
    Lines {
        out: Plain<Stdout>,
        typed: Typed,
        turn: Turn,
    },
}

/// Whose words stand at the end of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Ours,
    /// The sign that it is the person's turn.
    Prompt,
    /// A line of the person, to which something will be said.
    Theirs,
}

/// What says that it is the person's turn.
const PROMPT: &str = "> ";

impl Front {
    pub(super) fn screen(features: Features) -> io::Result<Front> {
        let guard = Guard::enter(Keys::Kitty)?;
        let (size, row) = place()?;
        let screen = Box::new(Screen::new(stdout(), size, row, features));
        Ok(Front::Screen { screen, guard: Some(guard), keyboard: Keyboard::start(), features })
    }

    pub(super) fn lines() -> io::Result<Front> {
        Ok(Front::Lines { out: Plain::new(stdout()), typed: Typed::start()?, turn: Turn::Ours })
    }

    pub(super) fn size(&self) -> Size {
        match self {
            Front::Screen { screen, .. } => screen.size(),
            Front::Lines { .. } => Size::UNBOUNDED,
        }
    }

    /// Whether the terminal has another size than what was drawn, before it says so.
    pub(super) fn has_changed_size(&self) -> bool {
        self.is_screen() && size().is_ok_and(|size| size != self.size())
    }

    pub(super) fn is_screen(&self) -> bool {
        matches!(self, Front::Screen { .. })
    }

    pub(super) async fn next(&mut self) -> Option<Happened> {
        match self {
            Front::Screen { keyboard, .. } => keyboard.next().await,
            Front::Lines { typed, turn, .. } => {
                let happened = typed.next().await;
                if let Some(Happened::Line(line)) = &happened {
                    *turn = if line.trim().is_empty() { Turn::Ours } else { Turn::Theirs };
                }
                happened
            }
        }
    }

    /// `live` is asked only where it is seen; `idle` says that it is the person's turn.
    pub(super) fn draw(
        &mut self,
        settled: &[Row],
        live: impl FnOnce() -> Live,
        idle: bool,
    ) -> io::Result<()> {
        match self {
            Front::Screen { screen, .. } => {
                let Live { rows, cursor } = live();
                screen.draw(Frame { settled, live: &rows, cursor })
            }
            Front::Lines { out, turn, .. } => {
                if !settled.is_empty() {
                    if *turn == Turn::Prompt {
                        out.raw("\n")?;
                    }
                    out.write(settled)?;
                    *turn = Turn::Ours;
                }
                if idle && *turn == Turn::Ours {
                    out.end_line()?;
                    out.raw(PROMPT)?;
                    *turn = Turn::Prompt;
                }
                Ok(())
            }
        }
    }

    /// Gives how many live rows have scrolled away.
    pub(super) fn resize(&mut self, size: Size, row: u16) -> usize {
        match self {
            Front::Screen { screen, .. } => screen.resize(size, row).scrolled_away,
            Front::Lines { .. } => 0,
        }
    }

    /// Gives the terminal back while `work` has it, with what is settled above it.
    pub(super) fn aside<T>(&mut self, settled: &[Row], work: impl FnOnce() -> T) -> io::Result<T> {
        let Front::Screen { screen, guard, keyboard, features } = self else { return Ok(work()) };
        std::mem::replace(keyboard, Keyboard::paused()).stop();
        screen.draw(Frame { settled, live: &[], cursor: Cursor::At { row: 0, col: 0 } })?;
        *guard = None;
        let done = work();
        *guard = Some(Guard::enter(Keys::Kitty)?);
        let (size, row) = place()?;
        **screen = Screen::new(stdout(), size, row, *features);
        *keyboard = Keyboard::start();
        Ok(done)
    }

    /// Says something to the terminal that is no row of the screen; lines take none.
    pub(super) fn beside(&mut self, sequence: &str) {
        if self.is_screen() {
            let mut out = stdout();
            // A terminal that is gone takes no words.
            let _gone = out.write_all(sequence.as_bytes()).and_then(|()| out.flush());
        }
    }

    pub(super) fn leave(self) -> io::Result<()> {
        match self {
            Front::Screen { screen, guard, keyboard, .. } => {
                keyboard.stop();
                screen.leave(Leave::Erase)?;
                drop(guard);
                Ok(())
            }
            Front::Lines { mut out, turn, .. } => {
                if turn == Turn::Prompt {
                    out.raw("\n")?;
                }
                out.finish().map(drop)
            }
        }
    }
}
