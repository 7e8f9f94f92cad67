//! Text from outside reaches the terminal as printable text only, wherever it comes from.

use proptest::prelude::*;
use terminal::lines::Lines;
use terminal::markdown::{Links, Markdown};
use terminal::row::Row;
use terminal::screen::{Cursor, Features, Frame, Screen};
use terminal::size::Size;
use terminal::style::Style;
use terminal::text::{one_line, spelled_out};

use crate::corpus::corpus;
use crate::generate::{cut, cuts};
use crate::session::Wire;

const SIZE: Size = Size { cols: 40, rows: 12 };

/// Everything our own writer may send: positions, erasing below and to the right, styles, links.
#[track_caller]
fn check_own(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("what is written is UTF-8");
    let mut rest = text;
    while let Some(at) = rest.find(|char: char| char.is_control()) {
        rest = &rest[at..];
        rest = match rest.strip_prefix('\x1b') {
            None => {
                assert!(rest.starts_with(['\r', '\n', '\t']), "{:?}", &rest[..1]);
                &rest[1..]
            }
            Some(after) if after.starts_with('[') => after_csi(&after[1..]),
            Some(after) => after_link(after),
        };
    }
    let direction = |char: char| matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert!(!text.contains(direction), "nothing turns text around");
}

#[track_caller]
fn after_csi(rest: &str) -> &str {
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
fn after_link(rest: &str) -> &str {
    let address = rest.strip_prefix("]8;;").expect("no other command than a link");
    let end = address.find("\x1b\\").expect("a link has an end");
    assert!(
        address[..end].bytes().all(|byte| (b'!'..=b'~').contains(&byte)),
        "{:?}",
        &address[..end]
    );
    &address[end + 2..]
}

/// As model text, as a tool's output, as a title, as an error beside other things.
#[track_caller]
fn check(text: &str, lens: &[usize]) {
    let wire = Wire::default();
    let mut screen = Screen::new(wire.clone(), SIZE, 0, Features::default());
    let mut markdown = Markdown::new(SIZE, Links::Behind);
    let mut lines = Lines::new(SIZE, Row::default(), Style::DIM);
    for part in cut(text, lens) {
        markdown.push(part);
        lines.push(part);
        let mut settled = markdown.take_settled();
        settled.extend(lines.take_settled());
        let mut live = markdown.live();
        live.extend(lines.live());
        live.push(Row::line(&one_line(text), Style::BOLD));
        live.push(Row::line(&one_line(&spelled_out(text)), Style::PLAIN));
        screen.draw(Frame { settled: &settled, live: &live, cursor: Cursor::Hidden }).unwrap();
    }
    check_own(&wire.take());
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

fn hostile() -> impl Strategy<Value = String> {
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
    fn s12_no_command_from_outside_reaches_the_terminal(text in hostile(), lens in cuts()) {
        check(&text, &lens);
    }

    #[test]
    fn s12_nor_any_characters(text in any::<String>(), lens in cuts()) {
        check(&text, &lens);
    }
}

#[test]
fn s12_texts_that_break_programs_are_printable() {
    let Some(corpus) = corpus("naughty strings on a screen") else { return };
    let text = std::fs::read_to_string(corpus.join("naughty/blns.json")).unwrap();
    let texts: Vec<String> = serde_json::from_str(&text).unwrap();
    assert!(texts.len() > 400);
    for text in texts {
        check(&text, &[3]);
    }
}
