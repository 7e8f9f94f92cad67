//! Matching of the items in a response's final list to the items already streamed.
//!
//! Some providers omit streamed items from the list, so a position in it is the weakest match.

use crate::ingest::json::{RawValue, as_string, object};
use crate::limits::RESPONSE_ITEMS_MAX;

use super::OpenAiResponses;
use super::item::{ItemKey, ResponseItem};

impl OpenAiResponses {
    /// Returns the number of the streamed item that each listed one repeats; matches at most
    /// `RESPONSE_ITEMS_MAX`.
    pub(super) fn match_seen_items(&self, output: &[&RawValue]) -> Vec<Option<u32>> {
        object! { Head { id, kind = "type"; skip _ } }
        let heads: Vec<_> = output
            .iter()
            .take(RESPONSE_ITEMS_MAX)
            .map(|raw| Head::from_raw(raw).unwrap_or_default())
            .map(|Head { id, kind }| [id, kind].map(|member| member.and_then(as_string)))
            .collect();
        let mut left: Vec<&ResponseItem> = self.items.iter().collect();
        let mut seen = vec![None; heads.len()];
        let ways = [MatchBy::Id, MatchBy::Index, MatchBy::TypeOrder];
        for way in ways {
            for (at, [id, of_type]) in heads.iter().enumerate() {
                if seen[at].is_some() || left.is_empty() {
                    continue;
                }
                let key = ItemKey::new(Some(at as u64), id.as_deref());
                let is_it = |item: &&ResponseItem| {
                    item.matches_type_if_given(of_type.as_deref()) && way.matches(key, item)
                };
                let found = match way {
                    MatchBy::Id | MatchBy::Index => left.iter().rposition(is_it),
                    MatchBy::TypeOrder => left.iter().position(is_it),
                };
                seen[at] = found.map(|found| left.remove(found).number);
            }
        }
        seen
    }
}

/// Ways to match an item, the most reliable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatchBy {
    Id,
    Index,
    /// The first unmatched item of its type.
    TypeOrder,
}

impl MatchBy {
    /// Returns true if `item` matches `key` in this way.
    fn matches(self, key: ItemKey<'_>, item: &ResponseItem) -> bool {
        match self {
            MatchBy::Id => item.has_id(key.id),
            MatchBy::Index => item.index == key.index,
            MatchBy::TypeOrder => true,
        }
    }
}
