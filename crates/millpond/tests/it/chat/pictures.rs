//! Pictures: drawn where the terminal can, and always in a file that can be opened.

use std::path::{Path, PathBuf};

use crate::pty::Terminal;

/// The file that the chat names.
fn file_in(screen: &str) -> PathBuf {
    let joined: String = screen.lines().map(str::trim).collect();
    let (_, rest) = joined.split_once("image/png ").unwrap_or_else(|| panic!("{screen}"));
    let end = rest.find(".png").unwrap_or_else(|| panic!("{screen}"));
    PathBuf::from(&rest[..end + ".png".len()])
}

fn chart(folder: &Path, arguments: &str) -> (String, String) {
    std::fs::write(folder.join("notes.md"), "a note\n").unwrap();
    let terminal = Terminal::chat(folder, &format!("chat {arguments}"));
    terminal.shows("Write a message");
    terminal.say("chart");
    let screen = terminal
        .until(|screen| screen.contains("▣ image/png") && screen.contains("Write a message"));
    terminal.press("\x03\x03\x03");
    (screen, terminal.ended().1)
}

#[test]
fn where_nothing_can_be_drawn_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (screen, raw) = chart(folder.path(), "");
    let file = file_in(&screen);
    let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert!(bytes.starts_with(b"\x89PNG"), "no picture");
    assert!(!raw.contains("\x1b_G") && !raw.contains("\x1b]1337"), "{raw:?}");
}

#[test]
fn where_pictures_can_be_drawn_they_are_drawn_once() {
    for (how, begin) in [("kitty", "\x1b_Ga=T,"), ("iterm2", "\x1b]1337;File=inline=1;")] {
        let folder = tempfile::tempdir().unwrap();
        let (screen, raw) = chart(folder.path(), &format!("--pictures {how}"));
        assert_eq!(raw.matches(begin).count(), 1, "{how}");
        let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
        let label = lines.iter().position(|line| line.contains("▣ image/png")).unwrap();
        let blank = lines[label + 1..].iter().skip_while(|line| !line.is_empty());
        let rows = blank.take_while(|line| line.is_empty()).count();
        assert!(3 < rows, "there is no room for it: {screen}");
    }
}
