//! Wire encoding of views: frames with a name, a payload and a cursor.
//!
//! A view's native frames have the names and shapes of its specification; patch frames are the same
//! for all views and carry only what is new. Nothing here decides what a view shows.

// A new event or patch has to be thought about in every match.
#![warn(clippy::wildcard_enum_match_arm)]

mod bubbles;
pub mod cursor;
pub mod encoder;
mod json;
mod latest;
mod native;
pub mod patch;
#[cfg(feature = "schema")]
pub mod schema;
mod sentences;
pub mod snapshot;
pub mod sse;
mod steps;
pub mod stream_kind;
mod transcript;

pub use cursor::Cursor;
pub use encoder::{Encoder, Frame};
pub use snapshot::ProtocolVersion;
pub use stream_kind::{ContentMode, FrameFormat, StreamKind};
