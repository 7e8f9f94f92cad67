//! What the terminal tells: keys, pastes, its size and where its cursor is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyEvent};
use tokio::sync::mpsc;

use crate::limits::REST_AFTER_RESIZE;
use crate::place::place;
use crate::size::Size;

/// How soon a thread that waits for keys notices that nobody wants them.
const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub(super) enum Happened {
    Key(KeyEvent),
    Paste(String),
    /// From whoever sits behind lines.
    Line(String),
    Interrupt,
    Focus(bool),
    /// The window is changing its size: what is drawn now may land anywhere.
    Resizing,
    /// It has come to rest, and its cursor is in this row.
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
            let mut rests_at = None;
            while !stopped.load(Ordering::Relaxed) {
                let Ok(happened) = read(&mut rests_at) else { return };
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

/// `rests_at` says when a window that changed its size will have come to rest.
fn read(rests_at: &mut Option<Instant>) -> std::io::Result<Option<Happened>> {
    if rests_at.is_some_and(|at| at <= Instant::now()) {
        *rests_at = None;
        let (size, row) = place()?;
        return Ok(Some(Happened::Resized { size, row }));
    }
    // The first look also tells of what came without a key, such as another size.
    let comes = || crossterm::event::poll(Duration::ZERO);
    let is_here = comes()? || (is_there()? && comes()?);
    if !is_here {
        return Ok(None);
    }
    Ok(match crossterm::event::read()? {
        Event::Key(key) => Some(Happened::Key(key)),
        Event::Paste(text) => Some(Happened::Paste(text)),
        Event::FocusGained => Some(Happened::Focus(true)),
        Event::FocusLost => Some(Happened::Focus(false)),
        Event::Resize(..) => {
            *rests_at = Some(Instant::now() + REST_AFTER_RESIZE);
            Some(Happened::Resizing)
        }
        Event::Mouse(_) => None,
    })
}

/// Waits a moment for something to read. A terminal that is gone is an error: from the end of it
/// crossterm would read for ever.
#[cfg(unix)]
fn is_there() -> std::io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = std::io::stdin();
    let mut look = [PollFd::new(&stdin, PollFlags::IN)];
    let wait = Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY.subsec_nanos().into() };
    match poll(&mut look, Some(&wait)) {
        Ok(_) => {}
        // A signal, such as that of another size.
        Err(rustix::io::Errno::INTR) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let found = look[0].revents();
    if found.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(found.contains(PollFlags::IN))
}

#[cfg(not(unix))]
fn is_there() -> std::io::Result<bool> {
    crossterm::event::poll(LOOK_EVERY)
}
