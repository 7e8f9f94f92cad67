//! The filter, the sentences and the drawing take the same lines for code, and so does a parser of
//! whole documents.
//!
//! Each line that may be code gets a tag, which the filter takes out of text; emphasis, which the
//! drawing shows without its marks in text; and a sentence end, which ends a piece in text.

use std::path::Path;
use std::sync::Arc;

use millpond_engine::filter::{Filter, FilterStart, Piece};
use millpond_engine::markdown::{BlockScanner, Container, LineKind};
use millpond_engine::sentence::{SentenceSplitter, SplitOutput};
use millpond_terminal::markdown::{HyperlinkMode, MarkdownRenderer};
use millpond_terminal::size::Size;
use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::generators::cut_text;
use crate::texts::{files_below, find_corpus, markdown_examples};

const TAG: &str = "<final>";

/// Puts `probe` at the end of line `at`; nothing if the line is no line for it.
fn probed(text: &str, at: usize, probe: &str) -> Option<String> {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let line = lines.get_mut(at)?;
    // What decides a line by its end, or is inline code, is another question.
    let last = line.chars().next_back()?;
    if !last.is_alphanumeric() || line.contains(['`', '~', '|', '<', '\\']) {
        return None;
    }
    line.push_str(probe);
    Some(lines.join("\n"))
}

fn filter_sees_code(parts: &[&str]) -> bool {
    let mut visible = String::new();
    let mut filter = Filter::new(Arc::default(), FilterStart::Text);
    let mut out = |piece: Piece<'_>| {
        if let Piece::Visible(text) = piece {
            visible.push_str(text);
        }
    };
    for part in parts {
        filter.push(part, &mut out);
    }
    filter.end_message_keeping_open_tag(&mut out);
    visible.contains(TAG)
}

/// Whether the drawing shows the probe as it was written.
fn drawing_sees_code(parts: &[&str], probe: &str) -> bool {
    let mut markdown = MarkdownRenderer::new(Size::new(1_000, 1_000), HyperlinkMode::Osc8);
    for part in parts {
        markdown.push(part);
    }
    markdown.finish();
    markdown.take_settled().iter().any(|row| row.text().contains(probe))
}

/// Whether no piece ends between the two sentences of the probe.
fn sentences_see_code(parts: &[&str]) -> bool {
    let mut ends = String::new();
    let mut splitter = SentenceSplitter::new();
    let mut out = |cut: SplitOutput<'_>| match cut {
        SplitOutput::Text(text) => ends.push_str(text),
        SplitOutput::PieceEnd => ends.push('¦'),
    };
    for part in parts {
        splitter.push(part, &mut out);
    }
    splitter.finish(&mut out);
    !ends.contains(" Qend. ¦Qnext")
}

fn parser_sees_code(text: &str) -> bool {
    let mut in_block = false;
    Parser::new_ext(text, Options::ENABLE_TABLES).any(|event| match event {
        Event::Start(Tag::CodeBlock(kind)) => {
            in_block = true;
            matches!(kind, CodeBlockKind::Fenced(info) if info.contains("Qend"))
        }
        Event::End(TagEnd::CodeBlock) => {
            in_block = false;
            false
        }
        Event::Text(text) => in_block && text.contains("Qend"),
        _ => false,
    })
}

/// Every line as the scanner sees it, and whether it is in a list item.
fn lines(text: &str) -> Vec<(LineKind, bool)> {
    let mut scanner = BlockScanner::default();
    let read = |line: &str| {
        for byte in line.bytes().chain([b'\n']) {
            scanner.push_byte(byte);
        }
        let is_item = |container: &Container| matches!(container, Container::Item { .. });
        (scanner.current_or_last_line_kind().unwrap(), scanner.containers().iter().any(is_item))
    };
    text.split('\n').map(read).collect()
}

/// No back-tick of it is in a text, where it may open inline code.
fn has_no_inline_code(text: &str) -> bool {
    let mut lines = text.split('\n').zip(lines(text));
    !lines.any(|(line, (kind, _))| line.contains('`') && kind.can_have_inline_markup())
}

fn is_code(kind: LineKind) -> bool {
    use LineKind::{FenceLine, FenceOpen, IndentedCode};
    matches!(kind, FenceOpen(_) | FenceLine(_) | IndentedCode)
}

/// What only the parser knows.
fn is_comparable(text: &str) -> bool {
    !text.contains(['<', '[', '\t', '\r'])
}

