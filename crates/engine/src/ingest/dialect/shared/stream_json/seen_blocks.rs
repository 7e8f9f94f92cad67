//! Deduplication of blocks that arrive both streamed and whole, in either order.
//!
//! Invariant: each block is written once, and a whole block that differs from the streamed one is
//! not lost.

mod seen_message;

use crate::run::Fingerprint;

use seen_message::StreamState;
pub(super) use seen_message::{SeenMessage, ShowDecision};

/// Messages remembered: the open ones of a few agents, and those before them.
const MESSAGES_MAX: usize = 16;

/// Recent messages and their blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SeenBlocks {
    messages: Vec<SeenMessage>,
}

impl SeenBlocks {
    /// Starts or restarts a streamed message.
    pub(super) fn record_streamed_message_start(
        &mut self,
        parent: &str,
        id: &str,
    ) -> &mut SeenMessage {
        let (of, named) = (Fingerprint::from_text(parent), Fingerprint::from_text(id));
        let known = self
            .messages
            .iter()
            .position(|message| message.parent == of && message.id == named && !named.is_blank());
        let mut message = match known {
            Some(at) => self.messages.remove(at),
            None => SeenMessage::new(parent, id, StreamState::Open),
        };
        message.stream = StreamState::Open;
        self.push_message(message)
    }

    /// Appends a message and drops the oldest past the limit.
    fn push_message(&mut self, message: SeenMessage) -> &mut SeenMessage {
        if MESSAGES_MAX <= self.messages.len() {
            self.messages.remove(0);
        }
        self.messages.push(message);
        let newest = self.messages.len() - 1;
        &mut self.messages[newest]
    }

    /// The message that is streaming; creates one without an id if its start was missed.
    pub(super) fn ensure_streaming_message(&mut self, parent: &str) -> &mut SeenMessage {
        match self.position_by_stream_state(parent, StreamState::Open) {
            Some(at) => &mut self.messages[at],
            None => self.push_message(SeenMessage::new(parent, "", StreamState::Open)),
        }
    }

    /// Index of the newest message of `parent` in this streaming state.
    fn position_by_stream_state(&self, parent: &str, stream: StreamState) -> Option<usize> {
        let parent = Fingerprint::from_text(parent);
        self.messages
            .iter()
            .rposition(|message| message.parent == parent && message.stream == stream)
    }

    /// Marks the streaming message as stopped.
    pub(super) fn mark_stream_stopped(&mut self, parent: &str) {
        if let Some(at) = self.position_by_stream_state(parent, StreamState::Open) {
            self.messages[at].stream = StreamState::Stopped;
        }
    }

    /// The message with this id, or one without an id, which gets it.
    pub(super) fn find_message_setting_id(
        &mut self,
        parent: &str,
        id: &str,
    ) -> Option<&mut SeenMessage> {
        let (parent, id) = (Fingerprint::from_text(parent), Fingerprint::from_text(id));
        let at = self.messages.iter().rposition(|message| {
            message.parent == parent && (message.id == id || message.id.is_blank())
        })?;
        let message = &mut self.messages[at];
        message.id = id;
        Some(message)
    }

    /// The streaming message, or the stopped one if it awaits a whole block of this type.
    pub(super) fn find_streaming_or_awaiting_message(
        &mut self,
        parent: &str,
        kind: &str,
    ) -> Option<&mut SeenMessage> {
        let at = self.position_by_stream_state(parent, StreamState::Open).or_else(|| {
            let at = self.position_by_stream_state(parent, StreamState::Stopped)?;
            self.messages[at].is_awaiting_whole(kind).then_some(at)
        })?;
        Some(&mut self.messages[at])
    }

    /// Starts a message that has only whole blocks.
    pub(super) fn add_whole_message(&mut self, parent: &str, id: &str) -> &mut SeenMessage {
        self.push_message(SeenMessage::new(parent, id, StreamState::None))
    }

    /// Removes the newest message of `parent`: it was retracted.
    pub(super) fn forget_newest_of_parent(&mut self, parent: &str) {
        let parent = Fingerprint::from_text(parent);
        if let Some(at) = self.messages.iter().rposition(|message| message.parent == parent) {
            self.messages.remove(at);
        }
    }
}
