//! Client of the gateway's HTTP API: requests with typed errors, and session streams that reconnect
//! and resume.
//!
//! Does: send requests, decode responses, follow a session with backoff. Does not: draw, store, or
//! repeat a request unless the caller asks with [`backoff::retry_up_to_limit_with_backoff`].
//!
//! Invariant: no caller has to read an error's text; each operation has an error type whose
//! variants are the cases that callers treat differently.

pub mod agent;
pub mod backoff;
pub mod blobs;
pub mod error;
pub mod ingest;
pub mod limits;
pub mod login;
pub mod messages;
mod request;
pub mod runs;
pub mod session_stream;
pub mod sessions;

pub use error::RequestError;
pub use request::GatewayClient;
