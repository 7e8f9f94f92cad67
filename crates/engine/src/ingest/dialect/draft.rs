//! Messages that a source writes in pieces, may leave for others, and may say whole in the end.
//!
//! Does: keep what each unfinished message has said. One that goes on after something else came
//! between is said again as a whole, and its earlier part withdrawn; a whole that is not what the
//! pieces said takes their place.
//! Does not: remember messages that are over, nor more than [`LEFT_MESSAGES_MAX`] that are not.
//!
//! What a message says in the end stands in one message, and nowhere else.

use std::collections::VecDeque;

use crate::event::{Level, MessageId, Phase, UnrecognisedReason};
use crate::limits::{
    FRAME_BYTES_MAX, LEFT_MESSAGES_BYTES_MAX, LEFT_MESSAGES_MAX, SAID_AGAIN_BYTES_MAX,
};
use crate::run::{Opening, Writer};

/// The unfinished messages of a source, by what it knows them by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drafts<K> {
    current: Option<Draft<K>>,
    /// Others came after these.
    left: VecDeque<Draft<K>>,
    said_again: usize,
    moves: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct Draft<K> {
    key: K,
    phase: Option<Phase>,
    said: String,
    /// Where the text begins, and where that which is new of it does.
    begin: Opening,
    newest: Opening,
    /// Where the text stands, but for that which is new.
    messages: Vec<MessageId>,
    hold: Hold,
}

/// Whether a message can be said again elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    Loose,
    /// It has pictures, which are not kept.
    Pinned,
    /// It is longer than any whole can be, and is not kept.
    TooLong,
}

/// What a whole text was, after what its pieces had said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    Repeat,
    /// New, or more than was said.
    More,
    /// Something else than was said, which had this many bytes.
    Instead {
        of_bytes: usize,
    },
}

impl Whole {
    /// Says so, where a source is not expected to change its words.
    pub(super) fn warn(self, whole: &str, out: &mut Writer<'_>) {
        if let Whole::Instead { of_bytes } = self {
            let bytes = whole.len();
            let words = format!(
                "a message came as {of_bytes} bytes and is said to have {bytes}: it was rewritten"
            );
            out.notice(Level::Warning, &words);
        }
    }
}

impl<K> Default for Drafts<K> {
    fn default() -> Drafts<K> {
        Drafts { current: None, left: VecDeque::new(), said_again: 0, moves: 0 }
    }
}

/// What comes.
impl<K: Copy + PartialEq> Drafts<K> {
    /// New text.
    pub(super) fn say(&mut self, key: K, phase: Option<Phase>, text: &str, out: &mut Writer<'_>) {
        if text.is_empty() {
            return;
        }
        if !self.is_open(key, out) {
            self.turn_to(key, phase, out);
        }
        if let Some(draft) = &mut self.current {
            draft.keep(text);
            out.text(text);
        }
    }

    /// New text that names no message: more of the one that is open. Says whether there is one.
    pub(super) fn say_to_open(&mut self, text: &str, out: &mut Writer<'_>) -> bool {
        let open = self.current.as_mut().filter(|draft| out.goes_on_from(&draft.newest));
        if let Some(draft) = open {
            draft.keep(text);
            out.text(text);
            return true;
        }
        self.leave(out);
        false
    }

    /// New text of a source whose messages go on after steps, each stretch a message of its own.
    pub(super) fn say_after_steps(&mut self, key: K, text: &str, out: &mut Writer<'_>) {
        if !text.is_empty() && self.is_current(key) && !self.is_open(key, out) {
            self.go_on_elsewhere(out);
        }
        self.say(key, None, text, out);
    }

    /// A picture came with the message that is open.
    pub(super) fn pin(&mut self) {
        if let Some(draft) = self.current.as_mut().filter(|draft| draft.hold == Hold::Loose) {
            draft.hold = Hold::Pinned;
        }
    }

    /// All that a message says.
    pub(super) fn whole(
        &mut self,
        key: K,
        phase: Option<Phase>,
        whole: &str,
        out: &mut Writer<'_>,
    ) -> Whole {
        let open = self.is_open(key, out);
        let Some(said) = self.said(key) else {
            self.say(key, phase, whole, out);
            return Whole::More;
        };
        let repeats = said.trim_ascii() == whole.trim_ascii() || out.has_said(whole);
        if repeats || self.hold(key) == Hold::TooLong {
            return Whole::Repeat;
        }
        if let Some(rest) = whole.strip_prefix(said) {
            self.say(key, phase, rest, out);
            return Whole::More;
        }
        let of_bytes = said.len();
        if open && let Some(draft) = self.current.as_mut().filter(|draft| draft.is_whole()) {
            out.rewrite(&draft.begin, &draft.said, whole);
            whole.clone_into(&mut draft.said);
        } else if self.hold(key) == Hold::Pinned {
            out.unrecognised(UnrecognisedReason::Late, whole);
            return Whole::Repeat;
        } else {
            self.leave(out);
            if let Some(mut draft) = self.take(key) {
                whole.clone_into(&mut draft.said);
                self.moves = self.moves.wrapping_add(1);
                draft.say_again(out);
                self.current = Some(draft);
            }
        }
        Whole::Instead { of_bytes }
    }

