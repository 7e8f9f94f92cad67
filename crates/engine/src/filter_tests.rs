//! Tests of what the filter hides and shows, for every cut of the text.

#[path = "filter_tests/code.rs"]
mod code;
#[path = "filter_tests/control_marks.rs"]
mod control_marks;
#[path = "filter_tests/generated.rs"]
mod generated;
#[path = "filter_tests/lines.rs"]
mod lines;
#[path = "filter_tests/parser.rs"]
mod parser;
#[path = "filter_tests/tags.rs"]
mod tags;
#[path = "filter_tests/words.rs"]
mod words;

use super::*;

/// Output of the filter, joined per kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FilteredText {
    visible: String,
    reasoning: String,
    other_hidden: String,
    words: String,
    /// All pieces in order; must equal the input.
    all: String,
}

fn filter_chunks<'t>(
    pieces: impl IntoIterator<Item = &'t str>,
    starts_in: FilterStart,
) -> FilteredText {
    filter_chunks_with(Filter::new(Arc::default(), starts_in), pieces)
}

fn filter_chunks_with<'t>(
    mut filter: Filter,
    pieces: impl IntoIterator<Item = &'t str>,
) -> FilteredText {
    let mut split = FilteredText::default();
    {
        let mut out = |piece: Piece<'_>| {
            let (to, text) = match piece {
                Piece::Visible(text) => (&mut split.visible, text),
                Piece::HiddenContent(TagClass::Reasoning, text) => (&mut split.reasoning, text),
                Piece::HiddenContent(_, text)
                | Piece::Markup(_, text)
                | Piece::UnopenedThoughtEnd(text) => (&mut split.other_hidden, text),
                Piece::ControlWord(_, text) => (&mut split.words, text),
            };
            assert!(!text.is_empty(), "a piece of nothing");
            to.push_str(text);
            split.all.push_str(text);
        };
        for piece in pieces {
            filter.push(piece, &mut out);
        }
        filter.end_message_keeping_open_tag(&mut out);
    }
    assert_eq!(filter.held_bytes(), 0);
    split
}

/// Filters `input` whole, cut at every two places and character by character; all must agree.
#[track_caller]
fn check_with(filter: &Filter, input: &str, visible: &str) -> FilteredText {
    let split = |pieces: &[&str]| filter_chunks_with(filter.clone(), pieces.iter().copied());
    let whole = split(&[input]);
    assert_eq!(whole.visible, visible, "whole: {input:?}");
    assert_eq!(whole.all, input, "a byte was lost or doubled");
    let cuts: Vec<usize> = (0..=input.len()).filter(|&at| input.is_char_boundary(at)).collect();
    for &first in &cuts {
        for &second in cuts.iter().filter(|&&second| first <= second) {
            let pieces = [&input[..first], &input[first..second], &input[second..]];
            assert_eq!(split(&pieces), whole, "cut at {first} and {second}: {input:?}");
        }
    }
    let chars: Vec<&str> = cuts.windows(2).map(|pair| &input[pair[0]..pair[1]]).collect();
    assert_eq!(split(&chars), whole, "character by character: {input:?}");
    whole
}

#[track_caller]
fn check_starting(starts_in: FilterStart, input: &str, visible: &str) -> FilteredText {
    check_with(&Filter::new(Arc::default(), starts_in), input, visible)
}

#[track_caller]
fn check(input: &str, visible: &str) {
    check_starting(FilterStart::Text, input, visible);
}

#[track_caller]
fn check_unchanged(input: &str) {
    check(input, input);
}

#[test]
fn x4_text_between_tags_is_joined() {
    check("pre<think>x</think>mid<think>y</think>post", "premidpost");
}

#[test]
fn x4_a_stray_close_is_swallowed_and_nothing_around_it() {
    check("Use the </think> tag in prose", "Use the  tag in prose");
}

#[test]
fn x3_white_space_in_a_tag_may_be_any_of_unicode() {
    for space in ['\u{a0}', '\u{85}', '\u{1680}', '\u{2009}', '\u{202f}', '\u{3000}'] {
        check(&format!("a<{space}think{space}>x<{space}/{space}think{space}>b"), "ab");
        check(&format!("a< think {space}>x< / think {space}>b"), "ab");
        check(&format!("a<think {space}/{space}>b"), "ab");
    }
    check("a<think é=\"1\" 𝛼>x</think>b", "ab");
    for text in ["a<é think>b", "a<thinké>b", "a<think\u{a0}", "a<\u{2003}", "a<think𝛼>b"] {
        check_unchanged(text);
    }
}

#[test]
fn x4_no_clean_up_edits_the_text() {
    for text in ["Total: $100", "well", "Done!!", "x = 1\nx = 1\n```\n", "a\n\n\n\nb", " lead "] {
        check_unchanged(text);
    }
}

#[test]
fn x3_tags_in_any_spelling_are_hidden() {
    for open in [
        "<think>",
        "<THINK>",
        "< think >",
        "<think >",
        "<\tthink\n>",
        "<ns:think>",
        "<thinking>",
        "<think foo=\"a>b\" bar='c' baz=d qux>",
        "<thought>",
        "<reasoning effort=high>",
        "<think 1>",
        "<think\u{b}>",
        "<a:b:think>",
        "<antThinking>",
        "<tool_call>",
        "<function_calls id=1>",
    ] {
        let close = open.split(['<', '>', ' ', '\t', '\n']).find(|word| !word.is_empty());
        let close = close.unwrap();
        check(&format!("a{open}SECRET</{close}>b"), "ab");
        check(&format!("a{open}SECRET< / {close} >b"), "ab");
        check(&format!("a{open}SECRET"), "a");
    }
}

