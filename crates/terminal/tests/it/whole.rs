//! The whole chat: pages as the engine makes them of recorded streams, keys between them, drawn on a
//! screen that an emulator shows.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::view::blob::Shown;
use engine::view::patch::{Patch, Settled};
use engine::view::{Item, Key as ItemKey, Kind, Picture, State, ViewName};
use proptest::prelude::*;
use terminal::chat::Chat;
use terminal::graphics::{Art, CellSize, Graphics};
use terminal::input::editor::Motion;
use terminal::input::history::History;
use terminal::input::keys::Key;
use terminal::limits::live_rows_max;
use terminal::links::Links;
use terminal::page::{Fetched, Look};
use terminal::screen::{Cursor, Features, Frame, Screen};
use terminal::size::Size;

use crate::emulator::Emulator;
use crate::session::{SHELL, Wire, check_bytes};

/// Patches of a view, as the goldens of the engine have them.
fn patches(file: &Path, view: ViewName) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix(view.as_str())?.strip_prefix(' '));
    lines.filter(|line| !line.starts_with("= ")).map(str::to_owned).collect()
}

fn goldens() -> Vec<PathBuf> {
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

struct Sitting {
    chat: Chat,
    screen: Screen<Wire>,
    wire: Wire,
    emulator: Emulator,
    /// What has been seen above the live region.
    above: Vec<String>,
    /// Pictures on their way.
    wanted: Vec<String>,
    now: Instant,
}

impl Sitting {
    fn new(view: ViewName, size: Size) -> Sitting {
        let mut emulator = Emulator::new(size);
        for line in SHELL {
            emulator.feed(format!("{line}\r\n").as_bytes());
        }
        let wire = Wire::default();
        let (row, _) = emulator.cursor();
        let look = Look { size, links: Links::Behind };
        Sitting {
            chat: Chat::new(view, look, History::new(&[]), "no folder".into()),
            screen: Screen::new(wire.clone(), size, row, Features::default()),
            wire,
            emulator,
            above: Vec::new(),
            wanted: Vec::new(),
            now: Instant::now(),
        }
    }

    fn patch(&mut self, data: &str) {
        self.now += Duration::from_millis(20);
        self.chat.patch(data, self.now).unwrap();
        self.wanted.append(&mut self.chat.take_wanted_pictures());
    }

    /// One of those that are on their way; says whether any was.
    fn picture_comes(&mut self) -> bool {
        let Some(name) = self.wanted.pop() else { return false };
        self.chat.picture_came(&name, Fetched::Not("it is not here".to_owned()));
        self.wanted.append(&mut self.chat.take_wanted_pictures());
        true
    }

    /// Draws what there is, and checks what must hold of every frame.
    fn frame(&mut self) {
        let settled = self.chat.take_settled();
        let live = self.chat.live(self.now);
        let most = live_rows_max(self.screen.size());
        assert!(live.rows.len() <= most, "{} live rows", live.rows.len());
        let frame = Frame { settled: &settled, live: &live.rows, cursor: live.cursor };
        self.screen.draw(frame).unwrap();
        let bytes = self.wire.take();
        check_bytes(&bytes);
        self.emulator.feed(&bytes);
        let Cursor::At { row, .. } = live.cursor else { panic!("the cursor is hidden") };
        let top = usize::from(self.emulator.cursor().0) - row;
        let now = self.emulator.copied_above(top);
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
        let scrolled_away = self.screen.resize(size, row).scrolled_away;
        self.chat.resize(Look { size, links: Links::Behind }, scrolled_away);
    }
}

/// Everything that is there in the end, when frames are drawn after so many patches.
fn in_the_end(patches: &[String], view: ViewName, size: Size, every: usize) -> Vec<String> {
    let mut sitting = Sitting::new(view, size);
    sitting.frame();
    for (at, patch) in patches.iter().enumerate() {
        sitting.patch(patch);
        while sitting.picture_comes() {}
        if at % every == 0 {
            sitting.frame();
        }
    }
    sitting.frame();
    let mut lines = sitting.emulator.copied();
    // Rows that were live and are not any more.
    lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
    lines
}

#[test]
fn r5_r6_every_recorded_run_in_every_view_however_often_it_is_drawn() {
    const SIZE: Size = Size { cols: 60, rows: 16 };
    for file in goldens() {
        for view in ViewName::ALL {
            let patches = patches(&file, view);
            // The longest would take longer than all others together.
            let often = patches.len().div_ceil(150).max(1);
            let seen = in_the_end(&patches, view, SIZE, often);
            let at_once = in_the_end(&patches, view, SIZE, usize::MAX);
            assert_eq!(seen, at_once, "{view:?} {}", file.display());
        }
    }
}

/// Something a person or their window does between two patches.
#[derive(Clone, Copy, Debug)]
enum Doing {
    Nothing,
    Draw,
    Type(char),
    Erase,
    Complete,
    PictureComes,
    Resize(u16, u16),
}

fn doing() -> impl Strategy<Value = Doing> {
    prop_oneof![
        4 => Just(Doing::Nothing),
        6 => Just(Doing::Draw),
        2 => prop::sample::select(vec!['/', 'v', ' ', '@', 'x', '水']).prop_map(Doing::Type),
        1 => Just(Doing::Erase),
        1 => Just(Doing::Complete),
        1 => Just(Doing::PictureComes),
        1 => (20u16..100, 5u16..30).prop_map(|(cols, rows)| Doing::Resize(cols, rows)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r6_the_scrollback_is_a_prefix_of_the_scrollback_later(
        file in prop::sample::select(goldens()),
        view in prop::sample::select(ViewName::ALL.to_vec()),
        types in any::<bool>(),
        doings in prop::collection::vec(doing(), 120),
    ) {
        let mut sitting = Sitting::new(view, Size::new(70, 20));
        sitting.frame();
        let patches = patches(&file, view);
        let each = patches.len().div_ceil(doings.len()).max(1);
        for (patches, doing) in patches.chunks(each).zip(&doings) {
            for patch in patches {
                sitting.patch(patch);
            }
            match *doing {
                Doing::Type(_) | Doing::Erase | Doing::Complete if !types => {}
                Doing::Nothing => {}
                Doing::Draw => sitting.frame(),
                Doing::Type(character) => drop(sitting.chat.key(Key::Character(character), sitting.now)),
                Doing::Erase => drop(sitting.chat.key(Key::Delete(Motion::Left), sitting.now)),
                Doing::Complete => drop(sitting.chat.key(Key::Complete, sitting.now)),
                Doing::PictureComes => drop(sitting.picture_comes()),
                // Rows of a menu in a window that gets too small for it may be left behind.
                Doing::Resize(..) if types => {}
                Doing::Resize(cols, rows) => {
                    sitting.resize(Size::new(cols, rows));
                    sitting.frame();
                }
            }
        }
        sitting.frame();
    }
}

/// Items with a picture each, some of them taller than the screen with all that is live.
fn illustrated(count: u32) -> Picture {
    let mut picture = Picture::default();
    for number in 0..count {
        let mut item = Item::new(Kind::Tool, "r", "t");
        item.name = Some(format!("tool {number}").into());
        item.state = State::Done;
        let reference = format!("sha256:{number:064x}").into();
        item.images.push(Shown { reference, media_type: Some("image/png".into()) });
        picture.apply(&Patch::Put { key: ItemKey(number), item });
    }
    picture.apply(&Patch::Settle(Settled { count, bytes: 0 }));
    picture
}

const LABEL: &str = "  ▣ image/png /p.png";

fn art(size: Size) -> Arc<Art> {
    let mut png = Vec::new();
    let pixels = image::RgbaImage::from_pixel(300, 120, image::Rgba([9, 9, 9, 255]));
    pixels.write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png).unwrap();
    let cell = CellSize { width: 10, height: 20 };
    Arc::new(Art::new(&png, Graphics::Kitty, cell, size).unwrap())
}

#[test]
fn pictures_are_drawn_where_their_rows_are() {
    for rows in [9, 14, 40] {
        let size = Size::new(50, rows);
        let art = art(size);
        let mut sitting = Sitting::new(ViewName::Transcript, size);
        sitting.frame();
        sitting.chat.put(illustrated(5), sitting.now);
        let mut wanted = sitting.chat.take_wanted_pictures();
        assert_eq!(wanted.len(), 5, "none waits for another");
        wanted.reverse();
        for name in wanted {
            assert!(sitting.chat.take_settled().is_empty(), "the first has not come");
            let file = "/p.png".into();
            let fetched = Fetched::Here { file, art: Some(Arc::clone(&art)) };
            sitting.chat.picture_came(&name, fetched);
        }
        let settled = sitting.chat.take_settled();
        let live = sitting.chat.live(sitting.now);
        let frame = Frame { settled: &settled, live: &live.rows, cursor: live.cursor };
        sitting.screen.draw(frame).unwrap();
        let bytes = String::from_utf8(sitting.wire.take()).unwrap();
        check_bytes(bytes.as_bytes());
        // The emulator would wait for the end of the frame.
        let bytes = bytes.replace("\x1b[?2026h", "").replace("\x1b[?2026l", "");
        let mut parts = bytes.split(art.sequence());
        sitting.emulator.feed(parts.next().unwrap().as_bytes());
        let mut drawn = 0;
        for part in parts {
            let (row, col) = sitting.emulator.cursor();
            let screen = sitting.emulator.rows();
            assert_eq!(col, 0);
            let covered = &screen[usize::from(row)..usize::from(row) + art.rows()];
            assert!(covered.iter().all(String::is_empty), "{row} of {screen:#?}");
            let above = screen.get(usize::from(row).wrapping_sub(1));
            assert!(above.is_none_or(|row| row == LABEL), "{row} of {screen:#?}");
            sitting.emulator.feed(part.as_bytes());
            drawn += 1;
        }
        assert_eq!(drawn, 5);
        let all = sitting.emulator.copied().join("\n");
        let gap = "\n".repeat(art.rows() + 1);
        for number in 0..4 {
            let next = number + 1;
            let expected = format!("● tool {number}\n{LABEL}\n{gap}● tool {next}\n");
            assert!(all.contains(&expected), "{number} in {all}");
        }
    }
}
