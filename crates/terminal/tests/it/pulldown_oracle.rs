//! Comparison with another Markdown parser on examples of inline text.

use millpond_terminal::markdown::{HyperlinkMode, MarkdownRenderer};
use millpond_terminal::size::Size;
use millpond_terminal::style::{Attributes, Colour};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::texts::{corpus_examples, own_examples};

/// Files of the project's own examples about inline text only.
const TOPICS: [&str; 5] =
    ["code-spans", "emphasis", "escapes-and-entities", "paragraphs", "strikethrough"];

/// Sections of the specification about inline text only.
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

/// The project's own examples on which we differ: list markers, quotes and tables are drawn, and only
/// the common names of characters are known.
const OWN_DIFFERENT: [&str; 8] = [
    "&copy; &auml; &nbsp;|\n",
    "&hearts; &rarr; &hellip;\n",
    "* *\n",
    "* not slanted*\n",
    "The answer is\n- a list, which may interrupt it\n",
    "The answer is\n1. a list from one, which may too\n",
    "text\n> a quote may interrupt it\n",
    "| ~~a~~ |\n| --- |\n",
];

/// Examples of the specification on which we differ on purpose: raw HTML is text, addresses that may not be linked are
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

/// Examples that look different here and there.
fn different_examples(examples: &[String]) -> Vec<&String> {
    let different: Vec<&String> =
        examples.iter().filter(|text| our_styles(text) != pulldown_styles(text)).collect();
    println!("{} of {} examples look different: {different:#?}", different.len(), examples.len());
    different
}

#[test]
fn inline_markdown_looks_as_commonmark_says() {
    let own: Vec<String> = TOPICS.into_iter().flat_map(own_examples).collect();
    assert!(own.len() > 130, "{} examples", own.len());
    let mut different = different_examples(&own);
    different.sort();
    assert_eq!(different, OWN_DIFFERENT);
    let chosen =
        corpus_examples().into_iter().filter(|(section, _)| SECTIONS.contains(&&**section));
    let examples: Vec<String> = chosen.map(|(_, markdown)| markdown).collect();
    assert!(examples.is_empty() || examples.len() > 170, "{} examples", examples.len());
    let different = different_examples(&examples);
    assert!(different.len() <= DIFFERENT_MAX, "{different:#?}");
}
