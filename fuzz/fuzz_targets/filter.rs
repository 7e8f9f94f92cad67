//! Any text, cut anywhere, is split the same way, and not a byte of it is lost.
#![no_main]

use std::sync::Arc;

use engine::ingest::filter::{Filter, Piece, StartsIn};
use libfuzzer_sys::fuzz_target;

/// Visible text, everything else, and all of it in order.
fn split<'t>(pieces: impl IntoIterator<Item = &'t str>) -> (String, String, String) {
    let mut filter = Filter::new(Arc::default(), StartsIn::Text);
    let mut split = (String::new(), String::new(), String::new());
    let mut out = |piece: Piece<'_>| {
        let text = match piece {
            Piece::Visible(text) => {
                split.0.push_str(text);
                text
            }
            Piece::Inside(_, text) | Piece::Markup(_, text) => {
                split.1.push_str(text);
                text
            }
        };
        split.2.push_str(text);
    };
    for piece in pieces {
        filter.push(piece, &mut out);
    }
    filter.end_message(&mut out);
    assert_eq!(filter.held_bytes(), 0);
    split
}

fuzz_target!(|input: (u16, u16, &str)| {
    let (one, two, text) = input;
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let one = boundary(usize::from(one) % (text.len() + 1));
    let two = boundary(one + usize::from(two) % (text.len() - one + 1)).max(one);
    let whole = split([text]);
    assert_eq!(whole.2, text);
    assert_eq!(split([&text[..one], &text[one..two], &text[two..]]), whole);
    let chars: Vec<String> = text.chars().map(String::from).collect();
    assert_eq!(split(chars.iter().map(String::as_str)), whole);
});
