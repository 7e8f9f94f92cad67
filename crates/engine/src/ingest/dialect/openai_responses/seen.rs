//! Which of the items that come again with the end of a response have been seen.
//!
//! They stand in an array, and some sources leave out of it what they have streamed before: a place
//! in it is the weakest of names.

use crate::ingest::json::{RawValue, Shape, string};
use crate::limits::RESPONSE_ITEMS_MAX;

use super::OpenAiResponses;
use super::item::{Item, Key};

impl OpenAiResponses {
    /// The number of the item that each one repeats. No more are looked for than are remembered.
    pub(super) fn seen_before(&self, output: &[&RawValue]) -> Vec<Option<u32>> {
        const HEAD: Shape<2> = Shape { read: ["id", "type"], skip: &[] };
        let heads: Vec<_> = output
            .iter()
            .take(RESPONSE_ITEMS_MAX)
            .map(|raw| HEAD.read(raw.get()).map_or([None; 2], |head| head.read))
            .map(|head| head.map(|member| member.and_then(string)))
            .collect();
        let mut left: Vec<&Item> = self.items.iter().collect();
        let mut seen = vec![None; heads.len()];
        let ways = [Way::Id, Way::Index, Way::Order];
        for way in ways {
            for (at, [id, of_type]) in heads.iter().enumerate() {
                if seen[at].is_some() || left.is_empty() {
                    continue;
                }
                let key = Key::new(Some(at as u64), id.as_deref());
                let is_it = |item: &&Item| item.fits(of_type.as_deref()) && way.leads(key, item);
                let found = match way {
                    Way::Id | Way::Index => left.iter().rposition(is_it),
                    Way::Order => left.iter().position(is_it),
                };
                seen[at] = found.map(|found| left.remove(found).number);
            }
        }
        seen
    }
}

/// How an item is found again; the surest come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Id,
    Index,
    /// The first of its type that no other item is.
    Order,
}

impl Way {
    fn leads(self, key: Key<'_>, item: &Item) -> bool {
        match self {
            Way::Id => item.has_id(key.id),
            Way::Index => item.index == key.index,
            Way::Order => true,
        }
    }
}
