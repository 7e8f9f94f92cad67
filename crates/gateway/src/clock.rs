//! The two things that no test can foresee: the time, and chance.

use std::time::{SystemTime, UNIX_EPOCH};

use engine::event::Millis;

/// Milliseconds since the Unix epoch.
pub fn now_ms() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Bytes that nobody can guess.
pub fn random<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
