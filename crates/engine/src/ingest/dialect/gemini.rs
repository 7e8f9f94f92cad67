//! Google's Gemini, on its own API and on Vertex: `streamGenerateContent` and the Interactions API.
//!
//! Text is incremental. A generated reply ends at its `finishReason`, an interaction at its
//! `interaction.completed`. There is no `[DONE]` that counts, and events have no names.

mod content;
mod generate;
mod interactions;
mod partial_args;
mod reasons;
mod sources;
mod usage;

use crate::event::{FailureReason, TextMode};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Shape, elements, string, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::Writer;

use super::{Dialect, Unreadable};
use generate::Generate;
use interactions::Interactions;

/// Which of the two APIs speaks; its first frame tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Gemini {
    #[default]
    Silent,
    Generate(Generate),
    Interactions(Interactions),
}

impl Dialect for Gemini {
    const NAME: &'static str = "gemini";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let event = probe.text("event_type").unwrap_or_default();
        if event.starts_with("interaction.")
            || probe.text("object").as_deref() == Some("interaction")
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
            const CANDIDATE: Shape<2> = Shape { read: ["content", "finishReason"], skip: &[] };
            let known = elements(candidates).iter().any(|raw| {
                let candidate = CANDIDATE.read(raw.get());
                candidate.is_some_and(|it| it.read.iter().any(Option::is_some))
            });
            return Likeness::yes_if(known);
        }
        let error = ["code", "message", "status"];
        Likeness::yes_if(error.iter().all(|key| probe.inner_has("error", key)))
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        if matches!(self, Gemini::Silent) {
            *self = Gemini::speaking(frame.data);
        }
        match self {
            Gemini::Silent => Err(Unreadable),
            Gemini::Generate(generate) => generate.frame(frame, out),
            Gemini::Interactions(interactions) => interactions.frame(frame, out),
        }
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        if let Gemini::Generate(generate) = self {
            generate.finish(out);
        }
    }
}

impl Gemini {
    fn speaking(json: &str) -> Gemini {
        const FIRST: Shape<2> = Shape { read: ["event_type", "object"], skip: &[] };
        match FIRST.read(json) {
            None => Gemini::Silent,
            Some(first) if first.read.iter().all(Option::is_none) => {
                Gemini::Generate(Generate::default())
            }
            Some(_) => Gemini::Interactions(Interactions::default()),
        }
    }
}

fn fail_with(error: &RawValue, out: &mut Writer<'_>) {
    const ERROR: Shape<2> = Shape { read: ["message", "status"], skip: &[] };
    let words = ERROR.read(error.get()).and_then(|error| {
        let [message, status] = error.read.map(|member| member.and_then(string));
        message.filter(|message| !message.is_empty()).or(status)
    });
    out.fail(FailureReason::Error, &words.unwrap_or_else(|| string_or_json(error)));
}
