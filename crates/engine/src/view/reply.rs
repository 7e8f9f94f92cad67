//! Only the final message, known when the run has ended.

use crate::event::{Citation, Ending, Event, MessageId, Owner, Phase};

use super::blob::Shown;

/// Keeps the messages that may still turn out to be final: those of the round that is open, and
/// those declared.
#[derive(Clone, Debug, Default)]
pub struct ReplyView {
    messages: Vec<Candidate>,
}

#[derive(Clone, Debug)]
struct Candidate {
    id: MessageId,
    declared: bool,
    text: String,
    images: Vec<Shown<'static>>,
    citations: Vec<Citation<'static>>,
}

/// The final message, with all that came with it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Final {
    pub(super) message: MessageId,
    pub(super) text: String,
    pub(super) images: Vec<Shown<'static>>,
    pub(super) citations: Vec<Citation<'static>>,
}

impl ReplyView {
    pub fn apply(&mut self, event: &Event<'_>) {
        match event {
            Event::RoundStarted { .. } => self.messages.retain(|message| message.declared),
            Event::MessageStarted { message, phase, .. } => self.messages.push(Candidate {
                id: *message,
                declared: *phase == Some(Phase::Final),
                text: String::new(),
                images: Vec::new(),
                citations: Vec::new(),
            }),
            Event::TextAppended { message, text } => {
                if let Some(known) = self.find(*message) {
                    known.text.push_str(text);
                }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                if let Some(known) = self.find(*message) {
                    super::rewrite(&mut known.text, *kept_bytes, text);
                }
            }
            Event::ImageReceived { owner: Owner::Message(message), image } => {
                if let Some(known) = self.find(*message) {
                    known.images.push(Shown::of(image).into_owned());
                }
            }
            Event::SourceCited { message, citation } => {
                if let Some(known) = self.find(*message) {
                    known.citations.push(citation.clone().into_owned());
                }
            }
            Event::FinalDeclared { message } => {
                if let Some(known) = self.find(*message) {
                    known.declared = true;
                }
            }
            _ => {}
        }
    }

    fn find(&mut self, id: MessageId) -> Option<&mut Candidate> {
        self.messages.iter_mut().rev().find(|message| message.id == id)
    }

    /// The message that the ending names, as it stands.
    pub(super) fn whole(&self, ending: &Ending<'_>) -> Option<Final> {
        let id = ending.message?;
        let known = self.messages.iter().rev().find(|message| message.id == id)?;
        Some(Final {
            message: id,
            text: known.text.clone(),
            images: known.images.clone(),
            citations: known.citations.clone(),
        })
    }

    /// The text of the message that the ending names, when it is not needed here any more.
    pub fn take(&mut self, ending: &Ending<'_>) -> Option<String> {
        let id = ending.message?;
        self.find(id).map(|known| std::mem::take(&mut known.text))
    }

    /// The text of the message that the ending names.
    pub fn text(&self, ending: &Ending<'_>) -> Option<&str> {
        self.text_of(ending.message?)
    }

    /// The text of a message that may still turn out to be final.
    pub fn text_of(&self, id: MessageId) -> Option<&str> {
        self.messages.iter().rev().find(|message| message.id == id).map(|known| &*known.text)
    }
}
