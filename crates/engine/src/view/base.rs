//! What all views do alike: which run is going and what it is doing, what the person wrote, what
//! is asked, the final message, and that nothing changes after the end.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::event::{AnsweredBy, Event, MessageId, Record, StepId, Stop, ToolKind};
use crate::limits::OPEN_ASKS_MAX;

use super::blob::Shown;
use super::doing::{Asked, Doing, Telling};
use super::item::{Item, Key, Kind, State};
use super::patch::{Ask, Ended, Patch, Resolved, Status};
use super::reply::{Final, ReplyView};

#[derive(Clone, Debug)]
pub(super) struct Base {
    run: Option<String>,
    next_key: u32,
    prompts: u32,
    reply: ReplyView,
    doing: Doing,
    /// Steps that make pictures, sub-agents' aside.
    painters: BTreeSet<StepId>,
    open_asks: Vec<OpenAsk>,
}

/// An ask outlives its run where that went away waiting for the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OpenAsk {
    run: String,
    id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resolving {
    Done,
    NotOpen,
}

/// What is left for the view to do about a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing: it is no part of the run that is going, or has been dealt with.
    Nothing,
    /// A run began; its first status has been told.
    Began,
    /// An ask of a run that is over was answered.
    AnsweredLate,
    /// It is the view's.
    View,
    /// The run's ending, to be told by [`Base::end`].
    Ending,
}

impl Base {
    pub(super) fn new(telling: Telling) -> Base {
        Base {
            run: None,
            next_key: 0,
            prompts: 0,
            reply: ReplyView::default(),
            doing: Doing::new(telling),
            painters: BTreeSet::new(),
            open_asks: Vec::new(),
        }
    }

    pub(super) fn key(&mut self) -> Key {
        let key = Key(self.next_key);
        self.next_key += 1;
        key
    }

    pub(super) fn apply<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> Rest {
        let Some(run) = &self.run else {
            let Event::RunStarted { .. } = record.event else { return self.late(record, out) };
            self.run = Some(record.run.clone().into_owned());
            self.prompts = 0;
            self.reply = ReplyView::default();
            self.doing = self.doing.anew();
            self.painters.clear();
            out(Patch::Status(Status::Queued));
            out(Patch::Status(Status::Started));
            return Rest::Began;
        };
        if *run != record.run {
            return self.late(record, out);
        }
        self.reply.apply(&record.event);
        let rest = self.event(record, out);
        if rest == Rest::View {
            let is_asked = self.open_asks.iter().any(|ask| ask.run == record.run);
            let asked = if is_asked { Asked::Something } else { Asked::Nothing };
            self.doing.apply(&record.event, asked, out);
        }
        rest
    }

