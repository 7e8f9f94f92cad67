//! The sentence splitter on texts of many kinds and languages, and its cost.

use std::collections::BTreeMap;
use std::time::Duration;

use cpu_time::ThreadTime;
use millpond_engine::limits::SENTENCE_CODE_BYTES_MAX;
use millpond_engine::sentence::{SentenceSplitter, SplitOutput};
use serde_json::Value;

use crate::texts::{
    awkward_texts, elements, find_corpus, hostile_texts, markdown_examples, read_own, text_field,
};

fn split_sentences<'t>(chunks: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut splitter = SentenceSplitter::new();
    let mut out = |cut: SplitOutput<'_>| match cut {
        SplitOutput::Text(text) => pieces.last_mut().unwrap().push_str(text),
        SplitOutput::PieceEnd => pieces.push(String::new()),
    };
    for chunk in chunks {
        splitter.push(chunk, &mut out);
        assert!(splitter.held_bytes() <= SENTENCE_CODE_BYTES_MAX);
    }
    splitter.finish(&mut out);
    assert_eq!(pieces.pop().as_deref(), Some(""), "the last piece did not end");
    pieces
}

fn chars_as_chunks(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()])
}

/// Longest text that is cut at every position, which costs the square of its length.
const EVERY_CUT_BYTES_MAX: usize = 2 << 10;

#[track_caller]
fn check_cuts(text: &str) {
    if text.is_empty() {
        return;
    }
    let whole = split_sentences([text]);
    assert_eq!(whole.concat(), text, "a byte was lost or doubled");
    assert_eq!(split_sentences(chars_as_chunks(text)), whole, "character by character: {text:?}");
    if text.len() <= EVERY_CUT_BYTES_MAX {
        for (cut, _) in text.char_indices() {
            assert_eq!(
                split_sentences([&text[..cut], &text[cut..]]),
                whole,
                "cut at {cut}: {text:?}"
            );
        }
    }
}

/// For each language of the corpus how many golden rules there are, and how many at least must
/// hold. Of those that do not, several want text changed, which is never done, and some want a
/// quotation of several sentences whole.
const RULES: &[(&str, usize, usize)] = &[
    ("amharic", 1, 1),
    ("arabic", 5, 2),
    ("armenian", 26, 26),
    ("bulgarian", 4, 4),
    ("burmese", 1, 1),
    ("chinese", 2, 2),
    ("danish", 49, 45),
    ("deutsch", 35, 31),
    ("dutch", 3, 3),
    ("english", 48, 47),
    ("english_clean", 126, 85),
    ("french", 5, 5),
    ("greek", 1, 1),
    ("hindi", 1, 1),
    ("italian", 36, 35),
    ("japanese", 5, 4),
    ("kazakh", 13, 12),
    ("marathi", 5, 5),
    ("persian", 1, 1),
    ("polish", 1, 1),
    ("russian", 42, 41),
    ("slovak", 5, 4),
    ("spanish", 36, 34),
    ("urdu", 1, 1),
];

fn trim_pieces<'t>(pieces: impl IntoIterator<Item = &'t str>) -> Vec<&'t str> {
    pieces.into_iter().map(str::trim).filter(|piece| !piece.is_empty()).collect()
}

#[test]
fn f2_golden_rules_hold_in_every_language() {
    check_own_rules();
    if let Some(corpus) = find_corpus() {
        let file = corpus.join("sentences/sentences.jsonl");
        check_rules_of_the_corpus(&std::fs::read_to_string(file).unwrap());
    }
}

