//! The kinds of lines that the scanner finds are those that a parser of whole Markdown documents
//! finds.

use millpond_engine::markdown::{BlockScanner, Found, LineKind};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::texts::markdown_examples;

/// Class of a line, as far as scanner and parser can be compared.
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

/// Classes of the lines of `text`, from the scanner.
fn classify_with_scanner(text: &str) -> Vec<Class> {
    let mut scanner = BlockScanner::default();
    let mut lines: Vec<Class> = Vec::new();
    let (mut answers, mut paragraph) = (0, 0);
    for byte in text.bytes().chain([b'\n']) {
        match scanner.push_byte(byte) {
            Found::More => {}
            Found::Ticks { .. } if scanner.current_or_last_line_kind().is_none() => {}
            Found::Ticks { .. } | Found::Line(_) => answers += 1,
        }
        if byte != b'\n' {
            continue;
        }
        assert_eq!(answers, lines.len() + 1, "one answer for each line: {text:?}");
        let class = match scanner.current_or_last_line_kind().unwrap() {
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

/// Classes of the lines of `text`, from the parser.
fn classify_with_parser(text: &str) -> Vec<Class> {
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

/// Lines that are not blank and that scanner and parser classify differently, with both classes. In
/// code the parser counts blank lines.
fn differences(text: &str) -> Vec<(String, Class, Class)> {
    let lines = text.split('\n').zip(classify_with_scanner(text)).zip(classify_with_parser(text));
    let differs = lines.filter(|&((line, scanned), parsed)| {
        let is_blank = line.trim().is_empty() || (scanned, parsed) == (Class::Blank, Class::Code);
        scanned != parsed && !is_blank
    });
    differs.map(|((line, scanned), parsed)| (line.to_owned(), scanned, parsed)).collect()
}

/// Returns false for texts with HTML, link definitions or line ends without a line feed, which only
/// the parser knows.
fn is_comparable_example(text: &str) -> bool {
    !text.contains('<') && !text.contains("]:") && !text.contains('\r')
}

#[test]
fn every_line_of_an_example_is_what_the_parser_says() {
    let examples = markdown_examples();
    let comparable = examples.iter().filter(|text| is_comparable_example(text));
    let (mut compared, mut wrong) = (0, Vec::new());
    for text in comparable {
        compared += 1;
        let found = differences(text);
        if !found.is_empty() {
            wrong.push((text, found));
        }
    }
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
    assert!(400 <= compared, "only {compared} examples");
}

/// Pieces of generated texts.
const PARTS: [&str; 26] = [
    "a", "b c", " ", "  ", "    ", "\t", "\n", "\n\n", "- ", "-", "* ", "1. ", "2) ", "> ", ">",
    "# ", "```", "~~~", "````", "---", "***", "=", "\n- ", "\n> ", "\n  ", "`",
];

/// Container marks before the first line, and before the other lines.
const BEFORE: [(&str, &str); 4] = [("", ""), ("> ", "> "), ("- ", "  "), ("1. > ", "   > ")];

/// Lines of generated tables.
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

/// Returns false for texts with tabs before a quote mark or in the white space after the marks that
/// close a fence, which the parser does not know.
fn is_comparable_generated_text(text: &str) -> bool {
    let differs = |line: &str| {
        let marks = line.trim_end_matches([' ', '\t']);
        let tab_after_fence = marks.ends_with(['`', '~']) && line[marks.len()..].contains('\t');
        let tab_before_quote = line.find('\t').is_some_and(|tab| line[tab..].contains('>'));
        tab_after_fence || tab_before_quote
    };
    !text.lines().any(differs)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_line_of_a_generated_text_is_what_the_parser_says(
        parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..14),
    ) {
        let text = parts.concat();
        if is_comparable_generated_text(&text) {
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
