use super::*;
use crate::row::RowStart;

const SIZE: Size = Size { cols: 24, rows: 12 };

fn rows<'a>(size: Size, chunks: impl IntoIterator<Item = &'a str>) -> Vec<Row> {
    let mut markdown = MarkdownRenderer::new(size, HyperlinkMode::Osc8);
    for chunk in chunks {
        markdown.push(chunk);
    }
    markdown.finish();
    markdown.take_settled()
}

/// Reads `text` whole, cut everywhere, and character by character.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let whole = rows(SIZE, [text]);
    assert_eq!(whole.iter().map(Row::text).collect::<Vec<_>>(), expected, "{text:?}");
    for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
        assert_eq!(rows(SIZE, [&text[..at], &text[at..]]), whole, "{text:?} cut at {at}");
    }
    let chars = text.char_indices().map(|(at, char)| &text[at..at + char.len_utf8()]);
    assert_eq!(rows(SIZE, chars), whole, "{text:?} by characters");
}

#[test]
fn paragraphs_and_headings() {
    check(
        "# Title ##\n\nOne two three four five six.\nMore.",
        &["Title", "", "One two three four five", "six. More."],
    );
    check("Title\n===\ntext", &["Title", "text"]);
    check("a\n---\nb", &["a", "b"]);
    check("a\n\n---\n\nb", &["a", "", "────────────────────────", "", "b"]);
    check("#no\n####### no", &["#no ####### no"]);
}

#[test]
fn lists_stand_together() {
    check(
        "Text:\n- one\n- two\n\n- three\n  more\n\nAfter",
        &["Text:", "• one", "• two", "• three more", "", "After"],
    );
    check("1. one\n   - in\n   - side\n2. two", &["1. one", "   • in", "   • side", "2. two"]);
    check("- [ ] open\n- [x] done\n- [y] no", &["☐ open", "☑ done", "• [y] no"]);
    check("-\n- a", &["• ", "• a"]);
    check("- a long item that goes on", &["• a long item that goes", "  on"]);
    check("a\n2. b", &["a 2. b"]);
}

#[test]
fn quotes_keep_their_bar() {
    check("> one\n> two\nlazy\n\nafter", &["│ one two lazy", "", "after"]);
    check("> - a\n>\n> b", &["│ • a", "│ ", "│ b"]);
}

#[test]
fn code_has_nothing_before_it() {
    check(
        "```rust\nlet a = 1;\n\n\tb\n```\nafter",
        &["```rust", "let a = 1;", "", "\tb", "```", "after"],
    );
    check(
        "- item\n  ```\n  code\n    more\n  ```\n- next",
        &["• item", "```", "code", "  more", "```", "• next"],
    );
    check("~~~\n```\n~~~", &["~~~", "```", "~~~"]);
    check("```\nopen", &["```", "open"]);
    check("    indented\n    more", &["indented", "more"]);
}

#[test]
fn tables_are_laid_out() {
    check(
        "| a | bb |\n|---|---:|\n| ccc | d |\n\nend",
        &["a   │ bb", "────┼───", "ccc │  d", "", "end"],
    );
    check("a | b\n- | -\nc | d", &["a │ b", "──┼──", "c │ d"]);
    check("Text:\n| a |\n|---|\n| b |", &["Text:", "a", "─", "b"]);
    check("| not | a table |\nmore", &["| not | a table | more"]);
    let escaped = "| x\\|y | `a\\|b` |\n|-|-|\n|1|2|3|";
    check(escaped, &["x|y │ a|b", "────┼──────", "1   │ 2 | 3"]);
}

#[test]
fn lines_are_what_markdown_says_they_are() {
    check("| a |\n---\nb", &["| a |", "b"]);
    check("a | b\n- | -\n    c | d", &["a │ b", "──┼──", "c │ d"]);
    check("-\n\n  a", &["• ", "", "a"]);
}

#[test]
fn a_table_that_cannot_stand_side_by_side_is_records() {
    let head = "|a|b|c|d|e|\n|-|-|-|-|-|\n|1|2|3|4|5|\n|6|7|8|9|0|";
    check(
        head,
        &["a: 1", "b: 2", "c: 3", "d: 4", "e: 5", "", "a: 6", "b: 7", "c: 8", "d: 9", "e: 0"],
    );
}

#[test]
fn a_narrow_table_without_rows_still_shows_its_head() {
    check("|a|b|c|d|e|\n|-|-|-|-|-|\n", &["a:", "b:", "c:", "d:", "e:"]);
}

#[test]
fn a_table_taller_than_the_screen_is_frozen() {
    let mut text = "|a|b|\n|-|-|\n".to_owned();
    text.extend((0..20).map(|line| format!("|{line}|x|\n")));
    text.push_str("|wide cell here|y|\n");
    let found = rows(SIZE, [text.as_str()]);
    assert_eq!(found[0].text(), "a          │ b");
    let last: Vec<_> = found[22..].iter().map(Row::text).collect();
    assert_eq!(last, ["wide cell  │ y", "here       │ "], "widths that are frozen stay");
    check(&text, &found.iter().map(Row::text).collect::<Vec<_>>());
}

#[test]
fn control_characters_are_shown() {
    check("a\x1b[31mb\r\nc", &["a␛[31mb c"]);
}

#[test]
fn live_rows_are_what_would_settle_now() {
    let mut markdown = MarkdownRenderer::new(SIZE, HyperlinkMode::Osc8);
    markdown.push("One two three four five six **se");
    let settled: Vec<String> =
        markdown.take_settled().iter().map(|row| row.text().to_owned()).collect();
    assert_eq!(settled, ["One two three four five"]);
    let live = markdown.live_rows();
    assert_eq!(live.iter().map(Row::text).collect::<Vec<_>>(), ["six se"]);
    assert_eq!(live[0].row_start(), RowStart::AfterSpace);
}

#[test]
fn what_scrolled_away_is_not_handed_out_again() {
    let mut markdown = MarkdownRenderer::new(SIZE, HyperlinkMode::Osc8);
    markdown.push("|a|\n|-|\n|1|\n|2|\n");
    assert!(markdown.take_settled().is_empty());
    markdown.settle_as_shown_and_drop_rows(2);
    markdown.push("|3|\n");
    markdown.finish();
    let rest: Vec<_> = markdown.take_settled().iter().map(|row| row.text().to_owned()).collect();
    assert_eq!(rest, ["1", "2", "3"]);
}
