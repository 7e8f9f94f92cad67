//! Joins surrogate pairs that a source split over two JSON strings.
//!
//! A source that cuts its text by UTF-16 units sends `"\ud83d"` in one delta and `"\ude00"` in the
//! next; neither is a character, and a JSON reader rejects both frames.
//!
//! Does: take the first half out of the end of its string and put it before the second half, in
//! whatever later frame begins a string with one; replace any other half by U+FFFD.
//! Does not: know dialects. A first half without a second one is no character and is dropped.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use crate::limits::SURROGATE_HALVES_MAX;

const FIRST_HALVES: RangeInclusive<u16> = 0xd800..=0xdbff;
const SECOND_HALVES: RangeInclusive<u16> = 0xdc00..=0xdfff;

/// First halves of surrogate pairs whose second halves have not arrived, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SplitSurrogates {
    pending: Vec<u16>,
}

/// Length of `\u` and its four digits.
const ESCAPE_LEN: usize = 6;

impl SplitSurrogates {
    /// Returns the JSON text `json` without halves of surrogate pairs.
    pub(super) fn join_pairs<'a>(&mut self, json: &'a str) -> Cow<'a, str> {
        let bytes = json.as_bytes();
        let mut joined = String::new();
        let mut copied_to = 0;
        let (mut first_half, mut second_half_of) = (None, None);
        let mut from = 0;
        while let Some(found) = memchr::memchr(b'\\', &bytes[from..]) {
            let at = from + found;
            let Some(unit) = parse_escape(bytes, at) else {
                from = at + 2;
                if bytes.len() <= from {
                    break;
                }
                continue;
            };
            from = at + ESCAPE_LEN;
            if FIRST_HALVES.contains(&unit) {
                if parse_escape(bytes, from).is_some_and(|next| SECOND_HALVES.contains(&next)) {
                    from += ESCAPE_LEN;
                    continue;
                }
                joined.push_str(&json[copied_to..at]);
                if bytes.get(from) == Some(&b'"') {
                    first_half = Some(unit);
                } else {
                    joined.push('\u{fffd}');
                }
                copied_to = from;
            } else if SECOND_HALVES.contains(&unit) {
                joined.push_str(&json[copied_to..at]);
                let begins_string = at.checked_sub(1).is_some_and(|at| bytes[at] == b'"');
                if begins_string && second_half_of.is_none() {
                    second_half_of = self.pending.pop();
                }
                match second_half_of.filter(|_| begins_string) {
                    Some(first) => joined.extend(char::decode_utf16([first, unit]).flatten()),
                    None => joined.push('\u{fffd}'),
                }
                copied_to = from;
            }
        }
        if let Some(half) = first_half {
            if SURROGATE_HALVES_MAX <= self.pending.len() {
                self.pending.remove(0);
            }
            self.pending.push(half);
        }
        if copied_to == 0 {
            return Cow::Borrowed(json);
        }
        joined.push_str(&json[copied_to..]);
        Cow::Owned(joined)
    }
}

/// Parses the `\u` escape at `at`; `None` if there is none.
fn parse_escape(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + ESCAPE_LEN)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(frames: &[(&str, &str)]) {
        let mut halves = SplitSurrogates::default();
        for (json, joined) in frames {
            assert_eq!(halves.join_pairs(json), *joined);
        }
    }

    #[test]
    fn x2_a_pair_split_over_two_strings_is_joined() {
        check(&[(r#""a\ud83d""#, r#""a""#), (r#""\ude00b""#, r#""😀b""#)]);
        check(&[(r#""\uD83D""#, r#""""#), (r#""x""#, r#""x""#), (r#""\uDE00""#, r#""😀""#)]);
        check(&[
            (r#"["\ud83d","a\ud83d"]"#, r#"["","a"]"#),
            (r#"["\ude00","a"]"#, r#"["😀","a"]"#),
        ]);
        check(&[(r#""\ud83d\ude00\ud83d""#, r#""\ud83d\ude00""#), (r#""\ude01""#, r#""😁""#)]);
    }

    #[test]
    fn x2_other_escapes_are_kept() {
        for json in [r#""\\ud83d""#, r#""\n\u0041\\""#, r#""\ud83d\ude00""#, "\\", "\\u", "\\ud83"]
        {
            check(&[(json, json)]);
        }
    }

    #[test]
    fn x12_a_half_without_the_other_is_a_replacement_character() {
        check(&[(r#""a\ude00""#, "\"a\u{fffd}\""), (r#""\ude00""#, "\"\u{fffd}\"")]);
        check(&[(r#""\ud83da""#, "\"\u{fffd}a\"")]);
        check(&[(r#""\ud83d""#, r#""""#), (r#""a\ude00""#, "\"a\u{fffd}\"")]);
    }

    #[test]
    fn x14_pending_halves_are_bounded() {
        let mut halves = SplitSurrogates::default();
        for _ in 0..3 * SURROGATE_HALVES_MAX {
            halves.join_pairs(r#""\ud83d""#);
        }
        assert_eq!(halves.pending.len(), SURROGATE_HALVES_MAX);
    }
}
