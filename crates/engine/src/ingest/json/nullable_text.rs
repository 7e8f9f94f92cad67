//! Text whose presence has a meaning, even if it is `null`.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, MapAccess};

use super::{Member, Text};

/// A text field of an [`object!`](super::object) that counts as present if it is `null`; its text
/// is empty then.
#[derive(Debug, Default)]
pub(crate) struct NullableText<'a>(Cow<'a, str>);

impl std::ops::Deref for NullableText<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for NullableText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NullableText<'a>, D::Error> {
        let text = Option::<Text<'_>>::deserialize(deserializer)?;
        Ok(NullableText(text.unwrap_or_default().0))
    }
}

impl<'de: 'a, 'a> Member<'de> for NullableText<'a> {
    #[inline]
    fn read_next_value<A: MapAccess<'de>>(map: &mut A) -> Result<Option<Self>, A::Error> {
        map.next_value().map(Some)
    }
}
