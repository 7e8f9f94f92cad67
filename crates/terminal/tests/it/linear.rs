//! The cost of a message grows linearly with its length.

use cpu_time::ThreadTime;
use millpond_terminal::markdown::{HyperlinkMode, MarkdownRenderer};
use millpond_terminal::screen::{Frame, FrameCursor, Screen, TerminalFeatures};
use millpond_terminal::size::Size;

use crate::mini_chat::SharedBuffer;

const SIZE: Size = Size { cols: 100, rows: 30 };
/// Bytes of one measured window.
const WINDOW_BYTES: usize = 3_000;
const WINDOWS: usize = 16;
/// The first windows are cheaper because nothing is held yet.
const WINDOWS_SKIPPED: usize = 2;
const FRAME_BYTES: usize = 30;
/// Allowed cost of a late window relative to an early one. Cost that grew with the message would
/// be three times or more.
const RATIO_MAX: f64 = 1.6;
const ROUNDS_MAX: usize = 6;

/// Measures the CPU time of each window of a message, drawn a few bytes per frame.
fn window_costs(text: &str) -> Vec<f64> {
    let wire = SharedBuffer::default();
    let mut screen = Screen::new(wire.clone(), SIZE, 0, TerminalFeatures::default());
    let mut markdown = MarkdownRenderer::new(SIZE, HyperlinkMode::Osc8);
    let mut show = |window: &[u8]| {
        let before = ThreadTime::now();
        for part in window.chunks(FRAME_BYTES) {
            markdown.push(std::str::from_utf8(part).unwrap());
            let settled = markdown.take_settled();
            let live = markdown.live_rows();
            screen
                .draw_frame(Frame { settled: &settled, live: &live, cursor: FrameCursor::Hidden })
                .unwrap();
            wire.take();
        }
        before.elapsed().as_secs_f64()
    };
    text.as_bytes().chunks_exact(WINDOW_BYTES).map(&mut show).collect()
}

#[track_caller]
fn check(name: &str, start: &str, part: &str) {
    let text = format!("{start}{}", part.repeat(WINDOW_BYTES * WINDOWS / part.len() + 1));
    // Other programs only add time: the minimum is the most accurate.
    let (mut early, mut late) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS_MAX {
        let costs = window_costs(&text);
        early = costs[WINDOWS_SKIPPED..WINDOWS / 2].iter().copied().fold(early, f64::min);
        late = costs[WINDOWS / 2..].iter().copied().fold(late, f64::min);
        if late <= RATIO_MAX * early {
            return;
        }
    }
    panic!("{name}: late text costs {:.2} times what early text costs", late / early);
}

#[test]
fn r7_one_long_message_costs_as_much_per_token_as_a_short_one() {
    check("paragraph", "", "some words of a paragraph ");
    check("fence", "```rust\n", "let x = \"y\"; // a line of code\n");
    check("line of code", "```rust\n", "let x = 1; ");
    check("table", "| a | b |\n|---|---|\n", "| some cell | another |\n");
    check("list", "", "- an item\n  - below it\n");
    check("word", "", "abcdefghij");
    check("quote", "", "> quoted\n");
}

#[test]
fn r7_texts_that_are_hard_to_decide_cost_no_more() {
    check("emphasis never closed", "", "**open and ");
    check("brackets", "", "[a ");
    check("nested brackets", "", "[");
    check("closing brackets", "", "[]");
    check("links never closed", "", "[a](b ");
    check("back-ticks", "", "`a ``b ");
    check("delimiters", "", "*a_ ");
    check("stars", "", "*");
    check("a head that is no table", "", "|a");
    check("angle brackets", "", "<https://");
    check("spaces", "", "a              ");
    check("nesting", "", "> - ");
    check("blank lines", "", "\n\n\n\n");
}

/// CPU time of a whole text that comes in one piece.
fn cost_in_one_piece(text: &str) -> f64 {
    let before = ThreadTime::now();
    let mut markdown = MarkdownRenderer::new(SIZE, HyperlinkMode::Osc8);
    markdown.push(text);
    markdown.take_settled();
    before.elapsed().as_secs_f64()
}

#[test]
fn r7_a_text_in_one_piece_costs_as_much_per_byte_as_a_short_one() {
    for part in ["*a **b ", "[a](", "`a ``b ", "**open and ", "<b ", "|a", "> *a ", "a\n", "&amp"] {
        let [short, long] = [2_000, 32_000].map(|bytes| part.repeat(bytes / part.len()));
        let cost =
            |text: &str| (0..ROUNDS_MAX).map(|_| cost_in_one_piece(text)).fold(f64::MAX, f64::min);
        let ratio = cost(&long) / 16.0 / cost(&short);
        // Cost that grew with the text would be sixteen.
        assert!(ratio < 4.0, "{part}: a byte of a long text costs {ratio:.2} times as much");
    }
}
