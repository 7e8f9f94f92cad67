//! Google Gemini, on the Gemini API and on Vertex: `streamGenerateContent` and the Interactions
//! API.
//!
//! Text is incremental. A generated reply ends at its `finishReason`, an interaction at its
//! `interaction.completed`. `[DONE]` is ignored, and events have no names.

mod finish_reason;
mod generate;
mod interaction_content;
mod interactions;
mod partial_args;
mod sources;
mod usage;

use crate::event::{FailureReason, TextMode};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, array_elements, as_string, object, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::Writer;

use super::{Dialect, Unreadable};
use generate::GenerateContent;
use interactions::Interactions;

/// State of one Gemini stream, for the API that its first frame identifies.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Gemini {
    #[default]
    Undetected,
    Generate(GenerateContent),
    Interactions(Interactions),
}

impl Dialect for Gemini {
    const NAME: &'static str = "gemini";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let event = probe.text_member("event_type").unwrap_or_default();
        if event.starts_with("interaction.")
            || probe.text_member("object").as_deref() == Some("interaction")
        {
            return Likeness::Yes;
        }
        if event.starts_with("step.") || event.starts_with("content.") {
            return Likeness::yes_if(probe.has("index"));
        }
        if probe.has("promptFeedback") || probe.has("usageMetadata") {
            return Likeness::Yes;
        }
        if let Some(candidates) = probe.get("candidates") {
            object! { Candidate { content, finish_reason = "finishReason"; skip _ } }
            let known = array_elements(candidates).iter().any(|raw| {
                let candidate = Candidate::from_raw(raw);
                candidate.is_some_and(|it| it.content.or(it.finish_reason).is_some())
            });
            return Likeness::yes_if(known);
        }
        let error = ["code", "message", "status"];
        Likeness::yes_if(error.iter().all(|key| probe.has_nested("error", key)))
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        if matches!(self, Gemini::Undetected) {
            *self = Gemini::from_first_frame(frame.data);
        }
        match self {
            Gemini::Undetected => Err(Unreadable),
            Gemini::Generate(generate) => generate.push_frame(frame, out),
            Gemini::Interactions(interactions) => interactions.push_frame(frame, out),
        }
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        if let Gemini::Generate(generate) = self {
            generate.finish(out);
        }
    }
}

impl Gemini {
    /// Detects the API from the members of the first frame.
    fn from_first_frame(json: &str) -> Gemini {
        object! { First { event_type, object; skip _ } }
        match First::parse(json) {
            None => Gemini::Undetected,
            Some(First { event_type: None, object: None }) => {
                Gemini::Generate(GenerateContent::default())
            }
            Some(_) => Gemini::Interactions(Interactions::default()),
        }
    }
}

/// Fails the run with the message of an error object.
fn report_error_and_end_text(error: &RawValue, out: &mut Writer<'_>) {
    object! { ErrorFields { message, status; skip _ } }
    let words = ErrorFields::from_raw(error).and_then(|error| {
        let [message, status] =
            [error.message, error.status].map(|member| member.and_then(as_string));
        message.filter(|message| !message.is_empty()).or(status)
    });
    out.report_failed_and_end_text(
        FailureReason::Error,
        &words.unwrap_or_else(|| string_or_json(error)),
    );
}
