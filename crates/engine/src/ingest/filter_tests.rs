use super::*;

/// Visible text, reasoning, and everything else hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Split {
    visible: String,
    reasoning: String,
    other: String,
    /// All of it, in order: must be the input again.
    all: String,
}

fn split<'t>(pieces: impl IntoIterator<Item = &'t str>, starts_in: StartsIn) -> Split {
    let mut filter = Filter::new(Arc::default(), starts_in);
    let mut split = Split::default();
    {
        let mut out = |piece: Piece<'_>| {
            let (to, text) = match piece {
                Piece::Visible(text) => (&mut split.visible, text),
                Piece::Inside(Class::Reasoning, text) => (&mut split.reasoning, text),
                Piece::Inside(_, text) | Piece::Markup(_, text) => (&mut split.other, text),
            };
            to.push_str(text);
            split.all.push_str(text);
        };
        for piece in pieces {
            filter.push(piece, &mut out);
        }
        filter.end_message(&mut out);
    }
    assert_eq!(filter.held_bytes(), 0);
    split
}

/// Reads `input` whole, cut at every two places and character by character.
#[track_caller]
fn check_starting(starts_in: StartsIn, input: &str, visible: &str) -> Split {
    let whole = split([input], starts_in);
    assert_eq!(whole.visible, visible, "whole: {input:?}");
    assert_eq!(whole.all, input, "a byte was lost or doubled");
    let cuts: Vec<usize> = (0..=input.len()).filter(|&at| input.is_char_boundary(at)).collect();
    for &first in &cuts {
        for &second in cuts.iter().filter(|&&second| first <= second) {
            let pieces = [&input[..first], &input[first..second], &input[second..]];
            assert_eq!(split(pieces, starts_in), whole, "cut at {first} and {second}: {input:?}");
        }
    }
    let chars = cuts.windows(2).map(|pair| &input[pair[0]..pair[1]]);
    assert_eq!(split(chars, starts_in), whole, "character by character: {input:?}");
    whole
}

#[track_caller]
fn check(input: &str, visible: &str) {
    check_starting(StartsIn::Text, input, visible);
}

#[track_caller]
fn check_stays(input: &str) {
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
        check_stays(text);
    }
}

#[test]
fn x4_no_clean_up_edits_the_text() {
    for text in ["Total: $100", "well", "Done!!", "x = 1\nx = 1\n```\n", "a\n\n\n\nb", " lead "] {
        check_stays(text);
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
        check_stays(text);
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
        check_stays(text);
    }
}

#[test]
fn x4_tags_in_inline_code_stay() {
    check_stays("The `<think>` tag and the `</think>` tag.");
    check_stays("``a ` <think> b`` and more");
    check_stays("`code\nover lines <think> x`");
    check_stays("`<think>x</think>`");
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
    check_stays("Path C:\\\\`<think>`!");
}

#[test]
fn a_run_passed_over_may_be_code_itself() {
    check_stays("`` a ` <think>x</think> ` b");
    check("`` a ` b ` <think>x</think> ` c", "`` a ` b `  ` c");
    check("``` a `` b ` c <think>x</think> d", "``` a `` b ` c  d");
}

#[test]
fn x4_tags_in_fenced_code_stay() {
    check_stays("```xml\n<think>x</think>\n```\nafter");
    check("~~~\n<think>\n```\n~~~\n<think>x</think>end", "~~~\n<think>\n```\n~~~\nend");
    check_stays("````\n```\n<think>\n```\n````\n");
    check_stays("- item\n\n  ```\n  <think>\n  ```\n");
    check_stays("1. ```\n   <think>\n   ```\n");
    check_stays("> ```\n> <think>\n> ```\n");
    check("> ```\n> <think>\n<think>x</think>a", "> ```\n> <think>\na");
    check_stays("```\nnever closed <think>");
    check("```\ncode\n```\n<think>x</think>y", "```\ncode\n```\ny");
    check("```a``` <think>x</think>y", "```a``` y");
    check("- ```\n  code\nafter <think>x</think>y", "- ```\n  code\nafter y");
}

