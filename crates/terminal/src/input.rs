//! Message input: key bindings, text editor, history, paste detection. Pure, without IO or clock.

pub mod editor;
pub mod history;
pub mod key_bindings;
mod layout;
pub mod paste_burst;
