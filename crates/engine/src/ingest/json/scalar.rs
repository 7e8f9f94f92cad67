//! Numbers and truth values of whatever JSON type: `3`, `3.0` and `"3"` are the same number, `true`,
//! `"true"` and `1` the same truth. What cannot be read counts as missing, so that one odd value
//! costs neither its frame nor the text beside it.
//!
//! Does not: read numbers in words, or anything out of an object or an array.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Member, RawValue};

/// A type that a lone JSON value may stand for.
pub(crate) trait Scalar: Sized {
    fn of_whole(number: i128) -> Option<Self>;

    #[allow(clippy::cast_possible_truncation, reason = "what is out of range is not of the type")]
    fn of_fraction(number: f64) -> Option<Self> {
        Self::of_whole(number as i128)
    }

    fn of_truth(_: bool) -> Option<Self> {
        None
    }

    fn of_text(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(number) = text.parse() {
            return Self::of_whole(number);
        }
        if let Ok(truth) = text.parse() {
            return Self::of_truth(truth);
        }
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.and_then(Self::of_fraction)
    }
}

impl Scalar for u32 {
    fn of_whole(number: i128) -> Option<u32> {
        number.try_into().ok()
    }
}

impl Scalar for u64 {
    #[inline]
    fn of_whole(number: i128) -> Option<u64> {
        number.try_into().ok()
    }
}

impl Scalar for i64 {
    fn of_whole(number: i128) -> Option<i64> {
        number.try_into().ok()
    }
}

impl Scalar for f64 {
    #[allow(clippy::cast_precision_loss, reason = "as JSON numbers are read")]
    fn of_whole(number: i128) -> Option<f64> {
        Some(number as f64)
    }

    fn of_fraction(number: f64) -> Option<f64> {
        Some(number)
    }
}

impl Scalar for bool {
    fn of_whole(number: i128) -> Option<bool> {
        match number {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn of_truth(truth: bool) -> Option<bool> {
        Some(truth)
    }
}

/// Inlined where whole numbers go: every delta of the large dialects has an index.
struct Lenient<T>(PhantomData<T>);

impl<'de, T: Scalar> DeserializeSeed<'de> for Lenient<T> {
    type Value = Option<T>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Scalar> Visitor<'de> for Lenient<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    #[inline]
    fn visit_u64<E>(self, number: u64) -> Result<Option<T>, E> {
        Ok(T::of_whole(number.into()))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Option<T>, E> {
        Ok(T::of_whole(number.into()))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Option<T>, E> {
        Ok(T::of_fraction(number))
    }
    fn visit_bool<E>(self, truth: bool) -> Result<Option<T>, E> {
        Ok(T::of_truth(truth))
    }
    fn visit_str<E>(self, text: &str) -> Result<Option<T>, E> {
        Ok(T::of_text(text))
    }
    fn visit_unit<E>(self) -> Result<Option<T>, E> {
        Ok(None)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Option<T>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<T>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

macro_rules! scalar_members {
    ($($type:ty)*) => {
        $(impl<'de> Member<'de> for $type {
            #[inline]
            fn next<A: MapAccess<'de>>(map: &mut A) -> Result<Option<$type>, A::Error> {
                map.next_value_seed(Lenient(PhantomData))
            }
        })*
    };
}
scalar_members! { u32 u64 i64 f64 bool }

/// The number, or the truth value, of whatever type it is written in.
pub(crate) fn number<T: Scalar>(raw: &RawValue) -> Option<T> {
    let mut reader = serde_json::Deserializer::from_str(raw.get());
    reader.deserialize_any(Lenient(PhantomData)).ok().flatten()
}

pub(crate) fn is_true(raw: &RawValue) -> bool {
    number(raw) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<T: Scalar>(json: &str) -> Option<T> {
        number(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_number_is_the_same_in_every_type() {
        for three in ["3", "3.0", "\"3\"", "\" 3 \"", "\"3.0\"", "3e0"] {
            assert_eq!(of::<u64>(three), Some(3), "{three}");
            assert_eq!(of::<u32>(three), Some(3), "{three}");
            assert_eq!(of::<i64>(three), Some(3), "{three}");
            assert_eq!(of::<f64>(three), Some(3.0), "{three}");
        }
        assert_eq!(of::<i64>("\"-1\""), Some(-1));
        assert_eq!(of::<f64>("\"0.25\""), Some(0.25));
        assert_eq!(of::<u64>("18446744073709551615"), Some(u64::MAX));
    }

    #[test]
    fn truth_is_the_same_in_every_type() {
        for (json, truth) in [("true", true), ("\"true\"", true), ("1", true), ("\"1\"", true)] {
            assert_eq!(of::<bool>(json), Some(truth), "{json}");
        }
        for json in ["false", "\"false\"", "0", "0.0"] {
            assert_eq!(of::<bool>(json), Some(false), "{json}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_missing_and_not_0() {
        for json in ["null", "{}", "[3]", "{\"a\":[1]}", "\"\"", "\"x\"", "\"nan\"", "\"inf\""] {
            assert_eq!(of::<u64>(json), None, "{json}");
            assert_eq!(of::<f64>(json), None, "{json}");
            assert_eq!(of::<bool>(json), None, "{json}");
        }
        assert_eq!(of::<u64>("-1"), None);
        assert_eq!(of::<u64>("1e30"), None);
        assert_eq!(of::<u32>("4294967296"), None);
        assert_eq!(of::<i64>("true"), None);
        assert_eq!(of::<bool>("2"), None);
    }
}
