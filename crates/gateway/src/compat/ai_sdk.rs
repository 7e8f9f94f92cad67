//! The AI SDK's UI message stream: one assistant message for a run, one step for a round, one part
//! for a message, a reasoning step or a tool.
//!
//! Speaks what version 6 knows; version 7, where asked for, only adds taking parts back. Every tool
//! is marked as run by the provider, because no browser is to run it or to answer for it.
//! `[DONE]` is always last.

use engine::event::{
    Citation, Ending, Event, Image, Level, MessageId, Millis, Outcome, ReasoningOrigin, StepId,
    Stop,
};

use super::call::Calls;
use super::ending::words;
use super::shown::{is_link, picture};
use super::spent::Spent;
use super::{DONE, Out, Protocol, RETOLD_MAX, Reasoning, json};

use journal::{Journal, Owner};
use part::{Facts, Metadata, Notice, Part, Tagged};
use text::Texts;
use tools::Question;

mod journal;
mod part;
mod text;
mod tools;

/// Which client reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// Also read by version 7.
    #[default]
    V6,
    V7,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub version: Version,
    pub reasoning: Reasoning,
    /// What stands before a kept picture's digest in its address.
    pub picture_prefix: String,
}

#[derive(Clone, Debug, Default)]
pub struct AiSdk {
    options: Options,
    journal: Journal,
    texts: Texts,
    thoughts: Vec<StepId>,
    calls: Calls,
    asks: Vec<Question>,
    /// Calls that ended without a result.
    unanswered: Vec<(StepId, String)>,
    withdrawn: Vec<String>,
    retold: u32,
    sources: u32,
    in_step: bool,
    spent: Spent,
}

impl AiSdk {
    pub fn new(options: Options) -> AiSdk {
        AiSdk { options, ..AiSdk::default() }
    }

    /// Sends a part, and remembers it where it may have to be sent again.
    fn say(&mut self, owner: Option<Owner>, part: &Part<'_>, out: Out<'_>) {
        let Ok(text) = serde_json::to_string(part) else { return };
        out(&text);
        if self.options.version == Version::V7 {
            self.journal.note(owner, text);
        }
    }

    /// Sends the first part of something.
    fn begin_part(&mut self, owner: Owner, part: &Part<'_>, out: Out<'_>) {
        if self.options.version == Version::V7 {
            self.journal.begin(owner);
        }
        self.say(Some(owner), part, out);
    }

    fn start_step(&mut self, out: Out<'_>) {
        self.finish_step(out);
        self.settle_arguments(out);
        self.in_step = true;
        json::say(&Part::StartStep, out);
        self.journal = Journal::default();
    }

    fn finish_step(&mut self, out: Out<'_>) {
        self.end_text(out);
        for step in std::mem::take(&mut self.thoughts) {
            self.end_thought(step, out);
        }
        if std::mem::take(&mut self.in_step) {
            json::say(&Part::FinishStep, out);
        }
    }

    fn start_thought(&mut self, step: StepId, out: Out<'_>) {
        if self.options.reasoning == Reasoning::Show && !self.thoughts.contains(&step) {
            self.thoughts.push(step);
            let id = step_id(step);
            let part = Part::ReasoningStart { id: &id, provider_metadata: Tagged::new(&id) };
            self.begin_part(Owner::Step(step), &part, out);
        }
    }

    fn think(&mut self, step: StepId, delta: &str, out: Out<'_>) {
        self.start_thought(step, out);
        if self.options.reasoning == Reasoning::Show {
            let id = step_id(step);
            self.say(Some(Owner::Step(step)), &Part::ReasoningDelta { id: &id, delta }, out);
        }
    }

    fn end_thought(&mut self, step: StepId, out: Out<'_>) {
        self.say(Some(Owner::Step(step)), &Part::ReasoningEnd { id: &step_id(step) }, out);
    }

    fn cite(&mut self, message: MessageId, citation: &Citation<'_>, out: Out<'_>) {
        let source_id = format!("c{}", self.sources);
        self.sources += 1;
        let title = citation.title.as_deref();
        let part = match citation.url.as_deref() {
            Some(url) if is_link(url) => Part::SourceUrl { source_id: &source_id, url, title },
            url => {
                let Some(title) = title.or(url).or(citation.quote.as_deref()) else { return };
                let media_type = "application/octet-stream";
                Part::SourceDocument { source_id: &source_id, media_type, title }
            }
        };
        self.say(Some(Owner::Message(message)), &part, out);
    }

    fn show(&mut self, owner: engine::event::Owner, image: &Image<'_>, out: Out<'_>) {
        let prefix = std::mem::take(&mut self.options.picture_prefix);
        if let Some(picture) = picture(image, &prefix) {
            let part = Part::File { url: &picture.url, media_type: picture.media_type };
            self.say(Some(owner.into()), &part, out);
        }
        self.options.picture_prefix = prefix;
    }

    /// Takes parts back where the client can; else says in the message's metadata that they no
    /// longer count.
    fn withdraw(&mut self, messages: &[MessageId], steps: &[StepId], out: Out<'_>) {
        let owners = messages.iter().map(|&message| Owner::Message(message));
        let owners: Vec<_> = owners.chain(steps.iter().map(|&step| Owner::Step(step))).collect();
        self.close_withdrawn(messages, steps, out);
        let (here, mut gone): (Vec<_>, Vec<_>) =
            owners.into_iter().partition(|owner| self.journal.holds(*owner));
        let may_retell = self.may_retell();
        if !here.is_empty() && may_retell {
            self.journal.take_back(&here, out);
        } else {
            gone.extend(here);
        }
        for owner in gone {
            let id = match owner {
                Owner::Message(message) => self.texts.id(message),
                Owner::Step(step) => {
                    self.calls.id(step).map_or_else(|| step_id(step), str::to_owned)
                }
            };
            self.withdrawn.push(id);
        }
        if may_retell {
            self.say_withdrawn(out);
        }
    }

