//! One-time login links: a browser that opens one gets its own token.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use millpond_log::id::OwnerId;

use super::{Secret, SecretDigest};

/// How long a link is valid.
const LINK_LIFETIME: Duration = Duration::from_mins(5);
/// Links at one time; the oldest are removed first.
const LINKS_MAX: usize = 100;

/// Unused login links, by the digest of their secret.
#[derive(Debug, Default)]
pub struct LoginLinks(Mutex<HashMap<SecretDigest, (OwnerId, Instant)>>);

impl LoginLinks {
    /// Creates a link for an owner.
    pub fn issue(&self, owner: OwnerId, now: Instant) -> Result<Secret, getrandom::Error> {
        let secret = Secret::generate()?;
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|_, (_, since)| now.duration_since(*since) < LINK_LIFETIME);
        if LINKS_MAX <= links.len()
            && let Some(oldest) = links.iter().min_by_key(|(_, (_, since))| *since)
        {
            let oldest = *oldest.0;
            links.remove(&oldest);
        }
        links.insert(secret.digest(), (owner, now));
        Ok(secret)
    }

    /// Redeems a link. `None` if it is unknown, expired or already used.
    pub fn redeem(&self, secret: &Secret, now: Instant) -> Option<OwnerId> {
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (owner, since) = links.remove(&secret.digest())?;
        (now.duration_since(since) < LINK_LIFETIME).then_some(owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_good_once_and_for_a_while() {
        let (links, now) = (LoginLinks::default(), Instant::now());
        let owner = OwnerId::new(1, [0; 10]);
        let issue = || links.issue(owner, now).unwrap_or_else(|error| panic!("{error}"));
        let link = issue();
        assert_eq!(links.redeem(&link, now), Some(owner));
        assert_eq!(links.redeem(&link, now), None, "used");
        assert_eq!(links.redeem(&issue(), now + LINK_LIFETIME), None, "too old");
        let later = now + Duration::from_secs(1);
        let first = issue();
        let second = links.issue(owner, later).unwrap_or_else(|error| panic!("{error}"));
        for _ in 2..=LINKS_MAX {
            links.issue(owner, later).unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(links.redeem(&first, later), None, "the oldest made room");
        assert_eq!(links.redeem(&second, later), Some(owner));
    }
}
