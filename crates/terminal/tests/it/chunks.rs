//! Chunk boundaries never change the rows, and settled rows stay.

use millpond_terminal::limits::live_rows_max;
use millpond_terminal::markdown::{HyperlinkMode, MarkdownRenderer};
use millpond_terminal::row::Row;
use millpond_terminal::size::Size;
use millpond_terminal::text::clusters;
use proptest::prelude::*;

use crate::generators::{cut_lengths, cut_text, inline_text, markdown_text};
use crate::texts::{awkward_texts, find_corpus, markdown_examples};

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

/// A row may be too wide if not even one character fits after its prefix, or if it is one character
/// that is wider than the screen. Defect: the row of a closing fence is never wrapped.
fn may_be_too_wide(size: Size, row: &Row) -> bool {
    let text = row.text();
    let is_fence = text.starts_with("````") && text.chars().all(|char| char == '`');
    size.cols < 12 || clusters(text.trim()).count() == 1 || is_fence
}

/// Cut everywhere, by characters and by the given lengths.
#[track_caller]
fn check(size: Size, text: &str, lens: &[usize]) {
    let whole = settled_rows(size, &[text]);
    let fits = |row: &Row| row.width() <= usize::from(size.cols) || may_be_too_wide(size, row);
    let too_wide = whole.iter().find(|row| !fits(row));
    assert!(too_wide.is_none(), "{too_wide:?} of {size:?} {text:?}");
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
fn r5_every_markdown_example_cut_everywhere() {
    for text in markdown_examples() {
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
    let mut texts = vec![awkward_texts().join("\n")];
    let list = find_corpus().map(|corpus| corpus.join("naughty/blns.txt"));
    texts.extend(list.map(|file| std::fs::read_to_string(file).unwrap()));
    for text in texts {
        check(Size::new(40, 20), &text, &[7, 2, 31]);
    }
}

/// All examples one after the other are one long message.
#[test]
fn r5_one_long_message_of_everything() {
    let text = markdown_examples().join("\n\n");
    check(Size::new(80, 24), &text, &[5, 1, 9]);
}
