//! Joins surrogate pairs that a source split over two JSON strings.
//!
//! A source that cuts its text by UTF-16 units sends `"\ud83d"` in one delta and `"\ude00"` in the
//! next; neither is a character, and a JSON reader rejects both frames.
//!
//! Does: take the first half out of the end of its string and put it before the second half, in the
//! later string that continues the first one; replace any other half by U+FFFD. Of several strings
//! that wait for their second halves the one in the most similar place counts.
//! Does not: know dialects. A first half without a second one is no character and is dropped.

mod place;

use std::borrow::Cow;
use std::ops::RangeInclusive;

use crate::limits::SURROGATE_HALVES_MAX;

use place::{FramePlaces, Place};

const FIRST_HALVES: RangeInclusive<u16> = 0xd800..=0xdbff;
const SECOND_HALVES: RangeInclusive<u16> = 0xdc00..=0xdfff;

/// First halves of surrogate pairs whose second halves have not arrived, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SplitSurrogates {
    pending: Vec<FirstHalf>,
}

/// First half at the end of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FirstHalf {
    unit: u16,
    place: Place,
    state: HalfState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HalfState {
    Waiting,
    /// Its second half is in the frame that is read.
    Joined,
}

/// Half of a surrogate pair without the other half beside it.
#[derive(Clone, Copy, Debug)]
struct LoneHalf {
    /// Offset of its escape.
    at: usize,
    unit: u16,
    position: HalfPosition,
}

/// Position of a lone half in its string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HalfPosition {
    /// A second half that begins its string.
    Start,
    /// A first half that ends its string.
    End,
    /// Any other, which has no other half.
    Elsewhere,
}

/// Length of `\u` and its four digits.
const ESCAPE_LEN: usize = 6;

impl SplitSurrogates {
    /// Returns the JSON text `json` without halves of surrogate pairs.
    pub(super) fn join_pairs<'a>(&mut self, json: &'a str) -> Cow<'a, str> {
        let halves = find_lone_halves(json.as_bytes());
        if halves.is_empty() {
            return Cow::Borrowed(json);
        }
        let offsets: Vec<usize> = halves.iter().map(|half| half.at).collect();
        let places = FramePlaces::read(json.as_bytes(), &offsets);
        let mut joined = String::with_capacity(json.len());
        let mut copied_to = 0;
        let mut first_halves = Vec::new();
        for (index, half) in halves.iter().enumerate() {
            joined.push_str(&json[copied_to..half.at]);
            copied_to = half.at + ESCAPE_LEN;
            match half.position {
                HalfPosition::End => first_halves.push(FirstHalf {
                    unit: half.unit,
                    place: places.place(index),
                    state: HalfState::Waiting,
                }),
                HalfPosition::Start => {
                    let first = self.join_most_similar(&places.place(index));
                    let pair = first.map(|first| char::decode_utf16([first, half.unit]).flatten());
                    match pair {
                        Some(pair) => joined.extend(pair),
                        None => joined.push('\u{fffd}'),
                    }
                }
                HalfPosition::Elsewhere => joined.push('\u{fffd}'),
            }
        }
        joined.push_str(&json[copied_to..]);
        self.pending.retain(|half| half.state == HalfState::Waiting);
        self.pending.append(&mut first_halves);
        let too_many = self.pending.len().saturating_sub(SURROGATE_HALVES_MAX);
        self.pending.drain(..too_many);
        Cow::Owned(joined)
    }

    /// The first half that `place` continues. A frame that has its text twice may join one half
    /// twice.
    fn join_most_similar(&mut self, place: &Place) -> Option<u16> {
        let half = self.pending.iter_mut().max_by_key(|half| half.place.similarity_to(place))?;
        half.state = HalfState::Joined;
        Some(half.unit)
    }
}

/// Finds the halves of surrogate pairs that are not beside their other half.
fn find_lone_halves(json: &[u8]) -> Vec<LoneHalf> {
    let mut halves = Vec::new();
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'\\', json.get(from..).unwrap_or_default()) {
        let at = from + found;
        let Some(unit) = parse_escape(json, at) else {
            from = at + 2;
            continue;
        };
        from = at + ESCAPE_LEN;
        let position = if FIRST_HALVES.contains(&unit) {
            if parse_escape(json, from).is_some_and(|next| SECOND_HALVES.contains(&next)) {
                from += ESCAPE_LEN;
                continue;
            }
            if json.get(from) == Some(&b'"') { HalfPosition::End } else { HalfPosition::Elsewhere }
        } else if SECOND_HALVES.contains(&unit) {
            let begins_string = at.checked_sub(1).is_some_and(|at| json[at] == b'"');
            if begins_string { HalfPosition::Start } else { HalfPosition::Elsewhere }
        } else {
            continue;
        };
        halves.push(LoneHalf { at, unit, position });
    }
    halves
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
    fn x2_interleaved_strings_do_not_exchange_halves() {
        for [one, other] in [
            [r#""id":"m0""#, r#""id":"m1""#],
            [r#""item":{"item_id":"m0"},"n":1"#, r#""item":{"item_id":"m1"},"n":1"#],
            [r#""type":"delta","index":0"#, r#""type":"delta","index":1"#],
            [r#""type":"text""#, r#""type":"thinking""#],
        ] {
            let frame = |members: &str, seq: u32, text: &str| {
                format!(r#"{{{members},"seq":{seq},"created":{},"delta":"{text}"}}"#, seq / 2)
            };
            for (third, fourth) in [(one, other), (other, one)] {
                let smile = |members| {
                    if members == one { ("\\ude00", "😀") } else { ("\\udf89", "🎉") }
                };
                let mut halves = SplitSurrogates::default();
                halves.join_pairs(&frame(one, 1, "\\ud83d"));
                halves.join_pairs(&frame(other, 2, "\\ud83c"));
                for (seq, members) in [(3, third), (4, fourth)] {
                    let (half, whole) = smile(members);
                    let joined = halves.join_pairs(&frame(members, seq, half)).into_owned();
                    assert_eq!(joined, frame(members, seq, whole));
                }
            }
        }
    }

    #[test]
    fn x2_strings_of_one_frame_do_not_exchange_halves() {
        check(&[
            (r#"{"a":"\ud83d","b":["x","\ud83c"]}"#, r#"{"a":"","b":["x",""]}"#),
            (r#"{"a":"\ude00","b":["x","\udf89"]}"#, r#"{"a":"😀","b":["x","🎉"]}"#),
        ]);
        check(&[
            (r#"{"delta":"\ud83d"}"#, r#"{"delta":""}"#),
            (r#"{"delta":"\ude00","text":"\ude00"}"#, r#"{"delta":"😀","text":"😀"}"#),
        ]);
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
    fn x12_halves_in_broken_json_are_joined_as_well_as_can_be() {
        for json in [r#"{"a":"\ud83d"#, r#"}]"\ud83d""#, r#"{"a" "\ude00" ,:[["#, r#""\ude00""""#] {
            SplitSurrogates::default().join_pairs(json);
        }
        check(&[(r#"}}"\ud83d""#, r#"}}"""#), (r#"]"\ude00""#, r#"]"😀""#)]);
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
