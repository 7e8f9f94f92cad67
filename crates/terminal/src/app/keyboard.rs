//! What the terminal tells: keys, pastes, its size and where its cursor is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossterm::event::{Event, KeyEvent};
use tokio::sync::mpsc;

use crate::size::Size;

/// How soon a thread that waits for keys notices that nobody wants them.
const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub(super) enum Happened {
    Key(KeyEvent),
    Paste(String),
    Focus(bool),
    /// With the row in which the terminal then has its cursor.
    Resized {
        size: Size,
        row: u16,
    },
}

#[derive(Debug)]
pub(super) struct Keyboard {
    events: mpsc::UnboundedReceiver<Happened>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keyboard {
    /// One thread reads all: the answer to where the cursor is comes among the keys.
    pub(super) fn start() -> Keyboard {
        let (tell, events) = mpsc::unbounded_channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let Ok(happened) = read() else { return };
                if happened.is_some_and(|happened| tell.send(happened).is_err()) {
                    return;
                }
            }
        });
        Keyboard { events, stop, thread: Some(thread) }
    }

    /// One that hears nothing.
    pub(super) fn paused() -> Keyboard {
        let (_, events) = mpsc::unbounded_channel();
        Keyboard { events, stop: Arc::default(), thread: None }
    }

    pub(super) async fn next(&mut self) -> Option<Happened> {
        self.events.recv().await
    }

    /// Returns once nothing reads the terminal any more.
    pub(super) fn stop(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

fn read() -> std::io::Result<Option<Happened>> {
    if !crossterm::event::poll(LOOK_EVERY)? {
        return Ok(None);
    }
    Ok(match crossterm::event::read()? {
        Event::Key(key) => Some(Happened::Key(key)),
        Event::Paste(text) => Some(Happened::Paste(text)),
        Event::FocusGained => Some(Happened::Focus(true)),
        Event::FocusLost => Some(Happened::Focus(false)),
        Event::Resize(..) => {
            let (size, row) = place()?;
            Some(Happened::Resized { size, row })
        }
        Event::Mouse(_) => None,
    })
}

/// How large the terminal is, and in which row its cursor.
pub(super) fn place() -> std::io::Result<(Size, u16)> {
    let (_, row) = crossterm::cursor::position()?;
    let (cols, rows) = crossterm::terminal::size()?;
    Ok((Size::new(cols, rows), row))
}
