//! Which lines are code: each case has a tag, written `@`, that is in code or not.

use super::*;

#[track_caller]
fn check_tag(text: &str, in_code: bool) {
    let input = text.replace('@', "<final>");
    let visible = if in_code { input.clone() } else { text.replace('@', "") };
    check(&input, &visible);
}

#[track_caller]
fn check_in_code(cases: &[&str]) {
    for case in cases {
        check_tag(case, true);
    }
}

#[track_caller]
fn check_in_text(cases: &[&str]) {
    for case in cases {
        check_tag(case, false);
    }
}

#[test]
fn four_columns_after_a_blank_line_are_code() {
    check_in_code(&[
        "    @",
        "a\n\n    @",
        "a\r\n\r\n    @",
        "\t@",
        " \t@",
        "   \t@",
        "    a\n    @",
    ]);
    check_in_code(&["    a\n\n    @", "    a\n\n\n     @"]);
    check_in_text(&["   @", "a\n    @", "a\n\t@", "    a\n@", "    a\n\n@", "    a\n   @"]);
}

#[test]
fn in_a_list_item_four_columns_count_from_its_content() {
    check_in_code(&[
        "- a\n\n      @",
        "12. a\n\n        @",
        "  - a\n\n        @",
        "-\ta\n\n        @",
    ]);
    check_in_text(&[
        "- a\n\n     @",
        "12. a\n\n       @",
        "   - a\n\n        @",
        "-\ta\n\n       @",
    ]);
    check_in_text(&["- a\n\n \t@", "- a\n\n  \t@", "1. a\n\n\t@"]);
    check_in_code(&["- a\n\nb\n\n    @", "1. a\n2. b\n\n       @"]);
}

#[test]
fn five_columns_after_a_list_marker_are_code() {
    check_in_code(&[
        "-     @",
        "*     @",
        "+     @",
        "1.     @",
        "12)     @",
        "123456789.     @",
        "-\t  @",
    ]);
    check_in_text(&[
        "-    @",
        "1.    @",
        "_     @",
        "=     @",
        "1234567890.     @",
        "1:     @",
        "12     @",
    ]);
    check_in_text(&["a ` b\n-    @", "-\t @"]);
}

#[test]
fn an_empty_list_item_holds_what_is_under_it() {
    check_in_text(&[
        "-\n    @",
        "*\r\n    @",
        "+ \n    @",
        "a\n\n-\n     @",
        "- a\n-\n    @",
        "  -\n       @",
    ]);
    check_in_code(&["-\n      @", "*\r\n      @", "  -\n        @"]);
}

#[test]
fn after_a_rule_or_heading_code_may_begin() {
    check_in_code(&["---\n    @", "***\t\n    @", "___\r\n    @", "_ _ _\n    @", "-----\n    @"]);
    check_in_code(&[
        "a\n-\n    @",
        "a\n--\n    @",
        "a\n=\n    @",
        "a\n== \n    @",
        "- a\n  -\n      @",
    ]);
    check_in_code(&["# a\n    @", "## a\n    @", "###### a\n    @", "#\n    @", "#\ta\n    @"]);
    check_in_text(&[
        "--\n    @",
        "**\n    @",
        "__\n    @",
        "=\n    @",
        "===\n    @",
        "+++\n    @",
        "_\n    @",
    ]);
    check_in_text(&["_\n      @", "=\n      @", "**\n      @"]);
    check_in_text(&["#a\n    @", "####### a\n    @", "a\n*\n    @", "a\n+\n    @", "a\n**\n    @"]);
    check_in_text(&["--a\n    @", "-- a\n    @", "-@", "--@", "-- @", "#@", "##@", "1@", "1.@"]);
}

#[test]
fn a_tag_taken_out_indents_nothing() {
    check_in_text(&["<    @", "<1>     @", "- <b>    @"]);
}

#[test]
fn a_fence_ends_at_a_line_of_as_many_marks() {
    check_in_text(&["```\nx\n```\n@", "```\nx\n``` \n@", "```\nx\n``` \t\r\n@", "~~~\nx\n~~~~\n@"]);
    check_in_text(&["```\nx\n   ```\n@", "   ```\nx\n```\n@", "```\n```\n@", "``` a\n```\n@"]);
    check_in_code(&[
        "````\nx\n```\n@",
        "````\n``` \n@",
        "````\n```\t\n@",
        "```\nx\n~~~\n@",
        "```\n``` a\n@",
    ]);
    check_in_code(&[
        "```\nx\n    ```\n@",
        "   ```\nx\n    ```\n@",
        "```\na``\n@",
        "```\n>```\n@",
        "```\nx```\n@",
    ]);
    check_in_code(&["``\n@``", "~~~ `\n@"]);
    check_in_text(&["~~\n@\n~~", "``` `\n@"]);
}

