//! Compares what the filter and a parser of whole Markdown documents take for code.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::*;

const TAG: &str = "<final>";

const PARTS: [&str; 22] = [
    "", "`", "``", "```", "~~~", "\n", "\n\n", " ", "    ", "\t", "- ", "1. ", "> ", "# ", "a",
    "b c", "\\", "---", "\n- ", "\n> ", "\n    ", "\n```\n",
];

/// Texts after the tag.
const ENDS: [&str; 4] = ["", "`", "``\n", "\n```\n"];

fn parser_sees_code(text: &str) -> bool {
    let mut in_block = false;
    Parser::new(text).any(|event| match event {
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
            in_block = true;
            info.contains(TAG)
        }
        Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => {
            in_block = true;
            false
        }
        Event::End(TagEnd::CodeBlock) => {
            in_block = false;
            false
        }
        Event::Code(code) => code.contains(TAG),
        Event::Text(text) => in_block && text.contains(TAG),
        _ => false,
    })
}

/// Texts of three parts, a tag and an end, on which the filter and the parser disagree.
fn disagreements() -> (Vec<String>, Vec<String>) {
    let (mut shown, mut hidden) = (Vec::new(), Vec::new());
    let heads = PARTS.iter().flat_map(|first| {
        PARTS.iter().flat_map(move |second| PARTS.map(|third| format!("{first}{second}{third}")))
    });
    for text in heads.flat_map(|head| ENDS.map(|end| format!("{head}{TAG}{end}"))) {
        let filter_sees_code = filter_chunks([&*text], FilterStart::Text).visible.contains(TAG);
        match (filter_sees_code, parser_sees_code(&text)) {
            (true, false) => shown.push(text),
            (false, true) => hidden.push(text),
            _ => {}
        }
    }
    (shown, hidden)
}

/// Known cases of code that is hidden, because recognising it takes a second pass: behind what
/// looked like a fence.
const KNOWN_HIDDEN_CODE: [&str; 1] = ["`\n```"];

#[test]
fn x5_nothing_is_shown_as_code_that_a_markdown_parser_takes_for_text() {
    let (shown, _) = disagreements();
    assert_eq!(shown, [""; 0]);
}

#[test]
fn x4_what_a_markdown_parser_takes_for_code_is_shown_but_for_the_listed_cases() {
    let (_, mut hidden) = disagreements();
    hidden.retain(|text| !KNOWN_HIDDEN_CODE.iter().any(|known| text.contains(known)));
    assert_eq!(hidden, [""; 0]);
}
