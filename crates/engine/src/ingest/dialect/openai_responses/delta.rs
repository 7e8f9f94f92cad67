//! The `delta` of an event: text, or an object for shell output. Anything else is unreadable.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use crate::ingest::json::Member;

use super::ShellDelta;

/// New text, or a piece of a command's output.
#[derive(Debug)]
pub(super) enum DeltaValue<'a> {
    Text(Cow<'a, str>),
    Shell(ShellDelta<'a>),
}

impl<'de: 'a, 'a> Member<'de> for DeltaValue<'a> {}

impl<'de: 'a, 'a> Deserialize<'de> for DeltaValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DeltaVisitor;
        impl<'de> Visitor<'de> for DeltaVisitor {
            type Value = DeltaValue<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a piece of output")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(DeltaValue::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(DeltaValue::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let map = MapAccessDeserializer::new(map);
                Deserialize::deserialize(map).map(DeltaValue::Shell)
            }
        }
        deserializer.deserialize_any(DeltaVisitor)
    }
}
