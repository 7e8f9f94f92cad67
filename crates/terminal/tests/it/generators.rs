//! Generators of texts that are hard to render, and of ways to cut them.

use proptest::prelude::*;

const FRAGMENTS: [&str; 58] = [
    "word",
    "another ",
    "a ",
    "some longer text that goes on ",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\n\n\n",
    "**",
    "*",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "```",
    "\n```rust\n",
    "\n```\n",
    "fn main() { let x = \"y\"; }\n",
    "# ",
    "### ",
    "- ",
    "\n- ",
    "\n* ",
    "1. ",
    "\n2. ",
    "  - ",
    "    ",
    "\t",
    "> ",
    "\n> ",
    "---",
    "\n===\n",
    "| a | b |\n",
    "|---|:-:|\n",
    "| cell | other cell here |\n",
    "|",
    "[",
    "](",
    "https://example.com/a/b?c=d",
    ")",
    "![",
    "]",
    "<https://x.y>",
    "\\",
    "&amp;",
    "水火木金土",
    "日本語。",
    "👩\u{200d}👧",
    "e\u{301}",
    "⚠\u{fe0f}",
    "\x1b[2J",
    "\r\n",
    "- [ ] ",
    "- [x] ",
    "שלום",
    "averyveryveryveryverylongwordthatdoesnotfitintoanyrowatall",
];

pub(crate) fn markdown_text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&FRAGMENTS[..]), 0..60)
        .prop_map(|parts| parts.concat())
}

/// Delimiters and brackets, which stay undecided for long.
pub(crate) fn inline_text() -> impl Strategy<Value = String> {
    const MARKS: [&str; 20] = [
        "*",
        "**",
        "_",
        "__",
        "~~",
        "`",
        "``",
        "[",
        "![",
        "]",
        "](",
        ")",
        "<https://",
        ">",
        "\\",
        "&amp;",
        "a",
        " b ",
        "word",
        "  \n",
    ];
    prop::collection::vec(prop::sample::select(&MARKS[..]), 0..80).prop_map(|parts| parts.concat())
}

/// Cuts a text into pieces of the given lengths in characters, repeated.
pub(crate) fn cut_text<'a>(text: &'a str, lens: &[usize]) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut lens = lens.iter().cycle();
    while !rest.is_empty() {
        let len = lens.next().copied().unwrap_or(1).max(1);
        let end = rest.char_indices().nth(len).map_or(rest.len(), |(at, _)| at);
        let (part, later) = rest.split_at(end);
        parts.push(part);
        rest = later;
    }
    parts
}

pub(crate) fn cut_lengths() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1..12_usize, 1..8)
}
