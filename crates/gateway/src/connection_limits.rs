//! Limits of connections as one value: the defaults are those of `limits.rs`, tests use smaller
//! ones.

use std::time::Duration;

use crate::limits;

/// Limits of connections and their timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at one time; others wait to be accepted.
    pub connections_max: usize,
    /// From the connection, or the previous request, to the end of a request's headers.
    pub headers_timeout: Duration,
    /// From the headers of a command to the end of its body.
    pub body_timeout: Duration,
    /// A connection that accepts no bytes for this long is closed.
    pub write_timeout: Duration,
    /// How long runs and readers may take to end when the gateway stops.
    pub drain_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> ConnectionLimits {
        ConnectionLimits {
            connections_max: limits::CONNECTIONS_MAX,
            headers_timeout: limits::HEADERS_TIMEOUT,
            body_timeout: limits::BODY_TIMEOUT,
            write_timeout: limits::WRITE_TIMEOUT,
            drain_timeout: limits::DRAIN_TIMEOUT,
        }
    }
}
