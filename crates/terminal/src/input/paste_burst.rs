//! Detection of unbracketed pastes: keys that arrive faster than anyone types.

use std::time::{Duration, Instant};

/// Typed characters are at least this far apart.
const KEY_INTERVAL_MIN: Duration = Duration::from_millis(8);

/// Quick characters in a row that count as a paste.
const BURST_KEYS_MIN: usize = 3;

/// Counts characters that arrive in quick succession.
#[derive(Clone, Copy, Debug, Default)]
pub struct PasteBurst {
    last_key_at: Option<Instant>,
    quick_keys: usize,
}

impl PasteBurst {
    /// Records a character that arrived at `at`.
    pub fn record_character(&mut self, at: Instant) {
        self.quick_keys = if self.is_soon_after_last_key(at) { self.quick_keys + 1 } else { 1 };
        self.last_key_at = Some(at);
    }

    /// Returns true if Enter at `at` is part of a paste, and records it as such.
    pub fn record_enter_if_pasted(&mut self, at: Instant) -> bool {
        let takes = self.is_soon_after_last_key(at) && BURST_KEYS_MIN <= self.quick_keys;
        if takes {
            self.record_character(at);
        }
        takes
    }

    fn is_soon_after_last_key(&self, at: Instant) -> bool {
        self.last_key_at.is_some_and(|last| at.saturating_duration_since(last) < KEY_INTERVAL_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_sends_unless_it_comes_with_a_paste() {
        let start = Instant::now();
        let after = |ms: u64| start + Duration::from_millis(ms);
        let mut burst = PasteBurst::default();
        for ms in [0, 90, 180] {
            burst.record_character(after(ms));
        }
        assert!(!burst.record_enter_if_pasted(after(181)), "a quick typist's");
        let mut burst = PasteBurst::default();
        for ms in [0, 1, 2] {
            burst.record_character(after(ms));
        }
        assert!(burst.record_enter_if_pasted(after(3)));
        burst.record_character(after(4));
        assert!(
            burst.record_enter_if_pasted(after(5)) && burst.record_enter_if_pasted(after(6)),
            "a line that is empty"
        );
        assert!(!burst.record_enter_if_pasted(after(200)));
    }
}