    /// A message is over. Says which one it is, if it is one.
    pub(super) fn finish(&mut self, key: K, out: &mut Writer<'_>) -> Option<MessageId> {
        if self.current.as_ref().is_some_and(|draft| draft.key == key) {
            self.leave(out);
        }
        let draft = self.take(key)?;
        self.gather(draft, out)
    }

    /// All messages are over: none stays in pieces.
    pub(super) fn finish_all(&mut self, out: &mut Writer<'_>) {
        if self.current.as_ref().is_some_and(|draft| !draft.messages.is_empty()) {
            self.leave(out);
        }
        while let Some(draft) = self.left.pop_front() {
            self.gather(draft, out);
        }
        self.said_again = 0;
    }

    /// The source begins anew: the messages that were not over.
    pub(super) fn give_up(&mut self, out: &mut Writer<'_>) -> Vec<MessageId> {
        let drafts = std::mem::take(self);
        let open = drafts.current.iter().flat_map(|draft| out.messages_since(&draft.newest));
        let open: Vec<MessageId> = open.collect();
        let all = drafts.left.into_iter().chain(drafts.current);
        all.flat_map(|draft| draft.messages).chain(open).collect()
    }
}

/// What is known.
impl<K: Copy + PartialEq> Drafts<K> {
    /// What an unfinished message has said.
    pub(super) fn said(&self, key: K) -> Option<&str> {
        let mut drafts = self.current.iter().chain(self.left.iter().rev());
        drafts.find(|draft| draft.key == key).map(|draft| draft.said.as_str())
    }

    /// Whether this is the message that spoke last.
    pub(super) fn is_current(&self, key: K) -> bool {
        self.current.as_ref().is_some_and(|draft| draft.key == key)
    }

    /// How often a message was said again and stands elsewhere since.
    pub(super) fn moves(&self) -> u32 {
        self.moves
    }

    /// Whether text that comes now goes on with it where it stands.
    pub(super) fn is_open(&self, key: K, out: &Writer<'_>) -> bool {
        let current = self.current.as_ref().filter(|draft| draft.key == key);
        current.is_some_and(|draft| out.goes_on_from(&draft.newest))
    }

    /// Something else speaks now.
    pub(super) fn leave(&mut self, out: &mut Writer<'_>) {
        let Some(mut draft) = self.current.take() else { return };
        out.end_message();
        draft.messages.extend(out.messages_since(&draft.newest));
        self.left.push_back(draft);
        let bytes = |left: &VecDeque<Draft<K>>| left.iter().map(|draft| draft.said.len()).sum();
        while LEFT_MESSAGES_MAX < self.left.len()
            || (1 < self.left.len() && LEFT_MESSAGES_BYTES_MAX < bytes(&self.left))
        {
            self.left.pop_front();
        }
    }

    fn hold(&self, key: K) -> Hold {
        let mut drafts = self.current.iter().chain(self.left.iter());
        drafts.find(|draft| draft.key == key).map_or(Hold::Loose, |draft| draft.hold)
    }

    /// What is new of the current message is a message of its own.
    fn go_on_elsewhere(&mut self, out: &mut Writer<'_>) {
        if let Some(draft) = &mut self.current {
            out.end_message();
            draft.messages.extend(out.messages_since(&draft.newest));
            draft.newest = out.opening(draft.phase);
        }
    }

    /// A message that is over, and stands in pieces, becomes one. Says which.
    fn gather(&mut self, mut draft: Draft<K>, out: &mut Writer<'_>) -> Option<MessageId> {
        if 1 < draft.messages.len() && draft.hold == Hold::Loose {
            // What is said now must not be taken for a piece of another.
            self.leave(out);
            draft.say_again(out);
            out.end_message();
            draft.messages.extend(out.messages_since(&draft.newest));
        }
        draft.messages.last().copied()
    }

    fn take(&mut self, key: K) -> Option<Draft<K>> {
        let at = self.left.iter().rposition(|draft| draft.key == key)?;
        self.left.remove(at)
    }

    /// This message speaks now.
    fn turn_to(&mut self, key: K, phase: Option<Phase>, out: &mut Writer<'_>) {
        self.leave(out);
        let Some(mut draft) = self.take(key) else {
            let begin = out.opening(phase);
            let (newest, said, messages) = (begin.clone(), String::new(), Vec::new());
            let hold = Hold::Loose;
            self.current = Some(Draft { key, phase, said, begin, newest, messages, hold });
            return;
        };
        let again = self.said_again + draft.said.len();
        if again <= SAID_AGAIN_BYTES_MAX && draft.hold == Hold::Loose {
            self.said_again = again;
            self.moves = self.moves.wrapping_add(1);
            draft.say_again(out);
        } else {
            draft.newest = out.opening(draft.phase);
        }
        self.current = Some(draft);
    }
}

impl<K> Draft<K> {
    fn keep(&mut self, text: &str) {
        if self.hold != Hold::TooLong {
            self.said.push_str(text);
        }
        if FRAME_BYTES_MAX < self.said.len() {
            self.said = String::new();
            self.hold = Hold::TooLong;
        }
    }

    /// Whether it stands in one message, which is the open one.
    fn is_whole(&self) -> bool {
        self.messages.is_empty()
    }

    /// What it has said becomes one message, and it goes on there.
    fn say_again(&mut self, out: &mut Writer<'_>) {
        let messages = std::mem::take(&mut self.messages);
        self.newest = out.say_again(self.phase, &self.begin, &self.said, messages);
        self.begin = self.newest.clone();
    }
}
