//! The terminal is restored wherever the program ends.

use alacritty_terminal::term::TermMode;
use millpond_terminal::markdown::{HyperlinkMode, MarkdownRenderer};
use millpond_terminal::row::Row;
use millpond_terminal::screen::{Frame, FrameCursor, Screen, TerminalFeatures};
use millpond_terminal::size::Size;
use millpond_terminal::style::Style;
use millpond_terminal::terminal_modes::{KeyProtocol, build_enter_sequence, build_leave_sequence};

use crate::emulator::Emulator;
use crate::mini_chat::SharedBuffer;

const SIZE: Size = Size { cols: 30, rows: 8 };

/// Returns the bytes of a chat: modes, frames with hyperlinks, colours, regions, a hidden cursor.
fn chat_bytes(keys: KeyProtocol) -> Vec<u8> {
    let wire = SharedBuffer::default();
    let mut screen = Screen::new(wire.clone(), SIZE, 0, TerminalFeatures::default());
    let mut markdown = MarkdownRenderer::new(SIZE, HyperlinkMode::Osc8);
    let text = "**bold** [link](https://x.y) and `code` in a text that is wrapped\n\n- 水\n- one\n- two\n- three\n- four\n- five\n- six\n- seven\n\n";
    for part in text.split_inclusive([' ', '\n']) {
        markdown.push(part);
        let settled = markdown.take_settled();
        let mut live = markdown.live_rows();
        live.push(Row::from_text("status", Style::DIM));
        screen
            .draw_frame(Frame { settled: &settled, live: &live, cursor: FrameCursor::Hidden })
            .unwrap();
    }
    let mut bytes = build_enter_sequence(keys).into_bytes();
    bytes.extend(wire.take());
    bytes
}

#[test]
fn r17_cut_off_at_any_byte_everything_is_given_back() {
    for keys in [KeyProtocol::Legacy, KeyProtocol::Kitty] {
        let bytes = chat_bytes(keys);
        let has = |sequence: &str| String::from_utf8_lossy(&bytes).contains(sequence);
        assert!(
            has("\x1b]8;;https") && has("\x1b[1;7r") && has("\x1b[?25l"),
            "the frames use what is restored"
        );
        for cut in 0..=bytes.len() {
            let mut emulator = Emulator::new(SIZE);
            let before = emulator.mode();
            emulator.feed(&bytes[..cut]);
            emulator.feed(build_leave_sequence(keys).as_bytes());
            assert_eq!(emulator.mode(), before, "modes after a cut at {cut}");
            emulator.feed(b"\r\n\x1b[Kq");
            assert!(emulator.is_plain_before_cursor(), "styles and links after a cut at {cut}");
            let lines: Vec<String> = (0..20).map(|line| format!("line {line}")).collect();
            emulator.feed(format!("\r\n{}", lines.join("\r\n")).as_bytes());
            assert_eq!(
                emulator.screen_rows(),
                lines[12..],
                "the whole screen scrolls after a cut at {cut}"
            );
        }
    }
}

#[test]
fn entering_asks_for_pastes_in_brackets_focus_and_keys() {
    let mut emulator = Emulator::new(SIZE);
    emulator.feed(build_enter_sequence(KeyProtocol::Kitty).as_bytes());
    assert!(emulator.mode().contains(TermMode::BRACKETED_PASTE | TermMode::FOCUS_IN_OUT));
    assert!(emulator.mode().contains(TermMode::DISAMBIGUATE_ESC_CODES));
}
