//! The chat in the terminal: text in, rows out, and a screen that shows them.
//!
//! ```text
//! text ─ neutral ─▶ markdown or lines ─▶ settled rows, live rows ─▶ screen or plain ─▶ bytes
//! ```
//!
//! A row that is settled is written once and left to the terminal. Only the live rows, the last
//! few of the screen, are ever drawn again.

pub mod album;
pub mod app;
pub mod chat;
mod code;
pub mod graphics;
mod highlight;
mod inline;
pub mod input;
pub mod limits;
pub mod lines;
pub mod link;
pub mod links;
pub mod markdown;
pub mod modes;
pub mod page;
pub mod place;
pub mod plain;
pub mod row;
pub mod screen;
pub mod sheet;
pub mod size;
pub mod style;
pub mod text;
pub mod watch;
mod wrap;
