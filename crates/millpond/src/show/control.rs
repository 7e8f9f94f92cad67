//! Text from outside on a screen: control characters are shown, not obeyed.

use std::borrow::Cow;

fn is_harmless(char: char) -> bool {
    !char.is_control() || matches!(char, '\n' | '\t')
}

/// What to print for a control character.
fn picture(char: char) -> char {
    match u32::from(char) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

/// The text with every control character but line ends and tabs replaced by its picture. A return
/// before a line end is part of it.
pub(crate) fn neutralised(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    text.chars().map(|char| if is_harmless(char) { char } else { picture(char) }).collect()
}

/// The same on one line, for a message beside the output.
pub(crate) fn one_line(text: &str) -> String {
    neutralised(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_lose_their_power() {
        assert_eq!(neutralised("a\x1b[2Jb\r\x07\u{9b}c\n\td"), "a␛[2Jb␍␇\u{fffd}c\n\td");
        assert!(matches!(neutralised("zażółć\n"), Cow::Borrowed(_)));
        assert_eq!(one_line("a\nb \x1b c"), "a b ␛ c");
    }
}
