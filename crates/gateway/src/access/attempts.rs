//! Wrong credentials are counted: whoever guesses is told to wait. A right one is never refused.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong credentials from one address within the window before it has to wait.
const WRONG_MAX: u32 = 10;
const WINDOW: Duration = Duration::from_mins(1);
/// Addresses remembered; when there are more, the old ones are forgotten, or else all.
const ADDRESSES_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub struct Attempts(Mutex<HashMap<IpAddr, (Instant, u32)>>);

impl Attempts {
    /// Counts a wrong credential. Says whether there were too many.
    pub fn wrong(&self, from: IpAddr, now: Instant) -> bool {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ADDRESSES_MAX <= seen.len() {
            seen.retain(|_, (since, _)| now.duration_since(*since) < WINDOW);
        }
        if ADDRESSES_MAX <= seen.len() {
            seen.clear();
        }
        let (since, count) = seen.entry(from).or_insert((now, 0));
        if WINDOW <= now.duration_since(*since) {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        WRONG_MAX < *count
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn the_eleventh_wrong_one_within_a_minute_is_too_many() {
        let attempts = Attempts::default();
        let (here, there) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let now = Instant::now();
        for _ in 0..WRONG_MAX {
            assert!(!attempts.wrong(here, now));
        }
        assert!(attempts.wrong(here, now));
        assert!(!attempts.wrong(there, now), "others are not held to account");
        assert!(!attempts.wrong(here, now + WINDOW), "and not for ever");
        for address in 0..20_001_u32 {
            attempts.wrong(IpAddr::V4(Ipv4Addr::from_bits(address)), now);
        }
        assert!(attempts.0.lock().is_ok_and(|seen| seen.len() <= ADDRESSES_MAX), "bounded");
    }
}