    /// Whether a change is told at once; counts that it is.
    fn may_retell(&mut self) -> bool {
        let may = self.retold < RETOLD_MAX;
        self.retold += u32::from(may);
        may
    }

    fn close_withdrawn(&mut self, messages: &[MessageId], steps: &[StepId], out: Out<'_>) {
        if messages.iter().any(|&message| self.texts.is_open(message)) {
            self.end_text(out);
        }
        for &step in steps {
            if let Some(at) = self.thoughts.iter().position(|&open| open == step) {
                self.thoughts.swap_remove(at);
                self.end_thought(step, out);
            }
            self.withdraw_call(step, out);
        }
    }

    fn say_withdrawn(&self, out: Out<'_>) {
        if !self.withdrawn.is_empty() {
            let facts = Facts { withdrawn: &self.withdrawn, ..Facts::default() };
            json::say(
                &Part::MessageMetadata { message_metadata: Metadata { millpond: facts } },
                out,
            );
        }
    }

    fn notice(level: Level, text: &str, out: Out<'_>) {
        json::say(&Part::DataNotice { data: Notice { level, text }, transient: true }, out);
    }
}

impl Protocol for AiSdk {
    fn begin(&mut self, run: &str, _at: Option<Millis>, out: Out<'_>) {
        json::say(&Part::Start { message_id: run }, out);
    }

    fn event(&mut self, event: &Event<'_>, out: Out<'_>) {
        self.spent.apply(event);
        match event {
            Event::RoundStarted { .. } => self.start_step(out),
            Event::RoundEnded { .. } => self.finish_step(out),
            Event::MessageStarted { message, .. } => self.start_text(*message, out),
            Event::TextAppended { message, text } => self.append_text(*message, text, out),
            Event::TextRewritten { message, kept_bytes, text } => {
                self.rewrite_text(*message, *kept_bytes, text, out);
            }
            Event::MessageEnded { .. } => self.end_text(out),
            Event::SourceCited { message, citation } => self.cite(*message, citation, out),
            Event::ImageReceived { owner, image } => self.show(*owner, image, out),
            Event::ReasoningStarted { step, origin, .. } => {
                if *origin != ReasoningOrigin::Redacted {
                    self.start_thought(*step, out);
                }
            }
            Event::ReasoningAppended { step, text } => self.think(*step, text, out),
            Event::ReasoningEnded { step, .. } => {
                if let Some(at) = self.thoughts.iter().position(|open| open == step) {
                    self.thoughts.remove(at);
                    self.end_thought(*step, out);
                }
            }
            Event::Withdrawn { messages, steps } => self.withdraw(messages, steps, out),
            Event::NoticeGiven { level, text } => AiSdk::notice(*level, text, out),
            Event::RetryScheduled { reason, .. } => AiSdk::notice(Level::Warning, reason, out),
            Event::ToolStarted { .. }
            | Event::ArgumentsAppended { .. }
            | Event::ArgumentsReplaced { .. }
            | Event::ToolReady { .. }
            | Event::ToolProgressed { .. }
            | Event::OutputAppended { .. }
            | Event::ToolEnded { .. }
            | Event::AskOpened { .. }
            | Event::AskResolved { .. } => self.tool(event, out),
            Event::RunStarted { .. }
            | Event::RunEnded { .. }
            | Event::PromptReceived { .. }
            | Event::StepSealed { .. }
            | Event::SessionNamed { .. }
            | Event::PromptJoined { .. }
            | Event::MarkupHidden { .. }
            | Event::RequestStarted { .. }
            | Event::RequestEnded { .. }
            | Event::CheckpointSaved { .. }
            | Event::HistoryCompacted { .. }
            | Event::UsageReported { .. }
            | Event::FinalDeclared { .. }
            | Event::QuirkActed { .. }
            | Event::Unrecognised { .. } => {}
        }
    }

    fn end(&mut self, ending: &Ending<'_>, out: Out<'_>) {
        self.end_calls(ending, out);
        self.finish_step(out);
        let reply = ending.message.map(|message| self.texts.id(message));
        let facts = Facts {
            withdrawn: &self.withdrawn,
            reply: reply.as_deref(),
            incomplete: Some(ending.incomplete),
            usage: self.spent.total(),
        };
        json::say(&Part::MessageMetadata { message_metadata: Metadata { millpond: facts } }, out);
        let words = words(ending);
        let part = match ending.outcome {
            Outcome::Completed => Part::Finish { finish_reason: finish_reason(ending.stop) },
            Outcome::Cancelled => Part::Abort { reason: &words },
            Outcome::Failed | Outcome::Truncated | Outcome::Stalled | Outcome::Interrupted => {
                Part::Error { error_text: &words }
            }
        };
        json::say(&part, out);
        out(DONE);
    }
}

fn step_id(step: StepId) -> String {
    format!("s{}", step.0)
}

fn finish_reason(stop: Option<Stop>) -> &'static str {
    match stop {
        None | Some(Stop::End) => "stop",
        Some(Stop::Tools) => "tool-calls",
        Some(Stop::Length) => "length",
        Some(Stop::Paused | Stop::Other) => "other",
    }
}
