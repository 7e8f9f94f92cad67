//! What a message costs does not grow faster than the message.

use cpu_time::ThreadTime;
use terminal::markdown::{Links, Markdown};
use terminal::screen::{Cursor, Features, Frame, Screen};
use terminal::size::Size;

use crate::session::Wire;

const SIZE: Size = Size { cols: 100, rows: 30 };
/// Bytes of the shorter message.
const BYTES: usize = 20_000;
const FRAME_BYTES: usize = 30;
/// Twice the text may cost so many times the time.
const RATIO_MAX: f64 = 2.5;
const ROUNDS_MAX: usize = 10;

/// Processor time of showing a message, a few bytes to the frame.
fn cost(text: &str) -> f64 {
    let before = ThreadTime::now();
    let wire = Wire::default();
    let mut screen = Screen::new(wire.clone(), SIZE, 0, Features::default());
    let mut markdown = Markdown::new(SIZE, Links::Behind);
    for part in text.as_bytes().chunks(FRAME_BYTES) {
        markdown.push(std::str::from_utf8(part).unwrap());
        let settled = markdown.take_settled();
        let live = markdown.live();
        screen.draw(Frame { settled: &settled, live: &live, cursor: Cursor::Hidden }).unwrap();
        wire.take();
    }
    before.elapsed().as_secs_f64()
}

#[track_caller]
fn check(name: &str, start: &str, part: &str) {
    let text = |bytes: usize| format!("{start}{}", part.repeat(bytes / part.len()));
    let (short, long) = (text(BYTES), text(2 * BYTES));
    // Other programs can only add to the time: the least of a few is the truest.
    let (mut least_short, mut least_long) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS_MAX {
        least_short = least_short.min(cost(&short));
        least_long = least_long.min(cost(&long));
        if least_long <= RATIO_MAX * least_short {
            return;
        }
    }
    let ratio = least_long / least_short;
    panic!("{name}: twice the text costs {ratio:.2} times the time");
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
