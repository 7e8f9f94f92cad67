//! What is known about words, whatever the language: abbreviations, words that begin sentences.
//!
//! The words are data, a file per language in `words/`; all languages count at once, because
//! nobody says which one a text is in. Where two disagree, the reading wins that lets a sentence
//! end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::chars::is_initial;

/// What a dot after a word means. In order: the earlier, the more likely a sentence ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// An end, if what follows looks like a beginning.
    Plain,
    /// A number or a time: an end, unless what it counts follows.
    Number,
    /// No end before a number.
    Digit,
    /// An end only before a word that is known to begin sentences.
    Starter,
    /// After a year: as `Starter` where a sentence begins with it, as `Plain` where it ends with it.
    Year,
    /// No end.
    Never,
}

#[derive(Default)]
struct Words {
    /// Abbreviations without their last dot. One with a capital is one only with it.
    abbreviations: BTreeMap<&'static str, Class>,
    /// Words that begin sentences, in lower case.
    starters: BTreeSet<&'static str>,
    /// What follows an ordinal number or a time, in lower case.
    counted: BTreeSet<&'static str>,
    /// What a number belongs to that follows it, in lower case.
    numbered: BTreeSet<&'static str>,
}

const FILES: &[&str] = &[
    include_str!("words/en.txt"),
    include_str!("words/pl.txt"),
    include_str!("words/de.txt"),
    include_str!("words/romance.txt"),
    include_str!("words/nordic.txt"),
    include_str!("words/slavic.txt"),
    include_str!("words/other.txt"),
];

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let mut words = Words::default();
    for file in FILES {
        words.read(file);
    }
    words
});

impl Words {
    fn read(&mut self, file: &'static str) {
        let mut section = "";
        for line in file.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[') {
                section = name;
            } else if !line.is_empty() && !line.starts_with('#') {
                self.add(section, line);
            }
        }
    }

    fn add(&mut self, section: &str, word: &'static str) {
        let class = match section {
            "plain]" => Class::Plain,
            "time]" => Class::Number,
            "year]" => Class::Year,
            "digit]" => Class::Digit,
            "starter]" => Class::Starter,
            "never]" => Class::Never,
            "begins]" => {
                self.starters.insert(word);
                return;
            }
            "counted]" => {
                self.counted.insert(word);
                return;
            }
            _ => {
                self.numbered.insert(word);
                return;
            }
        };
        let known = self.abbreviations.entry(word).or_insert(class);
        *known = class.min(*known);
    }
}

pub(super) fn begins_sentences(word: &str) -> bool {
    WORDS.starters.contains(word.to_lowercase().as_str())
}

pub(super) fn is_counted(word: &str) -> bool {
    WORDS.counted.contains(word.to_lowercase().as_str())
}

pub(super) fn is_numbered(word: &str) -> bool {
    WORDS.numbered.contains(word.to_lowercase().as_str())
}

/// Whether `word` reads as a Roman number that is not also a word.
pub(super) fn is_roman(word: &str) -> bool {
    2 <= word.len() && word.bytes().all(|byte| matches!(byte, b'I' | b'V' | b'X' | b'L'))
}

/// What a dot after `word` means.
pub(super) fn class(word: &str) -> Class {
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '№');
    if word.is_empty() {
        return Class::Plain;
    }
    if let Some(class) = abbreviation(word) {
        return class;
    }
    // The article in "l'avv.".
    if let Some((_, word)) = word.rsplit_once(['\'', '’'])
        && let Some(class) = abbreviation(word)
    {
        return class;
    }
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Class::Number;
    }
    if is_initials(word) || is_roman(word) { Class::Starter } else { Class::Plain }
}

fn abbreviation(word: &str) -> Option<Class> {
    let known = &WORDS.abbreviations;
    if let Some(&class) = known.get(word) {
        return Some(class);
    }
    let lower = word.to_lowercase();
    let &class = known.get(lower.as_str())?;
    // In capitals it may as well be an acronym.
    let capitals = 1 < word.chars().count() && word.chars().all(char::is_uppercase);
    Some(if capitals { class.min(Class::Starter) } else { class })
}

/// One letter, or parts of one or two letters with dots between, as in "U.S" and "J.-P".
fn is_initials(word: &str) -> bool {
    let dotted = word.contains('.');
    word.split('.').all(|part| {
        let part = part.strip_prefix('-').unwrap_or(part);
        let letters = part.chars().filter(|&c| is_initial(c)).count();
        letters == part.chars().count() && (letters == 1 || dotted && letters == 2)
    })
}
