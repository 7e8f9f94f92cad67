//! Bytes in, views out. Nothing here performs IO, reads a clock or rolls dice.
//!
//! ```text
//! bytes ─ ingest ─▶ Event ─ log ─▶ Record ─ view ─▶ Patch ─ wire ─▶ frames
//! ```
//!
//! The modules below are declared in the order in which to read them.

pub mod limits;

pub mod event;

pub mod run;

pub mod ingest;

pub mod sentence;

pub mod view;

pub mod wire;
