//! `into_owned`: copies of events that borrow nothing.

use std::borrow::Cow;

use super::{AskOption, Citation, Ending, Event, Image};

/// Copies a text out of the buffer it borrows from.
fn into_owned_text(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

/// Same as [`into_owned_text`] for an optional text.
fn into_owned_optional_text(text: Option<Cow<'_, str>>) -> Option<Cow<'static, str>> {
    text.map(into_owned_text)
}

impl Event<'_> {
    /// Detaches the event from the buffers it borrows from.
    #[must_use]
    #[allow(clippy::too_many_lines, reason = "one arm per variant, nothing else")]
    pub fn into_owned(self) -> Event<'static> {
        match self {
            Event::RunStarted { version, dialect, mode } => {
                Event::RunStarted { version, dialect: into_owned_text(dialect), mode }
            }
            Event::PromptReceived { text, images, origin } => {
                let images = images.into_iter().map(Image::into_owned).collect();
                Event::PromptReceived { text: into_owned_text(text), images, origin }
            }
            Event::RoundStarted { round, model, response } => Event::RoundStarted {
                round,
                model: into_owned_optional_text(model),
                response: into_owned_optional_text(response),
            },
            Event::RoundEnded { round, stop, incomplete } => {
                Event::RoundEnded { round, stop, incomplete }
            }
            Event::MessageStarted { message, round, phase } => {
                Event::MessageStarted { message, round, phase }
            }
            Event::TextAppended { message, text } => {
                Event::TextAppended { message, text: into_owned_text(text) }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                Event::TextRewritten { message, kept_bytes, text: into_owned_text(text) }
            }
            Event::MessageEnded { message, incomplete } => {
                Event::MessageEnded { message, incomplete }
            }
            Event::SourceCited { message, citation } => {
                Event::SourceCited { message, citation: citation.into_owned() }
            }
            Event::ImageReceived { owner, image } => {
                Event::ImageReceived { owner, image: image.into_owned() }
            }
            Event::ReasoningStarted { step, round, origin, interrupts } => {
                Event::ReasoningStarted { step, round, origin, interrupts }
            }
            Event::ReasoningAppended { step, text } => {
                Event::ReasoningAppended { step, text: into_owned_text(text) }
            }
            Event::StepSealed { step, seal } => {
                Event::StepSealed { step, seal: into_owned_text(seal) }
            }
            Event::ReasoningEnded { step, incomplete } => {
                Event::ReasoningEnded { step, incomplete }
            }
            Event::MarkupHidden { class, text } => {
                Event::MarkupHidden { class, text: into_owned_text(text) }
            }
            Event::ToolStarted { step, round, call, name, kind, executor, server, parent } => {
                Event::ToolStarted {
                    step,
                    round,
                    call: into_owned_text(call),
                    name: into_owned_text(name),
                    kind,
                    executor,
                    server: into_owned_optional_text(server),
                    parent,
                }
            }
            Event::ArgumentsAppended { step, text } => {
                Event::ArgumentsAppended { step, text: into_owned_text(text) }
            }
            Event::ArgumentsReplaced { step, text } => {
                Event::ArgumentsReplaced { step, text: into_owned_text(text) }
            }
            Event::ToolReady { step } => Event::ToolReady { step },
            Event::ToolProgressed { step, text } => {
                Event::ToolProgressed { step, text: into_owned_text(text) }
            }
            Event::OutputAppended { step, text } => {
                Event::OutputAppended { step, text: into_owned_text(text) }
            }
            Event::OutputReplaced { step, text } => {
                Event::OutputReplaced { step, text: into_owned_text(text) }
            }
            Event::ToolEnded { step, outcome, detail } => {
                Event::ToolEnded { step, outcome, detail: into_owned_optional_text(detail) }
            }
            Event::AskOpened { ask, kind, text, options, step, digest, expires_at_ms } => {
                Event::AskOpened {
                    ask: into_owned_text(ask),
                    kind,
                    text: into_owned_text(text),
                    options: options.into_iter().map(AskOption::into_owned).collect(),
                    step,
                    digest: into_owned_optional_text(digest),
                    expires_at_ms,
                }
            }
            Event::AskResolved { ask, answer, by } => Event::AskResolved {
                ask: into_owned_text(ask),
                answer: into_owned_text(answer),
                by,
            },
            Event::RequestStarted { request } => {
                Event::RequestStarted { request: into_owned_text(request) }
            }
            Event::RequestEnded { request, cost_usd, failure, cancel_reason } => {
                Event::RequestEnded {
                    request: into_owned_optional_text(request),
                    cost_usd,
                    failure: into_owned_optional_text(failure),
                    cancel_reason: into_owned_optional_text(cancel_reason),
                }
            }
            Event::CheckpointSaved { hash } => {
                Event::CheckpointSaved { hash: into_owned_text(hash) }
            }
            Event::PromptJoined { queued } => {
                Event::PromptJoined { queued: into_owned_text(queued) }
            }
            Event::SessionNamed { name } => Event::SessionNamed { name: into_owned_text(name) },
            Event::RetryScheduled { attempt, attempts_max, delay_ms, reason } => {
                Event::RetryScheduled {
                    attempt,
                    attempts_max,
                    delay_ms,
                    reason: into_owned_text(reason),
                }
            }
            Event::HistoryCompacted { summary } => {
                Event::HistoryCompacted { summary: into_owned_optional_text(summary) }
            }
            Event::DraftReceived { draft, kind, kept_bytes, text } => {
                Event::DraftReceived { draft, kind, kept_bytes, text: into_owned_text(text) }
            }
            Event::DraftCompleted { draft } => Event::DraftCompleted { draft },
            Event::NoticeGiven { level, text } => {
                Event::NoticeGiven { level, text: into_owned_text(text) }
            }
            Event::UsageReported { scope, usage } => Event::UsageReported { scope, usage },
            Event::FinalDeclared { message } => Event::FinalDeclared { message },
            Event::Withdrawn { messages, steps } => Event::Withdrawn { messages, steps },
            Event::QuirkActed { quirk, detail } => {
                Event::QuirkActed { quirk: into_owned_text(quirk), detail: into_owned_text(detail) }
            }
            Event::Unrecognised { reason, raw } => {
                Event::Unrecognised { reason, raw: into_owned_text(raw) }
            }
            Event::RunEnded { ending } => Event::RunEnded { ending: ending.into_owned() },
        }
    }
}

