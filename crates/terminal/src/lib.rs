//! Terminal chat: turns text into rows and draws them on a screen.
//!
//! ```text
//! text ─ neutral ─▶ markdown or lines ─▶ settled rows, live rows ─▶ screen or plain ─▶ bytes
//! ```
//!
//! A settled row is written once and belongs to the terminal's scrollback from then on. Only the
//! live rows, the last few of the screen, are ever redrawn.

pub mod app;
pub mod chat;
mod code;
pub mod graphics;
mod highlight;
pub mod hyperlinks;
pub mod image_files;
mod inline;
pub mod input;
pub mod limits;
pub mod line_renderer;
pub mod markdown;
pub mod output;
pub mod page;
pub mod page_display;
pub mod plain_writer;
pub mod row;
pub mod screen;
pub mod size;
pub mod style;
pub mod terminal_modes;
pub mod text;
pub mod tty;
mod wrap;
