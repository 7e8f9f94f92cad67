//! Reads JSON without building trees: parses only requested members and borrows texts.
//!
//! Unknown members are kept apart from members that are known and ignored.

mod nullable_text;
mod scalar;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
pub(crate) use serde_json::value::RawValue;

pub(crate) use nullable_text::NullableText;
pub(crate) use scalar::{as_scalar, is_true};

/// Members of an object that are neither read nor ignored.
pub(crate) type UnknownMembers<'a> = Vec<(String, &'a RawValue)>;

/// A JSON string, borrowed unless it has escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct BorrowedStr<'a>(#[serde(borrow)] Cow<'a, str>);

/// Text of a JSON string; `None` for any other value.
pub(crate) fn as_string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<BorrowedStr<'_>>(raw.get()).ok().map(|text| text.0)
}

/// Text of a JSON string, or the JSON of any other value.
pub(crate) fn string_or_json(raw: &RawValue) -> Cow<'_, str> {
    as_string(raw).unwrap_or_else(|| Cow::Borrowed(raw.get()))
}

/// Elements of a JSON array; empty for any other value.
pub(crate) fn array_elements(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// Builds the JSON of an object with string members.
pub(crate) fn json_object_of_strings(members: &[(&str, &str)]) -> String {
    let members = members.iter().map(|(name, text)| ((*name).to_owned(), (*text).into()));
    serde_json::Value::Object(members.collect()).to_string()
}

/// Builds the JSON of an object from raw members, without missing ones.
pub(crate) fn json_object_of_members(members: &[(&str, Option<&RawValue>)]) -> String {
    let mut text = String::from("{");
    for (name, value) in members {
        let Some(value) = value else { continue };
        if 1 < text.len() {
            text.push(',');
        }
        text.extend(["\"", name, "\":", value.get()]);
    }
    text.push('}');
    text
}

/// All members of the object in `json` except `null` ones; `None` if it is not an object.
pub(crate) fn non_null_members(json: &str) -> Option<UnknownMembers<'_>> {
    object! { Members { ; keep } }
    Members::parse(json).map(|object| object.unknown)
}

/// A list that stores its first element inline: nearly all have one element.
#[derive(Debug)]
pub(crate) struct InlineFirstVec<T> {
    first: Option<T>,
    rest: Vec<T>,
}

impl<T> Default for InlineFirstVec<T> {
    fn default() -> InlineFirstVec<T> {
        InlineFirstVec { first: None, rest: Vec::new() }
    }
}

impl<T> InlineFirstVec<T> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }
}

impl<T> IntoIterator for InlineFirstVec<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.rest)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for InlineFirstVec<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<InlineFirstVec<T>, D::Error> {
        struct InlineFirstVecVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for InlineFirstVecVisitor<T> {
            type Value = InlineFirstVec<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<InlineFirstVec<T>, A::Error> {
                let first = seq.next_element()?;
                let mut rest = Vec::new();
                while let Some(next) = seq.next_element()? {
                    rest.push(next);
                }
                Ok(InlineFirstVec { first, rest })
            }
        }
        deserializer.deserialize_seq(InlineFirstVecVisitor(PhantomData))
    }
}

/// A string, or an array of typed parts.
#[derive(Debug)]
pub(crate) enum TextOrParts<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<&'a RawValue>),
}

impl<'de: 'a, 'a> Deserialize<'de> for TextOrParts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TextOrParts<'a>, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = TextOrParts<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of parts")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(TextOrParts::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextOrParts::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = seq.next_element()? {
                    parts.push(part);
                }
                Ok(TextOrParts::Parts(parts))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// A text field of an [`object!`], borrowed unless it has escapes. A number or boolean is read as
/// its text, so that an id of another type does not lose the frame.
#[derive(Debug, Default)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
        struct ScalarVisitor;
        impl<'de> Visitor<'de> for ScalarVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or another scalar")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }
            fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(truth.to_string())))
            }
        }
        deserializer.deserialize_any(ScalarVisitor)
    }
}

/// A field type of an [`object!`]. `null` counts as missing.
pub(crate) trait Member<'de>: Deserialize<'de> {
    /// Reads the next value of `map`.
    #[inline]
    fn read_next_value<A: MapAccess<'de>>(map: &mut A) -> Result<Option<Self>, A::Error> {
        map.next_value()
    }
}

impl<'de: 'a, 'a> Member<'de> for &'a RawValue {}
impl<'de: 'a, 'a> Member<'de> for Text<'a> {}
impl<'de: 'a, 'a> Member<'de> for TextOrParts<'a> {}
impl<'de, T: Deserialize<'de>> Member<'de> for InlineFirstVec<T> {}
impl<'de, T: Deserialize<'de>> Member<'de> for Vec<T> {}
impl<'de, T: Deserialize<'de>> Member<'de> for Box<T> {}