#[test]
fn a_fence_in_a_list_item_ends_with_it() {
    check_in_code(&[
        "- ```\n\t@",
        "- ```\n\n  @",
        "- ```\r\n\r\n  @",
        "1. ```\n   @",
        "- ```\n  x\n      ```\n  @",
    ]);
    check_in_text(&["- ```\n@", "- ```\n @", "1. ```\n  @", "- ```\n  x\n  ```\n  @"]);
    check_in_text(&[
        "- ```\n  x\n \t```\n  @",
        "- ```\n  x\n  \t```\n  @",
        "- ```\n  x\n     ```\n  @",
    ]);
    check_in_code(&["- a\n\n  ```\n  @"]);
}

#[test]
fn a_fence_in_a_quote_ends_with_it() {
    check_in_code(&["> ```\n>@"]);
    check_in_code(&["> ```\n> @", "> ```\n> > ```\n> @", "> ```\n>\n> @", "> ```\n>     ```\n> @"]);
    check_in_text(&["> ```\n@", "> ```\n> x\n> ```\n> @", "> ```\n> x\n>    ```\n> @"]);
    check_in_text(&["> ```\n\n@"]);
}

#[test]
fn inline_code_ends_with_its_paragraph() {
    check_in_text(&[
        "a ` @\n> ` b",
        "a ` @\n- ` b",
        "a ` @\n1. ` b",
        "a ` @\n\n` b",
        "a ` @\n# ` b",
        "a ` @\n***\n` b",
    ]);
    check_in_code(&["a ` @\n` b", "a ` b\n@ ` c", "a ` @\n    ` b", "a ` @\n1` b", "a `\n@\n` b"]);
}

#[test]
fn the_run_that_opens_code_may_come_after_one_that_opens_none() {
    check_in_code(&[
        "`` a ` @ ` b\n\nc",
        "x `` a ` @ ` b\n\nc",
        "a ``` ` @ `` ` b",
        "a ``` \\`` @ ` b",
    ]);
    check_in_text(&[
        "a ``` ` @ `` b",
        "a `` \\` ` \\` @ ` b",
        "a `` ` b ` @ ` c",
        "a ``` \\`` @ `` b",
    ]);
    check_in_text(&["a ``` `` @ `\n\n`` b", "` ```@\n```"]);
}

#[test]
fn runs_past_the_limit_open_no_code() {
    use crate::limits::BACKTICK_RUNS_MAX;
    let after = |runs: usize| {
        let text = format!("a ``{} ` <final> ` b", " ` c ` ".repeat(runs / 2));
        filter_chunks([&*text], FilterStart::Text).visible.contains("<final>")
    };
    assert!(after(BACKTICK_RUNS_MAX - 2), "as many as are remembered");
    assert!(!after(BACKTICK_RUNS_MAX), "one more");
}

#[test]
fn what_is_below_an_item_with_nothing_in_it_is_code_after_a_blank_line() {
    check_in_code(&["-\n\n    @", "1.\n\n    @", "> ```\n    @", "- ---\n      @", "- - -\n    @"]);
    check_in_code(&["- a\n> b\n\n    @"]);
    check_in_text(&["-\n    @", "> ```\n   @"]);
}

#[test]
fn only_what_ends_a_paragraph_ends_inline_code() {
    check_in_code(&["a ` @\n* \n` b", "a ` @\n2. ` b"]);
    check_in_text(&["a ` @\n1. ` b", "a | ` b\n--- | ---\n@ ` c"]);
    check_in_text(&["a | b\n--- | ---\n` | @ ` c", "a | b\n--- | ---\n` @ | ` c"]);
    check_in_code(&["a | b\n--- | ---\n` \\| @ ` | c"]);
}

#[test]
fn quotes_and_items_are_followed_at_any_depth() {
    check_in_text(&["> > ```\n> @", "- > ```\n  @", "- a\n  - ```\n  @", "- > a\n\n     @"]);
    check_in_code(&[
        "> > ```\n> > @",
        "- > ```\n  > @",
        "- a\n  - ```\n    @",
        "- a\n\n  1. b\n\n         @",
    ]);
}
