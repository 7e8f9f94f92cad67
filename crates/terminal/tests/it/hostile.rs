//! Untrusted text reaches the terminal only as printable text.

use millpond_terminal::line_renderer::LineRenderer;
use millpond_terminal::markdown::{HyperlinkMode, MarkdownRenderer};
use millpond_terminal::row::Row;
use millpond_terminal::screen::{Frame, FrameCursor, Screen, TerminalFeatures};
use millpond_terminal::size::Size;
use millpond_terminal::style::Style;
use millpond_terminal::text::{neutralise_and_escape_invisible, neutralise_to_one_line};
use proptest::prelude::*;

use crate::generators::{cut_lengths, cut_text};
use crate::mini_chat::SharedBuffer;
use crate::texts::{awkward_texts, hostile_texts};

const SIZE: Size = Size { cols: 40, rows: 12 };

/// Checks that bytes contain only our own sequences: positions, erasing below and right, styles,
/// hyperlinks.
#[track_caller]
fn check_only_own_sequences(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("what is written is UTF-8");
    let mut rest = text;
    while let Some(at) = rest.find(|char: char| char.is_control()) {
        rest = &rest[at..];
        rest = match rest.strip_prefix('\x1b') {
            None => {
                assert!(rest.starts_with(['\r', '\n', '\t']), "{:?}", &rest[..1]);
                &rest[1..]
            }
            Some(after) if after.starts_with('[') => skip_csi(&after[1..]),
            Some(after) => skip_hyperlink(after),
        };
    }
    let direction = |char: char| matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert!(!text.contains(direction), "nothing turns text around");
}

#[track_caller]
fn skip_csi(rest: &str) -> &str {
    let end = rest.find(|char: char| char.is_ascii_alphabetic()).expect("a sequence has an end");
    let (parameters, last) = (&rest[..end], &rest[end..=end]);
    let own = if let Some(mode) = parameters.strip_prefix('?') {
        ["2026", "25"].contains(&mode) && ["h", "l"].contains(&last)
    } else {
        let numbers = parameters.bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
        let below = last != "J" || parameters.is_empty();
        numbers && below && ["H", "G", "K", "J", "L", "r", "m"].contains(&last)
    };
    assert!(own, "ESC [ {parameters} {last} is not ours");
    &rest[end + 1..]
}

#[track_caller]
fn skip_hyperlink(rest: &str) -> &str {
    let address = rest.strip_prefix("]8;;").expect("no other command than a link");
    let end = address.find("\x1b\\").expect("a link has an end");
    assert!(
        address[..end].bytes().all(|byte| (b'!'..=b'~').contains(&byte)),
        "{:?}",
        &address[..end]
    );
    &address[end + 2..]
}

/// Renders text as a model's reply, tool output, title and error, and checks the bytes.
#[track_caller]
fn check(text: &str, lens: &[usize]) {
    let wire = SharedBuffer::default();
    let mut screen = Screen::new(wire.clone(), SIZE, 0, TerminalFeatures::default());
    let mut markdown = MarkdownRenderer::new(SIZE, HyperlinkMode::Osc8);
    let mut lines = LineRenderer::new(SIZE, Row::default(), Style::DIM);
    for part in cut_text(text, lens) {
        markdown.push(part);
        lines.push(part);
        let mut settled = markdown.take_settled();
        settled.extend(lines.take_settled());
        let mut live = markdown.live_rows();
        live.extend(lines.live_rows());
        live.push(Row::from_text(&neutralise_to_one_line(text), Style::BOLD));
        live.push(Row::from_text(
            &neutralise_to_one_line(&neutralise_and_escape_invisible(text)),
            Style::PLAIN,
        ));
        screen
            .draw_frame(Frame { settled: &settled, live: &live, cursor: FrameCursor::Hidden })
            .unwrap();
    }
    check_only_own_sequences(&wire.take());
}

const HOSTILE: [&str; 24] = [
    "\x1b[2J",
    "\x1b[3J",
    "\x1b[6n",
    "\x1b]52;c;aGk=\x07",
    "\x1b]8;;http://evil\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x1b]0;title\x07",
    "\u{9b}2J",
    "\u{9d}52;c;x\u{9c}",
    "\u{90}",
    "\x1b_",
    "\x1b^",
    "\x1bc",
    "\x07",
    "\x08",
    "\x7f",
    "\r",
    "\x0b",
    "\u{202e}",
    "\u{2066}",
    "[a](https://x/\x1b]0;y\x07)",
    "<https://x\u{9c}y>",
    "`\x1b[31m`",
    "\0",
];

fn hostile_text() -> impl Strategy<Value = String> {
    let parts = HOSTILE.iter().chain(&[
        "text ",
        "\n",
        "**",
        "```\n",
        "| a |\n|-|\n",
        "- ",
        "&#27;",
        "&#x9b;",
    ]);
    prop::collection::vec(prop::sample::select(parts.copied().collect::<Vec<_>>()), 0..30)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s12_no_command_from_outside_reaches_the_terminal(text in hostile_text(), lens in cut_lengths()) {
        check(&text, &lens);
    }

    #[test]
    fn s12_nor_any_characters(text in any::<String>(), lens in cut_lengths()) {
        check(&text, &lens);
    }
}

#[test]
fn s12_texts_that_break_programs_are_printable() {
    let texts = [awkward_texts(), hostile_texts()].concat();
    assert!(texts.len() > 500, "{} texts", texts.len());
    for text in texts {
        check(&text, &[3]);
    }
}
