//! A message arrives on a screen: what is written once stays, and what is live is drawn in place.

use proptest::prelude::*;
use terminal::limits::live_rows_max;
use terminal::row::{Mark, Row};
use terminal::screen::{Cursor, Features, Frame, Leave, Screen};
use terminal::size::Size;
use terminal::style::Style;

use crate::emulator::Emulator;
use crate::generate::{cut, cuts, markdown};
use crate::session::{NEWLINES, SHELL, Session, Wire, lines};

/// What a person copies after the message has ended.
fn expected(session: &Session, size: Size) -> Vec<String> {
    let mut all: Vec<String> = SHELL.iter().map(|&line| line.to_owned()).collect();
    all.extend(lines(&session.settled, size.cols));
    let footer = ["working".to_owned(), "> input".to_owned()];
    all.extend(footer.into_iter().skip(2_usize.saturating_sub(live_rows_max(size))));
    all
}

fn without_spaces(lines: &[String]) -> String {
    lines.concat().split_whitespace().collect()
}

fn stream(size: Size, features: Features, parts: &[&str]) -> Session {
    let mut session = Session::new(size, features);
    for part in parts {
        session.push(part);
    }
    session.finish();
    session
}

/// The whole of it can be read back: the shell's lines, the message, the footer, once each.
#[track_caller]
fn check(size: Size, features: Features, parts: &[&str]) {
    let session = stream(size, features, parts);
    let mut copied = session.emulator.copied();
    while copied.last().is_some_and(String::is_empty) {
        copied.pop();
    }
    let expected = expected(&session, size);
    for (index, line) in expected.iter().enumerate() {
        assert_eq!(copied.get(index), Some(line), "line {index} at {size:?}");
    }
    assert_eq!(copied.len(), expected.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Also where terminals disagree about widths, nothing is missing and nothing is there twice.
    #[test]
    fn r6_everything_that_settled_is_in_the_scrollback_once(
        text in markdown(), lens in cuts(), cols in 12..60_u16, rows in 1..16_u16, regions in any::<bool>(),
    ) {
        let features = if regions { Features::default() } else { NEWLINES };
        let size = Size::new(cols, rows);
        let session = stream(size, features, &cut(&text, &lens));
        let copied = session.emulator.copied();
        prop_assert_eq!(without_spaces(&copied), without_spaces(&expected(&session, size)));
    }
}

fn prose(words: usize) -> String {
    (0..words).map(|word| format!("word{word} ")).collect()
}

#[test]
fn r6_prose_code_table_and_cjk_line_by_line() {
    let table: String = (0..40).map(|row| format!("| {row} | cell {row} |\n")).collect();
    let text = format!(
        "{}\n\n```rust\nfn a() {{\n    b(\"{}\");\n}}\n```\n\n| n | text |\n|---|---|\n{table}\n{}\n",
        prose(300),
        "x".repeat(200),
        "水火木金土".repeat(60),
    );
    for size in [Size::new(80, 24), Size::new(20, 5), Size::new(33, 7), Size::new(120, 40)] {
        for len in [1, 7, 10_000] {
            check(size, Features::default(), &cut(&text, &[len]));
        }
        check(size, NEWLINES, &cut(&text, &[7]));
    }
}

#[test]
fn a_screen_of_one_to_five_rows_works() {
    for rows in 1..=5 {
        check(Size::new(20, rows), Features::default(), &cut(&prose(60), &[5]));
    }
}

#[test]
fn r13_code_is_copied_as_it_was_written() {
    let code = format!(
        "fn main() {{\n\tlet tabs = 1;\n    let long = \"{}\";\n\n\t\tindented\n}}\n",
        "0123456789".repeat(30)
    );
    for len in [1, 4, 50] {
        let text = format!("Here:\n\n```rust\n{code}```\n\n{}", prose(200));
        let session = stream(Size::new(40, 10), Features::default(), &cut(&text, &[len]));
        let copied = session.emulator.copied().join("\n");
        assert!(copied.contains(&format!("```rust\n{code}```\n")), "{copied}");
    }
}

#[test]
fn r8_nothing_is_written_when_nothing_changed() {
    let mut session = Session::new(Size::new(40, 12), Features::default());
    session.push("Some **text** and\n\n- a list");
    assert_eq!(session.frame(), 0);
    session.set_status("working");
    assert_eq!(session.frame(), 0);
}

#[test]
fn a_status_that_changes_costs_only_its_own_characters() {
    let mut session = Session::new(Size::new(80, 24), Features::default());
    session.push("Text.");
    session.set_status("⠋ working for 11 s · Ctrl-C cancels");
    session.set_status("⠙ working for 11 s · Ctrl-C cancels");
    let before = session.emulator.copied();
    session.set_status("⠙ working for 12 s · Ctrl-C cancels");
    assert_ne!(before, session.emulator.copied());
}

#[test]
fn r11_a_live_region_taller_than_the_screen_shows_its_end() {
    let size = Size::new(30, 10);
    let wire = Wire::default();
    let mut emulator = Emulator::new(size);
    let mut screen = Screen::new(wire.clone(), size, 0, Features::default());
    let live: Vec<Row> =
        (0..30).map(|row| Row::line(&format!("row {row}"), Style::PLAIN)).collect();
    screen.draw(Frame { settled: &[], live: &live, cursor: Cursor::Hidden }).unwrap();
    emulator.feed(&wire.take());
    assert!(emulator.scrollback().is_empty(), "live rows never scroll away");
    assert_eq!(emulator.rows()[..8], (22..30).map(|row| format!("row {row}")).collect::<Vec<_>>());
    assert!(!emulator.shows_cursor());
}

#[test]
fn r17_leaving_keeps_or_erases_the_live_region_and_shows_the_cursor() {
    for (leave, last) in [(Leave::Keep, "> input"), (Leave::Erase, "word39")] {
        let mut session = Session::new(Size::new(30, 10), Features::default());
        session.push(&prose(40));
        session.finish();
        let before = Emulator::new(Size::new(30, 10)).mode();
        let mut emulator = session.leave(leave);
        assert_eq!(emulator.mode(), before, "every mode is as it was");
        emulator.feed(b"$ next");
        let copied: Vec<String> =
            emulator.copied().into_iter().filter(|line| !line.is_empty()).collect();
        assert_eq!(copied.last().unwrap(), "$ next");
        assert!(copied[copied.len() - 2].ends_with(last), "{copied:?}");
    }
}

#[test]
fn prompts_and_replies_are_marked_where_they_begin() {
    let wire = Wire::default();
    let mut screen = Screen::new(wire.clone(), Size::new(40, 6), 0, Features::default());
    let rows = [
        Row::line("› a question", Style::BOLD).marked(Mark::Prompt),
        Row::default().marked(Mark::Output),
        Row::line("an answer", Style::PLAIN),
    ];
    // Shown before it settles, and scrolled in after that.
    for live in [&rows[..1], &[]] {
        screen.draw(Frame { settled: &[], live, cursor: Cursor::Hidden }).unwrap();
        wire.take();
        screen.draw(Frame { settled: &rows, live: &[], cursor: Cursor::Hidden }).unwrap();
        let written = String::from_utf8(wire.take()).unwrap();
        for mark in ["\x1b]133;A\x1b\\", "\x1b]133;C\x1b\\"] {
            assert_eq!(written.matches(mark).count(), 1, "{mark:?} in {written:?}");
        }
        assert!(written.find(";A") < written.find(";C"), "{written:?}");
    }
}
