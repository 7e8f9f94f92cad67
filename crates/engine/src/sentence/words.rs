//! Word lists for sentence ends: abbreviations, words that begin sentences.
//!
//! One file per language in `words/`. All languages apply at once, because the language of a text
//! is unknown; if two disagree, the class that lets a sentence end wins.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::chars::can_be_initial;

/// Meaning of a dot after a word, from most to least likely to end a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DotClass {
    /// A word of no list: an end.
    Plain,
    /// An abbreviation that often ends sentences: an end, unless lower case follows.
    Ending,
    /// A number: an end, unless a counted noun follows.
    Number,
    /// After a time: as `Starter` if the sentence begins with it, else as `Number`.
    Time,
    /// After a year: as `Starter` if the sentence begins with it, else as `Ending`.
    Year,
    /// A word that is also an abbreviation: an end, unless a number follows.
    Word,
    /// As `Word` if it is the first of its sentence, else as `Digit`.
    Answer,
    /// An end, unless a number or lower case follows.
    Digit,
    /// An end only before a word that is known to begin sentences.
    Starter,
    /// No end.
    Never,
}

/// Word lists of all languages.
#[derive(Default)]
struct Lexicon {
    /// Abbreviations without their last dot. One with a capital matches only with it.
    abbreviations: HashMap<&'static str, DotClass>,
    /// Words that begin sentences, in lower case.
    sentence_starters: HashSet<&'static str>,
    /// Nouns that follow an ordinal number or a time, in lower case.
    counted_nouns: HashSet<&'static str>,
    /// Nouns that a number follows, such as "step", in lower case.
    numbered_nouns: HashSet<&'static str>,
    /// Words that an ordinal number follows, in lower case.
    words_before_ordinals: HashSet<&'static str>,
    /// Words that begin a sentence with a date or a time, in lower case.
    date_openers: HashSet<&'static str>,
    /// Names that end with an exclamation mark, in lower case.
    exclaimed_names: HashSet<&'static str>,
    /// Last parts of compound abbreviations, such as "str", in lower case: as `Digit`.
    suffixes: HashSet<&'static str>,
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

/// Bytes of a line of the language files, on average.
const WORD_BYTES_MEAN: usize = 6;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut words = Lexicon::default();
    // Growing would hash every word twice.
    words
        .abbreviations
        .reserve(LANGUAGE_FILES.iter().map(|file| file.len()).sum::<usize>() / WORD_BYTES_MEAN);
    for file in LANGUAGE_FILES {
        words.add_language_file(file);
    }
    words
});

impl Lexicon {
    /// Adds the words of one language file.
    fn add_language_file(&mut self, file: &'static str) {
        let mut section = "";
        for line in file.lines() {
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
            "ending]" => DotClass::Ending,
            "time]" => DotClass::Time,
            "year]" => DotClass::Year,
            "word]" => DotClass::Word,
            "answer]" => DotClass::Answer,
            "digit]" => DotClass::Digit,
            "starter]" => DotClass::Starter,
            "never]" => DotClass::Never,
            other => {
                self.word_set_mut(other).insert(word);
                return;
            }
        };
        let known = self.abbreviations.entry(word).or_insert(class);
        *known = class.min(*known);
    }

    /// The list of words that are no abbreviations, by its section.
    fn word_set_mut(&mut self, section: &str) -> &mut HashSet<&'static str> {
        match section {
            "begins]" => &mut self.sentence_starters,
            "counted]" => &mut self.counted_nouns,
            "ordinal]" => &mut self.words_before_ordinals,
            "date]" => &mut self.date_openers,
            "exclaimed]" => &mut self.exclaimed_names,
            "suffix]" => &mut self.suffixes,
            _ => &mut self.numbered_nouns,
        }
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

/// True if an ordinal number follows `word`: "der 45. Präsident".
pub(super) fn is_word_before_ordinal(word: &str) -> bool {
    LEXICON.words_before_ordinals.contains(word.to_lowercase().as_str())
}

/// True if `word` begins sentences that begin with a date or a time: "In 1918".
pub(super) fn is_date_opener(word: &str) -> bool {
    LEXICON.date_openers.contains(word.to_lowercase().as_str())
}

/// True if `word` is a name that ends with an exclamation mark.
pub(super) fn is_exclaimed_name(word: &str) -> bool {
    LEXICON.exclaimed_names.contains(word.to_lowercase().as_str())
}

/// True if `word` is a Roman numeral of small numbers.
pub(super) fn is_roman_numeral(word: &str) -> bool {
    word.bytes().all(|byte| matches!(byte, b'I' | b'V' | b'X' | b'L'))
}

/// Classifies a dot after `word`; `dotted` is what stands before it in "v. Chr.", without spaces.
pub(super) fn classify_dot_after(word: &str, dotted: &str) -> DotClass {
    let is_temperature = word.contains('°');
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '№');
    if word.is_empty() {
        return DotClass::Plain;
    }
    if let Some(class) = spaced_abbreviation_class(word, dotted) {
        return class;
    }
    if let Some(class) = abbreviation_class(word) {
        return class;
    }
    // Skips the article in "l'avv." and "d'A.".
    if let Some((_, word)) = word.rsplit_once(['\'', '’']) {
        if let Some(class) = abbreviation_class(word) {
            return class;
        }
        if word.starts_with(char::is_uppercase) && is_initials(word) {
            return DotClass::Starter;
        }
    }
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return DotClass::Number;
    }
    if is_temperature {
        return DotClass::Ending;
    }
    if is_initials(word) || is_roman_numeral(word) {
        DotClass::Starter
    } else if has_suffix(word) {
        DotClass::Digit
    } else {
        DotClass::Plain
    }
}

/// Looks up an abbreviation that has spaces in it, by its end `word` and the rest of it.
fn spaced_abbreviation_class(word: &str, mut dotted: &str) -> Option<DotClass> {
    while !dotted.is_empty() {
        if let Some(class) = abbreviation_class(&format!("{dotted}{word}")) {
            return Some(class);
        }
        dotted = dotted.split_once('.').map_or("", |(_, rest)| rest);
    }
    None
}

/// True for "Goethestr" and the like.
fn has_suffix(word: &str) -> bool {
    let word = word.to_lowercase();
    LEXICON.suffixes.iter().any(|suffix| word.ends_with(suffix))
}

/// Looks `word` up among the abbreviations.
fn abbreviation_class(word: &str) -> Option<DotClass> {
    let known = &LEXICON.abbreviations;
    if let Some(&class) = known.get(word) {
        return Some(class);
    }
    // A capital alone is an initial.
    let mut letters = word.chars();
    if letters.next().is_some_and(char::is_uppercase) && letters.next().is_none() {
        return None;
    }
    let lower = word.to_lowercase();
    let &class = known.get(lower.as_str())?;
    // In capitals it may be an acronym.
    let capitals = 1 < word.chars().count() && word.chars().all(char::is_uppercase);
    Some(if capitals { class.min(DotClass::Starter) } else { class })
}

/// True for one letter, or parts of one or two letters with dots between, as in "U.S" and "J.-P",
/// or one capital twice, as in the Spanish "EE".
fn is_initials(word: &str) -> bool {
    if matches!(word.as_bytes(), [first, second] if first == second && first.is_ascii_uppercase()) {
        return true;
    }
    let dotted = word.contains('.');
    word.split('.').all(|part| {
        let part = part.strip_prefix('-').unwrap_or(part);
        let letters = part.chars().filter(|&c| can_be_initial(c)).count();
        letters == part.chars().count() && (letters == 1 || dotted && letters == 2)
    })
}
