//! Generated texts: tags, words and code in any order, cut anywhere.

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

fn word_part() -> impl Strategy<Value = (String, String)> {
    let words = prop::sample::select(vec!["!isfinish", "!ISFINISH", "!IsFinish", "!a", "!A"]);
    let after = prop::sample::select(vec![" ", ".", "\n", "! ", ")", "!! ", "<br>"]);
    (words, after).prop_map(|(word, after)| (word.to_owned(), after.to_owned()))
}

/// Text with a control word in code, or a near miss; all of it is visible.
fn visible_word_part() -> impl Strategy<Value = String> {
    let text = vec![
        "`!isfinish` ",
        "``a ` !a `` ",
        "\n\n```\n!isfinish\n```\n",
        "\n\n~~~x\n!a\n~~~\n",
        "!isfinished ",
        "!isfin ",
        "!ab ",
        "! ",
    ];
    prop::sample::select(text).prop_map(str::to_owned)
}

#[derive(Clone, Debug)]
enum Part {
    Word(String, String),
    Visible(String),
    Hidden(String, String),
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let part = prop_oneof![
        visible_part().prop_map(Part::Visible),
        visible_word_part().prop_map(Part::Visible),
        word_part().prop_map(|(word, after)| Part::Word(word, after)),
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
        let mut taken = String::new();
        let mut canaries = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            match part {
                Part::Visible(part) => {
                    text.push_str(part);
                    expected.push_str(&part.replace("</think>", ""));
                }
                Part::Word(word, after) => {
                    text.extend([word.as_str(), after]);
                    expected.push_str(after);
                    taken.push_str(word);
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
        let got = filter_chunks_with(words::filter_with_words(&["!isfinish", "!a"]), pieces);
        prop_assert_eq!(&got.words, &taken);
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
        check_nothing_lost(&Filter::new(Arc::default(), FilterStart::Text), &text, cut)?;
    }

    /// The same with words that begin with Markdown markers or with each other.
    #[test]
    fn any_text_with_words_is_kept_whole(text in "([-<>/`~ \\n\\t!abé#1.=\\\\]|<think>|</think>|!a|!b){0,60}", cut in 0usize..80) {
        let marks = ["!a", "!a!b", "#a", "-", "1.", "~b", "é", "b!", "==", "/"];
        check_nothing_lost(&words::filter_with_words(&marks), &text, cut)?;
    }
}

fn check_nothing_lost(filter: &Filter, text: &str, cut: usize) -> Result<(), TestCaseError> {
    let whole = filter_chunks_with(filter.clone(), [text]);
    prop_assert_eq!(&whole.all, text);
    let mut cut = cut.min(text.len());
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    prop_assert_eq!(&filter_chunks_with(filter.clone(), [&text[..cut], &text[cut..]]), &whole);
    let chars: Vec<String> = text.chars().map(String::from).collect();
    prop_assert_eq!(&filter_chunks_with(filter.clone(), chars.iter().map(String::as_str)), &whole);
    Ok(())
}
