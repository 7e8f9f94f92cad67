//! Tests of the splitter: invariants and Markdown blocks. Languages are in `language_tests.rs`.

use proptest::prelude::*;

use crate::limits::{
    SENTENCE_CODE_BYTES_MAX, SENTENCE_ENCLOSED_BYTES_MAX, SENTENCE_HELD_BYTES_MAX,
};

use super::*;

/// Collects the pieces and checks that ends and texts alternate.
#[derive(Default)]
struct Pieces {
    all: Vec<String>,
    open: bool,
}

impl Pieces {
    fn push(&mut self, cut: SplitOutput<'_>) {
        match cut {
            SplitOutput::Text(text) => {
                assert!(!text.is_empty(), "an empty text");
                if !std::mem::replace(&mut self.open, true) {
                    self.all.push(String::new());
                }
                self.all.last_mut().unwrap().push_str(text);
            }
            SplitOutput::PieceEnd => {
                assert!(std::mem::take(&mut self.open), "an end without text before it");
            }
        }
    }
}

pub(super) fn split<'t>(chunks: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut splitter = SentenceSplitter::new();
    let mut pieces = Pieces::default();
    for chunk in chunks {
        splitter.push(chunk, &mut |cut| pieces.push(cut));
        assert!(splitter.held_bytes() <= SENTENCE_CODE_BYTES_MAX, "{:?}", splitter.held);
    }
    splitter.finish(&mut |cut| pieces.push(cut));
    assert!(!pieces.open && splitter == SentenceSplitter::new(), "not finished");
    pieces.all
}

fn char_boundaries(input: &str) -> Vec<usize> {
    (0..=input.len()).filter(|&at| input.is_char_boundary(at)).collect()
}

/// Splits `input` whole, cut in two everywhere and character by character; all must agree.
#[track_caller]
pub(super) fn split_every_way(input: &str) -> Vec<String> {
    let whole = split([input]);
    assert_eq!(whole.concat(), input, "a byte was lost or doubled");
    let ends = char_boundaries(input);
    for &cut in &ends {
        assert_eq!(split([&input[..cut], &input[cut..]]), whole, "cut at {cut}: {input:?}");
    }
    let chars = ends.windows(2).map(|pair| &input[pair[0]..pair[1]]);
    assert_eq!(split(chars), whole, "character by character: {input:?}");
    whole
}

/// Splits `expected` without its bars and compares; `¦` marks each end of a piece.
#[track_caller]
fn check(expected: &str) {
    check_all(&[expected]);
}

#[track_caller]
pub(super) fn check_all(expected: &[&str]) {
    let got = expected.iter().map(|text| split_every_way(&text.replace('¦', "")).join("¦"));
    let wrong: Vec<_> = expected.iter().zip(got).filter(|(text, got)| got != *text).collect();
    assert!(wrong.is_empty(), "expected and got: {wrong:#?}");
}

/// Output after `input` without `finish`; `¦` marks each end.
fn emitted_so_far(input: &str) -> String {
    let mut all = String::new();
    SentenceSplitter::new().push(input, &mut |cut| match cut {
        SplitOutput::Text(text) => all.push_str(text),
        SplitOutput::PieceEnd => all.push('¦'),
    });
    all
}

#[test]
fn f1_text_goes_out_as_soon_as_it_can_be_decided() {
    for (input, expected) in [
        ("Hello wor", "Hello wor"),
        ("Hello.", "Hello."),
        ("Hello.  ", "Hello.  "),
        ("Hello. W", "Hello. ¦W"),
        ("Hello. \"", "Hello. "),
        ("Hello. \"W", "Hello. ¦\"W"),
        ("Dr. ", "Dr. "),
        ("Dr. S", "Dr. S"),
        ("etc. a", "etc. a"),
        ("The U.S. Th", "The U.S. "),
        ("The U.S. The ", "The U.S. ¦The "),
        ("The U.S. Theatre ", "The U.S. Theatre "),
        ("3.1", "3.1"),
        ("a\n\n", "a\n\n"),
        ("a\n\n1", "a\n\n¦1"),
        ("a\n1", "a\n"),
        ("a\n1.", "a\n"),
        ("a\n1. ", "a\n¦1. "),
        ("a\n##", "a\n"),
        ("a\n## b", "a\n¦## b"),
        ("a\n``", "a\n"),
        ("a\n```", "a\n¦```"),
        ("Use `a. B", "Use `a."),
        ("Use `a. B` x", "Use `a. B` x"),
        ("Use `ab c", "Use `ab c"),
        ("Use (a. B", "Use (a."),
        ("Use (a. B)", "Use (a. B)"),
        ("Use `am. Be\n\n", "Use `am. ¦Be\n\n"),
        ("これは。", "これは。"),
        ("これは。そ", "これは。¦そ"),
    ] {
        assert_eq!(emitted_so_far(input), expected, "{input:?}");
    }
}

