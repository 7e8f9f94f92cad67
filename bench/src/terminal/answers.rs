//! Generates answers of several kinds, with words in a pseudo-random order.

use std::fmt::Write;

/// Kind of generated answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum AnswerKind {
    Prose,
    Code,
    Table,
    Cjk,
    List,
    /// One paragraph whose emphasis never closes.
    Emphasis,
}

const WORDS: [&str; 14] = [
    "stream",
    "the",
    "renderer",
    "of",
    "settled",
    "rows",
    "and",
    "**never**",
    "changes",
    "what",
    "`scrolled`",
    "into",
    "history",
    "quietly",
];
const CJK_CHARS: [char; 12] =
    ['水', '車', '静', '池', '流', '石', '橋', '夜', '森', '風', '音', '光'];

impl AnswerKind {
    pub(super) const ALL: [AnswerKind; 6] = [
        AnswerKind::Prose,
        AnswerKind::Code,
        AnswerKind::Table,
        AnswerKind::Cjk,
        AnswerKind::List,
        AnswerKind::Emphasis,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            AnswerKind::Prose => "prose",
            AnswerKind::Code => "code",
            AnswerKind::Table => "a table",
            AnswerKind::Cjk => "Chinese and Japanese",
            AnswerKind::List => "lists",
            AnswerKind::Emphasis => "emphasis that never closes",
        }
    }

    /// Generates an answer of about `count` tokens.
    pub(super) fn make_text(self, count: usize) -> String {
        let mut next = fixed_seed_number_picker();
        let mut text = String::new();
        let mut line = 0;
        while split_tokens(&text).len() < count {
            // Counting is slow: add several lines at a time.
            for _ in 0..(count / 200).max(1) {
                line += 1;
                self.push_line(line, &mut next, &mut text);
            }
        }
        if matches!(self, AnswerKind::Code) {
            text.push_str("```\n");
        }
        text
    }

    /// Appends one line. Writing to a string cannot fail.
    fn push_line(self, line: usize, next: &mut impl FnMut(usize) -> usize, text: &mut String) {
        match self {
            AnswerKind::Prose => {
                for _ in 0..40 {
                    text.push_str(WORDS[next(WORDS.len())]);
                    text.push(' ');
                }
                text.push_str(".\n\n");
            }
            AnswerKind::Code => {
                if line == 1 {
                    text.push_str("```rust\n");
                }
                let (a, b) = (next(900), next(900));
                let _ = writeln!(text, "    let value_{line} = step({a}, \"{b}\"); // one more");
            }
            AnswerKind::Table => {
                if line == 1 {
                    text.push_str("| name | what it does | count |\n| --- | :-- | --: |\n");
                }
                let (a, b) = (WORDS[next(WORDS.len())], WORDS[next(WORDS.len())]);
                let _ = writeln!(text, "| row {line} | {a} and {b} | {} |", next(10_000));
            }
            AnswerKind::Cjk => {
                text.extend((0..60).map(|_| CJK_CHARS[next(CJK_CHARS.len())]));
                text.push_str("。\n\n");
            }
            AnswerKind::List => {
                let lead = if line.is_multiple_of(3) { "  - " } else { "- " };
                let (a, b) = (WORDS[next(WORDS.len())], WORDS[next(WORDS.len())]);
                let _ = writeln!(text, "{lead}{a} and {b} of item {line}");
            }
            AnswerKind::Emphasis => {
                text.extend(["**never ", WORDS[next(WORDS.len())], " closed and "]);
            }
        }
    }
}

/// Deterministic pseudo-random number generator.
fn fixed_seed_number_picker() -> impl FnMut(usize) -> usize {
    let mut state = 7_u64;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or_default() % below
    }
}

/// Splits text into tokens of about five characters, or two if not ASCII.
pub(super) fn split_tokens(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii() { 5 } else { 2 };
        let end = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
        let (token, later) = rest.split_at(end);
        all.push(token);
        rest = later;
    }
    all
}
