//! What the agent says: chunks of messages, and messages sent whole.
//!
//! A message whose chunks go on after a step goes on below it; one that goes on after another
//! message is said again whole.

use crate::event::UnrecognisedReason;
use crate::run::{Fingerprint, Writer};

use super::super::codex::shown::{Key, News, Shown};
use super::super::draft::Drafts;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Messages {
    shown: Shown,
    drafts: Drafts<Key>,
}

impl Messages {
    pub(super) fn knows(&self, id: &str) -> bool {
        !id.is_empty() && self.shown.has_shown(Fingerprint::of(id))
    }

    pub(super) fn chunk(&mut self, id: &str, text: &str, out: &mut Writer<'_>) {
        let key = Fingerprint::of(id);
        if !key.is_empty() {
            self.shown.say(key, text);
            self.drafts.say_after_steps(key, text, out);
        } else if !self.drafts.say_to_open(text, out) {
            out.text(text);
        }
    }

    /// All that a message says now, in place of what it said.
    pub(super) fn whole(&mut self, id: &str, whole: &str, out: &mut Writer<'_>) {
        let key = Fingerprint::of(id);
        if key.is_empty() {
            self.drafts.leave(out);
            out.begin_message(None);
            out.text(whole);
        } else if self.shown.has_shown(key) && self.drafts.said(key).is_none() {
            // It was left too long ago to be changed.
            if self.shown.news(key, whole) != News::Nothing {
                out.unrecognised(UnrecognisedReason::Late, whole);
            }
        } else {
            self.shown.say_whole(key, whole);
            self.drafts.whole(key, None, whole, out);
        }
    }

    /// A picture came with the message that is open.
    pub(super) fn pictured(&mut self) {
        self.drafts.pin();
    }
}
