//! `transcript`.

use crate::event::Record;

use super::Options;
use super::base::{Base, Rest};
use super::patch::Patch;

#[derive(Clone, Debug, Default)]
pub struct Transcript {
    base: Base,
}

impl Transcript {
    pub fn new(_options: Options) -> Transcript {
        Transcript::default()
    }

    pub fn apply<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match self.base.apply(record, out) {
            Rest::Nothing | Rest::Began | Rest::View => {}
            Rest::Ending => self.base.end(record, out),
        }
    }
}
