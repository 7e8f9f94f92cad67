//! Input of line mode: whole lines from standard input, and Ctrl-C.

use std::io::{self, BufRead};

use tokio::sync::mpsc;

use super::terminal_events::TerminalEvent;
use crate::limits::INPUT_EVENTS_QUEUED_MAX;

/// Reader of standard input by lines, and of SIGINT.
#[derive(Debug)]
pub(super) struct LineInput {
    lines: mpsc::Receiver<TerminalEvent>,
    #[cfg(unix)]
    interrupts: tokio::signal::unix::Signal,
}

impl LineInput {
    pub(super) fn start() -> io::Result<LineInput> {
        let (sender, lines) = mpsc::channel(INPUT_EVENTS_QUEUED_MAX);
        // Blocked in a read that may never return, so it is not joined at exit.
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                let Ok(line) = line else { return };
                if sender.blocking_send(TerminalEvent::Line(line)).is_err() {
                    return;
                }
            }
        });
        #[cfg(unix)]
        let interrupts = {
            use tokio::signal::unix::{SignalKind, signal};
            signal(SignalKind::interrupt())?
        };
        Ok(LineInput {
            lines,
            #[cfg(unix)]
            interrupts,
        })
    }

    #[cfg(unix)]
    pub(super) async fn next_event(&mut self) -> Option<TerminalEvent> {
        tokio::select! {
            line = self.lines.recv() => line,
            _ = self.interrupts.recv() => Some(TerminalEvent::Interrupt),
        }
    }

    #[cfg(not(unix))]
    pub(super) async fn next_event(&mut self) -> Option<TerminalEvent> {
        self.lines.recv().await
    }
}
