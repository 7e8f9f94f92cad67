//! The items of a page, in the order of their keys.
//!
//! New items come last and nearly all that happens, happens to the last one, so that one is found
//! without a search.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::item::{Item, Key};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Items {
    /// Boxed, because a removal moves all that stand behind it.
    sorted: Vec<(Key, Box<Item<'static>>)>,
}

impl Items {
    fn find(&self, key: Key) -> Result<usize, usize> {
        match self.sorted.last() {
            Some((last, _)) if *last == key => Ok(self.sorted.len() - 1),
            Some((last, _)) if *last < key => Err(self.sorted.len()),
            _ => self.sorted.binary_search_by_key(&key, |(key, _)| *key),
        }
    }

    pub fn get(&self, key: Key) -> Option<&Item<'static>> {
        self.find(key).ok().map(|at| &*self.sorted[at].1)
    }

    pub fn get_mut(&mut self, key: Key) -> Option<&mut Item<'static>> {
        self.find(key).ok().map(|at| &mut *self.sorted[at].1)
    }

    pub fn insert(&mut self, key: Key, item: Item<'static>) {
        match self.find(key) {
            Ok(at) => *self.sorted[at].1 = item,
            Err(at) => self.sorted.insert(at, (key, Box::new(item))),
        }
    }

    pub fn remove(&mut self, key: Key) {
        if let Ok(at) = self.find(key) {
            self.sorted.remove(at);
        }
    }

    pub fn last_key(&self) -> Option<Key> {
        self.sorted.last().map(|(key, _)| *key)
    }

    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Key, &Item<'static>)> {
        self.from(Key(0))
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Item<'static>> {
        self.iter().map(|(_, item)| item)
    }

    /// The item with this key and those behind it.
    pub fn from(&self, key: Key) -> impl DoubleEndedIterator<Item = (Key, &Item<'static>)> {
        let (Ok(at) | Err(at)) = self.find(key);
        self.sorted[at..].iter().map(|(key, item)| (*key, &**item))
    }
}

impl FromIterator<(Key, Item<'static>)> for Items {
    fn from_iter<I: IntoIterator<Item = (Key, Item<'static>)>>(iter: I) -> Items {
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
        let by_key = BTreeMap::<Key, Box<Item<'static>>>::deserialize(deserializer)?;
        Ok(Items { sorted: by_key.into_iter().collect() })
    }
}
