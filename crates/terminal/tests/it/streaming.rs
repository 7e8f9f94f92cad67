//! Streaming of a message to a screen: settled rows stay, live rows are redrawn in place.

use millpond_terminal::limits::live_rows_max;
use millpond_terminal::row::{Row, SemanticMark};
use millpond_terminal::screen::{Frame, FrameCursor, LiveRowsOnClose, Screen, TerminalFeatures};
use millpond_terminal::size::Size;
use millpond_terminal::style::Style;
use proptest::prelude::*;

use crate::emulator::Emulator;
use crate::generators::{cut_lengths, cut_text, markdown_text};
use crate::mini_chat::{MiniChat, NEWLINE_INSERTION, SHELL_LINES, SharedBuffer, joined_lines};

/// Returns the lines to be copied after the message has ended.
fn expected_lines(session: &MiniChat, size: Size) -> Vec<String> {
    let mut all: Vec<String> = SHELL_LINES.iter().map(|&line| line.to_owned()).collect();
    all.extend(joined_lines(&session.settled, size.cols));
    let footer = ["working".to_owned(), "> input".to_owned()];
    all.extend(footer.into_iter().skip(2_usize.saturating_sub(live_rows_max(size))));
    all
}

fn without_spaces(lines: &[String]) -> String {
    lines.concat().split_whitespace().collect()
}

fn stream_message(size: Size, features: TerminalFeatures, parts: &[&str]) -> MiniChat {
    let mut session = MiniChat::new(size, features);
    for part in parts {
        session.push(part);
    }
    session.finish();
    session
}

