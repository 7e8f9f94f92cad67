//! Items that a source sends more than once: piece by piece, whole, or whole again and again.
//!
//! Does: tell what of an item is new, so that its text is shown once. Items that are over are
//! remembered by a fingerprint, as many as [`ITEMS_REMEMBERED_MAX`].

use std::collections::VecDeque;

use crate::event::{ReasoningOrigin, UnrecognisedReason};
use crate::limits::ITEMS_REMEMBERED_MAX;
use crate::run::{Fingerprint, Writer};

/// The texts, or the thoughts, of one source.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeated {
    open: Option<Item>,
    past: VecDeque<(String, Fingerprint)>,
}

#[derive(Clone, Debug)]
struct Item {
    id: String,
    said: String,
}

enum News<'a> {
    /// An item nobody has heard of.
    First,
    /// Said already, or older than what has been said.
    Nothing,
    More(&'a str),
    /// The item says something else now; this is what it had said.
    Changed(String),
    /// It was over, and is said to be other than it was.
    Late,
}

impl Repeated {
    /// New text of a message.
    pub(super) fn text_delta(&mut self, id: &str, delta: &str, out: &mut Writer<'_>) {
        if self.begin(id) {
            out.begin_message(None);
        }
        self.say(delta);
        out.text_kept(delta);
    }

    /// All that a message says so far.
    pub(super) fn text(&mut self, id: &str, whole: &str, out: &mut Writer<'_>) {
        match self.news(id, whole) {
            News::First => self.text_delta(id, whole, out),
            News::Nothing => {}
            News::More(rest) => out.text_kept(rest),
            News::Changed(said) if out.has_said(&said) => out.text_so_far(whole),
            News::Changed(_) | News::Late => out.unrecognised(UnrecognisedReason::Late, whole),
        }
    }

    pub(super) fn thought_delta(&mut self, id: &str, delta: &str, out: &mut Writer<'_>) {
        if self.begin(id) {
            out.end_reasoning();
        }
        self.say(delta);
        out.reasoning(delta, ReasoningOrigin::Native);
    }

    pub(super) fn thought(&mut self, id: &str, whole: &str, out: &mut Writer<'_>) {
        match self.news(id, whole) {
            News::First => self.thought_delta(id, whole, out),
            News::Nothing => {}
            News::More(rest) => out.reasoning(rest, ReasoningOrigin::Native),
            News::Changed(_) => {
                // Reasoning is never rewritten: what it has become is a step of its own.
                out.end_reasoning();
                out.reasoning(whole, ReasoningOrigin::Native);
            }
            News::Late => out.unrecognised(UnrecognisedReason::Late, whole),
        }
    }

    /// What a tool has put out so far: the part of it that is new.
    pub(super) fn rest<'a>(&mut self, id: &str, whole: &'a str) -> &'a str {
        match self.news(id, whole) {
            News::First => {
                self.begin(id);
                self.say(whole);
                whole
            }
            News::More(rest) => rest,
            News::Nothing | News::Changed(_) | News::Late => "",
        }
    }

    pub(super) fn knows(&self, id: &str) -> bool {
        self.open.as_ref().is_some_and(|item| item.id == id)
            || self.past.iter().any(|(past, _)| past == id)
    }

    /// Whether the item has to be begun.
    fn begin(&mut self, id: &str) -> bool {
        if self.open.as_ref().is_some_and(|item| item.id == id) {
            return false;
        }
        self.close();
        self.past.retain(|(past, _)| past != id);
        self.open = Some(Item { id: id.to_owned(), said: String::new() });
        true
    }

    /// The item that is open is over.
    pub(super) fn close(&mut self) {
        let Some(item) = self.open.take() else { return };
        if ITEMS_REMEMBERED_MAX <= self.past.len() {
            self.past.pop_front();
        }
        self.past.push_back((item.id, Fingerprint::of(&item.said)));
    }

    fn say(&mut self, text: &str) {
        if let Some(item) = &mut self.open {
            item.said.push_str(text);
        }
    }

    fn news<'a>(&mut self, id: &str, whole: &'a str) -> News<'a> {
        let Some(item) = self.open.as_mut().filter(|item| item.id == id) else {
            let past = self.past.iter().rev().find(|(past, _)| past == id);
            return match past {
                None => News::First,
                Some((_, print)) if print.same_text(&Fingerprint::of(whole)) => News::Nothing,
                Some(_) => News::Late,
            };
        };
        if item.said.starts_with(whole) {
            return News::Nothing;
        }
        if let Some(rest) = whole.strip_prefix(item.said.as_str()) {
            item.said.push_str(rest);
            return News::More(rest);
        }
        News::Changed(std::mem::replace(&mut item.said, whole.to_owned()))
    }
}
