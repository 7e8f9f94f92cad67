//! How long and how many connections may be, as one value: a gateway has the limits of `limits.rs`,
//! a test has smaller ones and need not wait.

use std::time::Duration;

use crate::limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at one time; others wait to be accepted.
    pub connections: usize,
    /// From the connection, or the request before, to the end of a request's headers.
    pub headers_within: Duration,
    /// From the headers of a command to the end of its body.
    pub body_within: Duration,
    /// A connection that takes nothing for so long is closed.
    pub write_stalled: Duration,
    /// For runs and readers to end when the gateway stops.
    pub drain: Duration,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            connections: limits::CONNECTIONS_MAX,
            headers_within: limits::HEADERS_WITHIN,
            body_within: limits::BODY_WITHIN,
            write_stalled: limits::WRITE_STALLED_MAX,
            drain: limits::DRAIN_MAX,
        }
    }
}