/// Checks that the shell's lines, the message and the footer can be copied, once each.
#[track_caller]
fn check(size: Size, features: TerminalFeatures, parts: &[&str]) {
    let session = stream_message(size, features, parts);
    let mut copied = session.emulator.copied_lines();
    while copied.last().is_some_and(String::is_empty) {
        copied.pop();
    }
    let expected = expected_lines(&session, size);
    for (index, line) in expected.iter().enumerate() {
        assert_eq!(copied.get(index), Some(line), "line {index} at {size:?}");
    }
    assert_eq!(copied.len(), expected.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Holds also where terminals disagree on widths.
    #[test]
    fn r6_everything_that_settled_is_in_the_scrollback_once(
        text in markdown_text(), lens in cut_lengths(), cols in 12..60_u16, rows in 1..16_u16, regions in any::<bool>(),
    ) {
        let features = if regions { TerminalFeatures::default() } else { NEWLINE_INSERTION };
        let size = Size::new(cols, rows);
        let session = stream_message(size, features, &cut_text(&text, &lens));
        let copied = session.emulator.copied_lines();
        prop_assert_eq!(without_spaces(&copied), without_spaces(&expected_lines(&session, size)));
    }
}

fn numbered_words(words: usize) -> String {
    (0..words).map(|word| format!("word{word} ")).collect()
}

#[test]
fn r6_prose_code_table_and_cjk_line_by_line() {
    let table: String = (0..40).map(|row| format!("| {row} | cell {row} |\n")).collect();
    let text = format!(
        "{}\n\n```rust\nfn a() {{\n    b(\"{}\");\n}}\n```\n\n| n | text |\n|---|---|\n{table}\n{}\n",
        numbered_words(300),
        "x".repeat(200),
        "水火木金土".repeat(60),
    );
    for size in [Size::new(80, 24), Size::new(20, 5), Size::new(33, 7), Size::new(120, 40)] {
        for len in [1, 7, 10_000] {
            check(size, TerminalFeatures::default(), &cut_text(&text, &[len]));
        }
        check(size, NEWLINE_INSERTION, &cut_text(&text, &[7]));
    }
}

#[test]
fn a_screen_of_one_to_five_rows_works() {
    for rows in 1..=5 {
        check(
            Size::new(20, rows),
            TerminalFeatures::default(),
            &cut_text(&numbered_words(60), &[5]),
        );
    }
}

#[test]
fn r13_code_is_copied_as_it_was_written() {
    let code = format!(
        "fn main() {{\n\tlet tabs = 1;\n    let long = \"{}\";\n\n\t\tindented\n}}\n",
        "0123456789".repeat(30)
    );
    for len in [1, 4, 50] {
        let text = format!("Here:\n\n```rust\n{code}```\n\n{}", numbered_words(200));
        let session = stream_message(
            Size::new(40, 10),
            TerminalFeatures::default(),
            &cut_text(&text, &[len]),
        );
        let copied = session.emulator.copied_lines().join("\n");
        assert!(copied.contains(&format!("```rust\n{code}```\n")), "{copied}");
    }
}

#[test]
fn r8_nothing_is_written_when_nothing_changed() {
    let mut session = MiniChat::new(Size::new(40, 12), TerminalFeatures::default());
    session.push("Some **text** and\n\n- a list");
    assert_eq!(session.draw_and_check(), 0);
    session.set_status("working");
    assert_eq!(session.draw_and_check(), 0);
}

#[test]
fn a_status_that_changes_costs_only_its_own_characters() {
    let mut session = MiniChat::new(Size::new(80, 24), TerminalFeatures::default());
    session.push("Text.");
    session.set_status("⠋ working for 11 s · Ctrl-C cancels");
    session.set_status("⠙ working for 11 s · Ctrl-C cancels");
    let before = session.emulator.copied_lines();
    session.set_status("⠙ working for 12 s · Ctrl-C cancels");
    assert_ne!(before, session.emulator.copied_lines());
}

#[test]
fn r11_a_live_region_taller_than_the_screen_shows_its_end() {
    let size = Size::new(30, 10);
    let wire = SharedBuffer::default();
    let mut emulator = Emulator::new(size);
    let mut screen = Screen::new(wire.clone(), size, 0, TerminalFeatures::default());
    let live: Vec<Row> =
        (0..30).map(|row| Row::from_text(&format!("row {row}"), Style::PLAIN)).collect();
    screen.draw_frame(Frame { settled: &[], live: &live, cursor: FrameCursor::Hidden }).unwrap();
    emulator.feed(&wire.take());
    assert!(emulator.scrollback_lines().is_empty(), "live rows never scroll away");
    assert_eq!(
        emulator.screen_rows()[..8],
        (22..30).map(|row| format!("row {row}")).collect::<Vec<_>>()
    );
    assert!(!emulator.shows_cursor());
}

#[test]
fn r17_leaving_keeps_or_erases_the_live_region_and_shows_the_cursor() {
    for (leave, last) in [(LiveRowsOnClose::Keep, "> input"), (LiveRowsOnClose::Erase, "word39")] {
        let mut session = MiniChat::new(Size::new(30, 10), TerminalFeatures::default());
        session.push(&numbered_words(40));
        session.finish();
        let before = Emulator::new(Size::new(30, 10)).mode();
        let mut emulator = session.close(leave);
        assert_eq!(emulator.mode(), before, "every mode is as it was");
        emulator.feed(b"$ next");
        let copied: Vec<String> =
            emulator.copied_lines().into_iter().filter(|line| !line.is_empty()).collect();
        assert_eq!(copied.last().unwrap(), "$ next");
        assert!(copied[copied.len() - 2].ends_with(last), "{copied:?}");
    }
}

#[test]
fn prompts_and_replies_are_marked_where_they_begin() {
    let wire = SharedBuffer::default();
    let mut screen = Screen::new(wire.clone(), Size::new(40, 6), 0, TerminalFeatures::default());
    let rows = [
        Row::from_text("› a question", Style::BOLD).with_semantic_mark(SemanticMark::Prompt),
        Row::default().with_semantic_mark(SemanticMark::Output),
        Row::from_text("an answer", Style::PLAIN),
    ];
    // Shown before it settles, and scrolled in after that.
    for live in [&rows[..1], &[]] {
        screen.draw_frame(Frame { settled: &[], live, cursor: FrameCursor::Hidden }).unwrap();
        wire.take();
        screen
            .draw_frame(Frame { settled: &rows, live: &[], cursor: FrameCursor::Hidden })
            .unwrap();
        let written = String::from_utf8(wire.take()).unwrap();
        for mark in ["\x1b]133;A\x1b\\", "\x1b]133;C\x1b\\"] {
            assert_eq!(written.matches(mark).count(), 1, "{mark:?} in {written:?}");
        }
        assert!(written.find(";A") < written.find(";C"), "{written:?}");
    }
}

/// A line that may be part of a table is held only up to a limit; what follows it in the same line
/// stays behind it.
#[test]
fn r6_a_line_longer_than_what_is_held_keeps_its_order() {
    let size = Size::new(24, 10);
    for before in ["word\n\n", "| a | b |\n|---|---|\n| c | d |\n"] {
        for length in 40..140 {
            let line = format!("|{}end", "x".repeat(length));
            let text = format!("{before}{line}");
            check(size, NEWLINE_INSERTION, &cut_text(&text, &[1]));
            let session = stream_message(size, NEWLINE_INSERTION, &cut_text(&text, &[1]));
            let shown: String = session.settled.iter().map(Row::text).collect();
            assert!(
                shown.ends_with(&line) || shown.replace([' ', '│'], "").contains(&line[1..]),
                "{shown}"
            );
        }
    }
}
