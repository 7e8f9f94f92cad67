//! Detaching an event from the buffers it borrows from.

use std::borrow::Cow;

use super::{AskOption, Citation, Ending, Event, Image};

fn own(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

fn own_some(text: Option<Cow<'_, str>>) -> Option<Cow<'static, str>> {
    text.map(own)
}

impl Event<'_> {
    #[must_use]
    #[allow(clippy::too_many_lines, reason = "one arm per variant, nothing else")]
    pub fn into_owned(self) -> Event<'static> {
        match self {
            Event::RunStarted { version, dialect, mode } => {
                Event::RunStarted { version, dialect: own(dialect), mode }
            }
            Event::PromptReceived { text, images } => {
                let images = images.into_iter().map(Image::into_owned).collect();
                Event::PromptReceived { text: own(text), images }
            }
            Event::RoundStarted { round, model, response } => {
                Event::RoundStarted { round, model: own_some(model), response: own_some(response) }
            }
            Event::RoundEnded { round, stop, incomplete } => {
                Event::RoundEnded { round, stop, incomplete }
            }
            Event::MessageStarted { message, round, phase } => {
                Event::MessageStarted { message, round, phase }
            }
            Event::TextAppended { message, text } => {
                Event::TextAppended { message, text: own(text) }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                Event::TextRewritten { message, kept_bytes, text: own(text) }
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
            Event::ReasoningStarted { step, round, origin } => {
                Event::ReasoningStarted { step, round, origin }
            }
            Event::ReasoningAppended { step, text } => {
                Event::ReasoningAppended { step, text: own(text) }
            }
            Event::StepSealed { step, seal } => Event::StepSealed { step, seal: own(seal) },
            Event::ReasoningEnded { step, incomplete } => {
                Event::ReasoningEnded { step, incomplete }
            }
            Event::MarkupHidden { class, text } => Event::MarkupHidden { class, text: own(text) },
            Event::ToolStarted { step, round, call, name, kind, executor, server, parent } => {
                Event::ToolStarted {
                    step,
                    round,
                    call: own(call),
                    name: own(name),
                    kind,
                    executor,
                    server: own_some(server),
                    parent,
                }
            }
            Event::ArgumentsAppended { step, text } => {
                Event::ArgumentsAppended { step, text: own(text) }
            }
            Event::ArgumentsReplaced { step, text } => {
                Event::ArgumentsReplaced { step, text: own(text) }
            }
            Event::ToolReady { step } => Event::ToolReady { step },
            Event::ToolProgressed { step, text } => Event::ToolProgressed { step, text: own(text) },
            Event::OutputAppended { step, text } => Event::OutputAppended { step, text: own(text) },
            Event::ToolEnded { step, outcome, detail } => {
                Event::ToolEnded { step, outcome, detail: own_some(detail) }
            }
            Event::AskOpened { ask, kind, text, options, step, digest, expires_at_ms } => {
                Event::AskOpened {
                    ask: own(ask),
                    kind,
                    text: own(text),
                    options: options.into_iter().map(AskOption::into_owned).collect(),
                    step,
                    digest: own_some(digest),
                    expires_at_ms,
                }
            }
            Event::AskResolved { ask, answer, by } => {
                Event::AskResolved { ask: own(ask), answer: own(answer), by }
            }
            Event::RequestStarted { request } => Event::RequestStarted { request: own(request) },
            Event::RequestEnded { request, cost_usd, failure, cancel_reason } => {
                Event::RequestEnded {
                    request: own_some(request),
                    cost_usd,
                    failure: own_some(failure),
                    cancel_reason: own_some(cancel_reason),
                }
            }
            Event::CheckpointSaved { hash } => Event::CheckpointSaved { hash: own(hash) },
            Event::PromptJoined { queued } => Event::PromptJoined { queued: own(queued) },
            Event::SessionNamed { name } => Event::SessionNamed { name: own(name) },
            Event::RetryScheduled { attempt, attempts_max, delay_ms, reason } => {
                Event::RetryScheduled { attempt, attempts_max, delay_ms, reason: own(reason) }
            }
            Event::HistoryCompacted { summary } => {
                Event::HistoryCompacted { summary: own_some(summary) }
            }
            Event::NoticeGiven { level, text } => Event::NoticeGiven { level, text: own(text) },
            Event::UsageReported { scope, usage } => Event::UsageReported { scope, usage },
            Event::FinalDeclared { message } => Event::FinalDeclared { message },
            Event::Withdrawn { messages, steps } => Event::Withdrawn { messages, steps },
            Event::QuirkActed { quirk, detail } => {
                Event::QuirkActed { quirk: own(quirk), detail: own(detail) }
            }
            Event::Unrecognised { reason, raw } => Event::Unrecognised { reason, raw: own(raw) },
            Event::RunEnded { ending } => Event::RunEnded { ending: ending.into_owned() },
        }
    }
}

impl AskOption<'_> {
    #[must_use]
    pub fn into_owned(self) -> AskOption<'static> {
        AskOption { id: own(self.id), label: own(self.label) }
    }
}

impl Citation<'_> {
    #[must_use]
    pub fn into_owned(self) -> Citation<'static> {
        Citation {
            url: own_some(self.url),
            title: own_some(self.title),
            quote: own_some(self.quote),
        }
    }
}

impl Image<'_> {
    #[must_use]
    pub fn into_owned(self) -> Image<'static> {
        match self {
            Image::Url { url } => Image::Url { url: own(url) },
            Image::Inline { media_type, base64 } => {
                Image::Inline { media_type: own(media_type), base64: own(base64) }
            }
            Image::Kept { media_type, digest } => {
                Image::Kept { media_type: own(media_type), digest: own(digest) }
            }
        }
    }
}

impl Ending<'_> {
    #[must_use]
    pub fn into_owned(self) -> Ending<'static> {
        Ending {
            outcome: self.outcome,
            stop: self.stop,
            reason: self.reason,
            detail: own_some(self.detail),
            reply: self.reply,
            message: self.message,
            incomplete: self.incomplete,
        }
    }
}
