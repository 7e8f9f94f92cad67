use proptest::prelude::*;

use super::*;

fn wrap_pieces<'a>(cols: usize, pieces: impl IntoIterator<Item = &'a str>) -> Vec<Row> {
    let mut out = Vec::new();
    let mut wrap =
        LineWrapper::new(cols, Row::from_text("- ", Style::DIM), Row::from_text("  ", Style::DIM));
    for piece in pieces {
        wrap.push(piece, Style::PLAIN, None, &mut out);
    }
    wrap.finish(&mut out);
    out
}

/// Wraps `text` whole, cut everywhere, and character by character.
#[track_caller]
fn check(cols: usize, text: &str, expected: &[&str]) {
    let whole = wrap_pieces(cols, [text]);
    assert_eq!(whole.iter().map(Row::text).collect::<Vec<_>>(), expected);
    for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
        assert_eq!(wrap_pieces(cols, [&text[..at], &text[at..]]), whole, "cut at {at}");
    }
    let chars = text.char_indices().map(|(at, char)| &text[at..at + char.len_utf8()]);
    assert_eq!(wrap_pieces(cols, chars), whole, "character by character");
}

#[test]
fn words_go_where_they_fit_first() {
    check(10, "one two three four", &["- one two", "  three", "  four"]);
}

#[test]
fn a_word_that_fits_nowhere_is_broken_at_the_edge() {
    check(8, "a bcdefghijk l", &["- a", "  bcdefg", "  hijk l"]);
}

#[test]
fn chinese_breaks_between_characters_but_not_before_a_stop() {
    check(9, "水水水水。水", &["- 水水水", "  水。水"]);
}

#[test]
fn an_address_is_not_broken_where_a_row_can_hold_it() {
    check(20, "see https://a.b/ż/c ok", &["- see", "  https://a.b/ż/c ok"]);
}

#[test]
fn a_cluster_is_never_split() {
    let family = "👩\u{200d}👩\u{200d}👧";
    check(9, &format!("abcd{family}"), &["- abcd", &format!("  {family}")]);
}

#[test]
fn a_cell_too_wide_for_any_row_is_still_shown() {
    check(3, "水水", &["- 水", "  水"]);
}

#[test]
fn another_width_changes_only_what_is_held() {
    let mut out = Vec::new();
    let mut wrap = LineWrapper::new(10, Row::default(), Row::default());
    wrap.push("aaaa bbbb cccc dd", Style::PLAIN, None, &mut out);
    wrap.resize(6, &mut out);
    wrap.push("d e", Style::PLAIN, None, &mut out);
    wrap.finish(&mut out);
    let texts: Vec<_> = out.iter().map(Row::text).collect();
    assert_eq!(texts, ["aaaa bbbb", "cccc", "ddd e"]);
}

#[test]
fn a_row_ends_where_the_next_character_did_not_fit() {
    check(6, "שלום|שלום- some", &["- שלום", "  |", "  שלום", "  -", "  some"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn how_a_text_arrives_changes_no_row(
        text in proptest::collection::vec(proptest::sample::select(vec![
            "a", "ש", "水", "。", "ж", "ก", "-", "|", "/", ".", "!", "(", ")", "1", " ", "  ", "é",
            "e\u{301}", "\u{200b}", "\u{200d}", "\u{2060}", "\u{a0}", "👩\u{200d}👧", "🇵🇱", "🇵", "☝\u{fe0f}", "☝", "—", "«", "://",
        ]), 0..24),
        cols in 3..14_usize,
        cut in 0..24_usize,
    ) {
        let whole = wrap_pieces(cols, [text.concat().as_str()]);
        let (front, back) = text.split_at(cut.min(text.len()));
        let (front, back) = (front.concat(), back.concat());
        prop_assert_eq!(&wrap_pieces(cols, [front.as_str(), back.as_str()]), &whole);
        let joined = text.concat();
        let chars = joined.char_indices().map(|(at, char)| &joined[at..at + char.len_utf8()]);
        prop_assert_eq!(&wrap_pieces(cols, chars), &whole, "character by character");
    }
}
