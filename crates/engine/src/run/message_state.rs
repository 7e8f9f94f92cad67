//! State of a message while its text is written.

use crate::event::{MessageId, MessagePhase};

use super::fingerprint::Fingerprint;

/// State of the current message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MessageState {
    None,
    /// Only white space so far, so no message has started.
    Blank {
        text: String,
        after_reasoning_tag: AfterReasoningTag,
    },
    Open(OpenMessage),
}

/// A message that has text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OpenMessage {
    pub(super) text: MessageText,
    /// True if its text ends in white space.
    pub(super) ends_in_blank: bool,
    pub(super) interruption: ReasoningInterruption,
    pub(super) phase: Option<MessagePhase>,
}

/// Id and fingerprints of a message's text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MessageText {
    pub(super) id: MessageId,
    pub(super) whole: Fingerprint,
    /// The text since reasoning interrupted it last.
    pub(super) last_stretch: Fingerprint,
}

/// Reasoning of the source between two texts of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReasoningInterruption {
    None,
    /// Reasoning followed the text so far.
    Pending,
}

impl MessageText {
    /// A message without text.
    pub(super) fn empty(id: MessageId) -> MessageText {
        MessageText { id, whole: Fingerprint::default(), last_stretch: Fingerprint::default() }
    }

    /// A message whose whole text is known.
    pub(super) fn from_text(id: MessageId, text: &str) -> MessageText {
        let whole = Fingerprint::from_text(text);
        MessageText { id, whole, last_stretch: whole }
    }

    /// True if this is the message's text, or the text since reasoning interrupted it.
    pub(super) fn has_text(&self, text: &Fingerprint) -> bool {
        self.whole.is_same_trimmed_text(text) || self.last_stretch.is_same_trimmed_text(text)
    }
}

impl OpenMessage {
    /// A message with this text.
    pub(super) fn new(
        text: MessageText,
        visible: &str,
        phase: Option<MessagePhase>,
    ) -> OpenMessage {
        OpenMessage {
            text,
            ends_in_blank: ends_in_white_space(visible),
            interruption: ReasoningInterruption::None,
            phase,
        }
    }
}

/// True if the text is empty or ends in white space.
pub(super) fn ends_in_white_space(text: &str) -> bool {
    text.chars().next_back().is_none_or(char::is_whitespace)
}

impl MessageState {
    /// Id of the open message.
    pub(super) fn open_id(&self) -> Option<MessageId> {
        match self {
            MessageState::Open(open) => Some(open.text.id),
            MessageState::None | MessageState::Blank { .. } => None,
        }
    }
}

/// `Yes` if a reasoning tag preceded the message's text: white space around it then belongs to the
/// tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterReasoningTag {
    No,
    Yes,
}
