//! What a person writes, from keys to a message. Pure: keys and times go in, wishes come out.

pub mod burst;
pub mod editor;
pub mod history;
pub mod keys;
mod layout;
