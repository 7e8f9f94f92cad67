//! Pastes that a terminal does not mark as such: keys that come faster than anybody types.

use std::time::{Duration, Instant};

/// Nobody types two characters so close together.
const APART_MIN: Duration = Duration::from_millis(8);

/// As many in a row are no accident.
const BURST_MIN: usize = 3;

#[derive(Clone, Copy, Debug, Default)]
pub struct Burst {
    last: Option<Instant>,
    quick: usize,
}

impl Burst {
    /// A character came.
    pub fn character(&mut self, at: Instant) {
        self.quick = if self.is_close(at) { self.quick + 1 } else { 1 };
        self.last = Some(at);
    }

    /// Whether Enter, pressed now, is part of a paste: it begins a line, and sends nothing.
    pub fn takes_enter(&mut self, at: Instant) -> bool {
        let takes = self.is_close(at) && BURST_MIN <= self.quick;
        if takes {
            self.character(at);
        }
        takes
    }

    fn is_close(&self, at: Instant) -> bool {
        self.last.is_some_and(|last| at.saturating_duration_since(last) < APART_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_sends_unless_it_comes_with_a_paste() {
        let start = Instant::now();
        let after = |ms: u64| start + Duration::from_millis(ms);
        let mut burst = Burst::default();
        for ms in [0, 90, 180] {
            burst.character(after(ms));
        }
        assert!(!burst.takes_enter(after(181)), "a quick typist's");
        let mut burst = Burst::default();
        for ms in [0, 1, 2] {
            burst.character(after(ms));
        }
        assert!(burst.takes_enter(after(3)));
        burst.character(after(4));
        assert!(burst.takes_enter(after(5)) && burst.takes_enter(after(6)), "a line that is empty");
        assert!(!burst.takes_enter(after(200)));
    }
}
