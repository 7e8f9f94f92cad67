//! `steps`.

use crate::event::Record;

use super::Options;
use super::base::{Base, Rest};
use super::patch::Patch;

#[derive(Clone, Debug, Default)]
pub struct Steps {
    base: Base,
}

impl Steps {
    pub fn new(_options: Options) -> Steps {
        Steps::default()
    }

    pub fn apply<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match self.base.apply(record, out) {
            Rest::Nothing | Rest::Began | Rest::View => {}
            Rest::Ending => self.base.end(record, out),
        }
    }
}
