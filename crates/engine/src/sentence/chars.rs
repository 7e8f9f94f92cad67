//! Character classes for sentence ends, without regard to the text around a character.

/// Kind of a mark that may end a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopMark {
    Dot,
    Ellipsis,
    Exclamation,
    Question,
    /// A stop that needs no white space after it.
    Unspaced,
    /// The same, but also a decimal point.
    UnspacedDot,
}

/// Kind of stop that `c` is, given the last letter before it.
///
/// Armenian ends sentences with a colon and Greek questions with a semicolon; in Armenian a dot
/// is a comma.
pub(super) fn stop_mark(c: char, letter: char) -> Option<StopMark> {
    Some(match c {
        '.' if is_armenian(letter) => return None,
        '.' => StopMark::Dot,
        '…' => StopMark::Ellipsis,
        '!' | '‼' => StopMark::Exclamation,
        ':' if is_armenian(letter) => StopMark::Exclamation,
        '?' | '⁇' | '⁈' | '⁉' | '‽' | '\u{37e}' => StopMark::Question,
        ';' if is_greek(letter) => StopMark::Question,
        '．' => StopMark::UnspacedDot,
        _ if !c.is_ascii() && is_non_latin_stop(c) => StopMark::Unspaced,
        _ => return None,
    })
}

/// True if `c` is a stop after some letter.
pub(super) fn may_be_stop(c: char) -> bool {
    matches!(c, '.' | ':' | ';') || stop_mark(c, ' ').is_some()
}

/// True for the terminal stops of scripts that do not use the Latin ones (property `STerm`),
/// without the Burmese comma.
fn is_non_latin_stop(c: char) -> bool {
    matches!(c,
        '。' | '！' | '？' | '｡' | '︒' | '︕' | '︖' | '﹒' | '﹖' | '﹗'
        | '\u{589}' | '\u{61d}'..='\u{61f}' | '\u{6d4}' | '\u{700}'..='\u{702}' | '\u{7f9}'
        | '\u{837}' | '\u{839}' | '\u{83d}' | '\u{83e}' | '\u{964}' | '\u{965}' | '\u{104b}'
        | '\u{1362}' | '\u{1367}' | '\u{1368}' | '\u{166e}' | '\u{1735}' | '\u{1736}'
        | '\u{17d4}' | '\u{17d5}' | '\u{1803}' | '\u{1809}' | '\u{1944}' | '\u{1945}'
        | '\u{1aa8}'..='\u{1aab}' | '\u{1b5a}' | '\u{1b5b}' | '\u{1b5e}' | '\u{1b5f}'
        | '\u{1c3b}' | '\u{1c3c}' | '\u{1c7e}' | '\u{1c7f}' | '\u{2cf9}'..='\u{2cfb}'
        | '\u{a4ff}' | '\u{a60e}' | '\u{a60f}' | '\u{a6f3}' | '\u{a6f7}' | '\u{a876}'
        | '\u{a877}' | '\u{a8ce}' | '\u{a8cf}' | '\u{a92f}' | '\u{a9c8}' | '\u{a9c9}'
        | '\u{aa5d}'..='\u{aa5f}' | '\u{aaf0}' | '\u{aaf1}' | '\u{abeb}')
}

/// True if `c` can follow a stop before the white space.
pub(super) fn is_closing_mark(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '"'
            | '\''
            | '*'
            | '_'
            | '~'
            | '’'
            | '”'
            | '“'
            | '‘'
            | '»'
            | '«'
            | '›'
            | '‹'
            | '」'
            | '』'
            | '）'
            | '］'
            | '｝'
            | '》'
            | '〉'
            | '】'
            | '〕'
            | '｣'
            | '¹'
            | '²'
            | '³'
            | '⁰'..='⁹'
    ) || is_emoji(c)
}

/// True if `c` can precede the first letter of a sentence.
pub(super) fn is_opening_mark(c: char) -> bool {
    matches!(
        c,
        '(' | '['
            | '{'
            | '"'
            | '\''
            | '*'
            | '_'
            | '~'
            | '¿'
            | '¡'
            | '‘'
            | '“'
            | '„'
            | '‚'
            | '«'
            | '»'
            | '‹'
            | '›'
            | '”'
            | '「'
            | '『'
            | '（'
            | '《'
            | '〈'
            | '【'
    )
}

pub(super) fn is_dash(c: char) -> bool {
    matches!(c, '-' | '–' | '—' | '−' | '―')
}

/// True if `c` always continues a sentence.
pub(super) fn is_continuation_mark(c: char) -> bool {
    matches!(
        c,
        ',' | ';'
            | ':'
            | ')'
            | ']'
            | '}'
            | '%'
            | '!'
            | '?'
            | '&'
            | '='
            | '+'
            | '/'
            | '、'
            | '，'
            | '；'
            | '：'
            | '،'
            | '؛'
            | '·'
    )
}

/// True if `c` is a Japanese particle that continues a sentence after a quote ("he said").
pub(super) fn is_japanese_quote_particle(c: char) -> bool {
    matches!(c, 'と' | 'っ')
}

/// True if `c` is invisible or modifies the character before it.
pub(super) fn is_invisible_or_combining(c: char) -> bool {
    !c.is_ascii()
        && matches!(c,
            '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{61c}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{20d0}'..='\u{20ff}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

pub(super) fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// True if `c` is a bullet of a list that is not Markdown.
pub(super) fn is_bullet(c: char) -> bool {
    matches!(c, '•' | '⁃' | '‣' | '◦' | '▪' | '●' | '■' | '∙')
}

pub(super) fn is_armenian(c: char) -> bool {
    matches!(c, '\u{530}'..='\u{58f}')
}

pub(super) fn is_greek(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')
}

/// True for scripts without spaces between words.
pub(crate) fn is_han_or_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// True if `c` opens a quotation in scripts without spaces.
pub(super) fn is_cjk_quote(c: char) -> bool {
    matches!(c, '「' | '『' | '“')
}

/// True for letters of scripts in which one letter before a dot is an initial, not a word.
pub(super) fn can_be_initial(c: char) -> bool {
    c.is_alphabetic() && (c < '\u{900}' || matches!(c, '\u{1e00}'..='\u{1fff}'))
}

/// True for the vowels of the Latin and Cyrillic scripts, and for letters of all others.
pub(super) fn is_vowel(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    }
    !matches!(
        c.to_lowercase().next(),
        Some(
            'ß'
            | 'ç'
            | 'ñ'
            | 'ć'
            | 'č'
            | 'ď'
            | 'đ'
            | 'ğ'
            | 'ł'
            | 'ľ'
            | 'ļ'
            | 'ķ'
            | 'ń'
            | 'ň'
            | 'ņ'
            | 'ŕ'
            | 'ř'
            | 'ś'
            | 'š'
            | 'ş'
            | 'ș'
            | 'ť'
            | 'ţ'
            | 'ț'
            | 'ź'
            | 'ż'
            | 'ž'
            | 'б'..='д'
            | 'ж'
            | 'з'
            | 'й'..='н'
            | 'п'..='т'
            | 'ф'..='ъ'
            | 'ь',
        )
    )
}

/// Case of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LetterCase {
    Lower,
    Upper,
    /// A letter of a script without case.
    None,
}

pub(super) fn letter_case(c: char) -> LetterCase {
    // Georgian has capitals, but writes sentences without them.
    if c.is_lowercase() && !matches!(c, '\u{10d0}'..='\u{10ff}') {
        LetterCase::Lower
    } else if c.is_uppercase() {
        LetterCase::Upper
    } else {
        LetterCase::None
    }
}
