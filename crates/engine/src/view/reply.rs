//! `reply`: only the final message, known when the run has ended.

use crate::event::{Citation, Ending, Event, ImageOwner, MessageId, MessagePhase};
use crate::event_family;

use super::image_ref::ImageRef;

/// Keeps the messages that may turn out to be final: those of the open round, and declared ones.
#[derive(Clone, Debug, Default)]
pub struct ReplyCandidates {
    candidates: Vec<Candidate>,
}

/// A message that may turn out to be final.
#[derive(Clone, Debug)]
struct Candidate {
    id: MessageId,
    declared: bool,
    text: String,
    images: Vec<ImageRef<'static>>,
    citations: Vec<Citation<'static>>,
}

/// The final message with its images and citations.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FinalMessage {
    pub(super) message: MessageId,
    pub(super) text: String,
    pub(super) images: Vec<ImageRef<'static>>,
    pub(super) citations: Vec<Citation<'static>>,
}

impl ReplyCandidates {
    /// Applies one event.
    pub fn apply(&mut self, event: &Event<'_>) {
        match event {
            Event::RoundStarted { .. } => self.candidates.retain(|message| message.declared),
            Event::MessageStarted { message, phase, .. } => self.candidates.push(Candidate {
                id: *message,
                declared: *phase == Some(MessagePhase::Final),
                text: String::new(),
                images: Vec::new(),
                citations: Vec::new(),
            }),
            Event::TextAppended { message, text } => {
                if let Some(known) = self.find_candidate_mut(*message) {
                    known.text.push_str(text);
                }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                if let Some(known) = self.find_candidate_mut(*message) {
                    super::truncate_and_append(&mut known.text, *kept_bytes, text);
                }
            }
            Event::ImageReceived { owner: ImageOwner::Message(message), image } => {
                if let Some(known) = self.find_candidate_mut(*message) {
                    known.images.push(ImageRef::from_image(image).into_owned());
                }
            }
            Event::SourceCited { message, citation } => {
                if let Some(known) = self.find_candidate_mut(*message) {
                    known.citations.push(citation.clone().into_owned());
                }
            }
            Event::FinalDeclared { message } => {
                if let Some(known) = self.find_candidate_mut(*message) {
                    known.declared = true;
                }
            }
            // No part of a message, or not of one that is a candidate.
            Event::RoundEnded { .. }
            | Event::MessageEnded { .. }
            | Event::ImageReceived { .. }
            | Event::Withdrawn { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Reasoning)
            | event_family!(Tool)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    /// Returns the candidate with this id.
    fn find_candidate_mut(&mut self, id: MessageId) -> Option<&mut Candidate> {
        let at = self.position(id)?;
        self.candidates.get_mut(at)
    }

    /// Position of the candidate with this id; nearly always it is the last one.
    fn position(&self, id: MessageId) -> Option<usize> {
        match self.candidates.last() {
            Some(last) if last.id == id => Some(self.candidates.len() - 1),
            _ => self.candidates.binary_search_by_key(&id, |message| message.id).ok(),
        }
    }

    /// Returns a copy of the message that the ending names.
    pub(super) fn final_message_of_ending(&self, ending: &Ending<'_>) -> Option<FinalMessage> {
        let id = ending.message?;
        let known = &self.candidates[self.position(id)?];
        Some(FinalMessage {
            message: id,
            text: known.text.clone(),
            images: known.images.clone(),
            citations: known.citations.clone(),
        })
    }

    /// Takes the text of the message that the ending names.
    pub fn take_final_text(&mut self, ending: &Ending<'_>) -> Option<String> {
        let id = ending.message?;
        self.find_candidate_mut(id).map(|known| std::mem::take(&mut known.text))
    }

    /// Text of the message that the ending names.
    pub fn final_text(&self, ending: &Ending<'_>) -> Option<&str> {
        self.message_text(ending.message?)
    }

    /// Text of a candidate.
    pub fn message_text(&self, id: MessageId) -> Option<&str> {
        self.position(id).map(|at| &*self.candidates[at].text)
    }
}
