//! Rate limit on wrong credentials, per address. A correct credential is never refused.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong credentials from one address within the window.
const FAILURES_MAX: u32 = 10;
const FAILURE_WINDOW: Duration = Duration::from_mins(1);
/// Addresses kept; when there are more, expired ones are removed, or else all.
const ADDRESSES_MAX: usize = 10_000;

/// Wrong credentials per address.
#[derive(Debug, Default)]
pub struct FailedAttempts(Mutex<HashMap<IpAddr, (Instant, u32)>>);

impl FailedAttempts {
    /// Counts a wrong credential. Returns true if there were too many.
    pub fn record_failure_and_is_over_limit(&self, address: IpAddr, now: Instant) -> bool {
        let mut attempts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ADDRESSES_MAX <= attempts.len() {
            attempts.retain(|_, (since, _)| now.duration_since(*since) < FAILURE_WINDOW);
        }
        if ADDRESSES_MAX <= attempts.len() {
            attempts.clear();
        }
        let (since, count) = attempts.entry(address).or_insert((now, 0));
        if FAILURE_WINDOW <= now.duration_since(*since) {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        FAILURES_MAX < *count
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn the_eleventh_wrong_one_within_a_minute_is_too_many() {
        let attempts = FailedAttempts::default();
        let (first_address, second_address) =
            (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let now = Instant::now();
        for _ in 0..FAILURES_MAX {
            assert!(!attempts.record_failure_and_is_over_limit(first_address, now));
        }
        assert!(attempts.record_failure_and_is_over_limit(first_address, now));
        assert!(
            !attempts.record_failure_and_is_over_limit(second_address, now),
            "counted per address"
        );
        assert!(
            !attempts.record_failure_and_is_over_limit(first_address, now + FAILURE_WINDOW),
            "and not for ever"
        );
        for address in 0..20_001_u32 {
            attempts
                .record_failure_and_is_over_limit(IpAddr::V4(Ipv4Addr::from_bits(address)), now);
        }
        assert!(attempts.0.lock().is_ok_and(|map| map.len() <= ADDRESSES_MAX), "bounded");
    }
}
