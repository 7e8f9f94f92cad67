#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

// The modules are declared in reading order.

pub mod limits;

pub mod event;

pub mod markdown;

pub mod filter;

pub mod run;

pub mod ingest;

pub mod sentence;

pub mod tool;

pub mod view;

pub mod wire;

pub use event::{Event, Millis, Record, Sink};
pub use ingest::{DialectName, Ingest, IngestOptions};
pub use run::{InputEnd, RunOptions};
pub use view::{Item, ItemKind, Page, Patch, Thinking, View, ViewName, ViewOptions};
pub use wire::{ContentMode, Cursor, Encoder, Frame, FrameFormat, StreamKind};
