//! Images: drawn if the terminal can, and always saved as a file.

use std::path::{Path, PathBuf};

use crate::pty::TestTerminal;

/// Path of the image file that the chat printed.
fn image_path_on_screen(screen: &str) -> PathBuf {
    let joined: String = screen.lines().map(str::trim).collect();
    let (_, rest) = joined.split_once("image/png ").unwrap_or_else(|| panic!("{screen}"));
    let end = rest.find(".png").unwrap_or_else(|| panic!("{screen}"));
    PathBuf::from(&rest[..end + ".png".len()])
}

/// Runs a chat that asks the demo for a chart; returns the screen and the raw output.
fn run_chart_chat(folder: &Path, arguments: &str) -> (String, String) {
    std::fs::write(folder.join("notes.md"), "a note\n").unwrap();
    let terminal = TestTerminal::start_chat(folder, &format!("chat {arguments}"));
    terminal.wait_for_text("Write a message");
    terminal.send_message("chart");
    let screen = terminal
        .wait_until(|screen| screen.contains("▣ image/png") && screen.contains("Write a message"));
    terminal.press_keys("\x03\x03\x03");
    (screen, terminal.wait_for_exit().1)
}

#[test]
fn where_nothing_can_be_drawn_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (screen, raw) = run_chart_chat(folder.path(), "");
    let file = image_path_on_screen(&screen);
    let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert!(bytes.starts_with(b"\x89PNG"), "not an image");
    assert!(!raw.contains("\x1b_G") && !raw.contains("\x1b]1337"), "{raw:?}");
}

#[test]
fn where_pictures_can_be_drawn_they_are_drawn_once() {
    for (how, begin) in [("kitty", "\x1b_Ga=T,"), ("iterm2", "\x1b]1337;File=inline=1;")] {
        let folder = tempfile::tempdir().unwrap();
        let (screen, raw) = run_chart_chat(folder.path(), &format!("--pictures {how}"));
        assert_eq!(raw.matches(begin).count(), 1, "{how}");
        let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
        let label = lines.iter().position(|line| line.contains("▣ image/png")).unwrap();
        let blank = lines[label + 1..].iter().skip_while(|line| !line.is_empty());
        let rows = blank.take_while(|line| line.is_empty()).count();
        assert!(3 < rows, "there is no room for it: {screen}");
    }
}
