//! How views are spelt to readers: frames with a name, a payload and a cursor.
//!
//! A view's own frames are named and shaped as its document has them; the patch frames are the same
//! for all views and carry only what is new. Nothing here decides what a person sees.

mod bubbles;
pub mod cursor;
pub mod encoder;
mod json;
mod latest;
mod own;
pub mod patch;
mod sentences;
pub mod sse;
mod steps;
mod transcript;

pub use cursor::Cursor;
pub use encoder::{Content, Encoder, Format, Frame, Kind};