impl AskOption<'_> {
    /// Detaches the option from the buffers it borrows from.
    #[must_use]
    pub fn into_owned(self) -> AskOption<'static> {
        AskOption { id: into_owned_text(self.id), label: into_owned_text(self.label) }
    }
}

impl Citation<'_> {
    /// Detaches the citation from the buffers it borrows from.
    #[must_use]
    pub fn into_owned(self) -> Citation<'static> {
        Citation {
            url: into_owned_optional_text(self.url),
            title: into_owned_optional_text(self.title),
            quote: into_owned_optional_text(self.quote),
        }
    }
}

impl Image<'_> {
    /// Detaches the image from the buffers it borrows from.
    #[must_use]
    pub fn into_owned(self) -> Image<'static> {
        match self {
            Image::Url { url } => Image::Url { url: into_owned_text(url) },
            Image::Inline { media_type, base64 } => Image::Inline {
                media_type: into_owned_text(media_type),
                base64: into_owned_text(base64),
            },
            Image::Kept { media_type, digest } => Image::Kept {
                media_type: into_owned_text(media_type),
                digest: into_owned_text(digest),
            },
        }
    }
}

impl Ending<'_> {
    /// Detaches the ending from the buffers it borrows from.
    #[must_use]
    pub fn into_owned(self) -> Ending<'static> {
        Ending {
            outcome: self.outcome,
            stop: self.stop,
            reason: self.reason,
            detail: into_owned_optional_text(self.detail),
            reply: self.reply,
            message: self.message,
            incomplete: self.incomplete,
        }
    }
}
