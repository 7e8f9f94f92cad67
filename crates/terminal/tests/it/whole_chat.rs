//! The whole chat on an emulator, fed with recorded patches and keys.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_engine::event::{AskKind, AskOption};
use millpond_engine::view::image_ref::ImageRef;
use millpond_engine::view::patch::{Ask, Patch, Settled};
use millpond_engine::view::{Item, ItemKey, ItemKind, ItemState, Page, ViewName};
use millpond_engine::wire::patch::decode;
use millpond_terminal::chat::{Chat, Effect};
use millpond_terminal::graphics::{CellSize, GraphicsProtocol, TerminalImage};
use millpond_terminal::hyperlinks::HyperlinkMode;
use millpond_terminal::input::editor::Motion;
use millpond_terminal::input::history::History;
use millpond_terminal::input::key_bindings::KeyAction;
use millpond_terminal::limits::live_rows_max;
use millpond_terminal::page::{FetchedImage, RenderOptions};
use millpond_terminal::screen::{Frame, FrameCursor, Screen, TerminalFeatures};
use millpond_terminal::size::Size;
use proptest::prelude::*;

use crate::emulator::Emulator;
use crate::mini_chat::{SHELL_LINES, SharedBuffer, check_frame_bytes};

/// Reads the patches of a view from a golden file of the engine.
pub(crate) fn read_patches(file: &Path, view: ViewName) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix(view.as_str())?.strip_prefix(' '));
    lines.filter(|line| !line.starts_with("= ")).map(str::to_owned).collect()
}

/// Reads the page of a view after the whole stream from a golden file of the engine.
pub(crate) fn read_whole_page(file: &Path, view: ViewName) -> Page {
    let text = std::fs::read_to_string(file).unwrap();
    let start = format!("{} = ", view.as_str());
    let page = text.lines().find_map(|line| line.strip_prefix(&start)).unwrap();
    serde_json::from_str(page).unwrap()
}

pub(crate) fn golden_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut folders = vec![root];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "patches") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 50, "the goldens are not where they were");
    found
}

pub(crate) struct ChatHarness {
    chat: Chat,
    screen: Screen<SharedBuffer>,
    wire: SharedBuffer,
    emulator: Emulator,
    /// Lines above the live region in the last frame.
    above: Vec<String>,
    /// Images being fetched.
    wanted: Vec<String>,
    now: Instant,
}

impl ChatHarness {
    pub(crate) fn new(view: ViewName, size: Size) -> ChatHarness {
        let mut emulator = Emulator::new(size);
        for line in SHELL_LINES {
            emulator.feed(format!("{line}\r\n").as_bytes());
        }
        let wire = SharedBuffer::default();
        let (row, _) = emulator.cursor();
        let look = RenderOptions { size, hyperlinks: HyperlinkMode::Osc8 };
        ChatHarness {
            chat: Chat::new(view, look, History::new(&[]), "no folder".into()),
            screen: Screen::new(wire.clone(), size, row, TerminalFeatures::default()),
            wire,
            emulator,
            above: Vec::new(),
            wanted: Vec::new(),
            now: Instant::now(),
        }
    }

    pub(crate) fn apply_patch(&mut self, data: &str) {
        self.now += Duration::from_millis(20);
        let patch = decode(data, self.chat.renderer().page()).unwrap().into_owned();
        self.chat.apply_patch(&patch, self.now);
        self.wanted.append(&mut self.chat.take_wanted_images());
    }

    pub(crate) fn replace_page(&mut self, page: Page) {
        self.chat.replace_page(page, self.now);
        self.wanted.append(&mut self.chat.take_wanted_images());
    }

    /// Shows a page as a chat that is opened later does, with all of its items.
    pub(crate) fn open_whole_page(&mut self, page: Page) {
        self.chat.lift_items_limit_of_first_page();
        self.replace_page(page);
    }

    /// Sets the clock to that of another chat.
    pub(crate) fn advance_like(&mut self, other: &ChatHarness) {
        self.now = other.now;
    }

    /// All lines below those of the shell, the live region included.
    pub(crate) fn lines_of_chat(&self) -> Vec<String> {
        self.emulator.copied_lines().split_off(SHELL_LINES.len())
    }

    /// Delivers one wanted image as failed; returns false if none is wanted.
    pub(crate) fn deliver_image(&mut self) -> bool {
        let Some(name) = self.wanted.pop() else { return false };
        self.chat
            .set_image_result_and_settle(&name, FetchedImage::Failed("it is not here".to_owned()));
        self.wanted.append(&mut self.chat.take_wanted_images());
        true
    }

