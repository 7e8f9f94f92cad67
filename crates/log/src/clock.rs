//! The system clock and random bytes.

use std::time::{SystemTime, UNIX_EPOCH};

use millpond_engine::event::Millis;

/// Milliseconds since the Unix epoch.
pub fn now_ms() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A random epoch, never 0. Six digits in base 62 at most, because every frame has one.
pub fn random_epoch() -> Result<u64, getrandom::Error> {
    const EPOCH_MAX: u64 = (1 << 35) - 1;
    Ok(1 + u64::from_le_bytes(random_bytes()?) % EPOCH_MAX)
}

/// Random bytes from the operating system.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
