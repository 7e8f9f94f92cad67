//! Pure folds of events into pages. No clock, no look-up, no provider-specific names.
//!
//! Events go in, [`Patch`]es come out. All views share one set of patches; only the folds differ.

// A new event or patch has to be thought about in every match.
#![warn(clippy::wildcard_enum_match_arm)]
#![allow(clippy::unnested_or_patterns, reason = "a family of events is an or-pattern")]

pub mod bubbles;
mod call_result;
mod common;
mod failure;
mod heartbeat;
pub mod image_ref;
pub mod item;
mod item_ids;
pub mod items;
pub mod latest;
pub mod message_order;
mod output_limit;
pub mod page;
pub mod patch;
pub mod reply;
pub mod sentences;
mod settled_keys;
mod status;
pub mod steps;
pub mod text;
pub mod transcript;

use std::str::FromStr;

use crate::event::Record;

use heartbeat::{AfterRecord, HeldHeartbeat};

pub use item::{Item, ItemKey, ItemKind, ItemState};
pub use items::Items;
pub use page::Page;
pub use patch::{Patch, Status};

/// Visibility of the agent's thinking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thinking {
    /// As the view's specification defines.
    #[default]
    ViewDefault,
    /// None of it.
    Hide,
    /// The newest increment only, in the status.
    Latest,
    /// All of it, if the view has items for it.
    Show,
}

/// Options of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewOptions {
    /// Visibility of the thinking.
    pub thinking: Thinking,
}

macro_rules! views {
    ($(#[$doc:meta] $name:ident $text:literal $module:ident,)+) => {
        /// One way of showing a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        // Not `non_exhaustive`: a program that offers views describes each of them.
        pub enum ViewName { $(#[$doc] $name,)+ }

        impl ViewName {
            /// All views.
            pub const ALL: [ViewName; [$($text),+].len()] = [$(ViewName::$name),+];

            /// Name of the view, as in URLs and arguments.
            pub fn as_str(self) -> &'static str {
                match self { $(ViewName::$name => $text,)+ }
            }
        }

        /// Fold of the records that a view shows.
        #[derive(Clone, Debug)]
        #[allow(clippy::large_enum_variant, reason = "one for each stream, never in a list")]
        pub enum ViewFold { $(#[$doc] $name($module::$name),)+ }

        impl ViewFold {
            fn new(name: ViewName, options: ViewOptions) -> ViewFold {
                match name {
                    $(ViewName::$name => ViewFold::$name($module::$name::new(options)),)+
                }
            }

            fn apply(&mut self, record: &Record<'_>, out: &mut impl FnMut(Patch<'_>)) {
                match self { $(ViewFold::$name(view) => view.apply(record, out),)+ }
            }
        }
    };
}

views! {
    /// One status or reply, then only the final message.
    Latest "latest" latest,
    /// Steps folded above the answer.
    Steps "steps" steps,
    /// One bubble per message.
    Bubbles "bubbles" bubbles,
    /// Everything in order; settled text is final.
    Transcript "transcript" transcript,
    /// One bubble per sentence, one card per action.
    Sentences "sentences" sentences,
}

/// Fold of one session into one view.
#[derive(Clone, Debug)]
pub struct View {
    fold: ViewFold,
    heartbeat: HeldHeartbeat,
}

impl View {
    /// Creates the view before any record.
    pub fn new(name: ViewName, options: ViewOptions) -> View {
        View { fold: ViewFold::new(name, options), heartbeat: HeldHeartbeat::default() }
    }

    /// Applies one record and emits the patches it causes.
    pub fn apply(&mut self, record: &Record<'_>, out: &mut impl FnMut(Patch<'_>)) {
        let View { fold, heartbeat } = self;
        let after = heartbeat.hold_or_pass(record, &mut |record| fold.apply(record, out));
        if after == AfterRecord::EndedSilently {
            out(Patch::Status(Status::Idle));
        }
    }

    /// The fold of the records that are shown.
    pub fn fold(&self) -> &ViewFold {
        &self.fold
    }
}

/// Error of parsing a [`ViewName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownView;

impl std::fmt::Display for UnknownView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unknown view (known: {})", ViewName::ALL.map(ViewName::as_str).join(", "))
    }
}

impl std::error::Error for UnknownView {}

impl FromStr for ViewName {
    type Err = UnknownView;

    fn from_str(text: &str) -> Result<ViewName, UnknownView> {
        ViewName::ALL.into_iter().find(|name| name.as_str() == text).ok_or(UnknownView)
    }
}

/// Truncates `whole` to its first `kept_bytes` and appends `text`. A cut inside a character, which
/// no source makes, moves back to its start.
fn truncate_and_append(whole: &mut String, kept_bytes: usize, text: &str) {
    whole.truncate(whole.floor_char_boundary(kept_bytes));
    whole.push_str(text);
}