    /// Draws a frame and checks the invariants of every frame.
    pub(crate) fn draw_and_check(&mut self) {
        let settled = self.chat.take_settled();
        let live = self.chat.render_live_region(self.now);
        let most = live_rows_max(self.screen.size());
        assert!(live.rows.len() <= most, "{} live rows", live.rows.len());
        let frame = Frame { settled: &settled, live: &live.rows, cursor: live.cursor };
        self.screen.draw_frame(frame).unwrap();
        let bytes = self.wire.take();
        check_frame_bytes(&bytes);
        self.emulator.feed(&bytes);
        let FrameCursor::At { row, .. } = live.cursor else { panic!("the cursor is hidden") };
        let top = usize::from(self.emulator.cursor().0) - row;
        let now = self.emulator.copied_lines_above(top);
        let kept = self.above.len().saturating_sub(1);
        assert_eq!(now.get(..kept), self.above.get(..kept), "what is settled changed");
        if let Some(before) = self.above.last() {
            let last = now.get(kept).is_some_and(|last| last.starts_with(before));
            assert!(last, "{:?} was {before:?}", now.get(kept));
        }
        self.above = now;
    }

    fn resize(&mut self, size: Size) {
        self.emulator.resize(size);
        let (row, _) = self.emulator.cursor();
        let scrolled_away = self.screen.resize_and_locate_live_region(size, row).scrolled_away;
        self.chat.resize(RenderOptions { size, hyperlinks: HyperlinkMode::Osc8 }, scrolled_away);
    }
}

/// Returns the final lines if a frame is drawn after every `every` patches.
pub(crate) fn final_lines(
    patches: &[String],
    view: ViewName,
    size: Size,
    every: usize,
) -> Vec<String> {
    let mut sitting = ChatHarness::new(view, size);
    sitting.draw_and_check();
    for (at, patch) in patches.iter().enumerate() {
        sitting.apply_patch(patch);
        while sitting.deliver_image() {}
        if at % every == 0 {
            sitting.draw_and_check();
        }
    }
    sitting.draw_and_check();
    let mut lines = sitting.emulator.copied_lines();
    // Blank rows left by former live rows.
    lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
    lines
}

#[test]
fn r5_r6_every_recorded_run_in_every_view_however_often_it_is_drawn() {
    const SIZE: Size = Size { cols: 60, rows: 16 };
    for file in golden_files() {
        for view in ViewName::ALL {
            let patches = read_patches(&file, view);
            // The longest would take longer than all others together.
            let often = patches.len().div_ceil(150).max(1);
            let seen = final_lines(&patches, view, SIZE, often);
            let at_once = final_lines(&patches, view, SIZE, usize::MAX);
            assert_eq!(seen, at_once, "{view:?} {}", file.display());
        }
    }
}

/// Something that happens between two patches.
#[derive(Clone, Copy, Debug)]
enum UserStep {
    Nothing,
    Draw,
    Type(char),
    Erase,
    Complete,
    ImageArrives,
    Resize(u16, u16),
}

