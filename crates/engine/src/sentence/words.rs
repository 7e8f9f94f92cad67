//! Word lists for sentence ends: abbreviations, words that begin sentences.
//!
//! One file per language in `words/`. All languages apply at once, because the language of a text
//! is unknown; if two disagree, the class that lets a sentence end wins.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::chars::can_be_initial;

/// Meaning of a dot after a word, from most to least likely to end a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DotClass {
    /// An end, if the next word looks like a beginning.
    Plain,
    /// A number or a time: an end, unless a counted noun follows.
    Number,
    /// An end, unless a number follows.
    Digit,
    /// An end only before a word that is known to begin sentences.
    Starter,
    /// After a year: as `Starter` near the start of a sentence, else as `Plain`.
    Year,
    /// No end.
    Never,
}

/// Word lists of all languages.
#[derive(Default)]
struct Lexicon {
    /// Abbreviations without their last dot. One with a capital matches only with it.
    abbreviations: BTreeMap<&'static str, DotClass>,
    /// Words that begin sentences, in lower case.
    sentence_starters: BTreeSet<&'static str>,
    /// Nouns that follow an ordinal number or a time, in lower case.
    counted_nouns: BTreeSet<&'static str>,
    /// Nouns that a number follows, such as "step", in lower case.
    numbered_nouns: BTreeSet<&'static str>,
}

const LANGUAGE_FILES: &[&str] = &[
    include_str!("words/en.txt"),
    include_str!("words/pl.txt"),
    include_str!("words/de.txt"),
    include_str!("words/romance.txt"),
    include_str!("words/nordic.txt"),
    include_str!("words/slavic.txt"),
    include_str!("words/other.txt"),
];

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut words = Lexicon::default();
    for file in LANGUAGE_FILES {
        words.add_language_file(file);
    }
    words
});

impl Lexicon {
    /// Adds the words of one language file.
    fn add_language_file(&mut self, file: &'static str) {
        let mut section = "";
        for line in file.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[') {
                section = name;
            } else if !line.is_empty() && !line.starts_with('#') {
                self.add_word(section, line);
            }
        }
    }

    /// Adds a word to the list of its section.
    fn add_word(&mut self, section: &str, word: &'static str) {
        let class = match section {
            "plain]" => DotClass::Plain,
            "time]" => DotClass::Number,
            "year]" => DotClass::Year,
            "digit]" => DotClass::Digit,
            "starter]" => DotClass::Starter,
            "never]" => DotClass::Never,
            "begins]" => {
                self.sentence_starters.insert(word);
                return;
            }
            "counted]" => {
                self.counted_nouns.insert(word);
                return;
            }
            _ => {
                self.numbered_nouns.insert(word);
                return;
            }
        };
        let known = self.abbreviations.entry(word).or_insert(class);
        *known = class.min(*known);
    }
}

/// True if `word` is known to begin sentences.
pub(super) fn is_sentence_starter(word: &str) -> bool {
    LEXICON.sentence_starters.contains(word.to_lowercase().as_str())
}

/// True if `word` follows ordinal numbers or times.
pub(super) fn is_noun_after_number(word: &str) -> bool {
    LEXICON.counted_nouns.contains(word.to_lowercase().as_str())
}

/// True if `word` is a noun that a number follows, such as "step".
pub(super) fn is_noun_before_number(word: &str) -> bool {
    LEXICON.numbered_nouns.contains(word.to_lowercase().as_str())
}

/// True if `word` is a Roman numeral of at least two letters.
pub(super) fn is_roman_numeral(word: &str) -> bool {
    2 <= word.len() && word.bytes().all(|byte| matches!(byte, b'I' | b'V' | b'X' | b'L'))
}

/// Classifies a dot after `word`.
pub(super) fn classify_dot_after(word: &str) -> DotClass {
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '№');
    if word.is_empty() {
        return DotClass::Plain;
    }
    if let Some(class) = abbreviation_class(word) {
        return class;
    }
    // Skips the article in "l'avv.".
    if let Some((_, word)) = word.rsplit_once(['\'', '’'])
        && let Some(class) = abbreviation_class(word)
    {
        return class;
    }
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return DotClass::Number;
    }
    if is_initials(word) || is_roman_numeral(word) { DotClass::Starter } else { DotClass::Plain }
}

/// Looks `word` up among the abbreviations.
fn abbreviation_class(word: &str) -> Option<DotClass> {
    let known = &LEXICON.abbreviations;
    if let Some(&class) = known.get(word) {
        return Some(class);
    }
    let lower = word.to_lowercase();
    let &class = known.get(lower.as_str())?;
    // In capitals it may be an acronym.
    let capitals = 1 < word.chars().count() && word.chars().all(char::is_uppercase);
    Some(if capitals { class.min(DotClass::Starter) } else { class })
}

/// True for one letter, or parts of one or two letters with dots between, as in "U.S" and "J.-P".
fn is_initials(word: &str) -> bool {
    let dotted = word.contains('.');
    word.split('.').all(|part| {
        let part = part.strip_prefix('-').unwrap_or(part);
        let letters = part.chars().filter(|&c| can_be_initial(c)).count();
        letters == part.chars().count() && (letters == 1 || dotted && letters == 2)
    })
}
