//! Pure folds of events into what a person sees. No clock, no look-up, no provider's words.
//!
//! Events go in, [`Patch`]es come out. One set of patches serves all views; what differs between
//! the views is in the views.

mod base;
pub mod blob;
pub mod bubbles;
mod doing;
pub mod item;
pub mod items;
pub mod latest;
mod output;
pub mod patch;
pub mod picture;
pub mod reply;
pub mod sentences;
pub mod steps;
pub mod text;
pub mod transcript;

use std::str::FromStr;

use crate::event::Record;

pub use item::{Item, Key, Kind, State};
pub use items::Items;
pub use patch::{Patch, Status};
pub use picture::Picture;

/// What becomes of the agent's thinking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thinking {
    /// As the view has it.
    #[default]
    AsUsual,
    Hide,
    /// The newest increment, in the status.
    Latest,
    /// The whole, where the view has a place for it.
    Show,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub thinking: Thinking,
}

macro_rules! views {
    ($($name:ident $text:literal $module:ident,)+) => {
        /// One way of showing a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ViewName { $($name,)+ }

        impl ViewName {
            pub const ALL: [ViewName; [$($text),+].len()] = [$(ViewName::$name),+];

            pub fn as_str(self) -> &'static str {
                match self { $(ViewName::$name => $text,)+ }
            }
        }

        /// A view of one session, as far as it has been read.
        #[derive(Clone, Debug)]
        pub enum View { $($name($module::$name),)+ }

        impl View {
            pub fn new(name: ViewName, options: Options) -> View {
                match name { $(ViewName::$name => View::$name($module::$name::new(options)),)+ }
            }

            pub fn apply(&mut self, record: &Record<'_>, out: &mut impl FnMut(Patch<'_>)) {
                match self { $(View::$name(view) => view.apply(record, out),)+ }
            }
        }
    };
}

views! {
    Latest "latest" latest,
    Steps "steps" steps,
    Bubbles "bubbles" bubbles,
    Transcript "transcript" transcript,
    Sentences "sentences" sentences,
}

/// A name that no view has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchView;

impl FromStr for ViewName {
    type Err = NoSuchView;

    fn from_str(text: &str) -> Result<ViewName, NoSuchView> {
        ViewName::ALL.into_iter().find(|name| name.as_str() == text).ok_or(NoSuchView)
    }
}

/// Keeps the first bytes of a text and goes on with another. A cut in the middle of a character,
/// which no source of ours makes, keeps the whole of what is before that character.
fn rewrite(whole: &mut String, kept_bytes: usize, text: &str) {
    whole.truncate(whole.floor_char_boundary(kept_bytes));
    whole.push_str(text);
}
