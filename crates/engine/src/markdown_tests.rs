//! What the scanner makes of lines, and that a parser of whole documents agrees.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};

use super::*;

/// What both say of a line that is not blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Text,
    Code,
    Heading,
    Break,
    Table,
    /// Nothing but marks of containers.
    Blank,
}

/// The class of each line of `text`, fed in pieces of `piece` bytes.
fn ours(text: &str) -> Vec<Class> {
    let mut scanner = BlockScanner::default();
    let mut lines: Vec<Class> = Vec::new();
    let (mut answers, mut paragraph) = (0, 0);
    for byte in text.bytes().chain([b'\n']) {
        match scanner.read(byte) {
            Found::More => {}
            Found::Ticks { .. } if scanner.kind().is_none() => {}
            Found::Ticks { .. } | Found::Line(_) => answers += 1,
        }
        if byte != b'\n' {
            continue;
        }
        assert_eq!(answers, lines.len() + 1, "one answer for each line: {text:?}");
        let class = match scanner.kind().unwrap() {
            LineKind::Blank => Class::Blank,
            LineKind::Text => {
                paragraph = lines.len();
                Class::Text
            }
            LineKind::Continuation => Class::Text,
            LineKind::Heading(_) => Class::Heading,
            LineKind::Underline(_) => {
                lines[paragraph..].fill(Class::Heading);
                Class::Heading
            }
            LineKind::ThematicBreak => Class::Break,
            LineKind::FenceOpen(_)
            | LineKind::FenceLine(_)
            | LineKind::FenceClose
            | LineKind::IndentedCode => Class::Code,
            LineKind::TableDelimiters => {
                *lines.last_mut().unwrap() = Class::Table;
                Class::Table
            }
            LineKind::TableRow => Class::Table,
        };
        lines.push(class);
    }
    lines
}

fn theirs(text: &str) -> Vec<Class> {
    let starts: Vec<usize> =
        [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut lines = vec![Class::Blank; starts.len()];
    let line_of = |at: usize| starts.iter().rposition(|&start| start <= at).unwrap();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let class = match event {
            Event::Start(Tag::CodeBlock(_)) => Class::Code,
            Event::Start(Tag::Heading { .. }) => Class::Heading,
            Event::Start(Tag::Table(_)) => Class::Table,
            Event::Rule => Class::Break,
            Event::Start(Tag::Paragraph | Tag::Link { .. } | Tag::Image { .. })
            | Event::Text(_)
            | Event::Code(_)
            | Event::SoftBreak
            | Event::HardBreak => Class::Text,
            _ => continue,
        };
        let last = range.end.max(range.start + 1) - 1;
        for line in &mut lines[line_of(range.start)..=line_of(last)] {
            if *line == Class::Blank {
                *line = class;
            }
        }
    }
    lines
}

/// Lines that both take for something, and not for the same; in code the parser counts blank
/// lines.
fn differences(text: &str) -> Vec<(String, Class, Class)> {
    let lines = text.split('\n').zip(ours(text)).zip(theirs(text));
    let differs = lines.filter(|&((line, ours), theirs)| {
        let both_blank = line.trim().is_empty() || (ours, theirs) == (Class::Blank, Class::Code);
        ours != theirs && !both_blank
    });
    differs.map(|((line, ours), theirs)| (line.to_owned(), ours, theirs)).collect()
}

const PARTS: [&str; 26] = [
    "a", "b c", " ", "  ", "    ", "\t", "\n", "\n\n", "- ", "-", "* ", "1. ", "2) ", "> ", ">",
    "# ", "```", "~~~", "````", "---", "***", "=", "\n- ", "\n> ", "\n  ", "`",
];

/// What stands before the first line and before the others.
const BEFORE: [(&str, &str); 4] = [("", ""), ("> ", "> "), ("- ", "  "), ("1. > ", "   > ")];

const ROWS: [&str; 16] = [
    "a",
    "",
    "a | b",
    "| a |",
    "| a | b |",
    "|a|b|c",
    "x\\|y | `z`",
    "|---|",
    "--- | :-:",
    "|-|-|",
    "| --- |:---:| ---: |",
    "---",
    "# a | b",
    "```",
    "    a | b",
    "| `a` | b |",
];

/// The parser does not know tabs before a quote mark or after the marks that close a fence.
fn is_comparable(text: &str) -> bool {
    let differs = |line: &str| line.find('\t').is_some_and(|tab| line[tab..].contains('>'));
    !text.lines().any(differs) && !text.contains("`\t") && !text.contains("~\t")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_line_of_a_generated_text_is_what_the_parser_says(
        parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..14),
    ) {
        let text = parts.concat();
        if is_comparable(&text) {
            prop_assert_eq!(differences(&text), vec![], "{:?}", text);
        }
    }

    #[test]
    fn every_line_of_a_table_is_what_the_parser_says(
        lines in prop::collection::vec(prop::sample::select(&ROWS[..]), 0..8),
        before in prop::sample::select(&BEFORE[..]),
    ) {
        let text = format!("{}{}", before.0, lines.join(&format!("\n{}", before.1)));
        prop_assert_eq!(differences(&text), vec![], "{:?}", text);
    }
}
