//! Lenient parsing of numbers and booleans: `3`, `3.0` and `"3"` are the same number; `true`,
//! `"true"` and `1` the same boolean. A value that cannot be read counts as missing, so that it
//! does not lose the rest of its frame.
//!
//! Does not: read anything from an object or an array.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Member, RawValue};

/// A type that one JSON scalar can be read as.
pub(crate) trait Scalar: Sized {
    /// Converts an integer.
    fn from_integer(number: i128) -> Option<Self>;

    /// Converts a float; an integer type drops the fraction.
    #[allow(clippy::cast_possible_truncation, reason = "what is out of range is not of the type")]
    fn from_float(number: f64) -> Option<Self> {
        Self::from_integer(number as i128)
    }

    /// Converts a boolean.
    fn from_bool(_: bool) -> Option<Self> {
        None
    }

    /// Parses a text as integer, boolean or float.
    fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(number) = text.parse() {
            return Self::from_integer(number);
        }
        if let Ok(truth) = text.parse() {
            return Self::from_bool(truth);
        }
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.and_then(Self::from_float)
    }
}

impl Scalar for u32 {
    fn from_integer(number: i128) -> Option<u32> {
        number.try_into().ok()
    }
}

impl Scalar for u64 {
    #[inline]
    fn from_integer(number: i128) -> Option<u64> {
        number.try_into().ok()
    }
}

impl Scalar for i64 {
    fn from_integer(number: i128) -> Option<i64> {
        number.try_into().ok()
    }
}

impl Scalar for f64 {
    #[allow(clippy::cast_precision_loss, reason = "as JSON numbers are read")]
    fn from_integer(number: i128) -> Option<f64> {
        Some(number as f64)
    }

    fn from_float(number: f64) -> Option<f64> {
        Some(number)
    }
}

impl Scalar for bool {
    fn from_integer(number: i128) -> Option<bool> {
        match number {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn from_bool(truth: bool) -> Option<bool> {
        Some(truth)
    }
}

/// Visitor that reads any scalar as `T`. Integers are inlined: every delta of the large dialects
/// has an index.
struct LenientScalar<T>(PhantomData<T>);

impl<'de, T: Scalar> DeserializeSeed<'de> for LenientScalar<T> {
    type Value = Option<T>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Scalar> Visitor<'de> for LenientScalar<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    #[inline]
    fn visit_u64<E>(self, number: u64) -> Result<Option<T>, E> {
        Ok(T::from_integer(number.into()))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Option<T>, E> {
        Ok(T::from_integer(number.into()))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Option<T>, E> {
        Ok(T::from_float(number))
    }
    fn visit_bool<E>(self, truth: bool) -> Result<Option<T>, E> {
        Ok(T::from_bool(truth))
    }
    fn visit_str<E>(self, text: &str) -> Result<Option<T>, E> {
        Ok(T::from_text(text))
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
            fn read_next_value<A: MapAccess<'de>>(map: &mut A) -> Result<Option<$type>, A::Error> {
                map.next_value_seed(LenientScalar(PhantomData))
            }
        })*
    };
}
scalar_members! { u32 u64 i64 f64 bool }

/// Reads a number or boolean of any JSON type.
pub(crate) fn as_scalar<T: Scalar>(raw: &RawValue) -> Option<T> {
    let mut reader = serde_json::Deserializer::from_str(raw.get());
    reader.deserialize_any(LenientScalar(PhantomData)).ok().flatten()
}

/// True for `true`, `"true"`, `1` and `"1"`.
pub(crate) fn is_true(raw: &RawValue) -> bool {
    as_scalar(raw) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_scalar<T: Scalar>(json: &str) -> Option<T> {
        as_scalar(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_number_is_the_same_in_every_type() {
        for three in ["3", "3.0", "\"3\"", "\" 3 \"", "\"3.0\"", "3e0"] {
            assert_eq!(parse_scalar::<u64>(three), Some(3), "{three}");
            assert_eq!(parse_scalar::<u32>(three), Some(3), "{three}");
            assert_eq!(parse_scalar::<i64>(three), Some(3), "{three}");
            assert_eq!(parse_scalar::<f64>(three), Some(3.0), "{three}");
        }
        assert_eq!(parse_scalar::<i64>("\"-1\""), Some(-1));
        assert_eq!(parse_scalar::<f64>("\"0.25\""), Some(0.25));
        assert_eq!(parse_scalar::<u64>("18446744073709551615"), Some(u64::MAX));
    }

    #[test]
    fn truth_is_the_same_in_every_type() {
        for (json, truth) in [("true", true), ("\"true\"", true), ("1", true), ("\"1\"", true)] {
            assert_eq!(parse_scalar::<bool>(json), Some(truth), "{json}");
        }
        for json in ["false", "\"false\"", "0", "0.0"] {
            assert_eq!(parse_scalar::<bool>(json), Some(false), "{json}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_missing_and_not_0() {
        for json in ["null", "{}", "[3]", "{\"a\":[1]}", "\"\"", "\"x\"", "\"nan\"", "\"inf\""] {
            assert_eq!(parse_scalar::<u64>(json), None, "{json}");
            assert_eq!(parse_scalar::<f64>(json), None, "{json}");
            assert_eq!(parse_scalar::<bool>(json), None, "{json}");
        }
        assert_eq!(parse_scalar::<u64>("-1"), None);
        assert_eq!(parse_scalar::<u64>("1e30"), None);
        assert_eq!(parse_scalar::<u32>("4294967296"), None);
        assert_eq!(parse_scalar::<i64>("true"), None);
        assert_eq!(parse_scalar::<bool>("2"), None);
    }
}
