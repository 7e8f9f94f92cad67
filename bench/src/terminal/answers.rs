//! Answers of four kinds whose words do not repeat themselves in the same order.

use std::fmt::Write;

#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
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
const SIGNS: [char; 12] = ['水', '車', '静', '池', '流', '石', '橋', '夜', '森', '風', '音', '光'];

impl Answer {
    pub(super) const ALL: [Answer; 6] =
        [Answer::Prose, Answer::Code, Answer::Table, Answer::Cjk, Answer::List, Answer::Emphasis];

    pub(super) fn name(self) -> &'static str {
        match self {
            Answer::Prose => "prose",
            Answer::Code => "code",
            Answer::Table => "a table",
            Answer::Cjk => "Chinese and Japanese",
            Answer::List => "lists",
            Answer::Emphasis => "emphasis that never closes",
        }
    }

    /// About so many tokens.
    pub(super) fn text(self, count: usize) -> String {
        let mut next = picker();
        let mut text = String::new();
        let mut line = 0;
        while tokens(&text).len() < count {
            // Counting costs: a few lines at a time.
            for _ in 0..(count / 200).max(1) {
                line += 1;
                self.line(line, &mut next, &mut text);
            }
        }
        if matches!(self, Answer::Code) {
            text.push_str("```\n");
        }
        text
    }

    /// Writing to a string cannot fail.
    fn line(self, line: usize, next: &mut impl FnMut(usize) -> usize, text: &mut String) {
        match self {
            Answer::Prose => {
                for _ in 0..40 {
                    text.push_str(WORDS[next(WORDS.len())]);
                    text.push(' ');
                }
                text.push_str(".\n\n");
            }
            Answer::Code => {
                if line == 1 {
                    text.push_str("```rust\n");
                }
                let (a, b) = (next(900), next(900));
                let _ = writeln!(text, "    let value_{line} = step({a}, \"{b}\"); // one more");
            }
            Answer::Table => {
                if line == 1 {
                    text.push_str("| name | what it does | count |\n| --- | :-- | --: |\n");
                }
                let (a, b) = (WORDS[next(WORDS.len())], WORDS[next(WORDS.len())]);
                let _ = writeln!(text, "| row {line} | {a} and {b} | {} |", next(10_000));
            }
            Answer::Cjk => {
                text.extend((0..60).map(|_| SIGNS[next(SIGNS.len())]));
                text.push_str("。\n\n");
            }
            Answer::List => {
                let lead = if line.is_multiple_of(3) { "  - " } else { "- " };
                let (a, b) = (WORDS[next(WORDS.len())], WORDS[next(WORDS.len())]);
                let _ = writeln!(text, "{lead}{a} and {b} of item {line}");
            }
            Answer::Emphasis => {
                text.extend(["**never ", WORDS[next(WORDS.len())], " closed and "]);
            }
        }
    }
}

/// Numbers that look chosen by chance and are the same every time.
fn picker() -> impl FnMut(usize) -> usize {
    let mut state = 7_u64;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or_default() % below
    }
}

/// About four characters each, as models cut them; of wide ones fewer.
pub(super) fn tokens(text: &str) -> Vec<&str> {
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
