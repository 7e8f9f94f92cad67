//! The modes of the terminal: set while the chat has it, and put back whatever happens.

use std::io::{Write, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::{execute, queue};

/// Bytes that a terminal takes for its clipboard.
const COPY_BYTES_MAX: usize = 70_000;

/// Whether the terminal is ours now.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// Gives the terminal back when it goes.
#[derive(Debug)]
pub struct Keeper(());

impl Keeper {
    pub fn enter() -> std::io::Result<Keeper> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                before(panic);
            }));
        });
        let mut keeper = Keeper(());
        keeper.come_back()?;
        Ok(keeper)
    }

    pub(super) fn come_back(&mut self) -> std::io::Result<()> {
        crossterm::terminal::enable_raw_mode()?;
        ENTERED.store(true, Ordering::SeqCst);
        let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
        execute!(
            stdout(),
            EnableBracketedPaste,
            EnableFocusChange,
            PushKeyboardEnhancementFlags(flags)
        )
    }

    pub(super) fn leave(&mut self) {
        restore();
    }

    /// A word to whoever looks at another window.
    pub(super) fn notify(&mut self, words: &str) {
        let words = crate::text::one_line(words).replace(';', ",");
        let _unwritable = write!(stdout(), "\x1b]9;Millpond: {words}\x1b\\").and_then(|()| stdout().flush());
    }

    /// Puts a text into the clipboard, as far as the terminal lets anybody.
    pub(super) fn copy(&mut self, text: &str) {
        let end = text.floor_char_boundary(COPY_BYTES_MAX);
        let encoded = STANDARD.encode(&text[..end]);
        let _unwritable = write!(stdout(), "\x1b]52;c;{encoded}\x1b\\").and_then(|()| stdout().flush());
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        restore();
    }
}

/// Once for each time that the terminal was taken.
fn restore() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = stdout();
    // The end of a synchronized update, of a scroll region, of colours and links; the cursor.
    let _unwritable = out.write_all(b"\x1b[?2026l\x1b[r\x1b[0m\x1b]8;;\x1b\\\x1b[?25h");
    let _unwritable = queue!(out, PopKeyboardEnhancementFlags, DisableFocusChange, DisableBracketedPaste);
    let _unwritable = out.flush();
    let _unwritable = crossterm::terminal::disable_raw_mode();
}
