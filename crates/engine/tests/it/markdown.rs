//! What the scanner makes of each line is what a parser of whole Markdown documents makes of it.

use millpond_engine::markdown::{BlockScanner, Found, LineKind};
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::corpus::find_corpus;

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

/// What only the parser knows: HTML, link definitions, line ends without a line feed.
fn is_comparable(text: &str) -> bool {
    !text.contains('<') && !text.contains("]:") && !text.contains('\r')
}

#[test]
fn every_line_of_the_specification_is_what_the_parser_says() {
    let Some(corpus) = find_corpus("the lines of the specifications of Markdown") else { return };
    let mut wrong = Vec::new();
    for file in ["commonmark-spec.json", "gfm-spec.json"] {
        let text = std::fs::read_to_string(corpus.join("markdown").join(file)).unwrap();
        let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        for case in &cases {
            let text = case["markdown"].as_str().unwrap();
            let found = differences(text);
            if is_comparable(text) && !found.is_empty() {
                wrong.push((text.to_owned(), found));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
}