    fn event<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) -> Rest {
        match &record.event {
            Event::RunStarted { .. } => Rest::Nothing,
            Event::PromptReceived { text, images } => {
                let id = format!("u{}", self.prompts);
                self.prompts += 1;
                let mut item = Item::new(Kind::User, &*record.run, id);
                item.at_ms = record.at_ms;
                item.state = State::Done;
                item.text = Cow::Borrowed(text);
                item.images = images.iter().map(Shown::of).collect();
                out(Patch::Put { key: self.key(), item });
                Rest::Nothing
            }
            Event::ToolStarted { step, kind: ToolKind::ImageGeneration, parent: None, .. } => {
                self.painters.insert(*step);
                Rest::View
            }
            Event::AskOpened { .. } => self.ask(record, out),
            Event::AskResolved { .. } => match self.resolve(record, out) {
                Resolving::Done => Rest::View,
                Resolving::NotOpen => Rest::Nothing,
            },
            Event::RunEnded { .. } => Rest::Ending,
            _ => Rest::View,
        }
    }

    fn ask<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) -> Rest {
        let Event::AskOpened { ask, kind, text, options, digest, expires_at_ms, .. } =
            &record.event
        else {
            return Rest::Nothing;
        };
        if self.place_of(record, ask).is_some() {
            return Rest::Nothing;
        }
        if OPEN_ASKS_MAX <= self.open_asks.len() {
            let OpenAsk { run, id } = self.open_asks.remove(0);
            out(Patch::Resolve(Resolved {
                run: Cow::Owned(run),
                id: Cow::Owned(id),
                answer: Cow::Borrowed(""),
                by: AnsweredBy::Nobody,
            }));
        }
        self.open_asks.push(OpenAsk { run: record.run.to_string(), id: ask.to_string() });
        out(Patch::Ask(Ask {
            run: Cow::Borrowed(&record.run),
            id: Cow::Borrowed(ask),
            kind: *kind,
            text: Cow::Borrowed(text),
            options: options.clone(),
            digest: digest.as_deref().map(Cow::Borrowed),
            expires_at: *expires_at_ms,
        }));
        Rest::View
    }

    fn place_of(&self, record: &Record<'_>, ask: &str) -> Option<usize> {
        self.open_asks.iter().position(|open| open.run == record.run && open.id == ask)
    }

    fn resolve<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> Resolving {
        let Event::AskResolved { ask, answer, by } = &record.event else {
            return Resolving::NotOpen;
        };
        let Some(at) = self.place_of(record, ask) else { return Resolving::NotOpen };
        self.open_asks.remove(at);
        out(Patch::Resolve(Resolved {
            run: Cow::Borrowed(&record.run),
            id: Cow::Borrowed(ask),
            answer: Cow::Borrowed(answer),
            by: *by,
        }));
        Resolving::Done
    }

    /// Nobody will answer what the run has asked.
    fn close_asks<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        let of_run = |ask: &mut OpenAsk| ask.run == record.run;
        for ask in self.open_asks.extract_if(.., of_run) {
            out(Patch::Resolve(Resolved {
                run: Cow::Borrowed(&record.run),
                id: Cow::Owned(ask.id),
                answer: Cow::Borrowed(""),
                by: AnsweredBy::Nobody,
            }));
        }
    }

    /// Of a run that is not going only what it asked can change.
    fn late<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) -> Rest {
        match self.resolve(record, out) {
            Resolving::Done => Rest::AnsweredLate,
            Resolving::NotOpen => Rest::Nothing,
        }
    }

    /// What a message of the open round says, as far as it has come.
    pub(super) fn text_of(&self, message: MessageId) -> Option<&str> {
        self.reply.text_of(message)
    }

    /// The final message, while the run's ending has not been told.
    pub(super) fn reply(&self, record: &Record<'_>) -> Option<Final> {
        let Event::RunEnded { ending } = &record.event else { return None };
        self.reply.whole(ending)
    }

    /// Whether the step makes pictures for the person: what comes of it is content of the reply.
    pub(super) fn makes_pictures(&self, step: StepId) -> bool {
        self.painters.contains(&step)
    }

    /// Tells the ending, after which nothing of this run counts.
    pub(super) fn end<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        let Event::RunEnded { ending } = &record.event else { return };
        let content = self.reply.take(ending);
        self.run = None;
        if !ending.stop.is_some_and(Stop::leaves_asks_open) {
            self.close_asks(record, out);
        }
        out(Patch::Ended(Ended {
            run: Cow::Borrowed(&record.run),
            outcome: ending.outcome,
            stop: ending.stop,
            reason: ending.reason,
            detail: ending.detail.as_deref().map(Cow::Borrowed),
            reply: ending.reply,
            incomplete: ending.incomplete,
            content: Some(Cow::Owned(content.unwrap_or_default())),
        }));
    }
}

/// How an item stands when the run has ended.
pub(super) fn state_at_end(record: &Record<'_>) -> State {
    match &record.event {
        Event::RunEnded { ending } if !ending.incomplete => State::Done,
        _ => State::Incomplete,
    }
}

/// Name of a message in a page's words.
pub(super) fn message_id(message: MessageId) -> String {
    format!("m{}", message.0)
}
