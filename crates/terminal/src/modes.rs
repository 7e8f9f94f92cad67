//! Modes of the terminal that outlive a frame, and giving them back however the program ends.
//!
//! [`Guard`] gives them back when it is dropped. A panic hook and whoever handles signals call
//! [`restore`], which may be called at any time, also in the middle of a frame, and twice.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// Puts the terminal back into the state that programs expect, whatever had been written to it.
/// The first sequence ends one that was cut off; the cursor stays where it is.
pub const RESTORE: &str = concat!(
    "\x1b\\",           // the end of a command that was cut off
    "\x1b[?2026l",      // what was held back is shown
    "\x1b7\x1b[r\x1b8", // the whole screen scrolls
    "\x1b]8;;\x1b\\",   // no link
    "\x1b[m",           // plain text
    "\x1b[?2004l",      // a paste is typed text
    "\x1b[?1004l",      // the focus is not reported
    "\x1b[?25h",        // the cursor is visible
);

const ENTER: &str = "\x1b[?2004h\x1b[?1004h";
/// Keys that other keys would hide are told apart; popped when we leave.
const PUSH_KEYS: &str = "\x1b[>1u";
const POP_KEYS: &str = "\x1b[<1u";

static ENTERED: AtomicBool = AtomicBool::new(false);
static KEYS_PUSHED: AtomicBool = AtomicBool::new(false);

/// Panics that nobody has been told of.
static BROKEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
const BROKEN_MAX: usize = 16;
static HAS_BROKEN: Notify = Notify::const_new();

/// How keys are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    Legacy,
    /// By the kitty protocol, for terminals that know it.
    Kitty,
}

/// The terminal is ours for as long as this lives: raw, with pastes in brackets and focus reports.
#[derive(Debug)]
pub struct Guard(());

impl Guard {
    pub fn enter(keys: Keys) -> io::Result<Guard> {
        crossterm::terminal::enable_raw_mode()?;
        ENTERED.store(true, Ordering::SeqCst);
        KEYS_PUSHED.store(keys == Keys::Kitty, Ordering::SeqCst);
        let guard = Guard(());
        write(&enter_sequence(keys))?;
        Ok(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back, if it is ours.
pub fn restore() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    let keys = if KEYS_PUSHED.swap(false, Ordering::SeqCst) { Keys::Kitty } else { Keys::Legacy };
    // The terminal may be gone: there is nobody to tell.
    let _ = write(&leave_sequence(keys));
    let _ = crossterm::terminal::disable_raw_mode();
}

/// Gives the terminal back before a panic of this thread is reported. Of others the chat goes on
/// without: what they say is kept for it, so that it does not run across the screen.
pub fn restore_on_panic() {
    let ours = std::thread::current().id();
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == ours || !ENTERED.load(Ordering::SeqCst) {
            restore();
            return report(panic);
        }
        let mut broken = BROKEN.lock().unwrap_or_else(PoisonError::into_inner);
        if broken.len() < BROKEN_MAX {
            broken.push(panic.to_string());
        }
        HAS_BROKEN.notify_one();
    }));
}

/// Waits until something has broken elsewhere.
pub async fn broke() {
    HAS_BROKEN.notified().await;
}

/// What has broken elsewhere, each told once.
pub fn take_broken() -> Vec<String> {
    std::mem::take(&mut *BROKEN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What [`Guard::enter`] writes.
pub fn enter_sequence(keys: Keys) -> String {
    match keys {
        Keys::Legacy => ENTER.to_owned(),
        Keys::Kitty => format!("{ENTER}{PUSH_KEYS}"),
    }
}

/// What [`restore`] writes.
pub fn leave_sequence(keys: Keys) -> String {
    match keys {
        Keys::Legacy => RESTORE.to_owned(),
        Keys::Kitty => format!("{RESTORE}{POP_KEYS}"),
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
