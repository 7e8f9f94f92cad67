//! The window changes its size while text arrives: nothing is missing, nothing is there twice.

use proptest::prelude::*;
use terminal::screen::Features;
use terminal::size::Size;

use crate::generate::cut;
use crate::session::{NEWLINES, SHELL, Session};

/// A message of one kind with `count` phrases that occur once.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Prose,
    Bold,
    Table,
    Code,
    List,
    Cjk,
}

fn message(kind: Kind, count: usize) -> String {
    let phrases = (0..count).map(|n| format!("p{n}q"));
    match kind {
        Kind::Prose => phrases.map(|phrase| phrase + " ").collect(),
        Kind::Bold => phrases.map(|phrase| format!("**{phrase} ") + &"x ".repeat(9)).collect(),
        Kind::Table => {
            let rows: String = phrases.map(|phrase| format!("| {phrase} | cell |\n")).collect();
            format!("| head | other |\n|---|---|\n{rows}\n")
        }
        Kind::Code => {
            let rows: String = phrases.map(|phrase| format!("    let {phrase} = 1;\n")).collect();
            format!("```rust\n{rows}```\n")
        }
        Kind::List => phrases.map(|phrase| format!("- item {phrase} of the list\n")).collect(),
        Kind::Cjk => phrases.map(|phrase| format!("{phrase}水火木金土")).collect(),
    }
}

/// Everything can be read back once: what the shell printed, and every phrase.
#[track_caller]
fn check(session: &Session, count: usize, story: &str) {
    let copied = session.emulator.copied();
    assert_eq!(copied[..SHELL.len()], SHELL, "the shell's lines: {story}");
    let joined: String = copied.concat().split_whitespace().collect();
    for n in 0..count {
        let found = joined.matches(&format!("p{n}q")).count();
        assert_eq!(found, 1, "phrase {n}: {story}\n{copied:#?}");
    }
    assert_eq!(joined.matches(">input").count(), 1, "{story}\n{copied:#?}");
}

/// What comes after a resize.
#[derive(Clone, Copy, Debug)]
enum Then {
    Frame,
    /// More of the message or another resize, before anything is drawn.
    More,
}

fn resize(session: &mut Session, (size, then): (Size, Then)) {
    match then {
        Then::Frame => session.resize(size),
        Then::More => session.resize_undrawn(size),
    }
}

/// Streams with a resize after every so many chunks.
fn run(
    features: Features,
    kind: Kind,
    count: usize,
    first: Size,
    len: usize,
    sizes: &[(Size, Then)],
) {
    let text = message(kind, count);
    let parts = cut(&text, &[len]);
    let every = parts.len() / (sizes.len() + 1) + 1;
    let mut session = Session::new(first, features);
    let mut next = sizes.iter();
    for (index, part) in parts.iter().enumerate() {
        session.push(part);
        if index % every == every - 1
            && let Some(&size) = next.next()
        {
            resize(&mut session, size);
        }
    }
    session.finish();
    for &size in next {
        resize(&mut session, size);
    }
    session.frame();
    check(&session, count, &format!("{kind:?} {count} {first:?} {len} {sizes:?}"));
}

const KINDS: [Kind; 6] = [Kind::Prose, Kind::Bold, Kind::Table, Kind::Code, Kind::List, Kind::Cjk];

#[test]
fn r4_widen_narrow_shrink_and_grow_during_everything() {
    let sizes = [(120, 24), (60, 24), (60, 12), (100, 30), (40, 10), (80, 24)];
    let sizes = sizes.map(|(cols, rows)| (Size::new(cols, rows), Then::Frame));
    for kind in KINDS {
        for count in [5, 30, 200] {
            run(Features::default(), kind, count, Size::new(80, 24), 5, &sizes);
            run(NEWLINES, kind, count, Size::new(80, 24), 5, &sizes);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r4_any_resizes(
        kind in prop::sample::select(&KINDS[..]), count in 1..60_usize, len in 1..12_usize,
        first in (20..90_u16, 6..30_u16), regions in any::<bool>(),
        sizes in prop::collection::vec((20..90_u16, 6..30_u16, any::<bool>()), 1..6),
    ) {
        let sized = |&(cols, rows, drawn): &(u16, u16, bool)| {
            (Size::new(cols, rows), if drawn { Then::Frame } else { Then::More })
        };
        let sizes: Vec<(Size, Then)> = sizes.iter().map(sized).collect();
        let features = if regions { Features::default() } else { NEWLINES };
        run(features, kind, count, Size::new(first.0, first.1), len, &sizes);
    }
}
