//! The user's side of the chat: a drawn screen with raw input, or plain lines.
//!
//! Invariant: in line mode only settled rows are written, without escape sequences.

use std::io::{self, Stdout, Write, stdout};

use super::line_input::LineInput;
use super::terminal_events::{TerminalEvent, TerminalEventReader};
use crate::chat::LiveRegion;
use crate::plain_writer::PlainWriter;
use crate::row::Row;
use crate::screen::{Frame, FrameCursor, LiveRowsOnClose, Screen, TerminalFeatures};
use crate::size::Size;
use crate::terminal_modes::{KeyProtocol, ModesGuard};
use crate::tty::{query_size, query_size_and_cursor_row, query_size_and_likely_cursor_row};

/// Input and output of the chat on this terminal.
#[derive(Debug)]
pub(super) enum Frontend {
    Screen {
        screen: Box<Screen<Stdout>>,
        /// `None` while another program has the terminal.
        modes: Option<ModesGuard>,
        input: TerminalEventReader,
        features: TerminalFeatures,
    },
    Lines {
        out: PlainWriter<Stdout>,
        input: LineInput,
        prompt_state: PromptState,
    },
}

/// The prompt of line mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptState {
    /// The last line is output of the chat.
    NotShown,
    /// The prompt is the last line.
    Shown,
    /// The user entered a line; its response comes before the next prompt.
    Answered,
}

/// Whether a frame in line mode ends with the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinePrompt {
    /// The chat waits for the user.
    Wanted,
    /// The agent is working.
    Unwanted,
}

/// Prompt of line mode.
const PROMPT: &str = "> ";

impl Frontend {
    pub(super) fn open_screen(features: TerminalFeatures) -> io::Result<Frontend> {
        let guard = ModesGuard::enter(KeyProtocol::Kitty)?;
        let (size, row) = query_size_and_cursor_row()?;
        let screen = Box::new(Screen::new(stdout(), size, row, features));
        Ok(Frontend::Screen {
            screen,
            modes: Some(guard),
            input: TerminalEventReader::start(),
            features,
        })
    }

    pub(super) fn open_lines() -> io::Result<Frontend> {
        Ok(Frontend::Lines {
            out: PlainWriter::new(stdout()),
            input: LineInput::start()?,
            prompt_state: PromptState::NotShown,
        })
    }

    pub(super) fn size(&self) -> Size {
        match self {
            Frontend::Screen { screen, .. } => screen.size(),
            Frontend::Lines { .. } => Size::UNBOUNDED,
        }
    }

    /// Returns true if the terminal size differs from the drawn size, before a resize event says
    /// so.
    pub(super) fn has_size_changed(&self) -> bool {
        self.is_screen() && query_size().is_ok_and(|size| size != self.size())
    }

    pub(super) fn is_screen(&self) -> bool {
        matches!(self, Frontend::Screen { .. })
    }

    pub(super) async fn next_input(&mut self) -> Option<TerminalEvent> {
        match self {
            Frontend::Screen { input: keyboard, .. } => keyboard.next_event().await,
            Frontend::Lines { input: typed, prompt_state: turn, .. } => {
                let event = typed.next_event().await;
                if let Some(TerminalEvent::Line(line)) = &event {
                    *turn = if line.trim().is_empty() {
                        PromptState::NotShown
                    } else {
                        PromptState::Answered
                    };
                }
                event
            }
        }
    }

    /// Writes settled rows and redraws the live region; in line mode may print the prompt.
    /// Calls `live` only on a screen.
    pub(super) fn draw_frame(
        &mut self,
        settled: &[Row],
        live: impl FnOnce() -> LiveRegion,
        prompt: LinePrompt,
    ) -> io::Result<()> {
        match self {
            Frontend::Screen { screen, .. } => {
                let LiveRegion { rows, cursor } = live();
                screen.draw_frame(Frame { settled, live: &rows, cursor })
            }
            Frontend::Lines { out, prompt_state: turn, .. } => {
                if !settled.is_empty() {
                    if *turn == PromptState::Shown {
                        out.write_without_tracking_line("\n")?;
                    }
                    out.write_rows_leaving_line_open(settled)?;
                    *turn = PromptState::NotShown;
                }
                if prompt == LinePrompt::Wanted && *turn == PromptState::NotShown {
                    out.end_line_if_open()?;
                    out.write_without_tracking_line(PROMPT)?;
                    *turn = PromptState::Shown;
                }
                Ok(())
            }
        }
    }

    /// Applies a new size and returns how many live rows have scrolled away.
    pub(super) fn resize_and_count_scrolled_away(&mut self, size: Size, row: u16) -> usize {
        match self {
            Frontend::Screen { screen, .. } => {
                screen.resize_and_locate_live_region(size, row).scrolled_away
            }
            Frontend::Lines { .. } => 0,
        }
    }

    /// Writes the settled rows, restores the terminal, runs `work`, and takes the terminal again.
    pub(super) fn with_terminal_released<T>(
        &mut self,
        settled: &[Row],
        work: impl FnOnce() -> T,
    ) -> io::Result<T> {
        let Frontend::Screen { screen, modes: guard, input: keyboard, features } = self else {
            return Ok(work());
        };
        std::mem::replace(keyboard, TerminalEventReader::without_thread()).stop_and_join_thread();
        screen.draw_frame(Frame {
            settled,
            live: &[],
            cursor: FrameCursor::At { row: 0, col: 0 },
        })?;
        *guard = None;
        let done = work();
        *guard = Some(ModesGuard::enter(KeyProtocol::Kitty)?);
        let (size, row) = query_size_and_likely_cursor_row()?;
        **screen = Screen::new(stdout(), size, row, *features);
        *keyboard = TerminalEventReader::start();
        Ok(done)
    }

    /// Writes an OSC sequence; does nothing in line mode.
    pub(super) fn write_osc_if_screen(&mut self, sequence: &str) {
        if self.is_screen() {
            let mut out = stdout();
            // The terminal may be gone.
            let _gone = out.write_all(sequence.as_bytes()).and_then(|()| out.flush());
        }
    }

    pub(super) fn close(self) -> io::Result<()> {
        match self {
            Frontend::Screen { screen, modes: guard, input: keyboard, .. } => {
                keyboard.stop_and_join_thread();
                screen.close(LiveRowsOnClose::Erase)?;
                drop(guard);
                Ok(())
            }
            Frontend::Lines { mut out, prompt_state: turn, .. } => {
                if turn == PromptState::Shown {
                    out.write_without_tracking_line("\n")?;
                }
                out.finish().map(drop)
            }
        }
    }
}
