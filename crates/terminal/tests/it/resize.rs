//! Resizes while text arrives lose nothing and duplicate nothing.

use millpond_terminal::screen::TerminalFeatures;
use millpond_terminal::size::Size;
use proptest::prelude::*;

use crate::generators::cut_text;
use crate::mini_chat::{MiniChat, NEWLINE_INSERTION, SHELL_LINES};

/// Kind of a generated message.
#[derive(Clone, Copy, Debug)]
enum MessageKind {
    Prose,
    Bold,
    Table,
    Code,
    List,
    Cjk,
}

fn message_with_phrases(kind: MessageKind, count: usize) -> String {
    let phrases = (0..count).map(|n| format!("p{n}q"));
    match kind {
        MessageKind::Prose => phrases.map(|phrase| phrase + " ").collect(),
        MessageKind::Bold => {
            phrases.map(|phrase| format!("**{phrase} ") + &"x ".repeat(9)).collect()
        }
        MessageKind::Table => {
            let rows: String = phrases.map(|phrase| format!("| {phrase} | cell |\n")).collect();
            format!("| head | other |\n|---|---|\n{rows}\n")
        }
        MessageKind::Code => {
            let rows: String = phrases.map(|phrase| format!("    let {phrase} = 1;\n")).collect();
            format!("```rust\n{rows}```\n")
        }
        MessageKind::List => {
            phrases.map(|phrase| format!("- item {phrase} of the list\n")).collect()
        }
        MessageKind::Cjk => phrases.map(|phrase| format!("{phrase}水火木金土")).collect(),
    }
}

/// Checks that the shell's lines and every phrase can be copied exactly once.
#[track_caller]
fn check(session: &MiniChat, count: usize, story: &str) {
    let copied = session.emulator.copied_lines();
    assert_eq!(copied[..SHELL_LINES.len()], SHELL_LINES, "the shell's lines: {story}");
    let joined: String = copied.concat().split_whitespace().collect();
    for n in 0..count {
        let found = joined.matches(&format!("p{n}q")).count();
        assert_eq!(found, 1, "phrase {n}: {story}\n{copied:#?}");
    }
    assert_eq!(joined.matches(">input").count(), 1, "{story}\n{copied:#?}");
}

/// Step after a resize.
#[derive(Clone, Copy, Debug)]
enum AfterResize {
    Frame,
    /// More of the message or another resize, without a frame between.
    NoFrame,
}

fn apply_resize(session: &mut MiniChat, (size, then): (Size, AfterResize)) {
    match then {
        AfterResize::Frame => session.resize(size),
        AfterResize::NoFrame => session.resize_without_frame(size),
    }
}

/// Streams a message with resizes spread over it, and checks the result.
fn stream_with_resizes(
    features: TerminalFeatures,
    kind: MessageKind,
    count: usize,
    first: Size,
    len: usize,
    sizes: &[(Size, AfterResize)],
) {
    let text = message_with_phrases(kind, count);
    let parts = cut_text(&text, &[len]);
    let every = parts.len() / (sizes.len() + 1) + 1;
    let mut session = MiniChat::new(first, features);
    let mut next = sizes.iter();
    for (index, part) in parts.iter().enumerate() {
        session.push(part);
        if index % every == every - 1
            && let Some(&size) = next.next()
        {
            apply_resize(&mut session, size);
        }
    }
    session.finish();
    for &size in next {
        apply_resize(&mut session, size);
    }
    session.draw_and_check();
    check(&session, count, &format!("{kind:?} {count} {first:?} {len} {sizes:?}"));
}

const KINDS: [MessageKind; 6] = [
    MessageKind::Prose,
    MessageKind::Bold,
    MessageKind::Table,
    MessageKind::Code,
    MessageKind::List,
    MessageKind::Cjk,
];

#[test]
fn r4_widen_narrow_shrink_and_grow_during_everything() {
    let sizes = [(120, 24), (60, 24), (60, 12), (100, 30), (40, 10), (80, 24)];
    let sizes = sizes.map(|(cols, rows)| (Size::new(cols, rows), AfterResize::Frame));
    for kind in KINDS {
        for count in [5, 30, 200] {
            stream_with_resizes(
                TerminalFeatures::default(),
                kind,
                count,
                Size::new(80, 24),
                5,
                &sizes,
            );
            stream_with_resizes(NEWLINE_INSERTION, kind, count, Size::new(80, 24), 5, &sizes);
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
            (Size::new(cols, rows), if drawn { AfterResize::Frame } else { AfterResize::NoFrame })
        };
        let sizes: Vec<(Size, AfterResize)> = sizes.iter().map(sized).collect();
        let features = if regions { TerminalFeatures::default() } else { NEWLINE_INSERTION };
        stream_with_resizes(features, kind, count, Size::new(first.0, first.1), len, &sizes);
    }
}
