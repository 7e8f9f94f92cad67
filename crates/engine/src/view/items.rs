//! The items of a page, sorted by key.
//!
//! New items are appended and nearly all changes concern the last one, so it is found without a
//! search.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::item::{Item, ItemKey};

/// Map from key to item, sorted by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Items {
    /// Boxed, because a removal moves all later entries.
    sorted: Vec<(ItemKey, Box<Item<'static>>)>,
}

impl Items {
    /// Position of the key, or where to insert it.
    fn search(&self, key: ItemKey) -> Result<usize, usize> {
        match self.sorted.last() {
            Some((last, _)) if *last == key => Ok(self.sorted.len() - 1),
            Some((last, _)) if *last < key => Err(self.sorted.len()),
            _ => self.sorted.binary_search_by_key(&key, |(key, _)| *key),
        }
    }

    /// Returns the item with this key.
    pub fn get(&self, key: ItemKey) -> Option<&Item<'static>> {
        self.search(key).ok().map(|at| &*self.sorted[at].1)
    }

    /// Returns the item with this key for changes.
    pub fn get_mut(&mut self, key: ItemKey) -> Option<&mut Item<'static>> {
        self.search(key).ok().map(|at| &mut *self.sorted[at].1)
    }

    /// Inserts an item, replacing the one with this key.
    pub fn insert(&mut self, key: ItemKey, item: Item<'static>) {
        match self.search(key) {
            Ok(at) => *self.sorted[at].1 = item,
            Err(at) => self.sorted.insert(at, (key, Box::new(item))),
        }
    }

    /// Removes the item with this key.
    pub fn remove(&mut self, key: ItemKey) {
        if let Ok(at) = self.search(key) {
            self.sorted.remove(at);
        }
    }

    /// Key of the last item.
    pub fn last_key(&self) -> Option<ItemKey> {
        self.sorted.last().map(|(key, _)| *key)
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Returns true if there are no items.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Iterates over all items in key order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (ItemKey, &Item<'static>)> {
        self.iter_from(ItemKey(0))
    }

    /// Iterates over all items without their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Item<'static>> {
        self.iter().map(|(_, item)| item)
    }

    /// Iterates over the items from this key on.
    pub fn iter_from(
        &self,
        key: ItemKey,
    ) -> impl DoubleEndedIterator<Item = (ItemKey, &Item<'static>)> {
        let (Ok(at) | Err(at)) = self.search(key);
        self.sorted[at..].iter().map(|(key, item)| (*key, &**item))
    }
}

impl FromIterator<(ItemKey, Item<'static>)> for Items {
    fn from_iter<I: IntoIterator<Item = (ItemKey, Item<'static>)>>(iter: I) -> Items {
        let mut items = Items::default();
        iter.into_iter().for_each(|(key, item)| items.insert(key, item));
        items
    }
}

impl Serialize for Items {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Items, D::Error> {
        let by_key = BTreeMap::<ItemKey, Box<Item<'static>>>::deserialize(deserializer)?;
        Ok(Items { sorted: by_key.into_iter().collect() })
    }
}
