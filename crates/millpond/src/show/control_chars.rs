//! Makes untrusted text safe for a terminal: control characters are shown, not executed.

use std::borrow::Cow;

/// Returns true for printable characters, line feed and tab.
fn is_safe_to_print(char: char) -> bool {
    !char.is_control() || matches!(char, '\n' | '\t')
}

/// Visible Unicode symbol for a control character.
fn control_char_symbol(char: char) -> char {
    match u32::from(char) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

/// Replaces every control character except line feed and tab with a visible symbol. CR LF becomes
/// LF.
pub(crate) fn replace_control_chars(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_safe_to_print) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    text.chars()
        .map(|char| if is_safe_to_print(char) { char } else { control_char_symbol(char) })
        .collect()
}

/// Replaces control characters by visible symbols, and all whitespace by single spaces.
pub(crate) fn to_single_line(text: &str) -> String {
    replace_control_chars(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_lose_their_power() {
        assert_eq!(replace_control_chars("a\x1b[2Jb\r\x07\u{9b}c\n\td"), "a␛[2Jb␍␇\u{fffd}c\n\td");
        assert!(matches!(replace_control_chars("zażółć\n"), Cow::Borrowed(_)));
        assert_eq!(to_single_line("a\nb \x1b c"), "a b ␛ c");
    }
}