/// Rules of the project: lists of pieces, which joined are the text. All hold.
fn check_own_rules() {
    let rules = read_own("sentences.json");
    let (mut count, mut wrong) = (0, Vec::new());
    for (language, texts) in rules.as_object().unwrap() {
        for pieces in elements(texts) {
            let expected: Vec<&str> =
                elements(pieces).iter().map(|piece| piece.as_str().unwrap()).collect();
            let text = expected.concat();
            let found = split_sentences([text.as_str()]);
            if found != expected {
                wrong.push(format!("{language}: {found:?}, not {expected:?}"));
            }
            check_cuts(&text);
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(100 <= count, "only {count} rules");
}

fn check_rules_of_the_corpus(file: &str) {
    let mut found: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for line in file.lines() {
        let rule: Value = serde_json::from_str(line).unwrap();
        let text = text_field(&rule, "text");
        let expected = elements(&rule["sentences"]);
        let pieces = split_sentences([text]);
        let right = trim_pieces(pieces.iter().map(String::as_str))
            == trim_pieces(expected.iter().map(|piece| piece.as_str().unwrap()));
        let (all, held) = found.entry(text_field(&rule, "lang").to_owned()).or_default();
        *all += 1;
        *held += usize::from(right);
        check_cuts(text);
    }
    for &(language, all, least) in RULES {
        let (found_all, held) = found.remove(language).unwrap_or_default();
        assert_eq!(found_all, all, "rules of {language}");
        assert!(least <= held, "{language}: {held} of {all} hold, not {least}");
    }
    assert!(found.is_empty(), "languages without a figure: {found:?}");
}

/// A character of each kind that Unicode's rules for the breaks of sentences know, and marks that
/// only this splitter knows.
const KINDS: [&str; 22] = [
    "\r", "\n", "\r\n", "\u{85}", "\u{301}", "\u{ad}", " ", "\u{a0}", "a", "A", "あ", "7", ".",
    "?", "。", "\"", "(", ")", ",", "-", "`", "*",
];

/// Every text of up to three characters of [`KINDS`], and Unicode's own tests if the corpus is
/// there.
#[test]
fn every_kind_of_character_is_cut_the_same_however_it_arrives() {
    for first in KINDS {
        for second in KINDS {
            check_cuts(&format!("{first}{second}"));
            for third in KINDS {
                check_cuts(&format!("{first}{second}{third}"));
                check_cuts(&format!("a. {first}{second}{third}B"));
            }
        }
    }
    let Some(corpus) = find_corpus() else { return };
    let file = std::fs::read_to_string(corpus.join("sentences/SentenceBreakTest.txt")).unwrap();
    let mut count = 0;
    for line in file.lines().filter_map(|line| line.split('#').next()) {
        let codes = line.split_whitespace().filter_map(|code| u32::from_str_radix(code, 16).ok());
        let text: String = codes.filter_map(char::from_u32).collect();
        check_cuts(&text);
        count += usize::from(!text.is_empty());
    }
    assert!(500 < count, "only {count} tests");
}

#[test]
fn markdown_and_hostile_texts_are_cut_the_same_however_they_arrive() {
    for texts in [markdown_examples(), awkward_texts(), hostile_texts()] {
        for text in &texts {
            check_cuts(text);
        }
        check_cuts(&texts.join("\n"));
    }
}

#[test]
fn f2_a_sentence_may_have_any_length() {
    let long = format!("Word {}end. ", "word ".repeat(20_000));
    let text = format!("Hi! Yes. {long}Next.");
    let expected = ["Hi! ", "Yes. ", &*long, "Next."];
    assert!(split_sentences([text.as_str()]) == expected, "a whole text");
    assert!(split_sentences(chars_as_chunks(&text)) == expected, "character by character");
}

fn split_cpu_time(text: &str, chunk: usize) -> Duration {
    let run = || {
        let start = ThreadTime::now();
        let mut splitter = SentenceSplitter::new();
        let mut out = |cut: SplitOutput<'_>| {
            std::hint::black_box(&cut);
        };
        let mut rest = text;
        while !rest.is_empty() {
            let at = rest.ceil_char_boundary(chunk);
            let (head, tail) = rest.split_at(at);
            splitter.push(head, &mut out);
            rest = tail;
        }
        splitter.finish(&mut out);
        start.elapsed()
    };
    (0..3).map(|_| run()).min().unwrap()
}

#[test]
fn a_message_that_is_meant_to_hurt_costs_its_length() {
    const BYTES: usize = 50_000;
    for piece in [
        "word ", "word", ".", ". ", " ", "\n", "\n\n", "?! ", "U.S. ", "U.S. A", "(", "\"", "`",
        "` ``", "1. ", "1. 2. ", "- ", "> ", "|", "a\n---\n", "```\n", "    x\n", "[1] ", ".[",
        "。", "。「", "…", "— ", ". — ", ". *", "\u{200d}", "e\u{301}", "\0", "😀 ", "! 😀 ",
        "l'avv. ", "Th",
    ] {
        for chunk in [usize::MAX, 1 << 10, 1] {
            let text = piece.repeat(BYTES / piece.len());
            let small = split_cpu_time(&text, chunk).max(Duration::from_micros(200));
            let large = split_cpu_time(&text.repeat(8), chunk);
            assert!(large <= 24 * small, "{piece:?} by {chunk}: {small:?}, eight times: {large:?}");
        }
    }
}
