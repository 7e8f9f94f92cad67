//! What makes a line code: each case holds a tag, written `@`, that is in code or is not.

use super::*;

#[track_caller]
fn check_tag(text: &str, in_code: bool) {
    let input = text.replace('@', "<final>");
    let visible = if in_code { input.clone() } else { text.replace('@', "") };
    check(&input, &visible);
}

#[track_caller]
fn code(cases: &[&str]) {
    for case in cases {
        check_tag(case, true);
    }
}

#[track_caller]
fn text(cases: &[&str]) {
    for case in cases {
        check_tag(case, false);
    }
}

#[test]
fn four_columns_after_a_blank_line_are_code() {
    code(&["    @", "a\n\n    @", "a\r\n\r\n    @", "\t@", " \t@", "   \t@", "    a\n    @"]);
    code(&["    a\n\n    @", "    a\n\n\n     @"]);
    text(&["   @", "a\n    @", "a\n\t@", "    a\n@", "    a\n\n@", "    a\n   @"]);
}

#[test]
fn in_a_list_item_four_columns_count_from_its_content() {
    code(&["- a\n\n      @", "12. a\n\n        @", "  - a\n\n        @", "-\ta\n\n        @"]);
    text(&["- a\n\n     @", "12. a\n\n       @", "   - a\n\n        @", "-\ta\n\n       @"]);
    text(&["- a\n\n \t@", "- a\n\n  \t@", "1. a\n\n\t@"]);
    code(&["- a\n\nb\n\n    @", "1. a\n2. b\n\n       @"]);
}

#[test]
fn five_columns_after_a_list_marker_are_code() {
    code(&["-     @", "*     @", "+     @", "1.     @", "12)     @", "123456789.     @", "-\t  @"]);
    text(&["-    @", "1.    @", "_     @", "=     @", "1234567890.     @", "1:     @", "12     @"]);
    text(&["a ` b\n-    @", "-\t @"]);
}

#[test]
fn an_empty_list_item_holds_what_is_under_it() {
    text(&[
        "-\n    @",
        "*\r\n    @",
        "+ \n    @",
        "a\n\n-\n     @",
        "- a\n-\n    @",
        "  -\n       @",
    ]);
    code(&["-\n      @", "*\r\n      @", "  -\n        @"]);
}

#[test]
fn after_a_rule_or_heading_code_may_begin() {
    code(&["---\n    @", "***\t\n    @", "___\r\n    @", "_ _ _\n    @", "-----\n    @"]);
    code(&["a\n-\n    @", "a\n--\n    @", "a\n=\n    @", "a\n== \n    @", "- a\n  -\n      @"]);
    code(&["# a\n    @", "## a\n    @", "###### a\n    @", "#\n    @", "#\ta\n    @"]);
    text(&[
        "--\n    @",
        "**\n    @",
        "__\n    @",
        "=\n    @",
        "===\n    @",
        "+++\n    @",
        "_\n    @",
    ]);
    text(&["_\n      @", "=\n      @", "**\n      @"]);
    text(&["#a\n    @", "####### a\n    @", "a\n*\n    @", "a\n+\n    @", "a\n**\n    @"]);
    text(&["--a\n    @", "-- a\n    @", "-@", "--@", "-- @", "#@", "##@", "1@", "1.@"]);
}

#[test]
fn a_tag_taken_out_indents_nothing() {
    text(&["<    @", "<1>     @", "- <b>    @"]);
}

#[test]
fn a_fence_ends_at_a_line_of_as_many_marks() {
    text(&["```\nx\n```\n@", "```\nx\n``` \n@", "```\nx\n``` \t\r\n@", "~~~\nx\n~~~~\n@"]);
    text(&["```\nx\n   ```\n@", "   ```\nx\n```\n@", "```\n```\n@", "``` a\n```\n@"]);
    code(&[
        "````\nx\n```\n@",
        "````\n``` \n@",
        "````\n```\t\n@",
        "```\nx\n~~~\n@",
        "```\n``` a\n@",
    ]);
    code(&[
        "```\nx\n    ```\n@",
        "   ```\nx\n    ```\n@",
        "```\na``\n@",
        "```\n>```\n@",
        "```\nx```\n@",
    ]);
    code(&["``\n@``", "~~~ `\n@"]);
    text(&["~~\n@\n~~", "``` `\n@"]);
}

#[test]
fn a_fence_in_a_list_item_ends_with_it() {
    code(&[
        "- ```\n\t@",
        "- ```\n\n  @",
        "- ```\r\n\r\n  @",
        "1. ```\n   @",
        "- ```\n  x\n      ```\n  @",
    ]);
    text(&["- ```\n@", "- ```\n @", "1. ```\n  @", "- ```\n  x\n  ```\n  @"]);
    text(&["- ```\n  x\n \t```\n  @", "- ```\n  x\n  \t```\n  @", "- ```\n  x\n     ```\n  @"]);
    code(&["- a\n\n  ```\n  @"]);
}

#[test]
fn a_fence_in_a_quote_ends_with_it() {
    code(&["> ```\n>@"]);
    code(&["> ```\n> @", "> ```\n> > ```\n> @", "> ```\n>\n> @", "> ```\n>     ```\n> @"]);
    text(&["> ```\n@", "> ```\n> x\n> ```\n> @", "> ```\n> x\n>    ```\n> @"]);
    text(&["> ```\n\n@"]);
}

#[test]
fn inline_code_ends_with_its_paragraph() {
    text(&[
        "a ` @\n> ` b",
        "a ` @\n- ` b",
        "a ` @\n1. ` b",
        "a ` @\n\n` b",
        "a ` @\n# ` b",
        "a ` @\n***\n` b",
    ]);
    code(&["a ` @\n` b", "a ` b\n@ ` c", "a ` @\n    ` b", "a ` @\n1` b", "a `\n@\n` b"]);
}

#[test]
fn the_run_that_opens_code_may_come_after_one_that_opens_none() {
    code(&["`` a ` @ ` b\n\nc", "x `` a ` @ ` b\n\nc", "a ``` ` @ `` ` b", "a ``` \\`` @ ` b"]);
    text(&["a ``` ` @ `` b", "a `` \\` ` \\` @ ` b", "a `` ` b ` @ ` c", "a ``` \\`` @ `` b"]);
    text(&["a ``` `` @ `\n\n`` b", "` ```@\n```"]);
}

#[test]
fn runs_past_the_limit_open_no_code() {
    use crate::limits::CODE_RUNS_MAX;
    let after = |runs: usize| {
        let text = format!("a ``{} ` <final> ` b", " ` c ` ".repeat(runs / 2));
        split([&*text], StartsIn::Text).visible.contains("<final>")
    };
    assert!(after(CODE_RUNS_MAX - 2), "as many as are remembered");
    assert!(!after(CODE_RUNS_MAX), "one more");
}