#[test]
fn f1_an_end_never_comes_first_or_twice_and_white_space_belongs_to_the_piece_before() {
    check("");
    check("  \n\n ");
    check("\n\n  Hello.  \n\n\n  ¦World. \n");
    check("Hello. \n ¦World.\n\n");
    check("Hello.\u{a0}¦World.\u{3000}¦Again.");
}

#[test]
fn f3_the_end_of_the_message_decides_what_is_held() {
    check("I live in the U.S. ¦How");
    check("I live in the U.S. Gov");
    check("Hello.\n¦12");
    check("Hello. ¦\"");
}

#[test]
fn f2_headings_items_and_rules_are_pieces_of_their_own() {
    check("# What is it? ¦A guide.\n¦Text one. ¦Text two.\n¦## Next\n\n¦More.");
    check("Intro:\n¦- One. ¦Two\n¦- three\n\n¦After. ¦All.");
    check("Intro:\n¦1. Open it. ¦Then read.\n¦2. Close it.\n   ¦- inner\n¦After");
    check("* a\n¦* b\n¦+ c\n¦10) d");
    check("- one\n  goes on here. ¦Still.\n¦Not here.");
    check("- One.\n  ¦Two.\n\n  ¦Three. ¦Four.");
    check("## 1. Set up. ¦Then run ##\n¦- **Name.** ¦Text, e.g. this. ¦More.");
    check("— Tak. ¦Chodź.\n¦— Dokąd? ¦Nie wiem.");
    check("• one\n¦• two\n¦⁃three");
    check("a) one\n¦b) two");
    check("- [ ] open. ¦Yes\n¦- [x] done");
    check("-\n- a");
    check("One.\n\n¦---\n\n¦Two.\n¦***\n¦Three");
    check("Title\n=====\n¦Text. ¦More\n---\n¦End");
    check("**1. Bold.** ¦Text. ¦*Emphasis.* ¦_More._");
}

#[test]
fn f2_what_only_looks_like_a_marker_is_text() {
    check("It was in\n1984. ¦Then it ended.");
    check("A #tag and\n#another one");
    check("So\n**bold** and\n*so* on\n-5 degrees");
    check("one\n1.5 two\n2)three");
    check("so\na. b");
    check("== no\n=x");
}

#[test]
fn f2_code_blocks_are_one_piece() {
    check("Do. ¦This:\n¦```sh\na. B\n\n# c. D\n```\n¦Then. ¦End.");
    check("~~~~\n~~~ a. B\n~~~~\n¦x");
    check("```\nnever closed. Or\n\n# is it");
    check("- item\n  ¦```js\nnot. Indented\n  ```\n¦- next");
    check("Code:\n\n    ¦a. B\n    c. D\n\n    e. F\n\n¦Text. ¦More.");
    check("> ```\n> a. B\n> ```\n¦> c\n\n¦> ```\n> x\n¦out. ¦More");
    check("```a. B``` is code. ¦Yes.");
    check("- ```\n  a. B\n  ```\n¦- c");
}

#[test]
fn f2_lines_are_what_markdown_says_they_are() {
    check("Foo\n    ***\nbar");
    check("foo\n    # bar");
    check("* Foo\n¦* * *\n¦* Bar");
    check("*** Begin Patch\n*** Add File");
    check("--- Round 1 ---\nPlayer 1 rolls");
    check("Why use it\n-\n¦Built by us");
    check("foo\n*\nbar");
    check("foo\n1.\nbar");
    check("```\na. B\n    ```\nc. D\n```\n¦E");
    check("> > ```\n> > a. B\n¦> out. ¦More");
    check("> - item\n¦> > One. ¦Two");
    check("Has a | bar:\n¦| a. B | c |\n|---|---|\n| d | e |");
    check("a | b\n:-- | --:\nc. D | e. F\n\n¦G");
}

#[test]
fn f2_tables_are_one_piece() {
    check("See. ¦The table:\n¦| a. B | c |\n|---|---|\n| d. E | f! G |\n\n¦After. ¦All.");
    check("| a | b |\n|---|---|\n¦Text. ¦More");
    check("a | b\n--- | ---\nc. D | e. F\n\n¦After");
}

#[test]
fn f2_quotations_split_like_paragraphs() {
    check("> One. ¦Two\n> goes on. \n¦> Three.\n>\n¦> Four.\n¦Five. ¦Six.");
    check("So:\n¦> One\nTwo");
    check("> - One. ¦Two\n¦> - c");
}

#[test]
fn f2_nothing_ends_inside_code_spans_and_links() {
    check("Use `a. B` here. ¦Or ``x ` y. Z`` there. ¦`c` is it. ¦`d.` And so.");
    check("Run `npm i`. ¦`x` is\nsoft. ¦Go.");
    check("A `code` ends. ¦So does `it.`\n\n¦# `a. B`\n¦- `c. D`\n¦`e. F`");
    check("Not \\` code. ¦Yes.");
    check("See [this. And that](http://a.b/c.d \"Or. What\"). ¦Then <https://a.b/c.>. ¦End");
    check("Go to https://www.example.com/a.html?b=c.d. ¦Then google.com. ¦Or a.b@c.pl. ¦So.");
    check("Text.[1] ¦More.[^2][3] ¦Again.【4†source】 ¦End.");
}

