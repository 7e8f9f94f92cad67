//! Limits of the client.

use std::time::Duration;

/// Longest time of a request, except for streams.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A stream without a byte for this long is dead; the gateway sends a comment every 15 seconds.
pub const STREAM_IDLE_TIMEOUT: Duration = Duration::from_secs(35);

/// First pause before a stream reconnects.
pub const RECONNECT_DELAY_MIN: Duration = Duration::from_millis(250);

/// Longest pause before a stream reconnects.
pub const RECONNECT_DELAY_MAX: Duration = Duration::from_secs(10);

/// First pause before a request is repeated.
pub const RETRY_DELAY_MIN: Duration = Duration::from_millis(200);

/// Longest pause before a request is repeated.
pub const RETRY_DELAY_MAX: Duration = Duration::from_secs(30);

/// Attempts of a repeated request, the first included.
pub const REQUEST_ATTEMPTS_MAX: u32 = 8;

/// Updates of a followed session that wait for the receiver.
pub const UPDATES_QUEUED_MAX: usize = 256;

/// Longest event of a stream; the longest are pages.
pub const EVENT_BYTES_MAX: usize = 64 << 20;

/// Largest blob that is downloaded; the gateway stores none that is larger.
pub const BLOB_BYTES_MAX: usize = 32 << 20;
