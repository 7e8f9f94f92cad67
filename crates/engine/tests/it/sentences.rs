//! The sentence splitter on texts from other projects, and its cost.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use cpu_time::ThreadTime;
use millpond_engine::limits::SENTENCE_HELD_BYTES_MAX;
use millpond_engine::sentence::{SentenceSplitter, SplitOutput};
use serde_json::Value;

use crate::corpus::find_corpus;
use crate::support::files_below;

fn split_sentences<'t>(chunks: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut splitter = SentenceSplitter::new();
    let mut out = |cut: SplitOutput<'_>| match cut {
        SplitOutput::Text(text) => pieces.last_mut().unwrap().push_str(text),
        SplitOutput::PieceEnd => pieces.push(String::new()),
    };
    for chunk in chunks {
        splitter.push(chunk, &mut out);
        assert!(splitter.held_bytes() <= SENTENCE_HELD_BYTES_MAX);
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

/// For each language how many golden rules there are, and how many at least must hold. Several
/// of those that do not want text changed, which is never done.
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
    ("english", 48, 46),
    ("english_clean", 126, 86),
    ("french", 5, 5),
    ("greek", 1, 1),
    ("hindi", 1, 1),
    ("italian", 36, 36),
    ("japanese", 5, 4),
    ("kazakh", 13, 12),
    ("marathi", 5, 5),
    ("persian", 1, 1),
    ("polish", 1, 1),
    ("russian", 42, 42),
    ("slovak", 5, 5),
    ("spanish", 36, 34),
    ("urdu", 1, 1),
];

fn trim_pieces<'t>(pieces: impl IntoIterator<Item = &'t str>) -> Vec<&'t str> {
    pieces.into_iter().map(str::trim).filter(|piece| !piece.is_empty()).collect()
}

#[test]
fn f2_golden_rules_hold_in_every_language() {
    let Some(corpus) = find_corpus("the golden rules of sentences") else { return };
    let file = std::fs::read_to_string(corpus.join("sentences/sentences.jsonl")).unwrap();
    let mut found: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for line in file.lines() {
        let rule: Value = serde_json::from_str(line).unwrap();
        let text = rule["text"].as_str().unwrap();
        let expected = rule["sentences"].as_array().unwrap();
        let pieces = split_sentences([text]);
        let right = trim_pieces(pieces.iter().map(String::as_str))
            == trim_pieces(expected.iter().map(|piece| piece.as_str().unwrap()));
        let (all, held) = found.entry(rule["lang"].as_str().unwrap().to_owned()).or_default();
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

#[test]
fn unicode_sentence_tests_are_cut_the_same_however_they_arrive() {
    let Some(corpus) = find_corpus("Unicode's sentence tests") else { return };
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

fn collect_strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| collect_strings(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| collect_strings(value, found)),
        _ => {}
    }
}

fn file_texts(path: &Path) -> Vec<String> {
    let Ok(file) = std::fs::read_to_string(path) else { return Vec::new() };
    let mut texts = Vec::new();
    match serde_json::from_str::<Value>(&file) {
        Ok(value) => collect_strings(&value, &mut texts),
        Err(_) => texts.extend(file.lines().map(str::to_owned)),
    }
    texts.push(file);
    texts
}

#[test]
fn markdown_and_hostile_texts_are_cut_the_same_however_they_arrive() {
    let Some(corpus) = find_corpus("markdown and hostile texts") else { return };
    for folder in ["markdown", "naughty", "xss"] {
        for path in files_below(&corpus.join(folder)) {
            for text in file_texts(&path) {
                check_cuts(&text);
            }
        }
    }
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
