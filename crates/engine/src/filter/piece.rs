//! Output of the filter, and its mode at the start of a reply.

use crate::event::MarkupClass;

use super::{ControlMeaning, TagClass};

/// A piece of classified text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text that is shown.
    Visible(&'a str),
    /// Text between hidden tags.
    HiddenContent(TagClass, &'a str),
    /// A tag itself.
    Markup(MarkupClass, &'a str),
    /// A control word, or marks that are hidden with one.
    ControlWord(ControlMeaning, &'a str),
    /// The end of a thought that was never opened: the visible text of the message before it is
    /// thinking.
    UnopenedThoughtEnd(&'a str),
}

/// Filter mode at the start of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilterStart {
    /// Visible text.
    #[default]
    Text,
    /// Inside reasoning: the prompt already opened the tag, as some chat templates do.
    Thinking,
}