#[test]
fn x4_tags_in_indented_code_stay() {
    check_stays("text\n\n    <think>x</think>\n\nafter");
    check_stays("    <think>first</think>\n");
    check_stays("a\n\n\t<think>\n\n    <think>\n");
    check("a\n    <think>x</think>b", "a\n    b");
    check_stays("- a\n\n      <think>\n");
    check("- a\n\n    <think>x</think>b", "- a\n\n    b");
    check("- a\nb\n\n    <think>x</think>c", "- a\nb\n\n    c");
    check("-   a\n\n      <think>x</think>b", "-   a\n\n      b");
    check_stays("# T\n    <think>x</think>\nend");
    check_stays("---\n    <think>x</think>\nend");
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
fn exactly_what_may_become_a_tag_is_held() {
    let mut filter = Filter::new(Arc::default(), StartsIn::Text);
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
    let split = check_starting(StartsIn::Thinking, "I think so.</think>Yes.", "Yes.");
    assert_eq!(split.reasoning, "I think so.");
}

#[test]
fn hidden_text_stays_hidden_across_a_step() {
    let mut filter = Filter::new(Arc::default(), StartsIn::Text);
    let mut visible = String::new();
    let mut out = |piece: Piece<'_>| {
        if let Piece::Visible(text) = piece {
            visible.push_str(text);
        }
    };
    filter.push("a<think>one", &mut out);
    filter.end_message(&mut out);
    filter.push("two</think>b", &mut out);
    filter.end_message(&mut out);
    filter.begin_round();
    filter.push("c<think>", &mut out);
    filter.end_message(&mut out);
    filter.begin_round();
    filter.push("d", &mut out);
    assert_eq!(visible, "abcd");
}

#[test]
fn held_text_at_the_limit_waits_and_one_byte_more_counts_as_a_tag() {
    let (tag, close) = ("<think>", "`");
    let filler = "x".repeat(HELD_BYTES_MAX - tag.len() - close.len());
    let code = format!("`{tag}{filler}{close} y");
    assert!(split([&*code], StartsIn::Text).visible == code, "held to the limit, it is code");
    let longer = format!("`{tag}{filler}x{close} y");
    assert!(split([&*longer], StartsIn::Text).visible == "`", "past the limit, it is a tag");
    let (head, tail) = longer.split_at(longer.len() / 2);
    assert!(split([head, tail], StartsIn::Text).visible == "`", "however it is cut");
}

#[test]
fn a_tag_whose_end_is_too_far_off_is_a_tag_all_the_same() {
    use crate::limits::TAG_BYTES_MAX;
    for len in [TAG_BYTES_MAX, TAG_BYTES_MAX + 1, 3 * TAG_BYTES_MAX] {
        let filler = "x".repeat(len - "<think a=\"\">".len());
        let text = format!("a<think a=\"{filler}\">SECRET</think>b");
        assert_eq!(split([&*text], StartsIn::Text).visible, "ab", "{len} bytes");
    }
    let word = format!("a <{} b", "x".repeat(3 * TAG_BYTES_MAX));
    assert!(split([&*word], StartsIn::Text).visible == word, "no name of the table");
}

#[test]
fn a_tag_file_adds_and_replaces_names() {
    let table = TagTable::extended("# mine\nreasoning: ponder Muse\ntool: final\n").unwrap();
    let mut filter = Filter::new(Arc::new(table), StartsIn::Text);
    let mut visible = String::new();
    let mut out = |piece: Piece<'_>| {
        if let Piece::Visible(text) = piece {
            visible.push_str(text);
        }
    };
    filter.push("a<ponder>b</ponder>c<MUSE>d</muse>e<final>f</final>g<think>h</think>i", &mut out);
    filter.end_message(&mut out);
    assert_eq!(visible, "acegi");
    let bad = TagTable::extended("reasoning: ok\nwhat: x").unwrap_err();
    assert_eq!(bad.line, 2);
    assert!(TagTable::extended("reasoning: <x>").is_err());
    assert!(TagTable::extended("just words").is_err());
}

