//! Marks, emoji and emphasis around control words, for every cut of the text.

use super::*;
use crate::limits::CONTROL_WORD_MARKS_BYTES_MAX;
use proptest::prelude::*;

fn message_filter() -> MessageFilter {
    let word = |text, meaning| ControlWord::new(text, meaning).unwrap();
    let words = [
        word("!isfinish", ControlMeaning::Finish),
        word("HEARTBEAT_OK", ControlMeaning::NothingToReport),
    ];
    MessageFilter::new(Arc::default(), FilterStart::Text, &words)
}

/// Visible and hidden text of one message.
fn filter_message(chunks: &[&str]) -> (String, String) {
    let (mut visible, mut hidden) = (String::new(), String::new());
    let mut out = |piece: Piece<'_>| match piece {
        Piece::Visible(text) => visible.push_str(text),
        Piece::HiddenContent(_, text)
        | Piece::Markup(_, text)
        | Piece::ControlWord(_, text)
        | Piece::UnopenedThoughtEnd(text) => hidden.push_str(text),
    };
    let mut filter = message_filter();
    for chunk in chunks {
        filter.push(chunk, &mut out);
    }
    filter.end_message_keeping_open_tag(&mut out);
    assert_eq!(filter.held_bytes(), 0);
    (visible, hidden)
}

/// Filters `input` whole and cut at every two places.
#[track_caller]
fn check(input: &str, visible: &str) {
    let whole = filter_message(&[input]);
    assert_eq!(whole.0, visible, "{input:?}");
    assert_eq!(whole.0.len() + whole.1.len(), input.len(), "a byte was lost or doubled");
    let cuts: Vec<usize> = (0..=input.len()).filter(|&at| input.is_char_boundary(at)).collect();
    for &first in &cuts {
        for &second in cuts.iter().filter(|&&second| first <= second) {
            let pieces = [&input[..first], &input[first..second], &input[second..]];
            assert_eq!(filter_message(&pieces), whole, "cut at {first} and {second}: {input:?}");
        }
    }
}

#[test]
fn f5_marks_and_emoji_up_to_the_edge_are_hidden() {
    for mark in [
        ".",
        "!",
        "?!",
        "…",
        "。",
        "\"",
        ")",
        "]",
        "»",
        "🎉",
        "👩🏽\u{200d}🚀",
        "✅",
        "1️⃣",
        "ℹ️",
        "🇵🇱",
    ] {
        check(&format!("Gotowe. !isfinish {mark}"), "Gotowe.  ");
        check(&format!("{mark} !isfinish"), " ");
        check(&format!("{mark} !isfinish Gotowe."), "  Gotowe.");
    }
    check("Done. !isfinish. 🎉 \n", "Done.   \n");
    check("Done!isfinish`", "Done");
    check("Done!isfinish<", "Done");
    check("Done. HEARTBEAT_OK.", "Done. ");
    check("🎉!isfinish🎉", "");
}

#[test]
fn f5_emphasis_paired_around_the_word_is_hidden_on_both_sides() {
    for mark in ["*", "**", "***", "_", "__", "~~", "**_"] {
        let closing: String = mark.chars().rev().collect();
        check(&format!("{mark}!isfinish{closing}"), "");
        check(&format!("Done. {mark}!isfinish{closing}"), "Done. ");
        check(&format!("Done. {mark}!isfinish{closing}.\n"), "Done. \n");
        check(&format!("Done. {mark}!isfinish!{closing}"), "Done. ");
        check(&format!("{mark}!isfinish{closing} Done."), " Done.");
        check(&format!("{mark}!isfinish.{closing} Done."), ". Done.");
    }
    check("(**!isfinish**) **Done**", ") **Done**");
    check("**Done** (**!isfinish**)", "**Done** (");
}

#[test]
fn f5_other_marks_on_the_far_side_stay() {
    check("Done! !isfinish!", "Done! ");
    check("Done: *!isfinish", "Done: *");
    check("Done: _**!isfinish**", "Done: _");
    check("!isfinish** Done", "** Done");
    check("!isfinish - Done", " - Done");
    check("\"Done!\"!isfinish\"", "\"Done!\"");
    check("`a`!isfinish", "`a`");
}

#[test]
fn f5_in_the_middle_only_the_word_is_hidden() {
    check("a **!isfinish** b", "a **** b");
    check("a !isfinish. b", "a . b");
    check("a !isfinish 🎉 7", "a  🎉 7");
    check("a !isfinish `.`", "a  `.`");
    check("`.` !isfinish a", "`.`  a");
    check("7 !isfinish a", "7  a");
}

#[test]
fn f5_several_words_share_their_marks() {
    check("a !isfinish. !isfinish.", "a  ");
    check("- !isfinish. **!isfinish** a", "   a");
    check("a **!isfinish**, !isfinish", "a  ");
    check("a !isfinish. !isfinish. b", "a . . b");
    check("!isfinish a !isfinish.", " a ");
}

#[test]
fn x4_without_a_word_marks_are_text() {
    for text in
        ["🎉", "**", "- a", "**a**", "```\n**!isfinish**\n```", "1", "1.", "`*`", "**a", "a**\n\n*"]
    {
        check(text, text);
    }
    check("🎉<think>b</think>!isfinish.", "");
    check("🎉<think>b</think>.", "🎉.");
    check("🎉b\n</think>\n!isfinish.", "🎉b\n\n");
}

#[test]
fn x14_marks_past_the_limit_are_text() {
    for (len, shown) in [(CONTROL_WORD_MARKS_BYTES_MAX, 0), (CONTROL_WORD_MARKS_BYTES_MAX + 1, 1)] {
        let marks = ".".repeat(len);
        let visible = marks.repeat(shown);
        assert_eq!(filter_message(&[&format!("{marks}!isfinish")]).0, visible);
        assert_eq!(filter_message(&[&format!("!isfinish{marks}")]).0, visible);
        assert_eq!(filter_message(&[&format!("a!isfinish{marks}")]).0, format!("a{visible}"));
    }
    let mut filter = message_filter();
    for _ in 0..3 * CONTROL_WORD_MARKS_BYTES_MAX {
        filter.push("*", &mut |_| {});
        assert!(filter.held_bytes() <= CONTROL_WORD_MARKS_BYTES_MAX);
    }
}

proptest! {
    #[test]
    fn f5_around_any_text_the_word_goes_with_its_marks(
        text in "[a-z]([a-z.!*🎉 \n-]{0,12}[a-z.!🎉 \n])?",
        marks in "[.!?,)*_~🎉…-]{0,6}",
        cut in any::<prop::sample::Index>(),
    ) {
        // Three tildes open a code block, in which the word is text.
        prop_assume!(!marks.contains("~~~"));
        for (input, visible) in [
            (format!("{text}!isfinish{marks}"), text.clone()),
            (format!("{marks}!isfinish {text}"), format!(" {text}")),
        ] {
            let places: Vec<usize> =
                (0..=input.len()).filter(|&at| input.is_char_boundary(at)).collect();
            let (first, second) = input.split_at(places[cut.index(places.len())]);
            prop_assert_eq!(&filter_message(&[first, second]).0, &visible, "{:?}", input);
        }
    }
}
