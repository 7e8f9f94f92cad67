//! Deduplication of whole lines: a line that is sent again is applied once.

use std::collections::VecDeque;

use crate::run::Fingerprint;

/// Whole lines remembered, to detect repeated ones.
const LINES_MAX: usize = 256;

/// Fingerprints of the newest whole lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SeenLines(VecDeque<Fingerprint>);

impl SeenLines {
    /// Inserts a line; returns true if it is new.
    pub(super) fn insert(&mut self, uuid: &str, message: &str) -> bool {
        let mut print = Fingerprint::from_text(uuid);
        print.push(message);
        if self.0.contains(&print) {
            return false;
        }
        if LINES_MAX <= self.0.len() {
            self.0.pop_front();
        }
        self.0.push_back(print);
        true
    }
}