/// Declares an object that a dialect reads: `field: Type = "name" | "other name"`.
///
/// Every field is optional and `null` counts as missing. A field without a type is raw JSON; a
/// field without a name has its own. Of several members with one name the last one counts. Other
/// members go to the field `unknown`, except those listed after `skip`; `skip _` ignores them all
/// and `keep` ignores none.
macro_rules! object {
    ($(#[$doc:meta])* $vis:vis $name:ident { $($field:ident $(: $type:ty)? $(= $($key:literal)|+)?),* $(,)?
        ; skip _ }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        #[allow(clippy::struct_field_names, reason = "named after the members")]
        $vis struct $name<'a> {
            $($vis $field: Option<$crate::ingest::json::member_type!('a $($type)?)>,)*
        }

        $crate::ingest::json::object_reader! {
            ignore $vis $name { $($field $($($key)|+)?,)* } skip {}
        }
    };
    ($(#[$doc:meta])* $vis:vis $name:ident { $($field:ident $(: $type:ty)? $(= $($key:literal)|+)?),* $(,)?
        ; keep }) => {
        $crate::ingest::json::object! {
            $(#[$doc])* $vis $name { $($field $(: $type)? $(= $($key)|+)?,)* ; skip }
        }
    };
    ($(#[$doc:meta])* $vis:vis $name:ident { $($field:ident $(: $type:ty)? $(= $($key:literal)|+)?),* $(,)?
        ; skip $($skip:literal)|* }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        #[allow(clippy::struct_field_names, reason = "named after the members")]
        $vis struct $name<'a> {
            $($vis $field: Option<$crate::ingest::json::member_type!('a $($type)?)>,)*
            $vis unknown: $crate::ingest::json::UnknownMembers<'a>,
        }

        $crate::ingest::json::object_reader! {
            keep $vis $name { $($field $($($key)|+)?,)* } skip { $($skip)* }
        }
    };
}
pub(crate) use object;

/// Type of a field of an [`object!`]: raw JSON if none is given.
macro_rules! member_type {
    ($life:lifetime) => { &$life $crate::ingest::json::RawValue };
    ($life:lifetime $type:ty) => { $type };
}
pub(crate) use member_type;

/// Pattern of the names of a field of an [`object!`]: the field's own if none is given.
macro_rules! member_names {
    ($field:ident) => { stringify!($field) };
    ($field:ident $($key:literal)|+) => { $($key)|+ };
}
pub(crate) use member_names;

/// Handles the name or the value of a member that an [`object!`] neither reads nor skips.
macro_rules! unknown_member {
    (ignore name $key:ident) => {
        Key::Skip
    };
    (keep name $key:ident) => {
        Key::Other($key.to_owned())
    };
    (ignore value $object:expr, $key:ident, $map:ident) => {{
        drop($key);
        $map.next_value::<serde::de::IgnoredAny>()?;
    }};
    (keep value $object:expr, $key:ident, $map:ident) => {
        if let Some(value) = $map.next_value()? {
            $object.unknown.push(($key, value));
        }
    };
}
pub(crate) use unknown_member;

/// Implements reading for the struct of an [`object!`].
macro_rules! object_reader {
    ($unknown:ident $vis:vis $name:ident { $($field:ident $($key:literal)|*,)* }
        skip { $($skip:literal)* }) => {
        const _: () = {
            #[allow(non_camel_case_types, reason = "named after the fields they stand for")]
            #[allow(dead_code, reason = "an object has members to skip or members to keep")]
            enum Key { $($field,)* Skip, Other(String) }

            impl<'de> serde::Deserialize<'de> for Key {
                fn deserialize<D: serde::Deserializer<'de>>(de: D) -> Result<Key, D::Error> {
                    struct KeyVisitor;
                    impl serde::de::Visitor<'_> for KeyVisitor {
                        type Value = Key;
                        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                            f.write_str("a field name")
                        }
                        fn visit_str<E>(self, key: &str) -> Result<Key, E> {
                            Ok(match key {
                                $($crate::ingest::json::member_names!($field $($key)|*) => Key::$field,)*
                                $($skip => Key::Skip,)*
                                _ => $crate::ingest::json::unknown_member!($unknown name key),
                            })
                        }
                    }
                    de.deserialize_identifier(KeyVisitor)
                }
            }

            /// Fills an object in place: moving it would cost more than parsing it.
            struct Filler<'o, 'a>(&'o mut $name<'a>);

            impl<'de: 'a, 'a> serde::de::Visitor<'de> for Filler<'_, 'a> {
                type Value = ();
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<(), A::Error> {
                    while let Some(key) = map.next_key::<Key>()? {
                        match key {
                            $(Key::$field => {
                                // A later `null` does not clear the field.
                                if let Some(value) = $crate::ingest::json::Member::read_next_value(&mut map)? {
                                    self.0.$field = Some(value);
                                }
                            })*
                            Key::Skip => {
                                map.next_value::<serde::de::IgnoredAny>()?;
                            }
                            Key::Other(key) => {
                                $crate::ingest::json::unknown_member!($unknown value self.0, key, map)
                            }
                        }
                    }
                    Ok(())
                }
            }

            impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
                fn deserialize<D: serde::Deserializer<'de>>(de: D) -> Result<Self, D::Error> {
                    let mut object = $name::default();
                    de.deserialize_map(Filler(&mut object))?;
                    Ok(object)
                }
            }

            impl<'de: 'a, 'a> $crate::ingest::json::Member<'de> for $name<'a> {}

            impl<'a> $name<'a> {
                /// Fills the fields from `json`; what was read before an error stays.
                #[allow(dead_code, reason = "not every object is read on its own")]
                fn read(&mut self, json: &'a str) -> Result<(), $crate::ingest::dialect::Unreadable> {
                    let mut reader = serde_json::Deserializer::from_str(json);
                    let read = serde::Deserializer::deserialize_map(&mut reader, Filler(self));
                    read.and_then(|()| reader.end())
                        .map_err(|_| $crate::ingest::dialect::Unreadable)
                }

                /// Parses the object in `json`; `None` if it is not an object.
                #[allow(dead_code, reason = "not every object is read on its own")]
                $vis fn parse(json: &'a str) -> Option<$name<'a>> {
                    let mut object = $name::default();
                    object.read(json).ok().map(|()| object)
                }

                /// Parses a raw member; `None` if it is not an object.
                #[allow(dead_code, reason = "not every object is read on its own")]
                $vis fn from_raw(raw: &'a $crate::ingest::json::RawValue) -> Option<$name<'a>> {
                    $name::parse(raw.get())
                }
            }
        };
    };
}
pub(crate) use object_reader;
