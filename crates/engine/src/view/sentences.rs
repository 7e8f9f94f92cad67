//! `sentences`.

use crate::event::Record;

use super::Options;
use super::base::{Base, Rest};
use super::patch::Patch;

#[derive(Clone, Debug, Default)]
pub struct Sentences {
    base: Base,
}

impl Sentences {
    pub fn new(_options: Options) -> Sentences {
        Sentences::default()
    }

    pub fn apply<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match self.base.apply(record, out) {
            Rest::Nothing | Rest::Began | Rest::View => {}
            Rest::Ending => self.base.end(record, out),
        }
    }
}