#[test]
fn f2_items_on_one_line_are_pieces() {
    check("1) one ¦2) two ¦3) three");
    check("1. one ¦2. two. ¦Three ¦3. four. ¦4. five ¦5. U.S. law ¦6. 5 m. ¦7. end");
    check("• One. ¦Two. ¦• three ¦• four");
    check("1. Go to step 2. ¦Then read.\n¦2. End.");
}

#[test]
fn a_quotation_or_bracket_that_never_closes_is_forgotten() {
    let long = "word ".repeat(SENTENCE_ENCLOSED_BYTES_MAX / 5 + 1);
    for open in ["(", "[", "\"", "„", "«", "「"] {
        check(&format!("{open}{long}end. ¦Next. ¦One."));
    }
    check("Sad :( but fine. ¦Next.");
    check("A 5\" pipe. ¦Next \"one. ¦Two\" here. ¦End.");
}

#[test]
fn what_is_held_has_a_limit() {
    let at_limit = "(".repeat(SENTENCE_HELD_BYTES_MAX);
    check(&format!("One. ¦{at_limit}"));
    check(&format!("One. {at_limit}(Two"));
    check(&format!("> One.\n{}Two", ">".repeat(SENTENCE_HELD_BYTES_MAX + 1)));
    check(&format!("The U.S. T{}", "h".repeat(SENTENCE_HELD_BYTES_MAX)));
}

#[test]
fn hostile_text_is_cut_like_any_other() {
    for input in [
        "\0. \0A",
        "a\u{200b}.\u{200d} \u{202a}B",
        "e\u{301}. \u{301}A",
        "\u{feff}# a\n\u{feff}b",
        "\r\n\r. \rA\r\n",
        ". . . . . .\n.\n..",
        "?!?! \u{1f600}\u{fe0f} A",
        "`\n``\n```\n````\n",
        "> > > >\n> -\n-\t-\n\t\t- a",
        "|\n||\n|-\n- |\n",
        "[[[[((((\"\"\"\"",
        "1.1.1. 1) 1.) a.) 999999999999. x",
        "\u{10ffff}.\u{10ffff} \u{e000}",
    ] {
        split_every_way(input);
        split_every_way(&input.repeat(5));
    }
}

/// Fragments with and without meaning to the splitter.
const FRAGMENTS: &[&str] = &[
    "Hello",
    "world",
    ".",
    "!",
    "?",
    "...",
    "…",
    "。",
    "！",
    "؟",
    ":",
    ";",
    " ",
    " ",
    " ",
    "\n",
    "\n\n",
    "\t",
    "    ",
    "Dr.",
    "e.g.",
    "U.S.",
    "ul.",
    "np.",
    "3.14",
    "12.",
    "1. ",
    "2. ",
    "a) ",
    "- ",
    "* ",
    "• ",
    "# ",
    "> ",
    "|",
    "---",
    "===",
    "```",
    "~~~",
    "`",
    "``",
    "**",
    "_",
    "(",
    ")",
    "[",
    "]",
    "\"",
    "“",
    "”",
    "„",
    "«",
    "»",
    "「",
    "」",
    "The",
    "How",
    "Smith",
    "łódź",
    "Że",
    "これ",
    "Է",
    "ε",
    "😀",
    "\u{200d}",
    "\u{301}",
    "\0",
    "–",
    "-",
    "\\",
    "<",
    "\r\n",
    "http://a.b/c",
    "!isfinish",
    ". . .",
    "[1]",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mixture_is_cut_the_same_however_it_arrives(
        parts in prop::collection::vec(prop::sample::select(FRAGMENTS), 0..24),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let input = parts.concat();
        let whole = split_every_way(&input);
        let ends = char_boundaries(&input);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| *cut.get(&ends)).collect();
        cuts.extend([0, input.len()]);
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|pair| &input[pair[0]..pair[1]]);
        prop_assert_eq!(split(chunks), whole);
    }
}

#[test]
fn a_quoted_paragraph_goes_on_without_its_mark() {
    let pieces = split_every_way("> A quote that goes on\nlazily here. And more.\n\nEnd.");
    assert_eq!(pieces, ["> A quote that goes on\nlazily here. ", "And more.\n\n", "End."]);
    assert_eq!(split_every_way("> one\n> two\nthree\n> four"), ["> one\n> two\nthree\n> four"]);
    assert_eq!(split_every_way("> one\n# Head"), ["> one\n", "# Head"]);
    assert_eq!(split_every_way("> one\n- item"), ["> one\n", "- item"]);
    assert_eq!(split_every_way("text\n> one"), ["text\n", "> one"]);
    assert_eq!(split_every_way("> one\n\ntwo"), ["> one\n\n", "two"]);
}
