//! The grammar of one tag, at its edges.

use super::*;
use crate::limits::{TAG_BYTES_MAX, TAG_NAME_BYTES_MAX};

#[test]
fn x3_an_attribute_may_have_any_value() {
    for tag in [
        "<think a= \"x>y\">",
        "<think a=b c=\"x>y\">",
        "<think a=b\u{a0}c=>",
        "<think a=bc/>",
        "<think a = 'x>y' >",
        "<think a =b>",
        "<think a\n>",
        "<think a b=\">\">",
    ] {
        check(&format!("a{tag}SECRET</think>b"), "ab");
    }
}

#[test]
fn x3_a_self_closing_tag_may_have_attributes() {
    for tag in ["<think a/>", "<think a />", "<think a='b'/>", "<think / >", "<think a=b />"] {
        check(&format!("a{tag}b"), "ab");
    }
}

#[test]
fn what_breaks_the_grammar_of_a_tag_makes_it_text() {
    for text in [
        "a <think \"b\"> c",
        "a <think 'b'> c",
        "a <think b\"c> d",
        "a <think b<c> d",
        "a <think =b> c",
        "a <think `b> c",
        "a <think b=> c>",
        "a <think b=<> c>",
        "a <think b=`> c>",
        "a <think b=c\"d> e",
        "a <think b=c'd> e",
        "a <think b=c`d> e",
        "a <think b=c<d> e",
        "a<think/x>b",
        "a<//think>b",
        "a<-think>b",
        "a< think b>c",
        "a< think b/>c",
        "a< think b c=d>e",
        "a<1:think>b",
    ] {
        check_unchanged(text);
    }
    check("a< think b=c>SECRET</think>d", "ad");
    check("a< think b  =c>SECRET</think>d", "ad");
}

#[test]
fn a_tag_as_long_as_the_limit_is_one_and_a_byte_longer_is_text() {
    let spaced = |len: usize| format!("a<{}think>x", " ".repeat(len - "<think>".len()));
    assert_eq!(filter_chunks([&*spaced(TAG_BYTES_MAX)], FilterStart::Text).visible, "a");
    let longer = spaced(TAG_BYTES_MAX + 1);
    assert_eq!(filter_chunks([&*longer], FilterStart::Text).visible, longer);
}

#[test]
fn a_tag_past_the_limit_ends_there() {
    let open = format!("<think {}", "a ".repeat(TAG_BYTES_MAX));
    let split = filter_chunks([&*open], FilterStart::Text);
    assert_eq!(split.other_hidden, open[..=TAG_BYTES_MAX], "the tag, one byte past the limit");
    assert_eq!(split.reasoning, open[TAG_BYTES_MAX + 1..], "and what it hides");
}

#[test]
fn the_names_of_a_tag_file_are_checked() {
    let long = "x".repeat(TAG_NAME_BYTES_MAX);
    for name in ["_x", "a.b", "a-b", "x1", &long] {
        let table = TagTable::parse_with_defaults(&format!("reasoning: {name}")).unwrap();
        let filter = Filter::new(Arc::new(table), FilterStart::Text);
        check_with(&filter, &format!("a<{name}>SECRET</{name}>b"), "ab");
    }
    for name in [&*format!("{long}x"), "1x", "-x", ".x", "a/b", "é"] {
        let bad = TagTable::parse_with_defaults(&format!("\n\ntool: ok {name}")).unwrap_err();
        assert_eq!(bad.line, 3);
        assert!(bad.problem.contains(name), "{}", bad.problem);
    }
}
