//! Reader thread for raw terminal input: keys, pastes, focus and resizes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyEvent};
use tokio::sync::mpsc;

use crate::limits::{INPUT_EVENTS_QUEUED_MAX, RESIZE_SETTLE_TIME};
use crate::size::Size;
use crate::tty::query_size_and_likely_cursor_row;

/// How often the reader thread checks whether it should stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Longest wait for the reader thread to stop: many times `POLL_INTERVAL`.
const READER_STOP_TIME_MAX: Duration = Duration::from_secs(2);

/// Keyboard focus of the terminal window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    Focused,
    Unfocused,
}

/// One input event of the terminal.
#[derive(Clone, Debug)]
pub(super) enum TerminalEvent {
    Key(KeyEvent),
    Paste(String),
    /// A whole line, in line mode.
    Line(String),
    Interrupt,
    Focus(Focus),
    /// The window is being resized: anything drawn now may land in the wrong place.
    Resizing,
    /// The size is stable; the cursor is in this row.
    Resized {
        size: Size,
        row: u16,
    },
}

/// Handle of the reader thread and its events.
#[derive(Debug)]
pub(super) struct TerminalEventReader {
    events: mpsc::Receiver<TerminalEvent>,
    stop: Arc<AtomicBool>,
    thread: Option<ReaderThread>,
}

/// The reader thread, and a channel that closes when it ends.
#[derive(Debug)]
struct ReaderThread {
    handle: JoinHandle<()>,
    ended: std::sync::mpsc::Receiver<()>,
}

impl TerminalEventReader {
    /// Starts the reader thread. One thread reads everything because the terminal's cursor report
    /// arrives among the keys.
    pub(super) fn start() -> TerminalEventReader {
        let (sender, events) = mpsc::channel(INPUT_EVENTS_QUEUED_MAX);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let (end, ended) = std::sync::mpsc::channel();
        let handle = std::thread::spawn(move || {
            let _end: std::sync::mpsc::Sender<()> = end;
            let mut stable_at = None;
            while !stopped.load(Ordering::Relaxed) {
                let Ok(event) = poll_terminal_event(&mut stable_at) else { return };
                if event.is_some_and(|event| sender.blocking_send(event).is_err()) {
                    return;
                }
            }
        });
        TerminalEventReader { events, stop, thread: Some(ReaderThread { handle, ended }) }
    }

    /// Returns a reader without a thread, which yields no events.
    pub(super) fn without_thread() -> TerminalEventReader {
        let (_, events) = mpsc::channel(1);
        TerminalEventReader { events, stop: Arc::default(), thread: None }
    }

    pub(super) async fn next_event(&mut self) -> Option<TerminalEvent> {
        self.events.recv().await
    }

    /// Stops the thread and waits for it, so that another program can read the terminal. A thread
    /// that reads the end of a closed terminal forever is left to the end of the process.
    pub(super) fn stop_and_join_thread(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the thread if it waits for room in the channel.
        self.events.close();
        if let Some(ReaderThread { handle, ended }) = self.thread.take()
            && ended.recv_timeout(READER_STOP_TIME_MAX) == Err(RecvTimeoutError::Disconnected)
        {
            let _panicked = handle.join();
        }
    }
}

/// Reads one event, waiting at most `POLL_INTERVAL`. After a resize, `stable_at` is when the size
/// counts as stable.
fn poll_terminal_event(stable_at: &mut Option<Instant>) -> std::io::Result<Option<TerminalEvent>> {
    if stable_at.is_some_and(|at| at <= Instant::now()) {
        *stable_at = None;
        let (size, row) = query_size_and_likely_cursor_row()?;
        return Ok(Some(TerminalEvent::Resized { size, row }));
    }
    // Crossterm never returns from the end of file of a terminal that was closed.
    fail_if_closed()?;
    // The first poll also returns events without input bytes, such as a resize.
    let is_ready = || crossterm::event::poll(Duration::ZERO);
    let has_event = is_ready()? || (wait_briefly_for_input()? && is_ready()?);
    if !has_event {
        return Ok(None);
    }
    Ok(match crossterm::event::read()? {
        Event::Key(key) => Some(TerminalEvent::Key(key)),
        Event::Paste(text) => Some(TerminalEvent::Paste(text)),
        Event::FocusGained => Some(TerminalEvent::Focus(Focus::Focused)),
        Event::FocusLost => Some(TerminalEvent::Focus(Focus::Unfocused)),
        Event::Resize(..) => {
            *stable_at = Some(Instant::now() + RESIZE_SETTLE_TIME);
            Some(TerminalEvent::Resizing)
        }
        Event::Mouse(_) => None,
    })
}

/// Waits at most `POLL_INTERVAL` for input. A closed terminal is an error.
fn wait_briefly_for_input() -> std::io::Result<bool> {
    wait_for_input(POLL_INTERVAL)
}

/// Returns an error if the terminal was closed.
fn fail_if_closed() -> std::io::Result<()> {
    #[cfg(unix)]
    wait_for_input(Duration::ZERO)?;
    Ok(())
}

#[cfg(unix)]
fn wait_for_input(time_max: Duration) -> std::io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = std::io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let wait = Timespec { tv_sec: 0, tv_nsec: time_max.subsec_nanos().into() };
    match poll(&mut fds, Some(&wait)) {
        Ok(_) => {}
        // A signal, such as SIGWINCH.
        Err(rustix::io::Errno::INTR) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let found = fds[0].revents();
    if found.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(found.contains(PollFlags::IN))
}

#[cfg(not(unix))]
fn wait_for_input(time_max: Duration) -> std::io::Result<bool> {
    crossterm::event::poll(time_max)
}