fn user_step() -> impl Strategy<Value = UserStep> {
    prop_oneof![
        4 => Just(UserStep::Nothing),
        6 => Just(UserStep::Draw),
        2 => prop::sample::select(vec!['/', 'v', ' ', '@', 'x', '水']).prop_map(UserStep::Type),
        1 => Just(UserStep::Erase),
        1 => Just(UserStep::Complete),
        1 => Just(UserStep::ImageArrives),
        1 => (20u16..100, 5u16..30).prop_map(|(cols, rows)| UserStep::Resize(cols, rows)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r6_the_scrollback_is_a_prefix_of_the_scrollback_later(
        file in prop::sample::select(golden_files()),
        view in prop::sample::select(ViewName::ALL.to_vec()),
        types in any::<bool>(),
        doings in prop::collection::vec(user_step(), 120),
    ) {
        let mut sitting = ChatHarness::new(view, Size::new(70, 20));
        sitting.draw_and_check();
        let patches = read_patches(&file, view);
        let each = patches.len().div_ceil(doings.len()).max(1);
        for (patches, doing) in patches.chunks(each).zip(&doings) {
            for patch in patches {
                sitting.apply_patch(patch);
            }
            match *doing {
                UserStep::Type(_) | UserStep::Erase | UserStep::Complete if !types => {}
                UserStep::Nothing => {}
                UserStep::Draw => sitting.draw_and_check(),
                UserStep::Type(character) => drop(sitting.chat.handle_key(KeyAction::Character(character), sitting.now)),
                UserStep::Erase => drop(sitting.chat.handle_key(KeyAction::Delete(Motion::Left), sitting.now)),
                UserStep::Complete => drop(sitting.chat.handle_key(KeyAction::Complete, sitting.now)),
                UserStep::ImageArrives => drop(sitting.deliver_image()),
                // Rows of a menu in a window that gets too small for it may be left behind.
                UserStep::Resize(..) if types => {}
                UserStep::Resize(cols, rows) => {
                    sitting.resize(Size::new(cols, rows));
                    sitting.draw_and_check();
                }
            }
        }
        sitting.draw_and_check();
    }
}

/// Returns a page of `count` tool items with one image each.
fn page_with_images(count: u32) -> Page {
    let mut page = Page::default();
    for number in 0..count {
        let mut item = Item::new(ItemKind::Tool, "r", "t");
        item.name = Some(format!("tool {number}").into());
        item.state = ItemState::Done;
        let reference = format!("sha256:{number:064x}").into();
        item.images.push(ImageRef { reference, media_type: Some("image/png".into()) });
        page.apply(&Patch::Put { key: ItemKey(number), item });
    }
    page.apply(&Patch::Settle(Settled { count, bytes: 0 }));
    page
}

const IMAGE_LABEL: &str = "  ▣ image/png /p.png";

fn kitty_image(size: Size) -> Arc<TerminalImage> {
    let mut png = Vec::new();
    let pixels = image::RgbaImage::from_pixel(300, 120, image::Rgba([9, 9, 9, 255]));
    pixels.write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png).unwrap();
    let cell = CellSize { width: 10, height: 20 };
    Arc::new(TerminalImage::encode(&png, GraphicsProtocol::Kitty, cell, size).unwrap())
}

#[test]
fn pictures_are_drawn_where_their_rows_are() {
    for rows in [9, 14, 40] {
        let size = Size::new(50, rows);
        let art = kitty_image(size);
        let mut sitting = ChatHarness::new(ViewName::Transcript, size);
        sitting.draw_and_check();
        sitting.chat.replace_page(page_with_images(5), sitting.now);
        let mut wanted = sitting.chat.take_wanted_images();
        assert_eq!(wanted.len(), 5, "none waits for another");
        wanted.reverse();
        for name in wanted {
            assert!(sitting.chat.take_settled().is_empty(), "the first has not come");
            let file = "/p.png".into();
            let fetched = FetchedImage::Saved { file, image: Some(Arc::clone(&art)) };
            sitting.chat.set_image_result_and_settle(&name, fetched);
        }
        let settled = sitting.chat.take_settled();
        let live = sitting.chat.render_live_region(sitting.now);
        let frame = Frame { settled: &settled, live: &live.rows, cursor: live.cursor };
        sitting.screen.draw_frame(frame).unwrap();
        let bytes = String::from_utf8(sitting.wire.take()).unwrap();
        check_frame_bytes(bytes.as_bytes());
        // The emulator would wait for the end of the frame.
        let bytes = bytes.replace("\x1b[?2026h", "").replace("\x1b[?2026l", "");
        let mut parts = bytes.split(art.escape_sequence());
        sitting.emulator.feed(parts.next().unwrap().as_bytes());
        let mut drawn = 0;
        for part in parts {
            let (row, col) = sitting.emulator.cursor();
            let screen = sitting.emulator.screen_rows();
            assert_eq!(col, 0);
            let covered = &screen[usize::from(row)..usize::from(row) + art.row_count()];
            assert!(covered.iter().all(String::is_empty), "{row} of {screen:#?}");
            let above = screen.get(usize::from(row).wrapping_sub(1));
            assert!(above.is_none_or(|row| row == IMAGE_LABEL), "{row} of {screen:#?}");
            sitting.emulator.feed(part.as_bytes());
            drawn += 1;
        }
        assert_eq!(drawn, 5);
        let all = sitting.emulator.copied_lines().join("\n");
        let gap = "\n".repeat(art.row_count() + 1);
        for number in 0..4 {
            let next = number + 1;
            let expected = format!("● tool {number}\n{IMAGE_LABEL}\n{gap}● tool {next}\n");
            assert!(all.contains(&expected), "{number} in {all}");
        }
    }
}

/// The time for which an ask takes no keys, on a clock that the test sets.
#[test]
fn r16_an_ask_takes_keys_only_after_a_pause_in_typing() {
    const GRACE_MS: u64 = 350;
    let mut sitting = ChatHarness::new(ViewName::Transcript, Size::new(70, 20));
    let start = sitting.now;
    let option = |id: &'static str| AskOption { id: id.into(), label: id.into() };
    let ask = Ask {
        run: "r".into(),
        id: "a".into(),
        kind: AskKind::Tool,
        text: "write a note".into(),
        options: vec![option("allow"), option("deny")],
        digest: None,
        expires_at: None,
    };
    sitting.chat.apply_patch(&Patch::Ask(ask), start);
    let mut press = |key, at_ms| sitting.chat.handle_key(key, start + Duration::from_millis(at_ms));
    // Each ignored key restarts the pause.
    for n in 1..=3 {
        assert_eq!(press(KeyAction::Enter, n * (GRACE_MS - 1)), []);
    }
    let [Effect::AnswerAsk(answer)] = &press(KeyAction::Enter, 3 * (GRACE_MS - 1) + GRACE_MS)[..]
    else {
        panic!("Enter after the pause answers");
    };
    assert_eq!((&*answer.ask, &*answer.answer), ("a", "allow"));
}
