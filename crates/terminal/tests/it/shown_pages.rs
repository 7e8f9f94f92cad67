//! What the terminal shows of the engine's page: every item once, in order, with its state and its
//! text, live at every tenth patch and opened afterwards; and how the run ended.

use std::collections::BTreeMap;
use std::path::Path;

use millpond_engine::view::patch::{EndedRun, Patch};
use millpond_engine::view::{Item, ItemKey, Page, ViewName};
use millpond_engine::wire::patch::decode;
use millpond_terminal::size::Size;

use crate::expected_rows::{Shown, check_screen, expected_of};
use crate::whole_chat::{ChatHarness, final_lines, golden_files, read_patches, read_whole_page};

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

/// A window in which no page of a fixture is cut.
const WINDOW: Size = Size { cols: 400, rows: 300 };

/// Every so many patches a live page is compared.
const COMPARED_EVERY: usize = 10;

/// Without SCREENS=all one file of so many.
const SAMPLED_EVERY: usize = 12;

/// What must be on the screen, item by item.
#[derive(Default)]
struct ExpectedScreen {
    page: Page,
    /// What was printed for good, and stays as it is.
    settled: BTreeMap<ItemKey, Vec<Shown>>,
    /// How runs ended, each before the item with this key.
    endings: Vec<(ItemKey, String)>,
}

impl ExpectedScreen {
    fn apply_patch(&mut self, data: &str) {
        let patch = decode(data, &self.page).unwrap().into_owned();
        self.page.apply(&patch);
        self.settle();
        if matches!(patch, Patch::Ended(_)) {
            self.remember_ending_unless_shown();
        }
    }

    fn settle(&mut self) {
        for (key, item) in self.page.items.iter_from(ItemKey::default()) {
            if key.0 < self.page.settled.count {
                self.settled.entry(key).or_insert_with(|| expected_of(item));
            }
        }
    }

    fn remember_ending_unless_shown(&mut self) {
        let is_shown = self.page.items.values().next_back().is_some_and(Item::is_ending);
        if !is_shown && let Some(words) = self.page.ended.as_ref().and_then(EndedRun::label) {
            self.endings.push((ItemKey(self.page.settled.count), format!("·{words}")));
        }
    }

    /// All parts of the screen above the input, the last of which is `below`.
    fn parts(&self, below: &str) -> Vec<Shown> {
        let mut parts = Vec::new();
        let mut endings = self.endings.iter().peekable();
        for (key, item) in self.page.items.iter_from(ItemKey::default()) {
            while let Some((_, words)) = endings.next_if(|(before, _)| *before <= key) {
                parts.push(Shown::Exact(words.clone()));
            }
            parts.extend(self.settled.get(&key).cloned().unwrap_or_else(|| expected_of(item)));
        }
        parts.extend(endings.map(|(_, words)| Shown::Exact(words.clone())));
        parts.push(Shown::Exact(below.to_owned()));
        parts
    }
}

/// The page without its items and how it ended: what the chat shows below them is left.
fn without_items(page: &Page) -> Page {
    let Page { items, settled, ended, .. } = Page::default();
    Page { items, settled, ended, ..page.clone() }
}

/// The chat with a page, beside a chat that shows only what is below the items.
struct Screens {
    whole: ChatHarness,
    below: ChatHarness,
    expected: ExpectedScreen,
}

impl Screens {
    fn new(view: ViewName) -> Screens {
        Screens {
            whole: ChatHarness::new(view, WINDOW),
            below: ChatHarness::new(view, WINDOW),
            expected: ExpectedScreen::default(),
        }
    }

    fn apply_patch(&mut self, data: &str) {
        self.expected.apply_patch(data);
        self.whole.apply_patch(data);
        while self.whole.deliver_image() {}
        self.below.replace_page(without_items(&self.expected.page));
        self.below.advance_like(&self.whole);
    }

    fn open(&mut self, page: Page) {
        self.below.replace_page(without_items(&page));
        self.whole.open_whole_page(page.clone());
        while self.whole.deliver_image() {}
        self.expected.page = page;
        self.expected.settle();
        self.expected.remember_ending_unless_shown();
    }

    /// What differs, if anything.
    fn check(&mut self) -> Result<(), String> {
        self.whole.draw_and_check();
        self.below.draw_and_check();
        let below = self.below.lines_of_chat().concat();
        check_screen(&self.whole.lines_of_chat(), &self.expected.parts(&below))
    }
}

/// Compares the screens of one file in one view; returns what differs.
fn differences(file: &Path, view: ViewName) -> Vec<String> {
    let patches = read_patches(file, view);
    let mut found = Vec::new();
    let mut note = |when: String, result: Result<(), String>| {
        if let Err(problem) = result {
            found.push(format!("{} {view:?} {when}: {problem}", file.display()));
        }
    };
    let mut live = Screens::new(view);
    for (at, patch) in patches.iter().enumerate() {
        live.apply_patch(patch);
        if (at + 1) % COMPARED_EVERY == 0 || at + 1 == patches.len() {
            note(format!("after {}", at + 1), live.check());
        }
    }
    let mut reloaded = Screens::new(view);
    reloaded.open(read_whole_page(file, view));
    note("reloaded".to_owned(), reloaded.check());
    found
}

#[test]
fn every_item_of_every_page_is_on_the_screen_live_and_reloaded() {
    let all = std::env::var("SCREENS").is_ok_and(|which| which == "all");
    let every = if all { 1 } else { SAMPLED_EVERY };
    let mut found = Vec::new();
    for file in golden_files().iter().step_by(every) {
        for view in ViewName::ALL {
            found.extend(differences(file, view));
        }
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
