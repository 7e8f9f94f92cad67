//! Word wrapping of one line.

use unicode_width::UnicodeWidthChar;

/// Wraps a line into rows of at most `columns` cells, between words where possible.
pub(super) fn wrap_line(line: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    let mut width = 0;
    for char in line.chars() {
        let wide = char.width().unwrap_or(0);
        // A wide character may still not fit after the last word moved to the next row.
        while columns < width + wide && !row.is_empty() {
            let rest = match row.rfind(' ') {
                Some(at) if char != ' ' => row.split_off(at + 1),
                _ => String::new(),
            };
            width = rest.chars().map(|char| char.width().unwrap_or(0)).sum();
            rows.push(std::mem::replace(&mut row, rest));
        }
        row.push(char);
        width += wide;
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_never_wider_than_the_column() {
        assert_eq!(wrap_line("one two three", 8), ["one two ", "three"]);
        assert_eq!(wrap_line("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap_line("東京東京", 5), ["東京", "東京"]);
        assert_eq!(wrap_line(" 東京東京", 5), [" ", "東京", "東京"]);
        assert_eq!(wrap_line("", 5), [""]);
    }
}