/// Lines on which the four do not agree, cut as `lens` says.
fn disagreements(text: &str, lens: &[usize]) -> Vec<String> {
    let mut wrong = Vec::new();
    let lines = lines(text);
    let is_fence_in_item = |line: &(LineKind, bool)| matches!(line, (LineKind::FenceOpen(_), true));
    let fence_in_item = lines.iter().any(is_fence_in_item);
    for (at, (kind, in_item)) in lines.into_iter().enumerate() {
        let Some(with_tag) = probed(text, at, TAG) else { continue };
        let expected = is_code(kind);
        let mut check = |who: &str, sees: bool| {
            if sees != expected {
                wrong.push(format!("{who} says {sees}: line {at} of {text:?}"));
            }
        };
        check("the filter", filter_sees_code(&cut_text(&with_tag, lens)));
        if let Some(text) = probed(text, at, " Qend. Qnext") {
            if is_comparable(&text) {
                check("the parser", parser_sees_code(&text));
            }
            // An item is one piece, and code in it may be indented less than it is.
            if !in_item && !fence_in_item && (expected || kind == LineKind::Text) {
                check("the sentences", sentences_see_code(&cut_text(&text, lens)));
            }
        }
        // Emphasis is drawn without its marks in text and with them in code.
        if let Some(text) = probed(text, at, " *Qword*") {
            check("the drawing", drawing_sees_code(&cut_text(&text, lens), "*Qword*"));
        }
    }
    wrong
}

/// Where the sentences go their own way: items on one line and in letters, code in an item that is
/// not indented, and what is enclosed in quotes or brackets.
fn is_plain(text: &str) -> bool {
    !text.contains(['(', ')', '[', ']', '"', '•', '„', '“', '«'])
}

const PARTS: [&str; 22] = [
    "word",
    "two words",
    "\n",
    "\n\n",
    "\n\n\n",
    "\n    code",
    "\n\n    code",
    "\n  in",
    "\n- item",
    "\n  - item",
    "\n1. item",
    "\n    - item",
    "\n> quote",
    "\n> > quote",
    "\n> - item",
    "\n# head",
    "\n```rust\n",
    "\n```\n",
    "\n~~~\n",
    "\n  ```\n",
    "\n> ```\n> ",
    "\n---\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_four_agree_on_generated_texts(
        parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..12),
        lens in prop::collection::vec(1..9_usize, 1..4),
    ) {
        let text = parts.concat();
        let text = if has_no_inline_code(&text) { text } else { text.replace('`', "~") };
        prop_assert_eq!(disagreements(&text, &lens), Vec::<String>::new());
    }
}

#[test]
fn all_four_agree_on_the_markdown_examples() {
    let examples = markdown_examples();
    let comparable =
        |text: &&String| is_plain(text) && is_comparable(text) && has_no_inline_code(text);
    let plain: Vec<&String> = examples.iter().filter(comparable).collect();
    assert!(plain.len() > 200, "{} examples", plain.len());
    let wrong: Vec<String> = plain.iter().flat_map(|text| disagreements(text, &[1])).collect();
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
}

/// Every text of some lines in a JSON value.
fn texts_in(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) if text.contains('\n') => found.push(text.clone()),
        serde_json::Value::Array(values) => values.iter().for_each(|it| texts_in(it, found)),
        serde_json::Value::Object(fields) => fields.values().for_each(|it| texts_in(it, found)),
        _ => {}
    }
}

/// Longer texts cost their square.
const TEXT_BYTES_MAX: usize = 4 << 10;

/// Every text in the streams of a folder that all four read alike.
fn texts_below(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for file in files_below(folder) {
        let Ok(content) = std::fs::read_to_string(&file) else { continue };
        for line in content.lines() {
            let line = line.strip_prefix("data: ").unwrap_or(line);
            if let Ok(value) = serde_json::from_str(line) {
                texts_in(&value, &mut texts);
            }
        }
    }
    texts.sort();
    texts.dedup();
    texts.retain(|text| text.len() <= TEXT_BYTES_MAX && is_plain(text));
    texts.retain(|text| is_comparable(text) && has_no_inline_code(text));
    texts
}

#[track_caller]
fn check_agreement(texts: &[String]) {
    assert!(texts.len() > 20, "{} texts", texts.len());
    let wrong: Vec<String> = texts.iter().flat_map(|text| disagreements(text, &[7, 2])).collect();
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
}

#[test]
fn all_four_agree_on_the_texts_of_recorded_streams() {
    check_agreement(&texts_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")));
    if let Some(corpus) = find_corpus() {
        check_agreement(&texts_below(&corpus.join("recordings")));
    }
}
