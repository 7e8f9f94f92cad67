//! Chunk boundaries never change the rows, and settled rows stay.

use millpond_terminal::limits::live_rows_max;
use millpond_terminal::markdown::{HyperlinkMode, MarkdownRenderer};
use millpond_terminal::row::Row;
use millpond_terminal::size::Size;
use proptest::prelude::*;

use crate::corpus::{corpus_folder, read_all_examples};
use crate::generators::{cut_lengths, cut_text, inline_text, markdown_text};

fn settled_rows(size: Size, parts: &[&str]) -> Vec<Row> {
    let mut markdown = MarkdownRenderer::new(size, HyperlinkMode::Osc8);
    let mut settled = Vec::new();
    for part in parts {
        markdown.push(part);
        // Looking at it changes nothing.
        let _ = markdown.live_rows();
        settled.extend(markdown.take_settled());
    }
    markdown.finish();
    settled.extend(markdown.take_settled());
    settled
}

/// Cut everywhere, by characters and by the given lengths.
#[track_caller]
fn check(size: Size, text: &str, lens: &[usize]) {
    let whole = settled_rows(size, &[text]);
    // A row may be too wide if not even one character fits after its prefix.
    let fits = |row: &Row| size.cols < 12 || row.width() <= usize::from(size.cols);
    assert!(whole.iter().all(fits), "{size:?} {text:?}");
    assert_eq!(settled_rows(size, &cut_text(text, &[1])), whole, "{size:?} {text:?} by characters");
    assert_eq!(settled_rows(size, &cut_text(text, lens)), whole, "{size:?} {text:?} by {lens:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r5_any_cut_gives_the_same_rows(text in markdown_text(), lens in cut_lengths(), cols in 2..60_u16, rows in 1..30_u16) {
        check(Size::new(cols, rows), &text, &lens);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r5_also_where_much_is_undecided(text in inline_text(), lens in cut_lengths(), cols in 6..30_u16, rows in 1..12_u16) {
        check(Size::new(cols, rows), &text, &lens);
    }

    /// At most one and a half screens are held: ragged rows count as full in the limit.
    #[test]
    fn what_is_held_is_bounded_by_the_screen(text in markdown_text(), cols in 30..100_u16, rows in 12..40_u16) {
        let size = Size::new(cols, rows);
        let mut markdown = MarkdownRenderer::new(size, HyperlinkMode::Osc8);
        for part in cut_text(&text.repeat(5), &[7]) {
            markdown.push(part);
            let live = markdown.live_rows().len();
            prop_assert!(live <= live_rows_max(size) * 3 / 2, "{live} rows are live: {text:?}");
        }
    }
}

#[test]
fn r5_every_example_of_the_specifications_cut_everywhere() {
    let Some(corpus) = corpus_folder("any cut of the specifications' examples") else { return };
    for text in read_all_examples(&corpus) {
        let size = Size::new(30, 12);
        let whole = settled_rows(size, &[&text]);
        for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
            assert_eq!(
                settled_rows(size, &[&text[..at], &text[at..]]),
                whole,
                "{text:?} cut at {at}"
            );
        }
        check(size, &text, &[3]);
    }
}

#[test]
fn r5_texts_that_break_programs_cut_by_characters() {
    let Some(corpus) = corpus_folder("any cut of naughty strings") else { return };
    let text = std::fs::read_to_string(corpus.join("naughty/blns.txt")).unwrap();
    check(Size::new(40, 20), &text, &[7, 2, 31]);
}

/// All examples one after the other are one long message.
#[test]
fn r5_one_long_message_of_everything() {
    let Some(corpus) = corpus_folder("all examples as one message") else { return };
    let text = read_all_examples(&corpus).join("\n\n");
    check(Size::new(80, 24), &text, &[5, 1, 9]);
}
