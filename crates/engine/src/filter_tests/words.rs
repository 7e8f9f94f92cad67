//! Control words are hidden completely, and nothing else is lost.

use super::*;
use crate::limits::CONTROL_WORD_BYTES_MAX;

const FINISH: &str = "!isfinish";

pub(super) fn filter_with_words(words: &[&str]) -> Filter {
    let word = |word: &&str| ControlWord::new(word, ControlMeaning::Finish).unwrap();
    let words: Vec<ControlWord> = words.iter().map(word).collect();
    Filter::with_control_words(Arc::default(), FilterStart::Text, &words)
}

/// Filters `input` with every cut; `hidden` is all hidden control words, joined.
#[track_caller]
fn check(input: &str, visible: &str, hidden: &str) {
    let split = check_with(&filter_with_words(&[FINISH]), input, visible);
    assert_eq!(split.words, hidden, "{input:?}");
}

#[track_caller]
fn check_unchanged(input: &str) {
    check(input, input, "");
}

#[test]
fn f5_the_word_is_hidden_wherever_it_stands() {
    check("!isfinish", "", "!isfinish");
    check("Gotowe!isfinish", "Gotowe", "!isfinish");
    check("Done. !isfinish\n", "Done. \n", "!isfinish");
    check("!isfinish Done", " Done", "!isfinish");
    check("a !isfinish b", "a  b", "!isfinish");
    check("a\n!isfinish\nb", "a\n\nb", "!isfinish");
    check("- !isfinish\n> !isfinish\n# !isfinish", "- \n> \n# ", "!isfinish!isfinish!isfinish");
    check("**Done!isfinish**", "**Done**", "!isfinish");
    check("a\\!isfinish b", "a\\ b", "!isfinish");
    check("!isfinish.!isfinish,!isfinish!", ".,!", "!isfinish!isfinish!isfinish");
}

#[test]
fn f5_the_word_is_hidden_in_any_case() {
    check("a!ISFINISH", "a", "!ISFINISH");
    check("a!IsFinish b", "a b", "!IsFinish");
}

#[test]
fn f5_a_letter_or_digit_after_it_makes_it_text() {
    for after in ["ed", "1", "é", "ż", "漢", "٣", "²", "𝛼"] {
        check_unchanged(&format!("a !isfinish{after}"));
        check_unchanged(&format!("!isfinish{after} b"));
    }
    check("a!isfinish_b", "a_b", "!isfinish");
    check("a!isfinish\u{301}b!isfinish🎉", "a\u{301}b🎉", "!isfinish!isfinish");
    check("!isfinishx!isfinish", "!isfinishx", "!isfinish");
}

#[test]
fn f5_what_only_begins_like_it_is_text() {
    for text in ["!", "a!", "Done!!", "!is", "!isfinis", "!isfinis!isfinis", "!is finish", "!\nis"]
    {
        check_unchanged(text);
    }
    check("!!isfinish!", "!!", "!isfinish");
    check("!isfin!isfinish", "!isfin", "!isfinish");
}

#[test]
fn f5_in_code_it_is_text() {
    check_unchanged("Say `!isfinish` to end.");
    check_unchanged("`!isfinish`");
    check_unchanged("``a ` !isfinish b`` c");
    check_unchanged("`a\n!isfinish b`");
    check_unchanged("```\n!isfinish\n```\n");
    check_unchanged("```!isfinish\n```\n");
    check_unchanged("~~~!isfinish\n~~~\n");
    check_unchanged("```\nnever closed !isfinish");
    check_unchanged("text\n\n    !isfinish\n\nafter");
    check_unchanged("    !isfinish");
    check_unchanged("\t!isfinish");
    check_unchanged("`` a ` !isfinish ` b");
}

#[test]
fn f5_a_back_tick_that_opens_nothing_hides_it_all_the_same() {
    check("a ` b !isfinish", "a ` b ", "!isfinish");
    check("a ` b !isfinish\n\nc", "a ` b \n\nc", "!isfinish");
    check("`!isfinish\n- c `", "`\n- c `", "!isfinish");
    check("a `` b !isfinish ` c", "a `` b  ` c", "!isfinish");
    check("a\n    !isfinish", "a\n    ", "!isfinish");
    check("` !isfinish <think>x</think>y", "`  y", "!isfinish");
    check("`<think>x</think> !isfinish", "` ", "!isfinish");
}

#[test]
fn f5_white_space_between_words_makes_no_code() {
    let words = ["!isfinish"; 7];
    check(&words.join(" "), &" ".repeat(6), &words.concat());
}

#[test]
fn f5_in_hidden_text_it_means_nothing() {
    check("a<think>!isfinish</think>b", "ab", "");
    check("a<tool_call>!isfinish</tool_call>b", "ab", "");
    check("a<think b=\"!isfinish\">c</think>d", "ad", "");
    check("!isfinish<think>x</think>", "", "!isfinish");
    check("a<think>x</think>!isfinish", "a", "!isfinish");
    check("<final>a!isfinish</final>", "a", "!isfinish");
}

#[test]
fn f5_a_tag_that_never_ended_does_not_show_it() {
    check("a <think b=\"!isfinish", "a <think b=\"", "!isfinish");
    check("a <think !isfinish", "a <think ", "!isfinish");
}