mod generated {
    use super::*;
    use proptest::prelude::*;

    fn visible_part() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("plain words ".to_owned()),
            Just("zażółć 漢字 🎉 ".to_owned()),
            Just("\n\n".to_owned()),
            Just("\n".to_owned()),
            Just("a < b ".to_owned()),
            Just("*x* **y** ".to_owned()),
            Just("- item ".to_owned()),
            Just("<br> ".to_owned()),
            Just("</think>".to_owned()),
            Just("$100 ".to_owned()),
        ]
    }

    fn hidden_part() -> impl Strategy<Value = (String, String)> {
        let names = prop::sample::select(vec![
            "think",
            "THINKING",
            "thought",
            "reasoning",
            "ns:think",
            "tool_call",
            "function_calls",
        ]);
        let gaps = prop::sample::select(vec!["", " ", "\n"]);
        let attributes = prop::sample::select(vec!["", " a=\"b\"", " x='>'", " flag"]);
        let inside = prop::sample::select(vec!["", "\n\n", " ` ", "```\n", "<br>", "<b", "é"]);
        (names, gaps, attributes, inside).prop_map(|(name, gap, attributes, inside)| {
            // Attributes without a value need a name right after the bracket.
            let lead = if attributes.contains("flag") { "" } else { gap };
            let open = format!("<{lead}{name}{attributes}{gap}>");
            let close = format!("<{gap}/{gap}{name}{gap}>");
            (format!("{open}{inside}"), format!("{inside}{close}"))
        })
    }

    #[derive(Clone, Debug)]
    enum Part {
        Visible(String),
        Hidden(String, String),
    }

    fn parts() -> impl Strategy<Value = Vec<Part>> {
        let part = prop_oneof![
            visible_part().prop_map(Part::Visible),
            hidden_part().prop_map(|(open, close)| Part::Hidden(open, close)),
        ];
        prop::collection::vec(part, 1..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// Unique canaries inside hidden parts never show, not even four bytes of one; every
        /// visible byte shows exactly once; however the text is cut.
        #[test]
        fn canaries_never_show(parts in parts(), cuts in prop::collection::vec(0usize..400, 0..8)) {
            let mut text = String::new();
            let mut expected = String::new();
            let mut canaries = Vec::new();
            for (at, part) in parts.iter().enumerate() {
                match part {
                    Part::Visible(part) => {
                        text.push_str(part);
                        expected.push_str(&part.replace("</think>", ""));
                    }
                    Part::Hidden(open, close) => {
                        let canary = format!("Q{at}WXZ{at}KVJ{at}");
                        text.extend([open.as_str(), &canary, close]);
                        canaries.push(canary);
                    }
                }
            }
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            cuts.retain(|&cut| text.is_char_boundary(cut));
            let pieces: Vec<&str> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            let got = split(pieces, StartsIn::Text);
            prop_assert_eq!(&got.all, &text);
            prop_assert_eq!(&got.visible, &expected);
            for canary in canaries {
                for piece in canary.as_bytes().windows(4) {
                    let piece = std::str::from_utf8(piece).unwrap();
                    prop_assert!(!got.visible.contains(piece), "{} shows", piece);
                }
            }
        }

        /// Any text at all: nothing is lost, and how it is cut does not matter.
        #[test]
        fn any_text_is_kept_whole(text in "[<>/`~ \\n\\ta-c\"'=thinkfl:#0-9.)*\\\\é-]{0,80}", cut in 0usize..80) {
            let whole = split([&*text], StartsIn::Text);
            prop_assert_eq!(&whole.all, &text);
            let mut cut = cut.min(text.len());
            while !text.is_char_boundary(cut) { cut -= 1; }
            prop_assert_eq!(&split([&text[..cut], &text[cut..]], StartsIn::Text), &whole);
            let chars: Vec<String> = text.chars().map(String::from).collect();
            prop_assert_eq!(&split(chars.iter().map(String::as_str), StartsIn::Text), &whole);
        }
    }
}
