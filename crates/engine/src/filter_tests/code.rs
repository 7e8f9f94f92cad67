//! Tags in code are text.

use super::*;

#[test]
fn x4_tags_in_inline_code_stay() {
    check_unchanged("The `<think>` tag and the `</think>` tag.");
    check_unchanged("``a ` <think> b`` and more");
    check_unchanged("`code\nover lines <think> x`");
    check_unchanged("`<think>x</think>`");
}

#[test]
fn x5_a_back_tick_that_opens_nothing_hides_no_tag() {
    check("a ` b <think>x</think> c\n\nd", "a ` b  c\n\nd");
    check("a ` b <think>x</think> c", "a ` b  c");
    check("it`s <think>x</think> fine\n- and ` there", "it`s  fine\n- and ` there");
    check("a ` b <think>x</think>\n# h `\n", "a ` b \n# h `\n");
    check("a ` b <think>x</think>\n> q `\n", "a ` b \n> q `\n");
    check("a ` b <think>x</think>\n```\n`\n```\n", "a ` b \n```\n`\n```\n");
    check("a `` b <think>x</think> ` c", "a `` b  ` c");
    check("a \\` b <think>x</think> ` c", "a \\` b  ` c");
    check("a ` b\n---\n<think>x</think> ` c", "a ` b\n---\n ` c");
    check("a ` b\n===\n<think>x</think> ` c", "a ` b\n===\n ` c");
    check("| ` | <think>x</think> |\n| ` | y |", "| ` |  |\n| ` | y |");
    check("``x \\` <think>y</think> ` z", "``x \\`  ` z");
}

#[test]
fn x4_a_backslash_before_a_backslash_escapes_nothing_after_it() {
    check_unchanged("Path C:\\\\`<think>`!");
}

#[test]
fn a_run_passed_over_may_be_code_itself() {
    check_unchanged("`` a ` <think>x</think> ` b");
    check("`` a ` b ` <think>x</think> ` c", "`` a ` b `  ` c");
    check("``` a `` b ` c <think>x</think> d", "``` a `` b ` c  d");
}

#[test]
fn x4_tags_in_fenced_code_stay() {
    check_unchanged("```xml\n<think>x</think>\n```\nafter");
    check("~~~\n<think>\n```\n~~~\n<think>x</think>end", "~~~\n<think>\n```\n~~~\nend");
    check_unchanged("````\n```\n<think>\n```\n````\n");
    check_unchanged("- item\n\n  ```\n  <think>\n  ```\n");
    check_unchanged("1. ```\n   <think>\n   ```\n");
    check_unchanged("> ```\n> <think>\n> ```\n");
    check("> ```\n> <think>\n<think>x</think>a", "> ```\n> <think>\na");
    check_unchanged("```\nnever closed <think>");
    check("```\ncode\n```\n<think>x</think>y", "```\ncode\n```\ny");
    check("```a``` <think>x</think>y", "```a``` y");
    check("- ```\n  code\nafter <think>x</think>y", "- ```\n  code\nafter y");
}

#[test]
fn x4_tags_in_indented_code_stay() {
    check_unchanged("text\n\n    <think>x</think>\n\nafter");
    check_unchanged("    <think>first</think>\n");
    check_unchanged("a\n\n\t<think>\n\n    <think>\n");
    check("a\n    <think>x</think>b", "a\n    b");
    check_unchanged("- a\n\n      <think>\n");
    check("- a\n\n    <think>x</think>b", "- a\n\n    b");
    check("- a\nb\n\n    <think>x</think>c", "- a\nb\n\n    c");
    check("-   a\n\n      <think>x</think>b", "-   a\n\n      b");
    check_unchanged("# T\n    <think>x</think>\nend");
    check_unchanged("---\n    <think>x</think>\nend");
}

#[test]
fn a_fence_right_after_a_closing_tag_is_a_fence() {
    check("<think>x</think>```\n<think>\n```\n", "```\n<think>\n```\n");
}

#[test]
fn code_is_not_looked_for_in_hidden_text() {
    check("<think>a ` b ``` c</think>d", "d");
    check("<think>\n```\n</think>\n<think>x</think>d", "\nd");
}

#[test]
fn x3_white_space_between_tags_makes_no_code() {
    check("<think>a</think>    <think>SECRET</think>b", "    b");
    check("<think/> <think/> <think/> <think/> <think>SECRET</think>b", "    b");
    check("- <think/>     <think>SECRET</think>b", "-      b");
}

#[test]
fn x3_a_tag_inside_one_that_never_ended_is_hidden() {
    check("a <think b=\"<think>SECRET</think>c", "a <think b=\"c");
}
