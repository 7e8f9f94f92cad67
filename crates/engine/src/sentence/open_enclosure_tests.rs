//! Tests of code and brackets that never close.

use crate::limits::{SENTENCE_CODE_BYTES_MAX, SENTENCE_UNCLOSED_MAX};

use crate::sentence::tests::check_all;

#[track_caller]
fn check(expected: &str) {
    check_all(&[expected]);
}

#[test]
fn f2_an_unclosed_back_tick_or_bracket_holds_nothing_beyond_its_paragraph() {
    check("Stray ` tick. ¦And\nmore.\n\n¦Next. ¦One.");
    check("Use the ` key. ¦Then press Enter.");
    check("A stray ` tick. ¦It is lost. ¦Nobody waits.");
    check("Open (the file. ¦Then read it. ¦Close it.");
    check("Open [the file. ¦Then read it.\n\n¦(Close. It.) ¦End.");
    check("- A ` tick. ¦Lost.\n¦- `b. C` is code. ¦Yes.");
    check("1) a ` tick. ¦Lost ¦2) two. ¦Three");
    check("# The ` key. ¦Press\n¦Then. ¦`a. B`");
    check("> The ` key. ¦Press\n\n¦Then. ¦End.");
    check("The `` key ` here. ¦Press. ¦It ``` too. ¦End.");
    check("The ` key (or. ¦Not. ¦So [c. D]. ¦End.");
    check("The ( key `or. Not` [so. ¦End. ¦Then.");
    check("Run `x. ¦Or 3.14, e.g. that, Dr. Smith. ¦Then.\n¦- `y. Z`");
    check("``` `x` Ant. ¦Bee. ¦Cat");
}

#[test]
fn f2_code_past_the_limit_is_prose() {
    let long = "Word. ¦".repeat(SENTENCE_CODE_BYTES_MAX / 6 + 1);
    check(&format!("`{long}End` here. ¦Next."));
    check(&format!("({long}End) here. ¦Next."));
}

#[test]
fn x14_a_paragraph_in_which_much_never_closes_is_read_again_a_few_times() {
    for unclosed in ["( ", "[x ", "(x ", "x` y`` z``` "] {
        let text = unclosed.repeat(2 * SENTENCE_UNCLOSED_MAX);
        check(&format!("{text}Ant. ¦Bee. ¦Cat.\n\n¦`dog. Elk` (fox. Gnu)"));
    }
}
