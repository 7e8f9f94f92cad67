//! Comparison with another Markdown parser on the examples of the specifications.

use millpond_terminal::markdown::{HyperlinkMode, MarkdownRenderer};
use millpond_terminal::size::Size;
use millpond_terminal::style::{Attributes, Colour};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::corpus::corpus_folder;

/// Sections about inline text only.
const SECTIONS: [&str; 9] = [
    "Emphasis and strong emphasis",
    "Code spans",
    "Backslash escapes",
    "Inlines",
    "Precedence",
    "Soft line breaks",
    "Hard line breaks",
    "Textual content",
    "Paragraphs",
];

/// Examples on which we differ on purpose: raw HTML is text, addresses that may not be linked are
/// spelled out, fences, list markers and heading weight are shown, reference links are not
/// resolved; and one currency sign counts as punctuation there.
const DIFFERENT_MAX: usize = 20;

/// Every visible character with its flags: bold, italic, code.
type CharStyles = Vec<(char, bool, bool, bool)>;

fn our_styles(text: &str) -> CharStyles {
    let mut markdown = MarkdownRenderer::new(Size::new(1_000, 1_000), HyperlinkMode::Osc8);
    markdown.push(text);
    markdown.finish();
    let mut look = CharStyles::new();
    for row in markdown.take_settled() {
        for (text, style, _) in row.spans() {
            let has = |attribute| style.attributes.contains(attribute);
            let code = style.colour == Colour::Cyan;
            let of = |char| (char, has(Attributes::BOLD), has(Attributes::ITALIC), code);
            look.extend(text.chars().filter(|char| !char.is_whitespace()).map(of));
        }
    }
    look
}

fn pulldown_styles(text: &str) -> CharStyles {
    let mut look = CharStyles::new();
    let (mut bold, mut italic) = (0, 0);
    for event in Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH) {
        let (text, code) = match event {
            Event::Start(Tag::Strong) => {
                bold += 1;
                (None, false)
            }
            Event::Start(Tag::Emphasis) => {
                italic += 1;
                (None, false)
            }
            Event::End(TagEnd::Strong) => {
                bold -= 1;
                (None, false)
            }
            Event::End(TagEnd::Emphasis) => {
                italic -= 1;
                (None, false)
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                (Some(text.to_string()), false)
            }
            Event::Code(text) => (Some(text.to_string()), true),
            _ => (None, false),
        };
        let of = |char| (char, bold > 0, italic > 0, code);
        look.extend(text.unwrap_or_default().chars().filter(|char| !char.is_whitespace()).map(of));
    }
    look
}

#[test]
fn inline_markdown_looks_as_commonmark_says() {
    let Some(corpus) = corpus_folder("a second opinion on Markdown") else { return };
    let text = std::fs::read_to_string(corpus.join("markdown/commonmark-spec.json")).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let chosen = cases.iter().filter(|case| SECTIONS.contains(&case["section"].as_str().unwrap()));
    let examples: Vec<&str> = chosen.map(|case| case["markdown"].as_str().unwrap()).collect();
    assert!(examples.len() > 170, "{} examples", examples.len());
    let different: Vec<&&str> =
        examples.iter().filter(|text| our_styles(text) != pulldown_styles(text)).collect();
    println!("{} of {} examples look different: {different:#?}", different.len(), examples.len());
    assert!(different.len() <= DIFFERENT_MAX, "{different:#?}");
}
