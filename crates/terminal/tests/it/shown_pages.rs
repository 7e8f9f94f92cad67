//! What the terminal shows of the engine's page: every text once and in order, and how the run ended.

use millpond_engine::view::{Item, ItemKind, ItemState, Page, ViewName};
use millpond_engine::wire::patch::decode;
use millpond_terminal::size::Size;

use crate::whole_chat::{final_lines, golden_files, read_patches};

/// How a run ended is said once: by an item of the page, or else by the chat.
#[test]
fn e_how_a_run_ended_is_said_once_in_every_view() {
    const SIZE: Size = Size { cols: 100, rows: 30 };
    let mut endings = 0;
    for file in golden_files() {
        for view in ViewName::ALL {
            let patches = read_patches(&file, view);
            let Some(label) = patches.last().and_then(|last| {
                let ended: serde_json::Value = serde_json::from_str(last).unwrap();
                ended["label"].as_str().map(str::to_owned)
            }) else {
                continue;
            };
            let lines = final_lines(&patches, view, SIZE, usize::MAX);
            let words: Vec<&str> = label.split_whitespace().take(3).collect();
            let said = |line: &&String| {
                let line = line.strip_prefix("✕ ").or(line.strip_prefix("· ")).unwrap_or("");
                line.starts_with(&words.join(" "))
            };
            assert_eq!(lines.iter().filter(said).count(), 1, "{view:?} {}", file.display());
            endings += 1;
        }
    }
    assert!(50 < endings);
}

/// Letters and digits: layout and markers may differ between screens.
fn letters(text: &str) -> String {
    text.chars().filter(|char| char.is_alphanumeric()).collect()
}

/// Text of Markdown, by another parser.
fn markdown_text(markdown: &str) -> String {
    use pulldown_cmark::{Event, Options, Parser};
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let texts = Parser::new_ext(markdown, options).filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
            Some(text.to_string())
        }
        _ => None,
    });
    texts.collect()
}

/// Text that must be on the screen for an item; empty where only a part of it is shown.
fn shown_letters(item: &Item<'_>) -> String {
    match (item.state, item.kind) {
        (ItemState::Withdrawn, _) => String::new(),
        (_, ItemKind::User | ItemKind::Error) => letters(&item.text),
        (_, ItemKind::Text) => letters(&markdown_text(&item.text)),
        (_, ItemKind::Tool | ItemKind::Entry | ItemKind::Action) => {
            let Some(description) = &item.description else {
                return letters(item.name.as_deref().unwrap_or_default());
            };
            let drawn = description.target.as_ref().unwrap_or(&description.title);
            letters(drawn.split_whitespace().next().unwrap_or_default())
        }
        _ => String::new(),
    }
}

#[test]
fn every_text_of_every_page_is_on_the_screen_once_and_in_order() {
    const SIZE: Size = Size { cols: 100, rows: 30 };
    for file in golden_files() {
        for view in ViewName::ALL {
            let patches = read_patches(&file, view);
            let mut page = Page::default();
            for data in &patches {
                let patch = decode(data, &page).unwrap().into_owned();
                page.apply(&patch);
            }
            let lines = final_lines(&patches, view, SIZE, usize::MAX);
            let seen = letters(&lines.concat());
            let mut rest = seen.as_str();
            for item in page.items.values() {
                let shown = shown_letters(item);
                let Some(at) = rest.find(&shown) else {
                    panic!("{view:?} {}: {shown:?} is not in {rest:?}", file.display());
                };
                rest = &rest[at + shown.len()..];
            }
        }
    }
}