#[test]
fn l9_a_marker_may_begin_with_a_letter_or_with_any_mark() {
    for word in
        ["HEARTBEAT_OK", "#done", "-done", "*done*", "~fin", "1.", "+x", "_x", "=x", "|x|", "ż!"]
    {
        let filter = filter_with_words(&[word]);
        let lower = word.to_ascii_lowercase();
        for (input, visible) in [
            (word.to_owned(), String::new()),
            (format!("a\n{lower}\nb"), "a\n\nb".to_owned()),
            (format!("a ` b\n{word} c"), "a ` b\n c".to_owned()),
            (format!("- {word}."), "- .".to_owned()),
            (format!("h e # ## - 1 {word}"), "h e # ## - 1 ".to_owned()),
            (format!("`{word}` {word}"), format!("`{word}` ")),
            (format!("    {word}\n"), format!("    {word}\n")),
            (format!("{word}x {word}9"), format!("{word}x {word}9")),
        ] {
            check_with(&filter, &input, &visible);
        }
    }
}

#[test]
fn l9_the_longest_of_several_words_wins() {
    let filter = filter_with_words(&["!a", "!a-b", "!a!b!c", "!b", "ok"]);
    for (input, visible) in [
        ("x!a-b y", "x y"),
        ("x!a-bc", "x-bc"),
        ("x!a-", "x-"),
        ("!a!b!c", ""),
        ("!a!b!d", "!d"),
        ("!a!b", ""),
        ("!ax!b", "!ax"),
        ("OK Ok oK okay", "   okay"),
    ] {
        check_with(&filter, input, visible);
    }
}

#[test]
fn f5_exactly_what_may_become_the_word_is_held() {
    let mut filter = filter_with_words(&[FINISH]);
    let mut held = |text: &str| {
        filter.push(text, &mut |_| {});
        filter.held_bytes()
    };
    assert_eq!(held("a !"), 1);
    assert_eq!(held("ISFIN"), 6);
    assert_eq!(held("ish"), 9);
    assert_eq!(held("ed b!"), 1);
    assert_eq!(held("!is "), 0);
    assert_eq!(held("`!isfinish "), 10);
    assert_eq!(held("` c"), 0);
}

#[test]
fn f5_held_past_the_limit_it_counts_as_the_word() {
    let filler = " x".repeat(FILTER_HELD_BYTES_MAX);
    let text = format!("`!isfinish{filler}`");
    let got = filter_chunks_with(filter_with_words(&[FINISH]), [&*text]);
    assert!(got.words == FINISH && got.all == text, "it is not shown for ever later");
}

#[test]
fn f5_without_words_nothing_is_one() {
    let filter = Filter::new(Arc::default(), FilterStart::Text);
    check_with(&filter, "Done !isfinish", "Done !isfinish");
    assert_eq!(
        filter_with_words(&[FINISH]).copy_reset_to_visible_text(),
        filter_with_words(&[FINISH]),
        "its words come along"
    );
}

#[test]
fn a_text_that_cannot_be_a_word_is_refused() {
    let new = |word: &str| ControlWord::new(word, ControlMeaning::Finish).map(|_| ());
    assert_eq!(new(""), Err(ControlWordError::Empty));
    for word in [" ", "a b", "a\n", "\u{a0}x", "x\u{7}"] {
        assert_eq!(new(word), Err(ControlWordError::Whitespace));
    }
    for mark in ['<', '>', '`', '\\'] {
        assert_eq!(new(&format!("a{mark}")), Err(ControlWordError::ForbiddenChar(mark)));
    }
    assert_eq!(new(&"x".repeat(CONTROL_WORD_BYTES_MAX)), Ok(()));
    assert_eq!(new(&"x".repeat(CONTROL_WORD_BYTES_MAX + 1)), Err(ControlWordError::TooLong));
}

#[test]
fn a_mark_that_begins_a_word_still_means_what_it_does_to_a_line() {
    let filter = filter_with_words(&["#done"]);
    check_with(&filter, "# h\n    #done", "# h\n    #done");
    check_with(&filter, "h\n    #done", "h\n    ");
}

#[test]
fn l9_the_longest_word_wins_in_any_order_and_of_two_alike_the_first() {
    for words in [["!is-done", "!is"], ["!is", "!is-done"]] {
        let split = check_with(&filter_with_words(&words), "a !is-done b", "a  b");
        assert_eq!(split.words, "!is-done");
    }
    let alike = [("!ok", ControlMeaning::Finish), ("!OK", ControlMeaning::NothingToReport)];
    let alike = alike.map(|(word, meaning)| ControlWord::new(word, meaning).unwrap());
    let mut filter = Filter::with_control_words(Arc::default(), FilterStart::Text, &alike);
    let mut meant = Vec::new();
    filter.push("!ok.", &mut |piece| {
        if let Piece::ControlWord(meaning, _) = piece {
            meant.push(meaning);
        }
    });
    assert_eq!(meant, [ControlMeaning::Finish]);
}

#[test]
fn a_control_word_says_what_it_is_and_what_it_cannot_be() {
    let word = |text: &str| ControlWord::new(text, ControlMeaning::Finish);
    assert_eq!(word("!end").unwrap().to_string(), "!end");
    assert!(
        word("end").unwrap().starts_with_alphanumeric()
            && word("żeby").unwrap().starts_with_alphanumeric()
    );
    assert!(!word("!end").unwrap().starts_with_alphanumeric());
    for (text, part) in [("", "empty"), ("a b", "white space"), ("a<b", "`<`")] {
        let problem = word(text).unwrap_err().to_string();
        assert!(problem.contains(part), "{problem}");
    }
}
