//! Reading JSON without building trees: only what a dialect asks for is looked at, texts stay
//! borrowed, and fields that nobody asked for are told apart from those known to mean nothing.

mod scalar;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
pub(crate) use serde_json::value::RawValue;

pub(crate) use scalar::{is_true, number};

/// Members of an object that its reader has never heard of.
pub(crate) type Unknown<'a> = Vec<(String, &'a RawValue)>;

/// A string that is borrowed unless it has escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

/// The string, if it is one.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Borrowed<'_>>(raw.get()).ok().map(|text| text.0)
}

/// The string, or the JSON text of anything else.
pub(crate) fn string_or_json(raw: &RawValue) -> Cow<'_, str> {
    string(raw).unwrap_or_else(|| Cow::Borrowed(raw.get()))
}

/// The elements of an array; none if it is not one.
pub(crate) fn elements(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// The JSON text of an object of these texts.
pub(crate) fn sealed(members: &[(&str, &str)]) -> String {
    let members = members.iter().map(|(name, text)| ((*name).to_owned(), (*text).into()));
    serde_json::Value::Object(members.collect()).to_string()
}

/// The JSON text of an object of these members; missing ones are left out.
pub(crate) fn object_text(members: &[(&str, Option<&RawValue>)]) -> String {
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

/// Which members of an object a dialect reads, and which it knows to mean nothing to it.
#[derive(Debug)]
pub(crate) struct Shape<const N: usize> {
    pub(crate) read: [&'static str; N],
    pub(crate) skip: &'static [&'static str],
}

/// What [`Shape::read`] found. A member that is `null` counts as missing.
#[derive(Debug)]
pub(crate) struct Members<'a, const N: usize> {
    pub(crate) read: [Option<&'a RawValue>; N],
    pub(crate) unknown: Unknown<'a>,
}

impl<const N: usize> Shape<N> {
    /// The members of the object in `json`, or `None` if it is not an object.
    pub(crate) fn read<'a>(&self, json: &'a str) -> Option<Members<'a, N>> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let members =
            reader.deserialize_map(ShapeVisitor { shape: self, life: PhantomData }).ok()?;
        reader.end().ok()?;
        Some(members)
    }
}

struct ShapeVisitor<'s, 'a, const N: usize> {
    shape: &'s Shape<N>,
    life: PhantomData<&'a ()>,
}

impl<'de, const N: usize> Visitor<'de> for ShapeVisitor<'_, 'de, N> {
    type Value = Members<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members { read: [None; N], unknown: Vec::new() };
        while let Some(Borrowed(key)) = map.next_key::<Borrowed<'de>>()? {
            let value: &'de RawValue = map.next_value()?;
            if value.get() == "null" {
                continue;
            }
            if let Some(at) = self.shape.read.iter().position(|&name| name == key) {
                members.read[at] = Some(value);
            } else if !self.shape.skip.contains(&key.as_ref()) {
                members.unknown.push((key.into_owned(), value));
            }
        }
        Ok(members)
    }
}

/// An array of which hardly ever more than one element comes: no allocation for the first.
#[derive(Debug)]
pub(crate) struct Few<T> {
    first: Option<T>,
    rest: Vec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Few<T> {
        Few { first: None, rest: Vec::new() }
    }
}

impl<T> Few<T> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.rest)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Few<T>, D::Error> {
        struct FewVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
            type Value = Few<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Few<T>, A::Error> {
                let first = seq.next_element()?;
                let mut rest = Vec::new();
                while let Some(next) = seq.next_element()? {
                    rest.push(next);
                }
                Ok(Few { first, rest })
            }
        }
        deserializer.deserialize_seq(FewVisitor(PhantomData))
    }
}

/// Text that is a string, or an array of typed parts.
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

/// A string field of an [`object!`]: borrowed unless it has escapes. A number or a truth value is
/// taken for its text, so that an id of an odd type costs no frame.
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

/// A field of an [`object!`]: how the value that comes next in an object is read. `null` counts as
/// missing.
pub(crate) trait Member<'de>: Deserialize<'de> {
    #[inline]
    fn next<A: MapAccess<'de>>(map: &mut A) -> Result<Option<Self>, A::Error> {
        map.next_value()
    }
}

impl<'de: 'a, 'a> Member<'de> for &'a RawValue {}
impl<'de: 'a, 'a> Member<'de> for Text<'a> {}
impl<'de: 'a, 'a> Member<'de> for TextOrParts<'a> {}
impl<'de, T: Deserialize<'de>> Member<'de> for Few<T> {}
impl<'de, T: Deserialize<'de>> Member<'de> for Vec<T> {}
impl<'de, T: Deserialize<'de>> Member<'de> for Box<T> {}

/// Declares an object as a dialect reads it: every field is optional, `null` counts as missing,
/// names after `skip` are known and mean nothing, any other field is kept in `unknown`.
macro_rules! object {
    ($name:ident { $($field:ident: $type:ty = $($key:literal)|+,)* ; skip $($skip:literal)|* }) => {
        #[derive(Debug, Default)]
        struct $name<'a> {
            $($field: Option<$type>,)*
            unknown: $crate::ingest::json::Unknown<'a>,
        }

        const _: () = {
            #[allow(non_camel_case_types, reason = "named after the fields they stand for")]
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
                                $($($key)|+ => Key::$field,)*
                                $($skip)|* => Key::Skip,
                                other => Key::Other(other.to_owned()),
                            })
                        }
                    }
                    de.deserialize_identifier(KeyVisitor)
                }
            }

            /// Fills an object where it stands: moving it would cost more than reading it.
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
                                // What is null says nothing, also where it comes second.
                                if let Some(value) = $crate::ingest::json::Member::next(&mut map)? {
                                    self.0.$field = Some(value);
                                }
                            })*
                            Key::Skip => {
                                map.next_value::<serde::de::IgnoredAny>()?;
                            }
                            Key::Other(key) => self.0.unknown.push((key, map.next_value()?)),
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
                #[allow(dead_code, reason = "objects inside others are not read on their own")]
                fn read(&mut self, json: &'a str) -> Result<(), $crate::ingest::dialect::Unreadable> {
                    let mut reader = serde_json::Deserializer::from_str(json);
                    let read = serde::Deserializer::deserialize_map(&mut reader, Filler(self));
                    read.and_then(|()| reader.end())
                        .map_err(|_| $crate::ingest::dialect::Unreadable)
                }
            }
        };
    };
}
pub(crate) use object;