#[test]
fn x3_self_closing_tags_hide_nothing_after_them() {
    check("a<think/>b< think />c<tool_call id='1'/>d", "abcd");
}

#[test]
fn x3_nested_tags_close_one_by_one() {
    check("a<think>b<think>c</think>d</think>e", "ae");
    check("a<tool_calls><tool_call>x</tool_call></tool_calls>b", "ab");
    check("a<think>x<tool_call>y</think>b", "ab");
}

#[test]
fn x5_final_is_unwrapped() {
    check("<final>It is 4.</final>", "It is 4.");
    check("a <final>b<think>c</think>d</final> e", "a bd e");
}

#[test]
fn a_tag_that_is_not_finished_is_text() {
    for text in
        ["<th", "a <think", "a < thin", "<think foo=\"bar", "</", "<", "<ns:thin", "<think/"]
    {
        check_unchanged(text);
    }
}

#[test]
fn what_only_looks_like_a_tag_is_text() {
    for text in [
        "1 < 2 and <thin, <<b>",
        "<thinker>x</thinker>",
        "<div class=\"think\">",
        "x < final and y > 3",
        "a <think, b>",
        "Vec<Thought<T>>",
        "<|think|>",
        "<:think>",
    ] {
        check_unchanged(text);
    }
}

#[test]
fn exactly_what_may_become_a_tag_is_held() {
    let mut filter = Filter::new(Arc::default(), FilterStart::Text);
    let held = |filter: &mut Filter, text: &str| {
        filter.push(text, &mut |_| {});
        filter.held_bytes()
    };
    assert_eq!(held(&mut filter, "a <"), 1);
    assert_eq!(held(&mut filter, "thi"), 4);
    assert_eq!(held(&mut filter, "ng"), 6);
    assert_eq!(held(&mut filter, " b"), 0);
    assert_eq!(held(&mut filter, "`<think>"), 7);
    assert_eq!(held(&mut filter, "` c"), 0);
}

#[test]
fn a_source_may_start_inside_reasoning() {
    let split = check_starting(FilterStart::Thinking, "I think so.</think>Yes.", "Yes.");
    assert_eq!(split.reasoning, "I think so.");
    let fresh = Filter::new(Arc::default(), FilterStart::Thinking).copy_reset_to_visible_text();
    assert_eq!(filter_chunks_with(fresh, ["Yes."]).visible, "Yes.");
}

#[test]
fn hidden_text_stays_hidden_across_a_step() {
    let mut filter = Filter::new(Arc::default(), FilterStart::Text);
    let mut visible = String::new();
    let mut out = |piece: Piece<'_>| {
        if let Piece::Visible(text) = piece {
            visible.push_str(text);
        }
    };
    filter.push("a<think>one", &mut out);
    filter.end_message_keeping_open_tag(&mut out);
    filter.push("two</think>b", &mut out);
    filter.end_message_keeping_open_tag(&mut out);
    filter.drop_held_and_reset_to_reply_start();
    filter.push("c<think>", &mut out);
    filter.end_message_keeping_open_tag(&mut out);
    filter.drop_held_and_reset_to_reply_start();
    filter.push("d", &mut out);
    assert_eq!(visible, "abcd");
}

#[test]
fn held_text_at_the_limit_waits_and_one_byte_more_counts_as_a_tag() {
    let (tag, close) = ("<think>", "`");
    let filler = "x".repeat(FILTER_HELD_BYTES_MAX - tag.len() - close.len());
    let code = format!("`{tag}{filler}{close} y");
    assert!(
        filter_chunks([&*code], FilterStart::Text).visible == code,
        "held to the limit, it is code"
    );
    let longer = format!("`{tag}{filler}x{close} y");
    assert!(
        filter_chunks([&*longer], FilterStart::Text).visible == "`",
        "past the limit, it is a tag"
    );
    let (head, tail) = longer.split_at(longer.len() / 2);
    assert!(filter_chunks([head, tail], FilterStart::Text).visible == "`", "however it is cut");
}

#[test]
fn a_tag_whose_end_is_too_far_off_is_a_tag_all_the_same() {
    use crate::limits::TAG_BYTES_MAX;
    for len in [TAG_BYTES_MAX, TAG_BYTES_MAX + 1, 3 * TAG_BYTES_MAX] {
        let filler = "x".repeat(len - "<think a=\"\">".len());
        let text = format!("a<think a=\"{filler}\">SECRET</think>b");
        assert_eq!(filter_chunks([&*text], FilterStart::Text).visible, "ab", "{len} bytes");
    }
    let word = format!("a <{} b", "x".repeat(3 * TAG_BYTES_MAX));
    assert!(filter_chunks([&*word], FilterStart::Text).visible == word, "no name of the table");
}

#[test]
fn a_tag_file_adds_and_replaces_names() {
    let table =
        TagTable::parse_with_defaults("# mine\nreasoning: ponder Muse\ntool: final\n").unwrap();
    let mut filter = Filter::new(Arc::new(table), FilterStart::Text);
    let mut visible = String::new();
    let mut out = |piece: Piece<'_>| {
        if let Piece::Visible(text) = piece {
            visible.push_str(text);
        }
    };
    filter.push("a<ponder>b</ponder>c<MUSE>d</muse>e<final>f</final>g<think>h</think>i", &mut out);
    filter.end_message_keeping_open_tag(&mut out);
    assert_eq!(visible, "acegi");
    let bad = TagTable::parse_with_defaults("reasoning: ok\nwhat: x").unwrap_err();
    assert_eq!(bad.line, 2);
    assert!(TagTable::parse_with_defaults("reasoning: <x>").is_err());
    assert!(TagTable::parse_with_defaults("just words").is_err());
}
