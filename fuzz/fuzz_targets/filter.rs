//! The filter splits arbitrary text the same way however it is cut, and loses no byte, with and
//! without control words.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use millpond_engine::filter::{ControlMeaning, ControlWord, Filter, FilterStart, Piece};

/// Returns the visible text, the hidden text, and all text in order.
fn split_text<'t>(
    mut filter: Filter,
    pieces: impl IntoIterator<Item = &'t str>,
) -> (String, String, String) {
    let mut split = (String::new(), String::new(), String::new());
    let mut out = |piece: Piece<'_>| {
        let text = match piece {
            Piece::Visible(text) => {
                split.0.push_str(text);
                text
            }
            Piece::HiddenContent(_, text)
            | Piece::Markup(_, text)
            | Piece::ControlWord(_, text) => {
                split.1.push_str(text);
                text
            }
        };
        split.2.push_str(text);
    };
    for piece in pieces {
        filter.push(piece, &mut out);
    }
    filter.end_message_keeping_open_tag(&mut out);
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
    let chars: Vec<String> = text.chars().map(String::from).collect();
    for words in [&[][..], &["!isfinish"], &["!a", "!a!b", "#a", "-", "1.", "b!"]] {
        let word = |word: &&str| ControlWord::new(word, ControlMeaning::Finish).unwrap();
        let words: Vec<ControlWord> = words.iter().map(word).collect();
        let filter = Filter::with_control_words(Arc::default(), FilterStart::Text, &words);
        let whole = split_text(filter.clone(), [text]);
        assert_eq!(whole.2, text);
        let cut = [&text[..one], &text[one..two], &text[two..]];
        assert_eq!(split_text(filter.clone(), cut), whole);
        assert_eq!(split_text(filter, chars.iter().map(String::as_str)), whole);
    }
});
