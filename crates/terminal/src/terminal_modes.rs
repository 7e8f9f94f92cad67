//! Terminal modes of the chat, and their restoration however the program ends.
//!
//! `ModesGuard` restores them on drop. The panic hook calls `restore_terminal_if_modes_entered`, which
//! may be called at any time, also in the middle of a frame, and more than once.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// Resets the terminal, whatever had been written to it. The first sequence ends one that was cut
/// off; the cursor stays where it is.
pub const RESTORE_SEQUENCE: &str = concat!(
    "\x1b\\",           // end a sequence that was cut off
    "\x1b[?2026l",      // end the synchronized update
    "\x1b7\x1b[r\x1b8", // reset the scroll region
    "\x1b]8;;\x1b\\",   // end the hyperlink
    "\x1b[m",           // reset the style
    "\x1b[?2004l",      // disable bracketed paste
    "\x1b[?1004l",      // disable focus reports
    "\x1b[?25h",        // show the cursor
);

const ENTER_SEQUENCE: &str = "\x1b[?2004h\x1b[?1004h";
/// Kitty keyboard protocol: disambiguates keys such as Ctrl-Enter.
const PUSH_KITTY_KEYS: &str = "\x1b[>1u";
const POP_KITTY_KEYS: &str = "\x1b[<1u";

static MODES_ENTERED: AtomicBool = AtomicBool::new(false);
static KITTY_KEYS_PUSHED: AtomicBool = AtomicBool::new(false);

/// Panics of other threads that were not shown yet.
static RECORDED_PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());
const RECORDED_PANICS_MAX: usize = 16;
static PANIC_RECORDED: Notify = Notify::const_new();

/// Protocol by which the terminal reports keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyProtocol {
    Legacy,
    /// The kitty keyboard protocol; other terminals ignore it.
    Kitty,
}

/// Holds the terminal in raw mode with bracketed paste and focus reports; restores it on drop.
#[derive(Debug)]
pub struct ModesGuard(());

impl ModesGuard {
    /// Enters raw mode and writes the enter sequence.
    pub fn enter(keys: KeyProtocol) -> io::Result<ModesGuard> {
        crossterm::terminal::enable_raw_mode()?;
        MODES_ENTERED.store(true, Ordering::SeqCst);
        KITTY_KEYS_PUSHED.store(keys == KeyProtocol::Kitty, Ordering::SeqCst);
        let guard = ModesGuard(());
        write_to_stdout(&build_enter_sequence(keys))?;
        Ok(guard)
    }
}

impl Drop for ModesGuard {
    fn drop(&mut self) {
        restore_terminal_if_modes_entered();
    }
}

/// Restores the terminal if its modes were entered.
pub fn restore_terminal_if_modes_entered() {
    if !MODES_ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    let keys = if KITTY_KEYS_PUSHED.swap(false, Ordering::SeqCst) {
        KeyProtocol::Kitty
    } else {
        KeyProtocol::Legacy
    };
    // The terminal may be gone.
    let _ = write_to_stdout(&build_leave_sequence(keys));
    let _ = crossterm::terminal::disable_raw_mode();
}

/// Installs a panic hook. A panic of this thread restores the terminal and is reported. Panics of
/// other threads are recorded for the chat to show, so that they do not garble the screen.
pub fn install_panic_hook() {
    let ours = std::thread::current().id();
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == ours || !MODES_ENTERED.load(Ordering::SeqCst) {
            restore_terminal_if_modes_entered();
            return report(panic);
        }
        let mut broken = RECORDED_PANICS.lock().unwrap_or_else(PoisonError::into_inner);
        if broken.len() < RECORDED_PANICS_MAX {
            broken.push(panic.to_string());
        }
        PANIC_RECORDED.notify_one();
    }));
}

/// Waits until a panic of another thread is recorded.
pub async fn wait_until_panic_recorded() {
    PANIC_RECORDED.notified().await;
}

/// Returns the recorded panics and clears them.
pub fn take_recorded_panics() -> Vec<String> {
    std::mem::take(&mut *RECORDED_PANICS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the sequence that enters the modes.
pub fn build_enter_sequence(keys: KeyProtocol) -> String {
    match keys {
        KeyProtocol::Legacy => ENTER_SEQUENCE.to_owned(),
        KeyProtocol::Kitty => format!("{ENTER_SEQUENCE}{PUSH_KITTY_KEYS}"),
    }
}

/// Returns the sequence that restores the terminal.
pub fn build_leave_sequence(keys: KeyProtocol) -> String {
    match keys {
        KeyProtocol::Legacy => RESTORE_SEQUENCE.to_owned(),
        KeyProtocol::Kitty => format!("{RESTORE_SEQUENCE}{POP_KITTY_KEYS}"),
    }
}

fn write_to_stdout(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
