//! What a person types behind lines: whole lines, as the terminal hands them over, and Ctrl-C.

use std::io::{self, BufRead};

use tokio::sync::mpsc;

use super::keyboard::Happened;

#[derive(Debug)]
pub(super) struct Typed {
    lines: mpsc::UnboundedReceiver<Happened>,
    #[cfg(unix)]
    interrupts: tokio::signal::unix::Signal,
}

impl Typed {
    pub(super) fn start() -> io::Result<Typed> {
        let (tell, lines) = mpsc::unbounded_channel();
        // It waits for a line that may never come: it is left behind when the program ends.
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                let Ok(line) = line else { return };
                if tell.send(Happened::Line(line)).is_err() {
                    return;
                }
            }
        });
        #[cfg(unix)]
        let interrupts = {
            use tokio::signal::unix::{SignalKind, signal};
            signal(SignalKind::interrupt())?
        };
        Ok(Typed {
            lines,
            #[cfg(unix)]
            interrupts,
        })
    }

    #[cfg(unix)]
    pub(super) async fn next(&mut self) -> Option<Happened> {
        tokio::select! {
            line = self.lines.recv() => line,
            _ = self.interrupts.recv() => Some(Happened::Interrupt),
        }
    }

    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) -> Option<Happened> {
        self.lines.recv().await
    }
}
