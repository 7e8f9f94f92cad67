//! `transcript`: everything that happened, item by item, in the order in which it began. What is
//! settled never changes, so that a terminal or a log can print it once.
//!
//! Items have the keys 0, 1, 2, ...; none is ever removed. What an event costs does not depend on
//! how many items there are.

mod notes;
mod requests;
mod settling;
mod speech;
mod tools;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use crate::event::{Citation, Event, MessageId, Record, StepId, TextMode, Usage};

use super::base::{Base, Rest, message_id};
use super::blob::Shown;
use super::doing::Telling;
use super::item::{Item, Key, Kind, State, step_id};
use super::patch::Patch;
use super::{Options, Thinking};

use notes::Checkpoints;
use requests::Requests;
use settling::{Growth, Settling};
use tools::Tools;

/// How a thing stands that the run left open.
const LEFT_OPEN: State = State::Incomplete;

#[derive(Clone, Debug)]
pub struct Transcript {
    base: Base,
    thinking: Thinking,
    settling: Settling,
    checkpoints: Checkpoints,
    going: Box<Going>,
}

/// What is known of the run that is going.
#[derive(Clone, Debug)]
struct Going {
    growth: Growth,
    /// Whose items they are, settled ones too: they may be taken back.
    items: BTreeSet<(Of, Key)>,
    withdrawn: BTreeSet<Of>,
    /// The message that will be the final one, before it has text.
    declared: Option<MessageId>,
    tools: Tools,
    asks: VecDeque<(Key, Item<'static>)>,
    spoken: Spoken,
    requests: Requests,
    usage: Option<Usage>,
    notices: u32,
}

impl Default for Going {
    fn default() -> Going {
        Going {
            growth: Growth::MayChange,
            items: BTreeSet::new(),
            withdrawn: BTreeSet::new(),
            declared: None,
            tools: Tools::default(),
            asks: VecDeque::new(),
            spoken: Spoken::Agent,
            requests: Requests::default(),
            usage: None,
            notices: 0,
        }
    }
}

/// What an item came of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Message(MessageId),
    Thought(StepId),
    Step(StepId),
}

/// Who did something last: what the person writes after an answer goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spoken {
    Agent,
    PersonAnswered,
}

/// Something that comes with an item.
enum Extra<'a> {
    Image(Shown<'a>),
    Citation(Citation<'a>),
}

impl Transcript {
    pub fn new(options: Options) -> Transcript {
        Transcript {
            base: Base::new(Telling::new(options)),
            thinking: options.thinking,
            settling: Settling::default(),
            checkpoints: Checkpoints::default(),
            going: Box::default(),
        }
    }

    pub fn apply<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        let Transcript { base, settling, going, .. } = self;
        let rest = base.apply(record, &mut |mut patch| {
            if let Patch::Put { item, .. } = &mut patch {
                // The base puts nothing but what the person wrote.
                if std::mem::replace(&mut going.spoken, Spoken::Agent) == Spoken::PersonAnswered {
                    item.sort = Some("feedback".into());
                }
                settling.add(item.state, "", Growth::MayChange);
            }
            out(patch);
        });
        match rest {
            Rest::Nothing => {}
            Rest::Began => self.begin(record),
            Rest::View => self.event(record, out),
            Rest::AnsweredLate => self.ask(record, out),
            Rest::Ending => self.close_all(record, out),
        }
        if let Some(settled) = self.settling.settle() {
            out(Patch::Settle(settled));
        }
        if rest == Rest::Ending {
            self.base.end(record, out);
        }
    }

    fn begin(&mut self, record: &Record<'_>) {
        let asks = std::mem::take(&mut self.going.asks);
        *self.going = Going { asks, ..Going::default() };
        if let Event::RunStarted { mode: TextMode::Incremental, .. } = record.event {
            self.going.growth = Growth::Grows;
        }
    }

    fn event<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        if let Event::RoundStarted { .. }
        | Event::MessageStarted { .. }
        | Event::ToolStarted { .. }
        | Event::OutputAppended { .. }
        | Event::ToolEnded { .. } = record.event
        {
            self.going.spoken = Spoken::Agent;
        }
        match &record.event {
            Event::MessageStarted { .. }
            | Event::TextAppended { .. }
            | Event::TextRewritten { .. }
            | Event::MessageEnded { .. }
            | Event::SourceCited { .. }
            | Event::FinalDeclared { .. } => self.speech(record, out),
            Event::ReasoningStarted { .. }
            | Event::ReasoningAppended { .. }
            | Event::ReasoningEnded { .. } => self.reasoning(record, out),
            Event::ToolStarted { .. }
            | Event::ArgumentsAppended { .. }
            | Event::ArgumentsReplaced { .. }
            | Event::ToolReady { .. }
            | Event::OutputAppended { .. }
            | Event::ToolEnded { .. } => self.tool_event(record, out),
            Event::ImageReceived { owner, image } => self.image(*owner, image, record, out),
            Event::AskOpened { .. } | Event::AskResolved { .. } => self.ask(record, out),
            Event::RoundStarted { .. }
            | Event::RoundEnded { .. }
            | Event::RequestStarted { .. }
            | Event::RequestEnded { .. }
            | Event::UsageReported { .. } => self.request_event(record, out),
            Event::CheckpointSaved { .. }
            | Event::RetryScheduled { .. }
            | Event::HistoryCompacted { .. }
            | Event::NoticeGiven { .. } => self.note(record, out),
            Event::Withdrawn { messages, steps } => self.withdraw(messages, steps, record, out),
            Event::QuirkActed { .. } => self.going.growth = Growth::MayChange,
            // Those that change the page beside these are the base's.
            Event::RunStarted { .. }
            | Event::PromptReceived { .. }
            | Event::StepSealed { .. }
            | Event::SessionNamed { .. }
            | Event::PromptJoined { .. }
            | Event::MarkupHidden { .. }
            | Event::ToolProgressed { .. }
            | Event::Unrecognised { .. }
            | Event::RunEnded { .. } => {}
        }
    }
}

/// Items.
impl Transcript {
    fn put<'r>(
        &mut self,
        of: Option<Of>,
        item: Item<'r>,
        growth: Growth,
        out: &mut impl FnMut(Patch<'r>),
    ) -> Key {
        let key = self.base.key();
        if let Some(of) = of {
            self.going.items.insert((of, key));
        }
        self.settling.add(item.state, &item.text, growth);
        out(Patch::Put { key, item });
        key
    }

    /// Puts an item anew, as it will stay.
    fn replace<'r>(&mut self, key: Key, item: Item<'r>, out: &mut impl FnMut(Patch<'r>)) {
        if self.settling.is_live(key) {
            self.settling.complete(key);
            out(Patch::Put { key, item });
        }
    }

    fn close<'r>(&mut self, key: Key, state: State, out: &mut impl FnMut(Patch<'r>)) {
        if self.settling.is_live(key) {
            self.settling.complete(key);
            out(Patch::Close { key, state });
        }
    }

    /// The newest item of something.
    fn newest(&self, of: Of) -> Option<Key> {
        let keys = (of, Key(0))..=(of, Key(u32::MAX));
        self.going.items.range(keys).next_back().map(|(_, key)| *key)
    }

    /// Whether it has no item yet, and may have one.
    fn is_unheard(&self, of: Of) -> bool {
        self.newest(of).is_none() && !self.going.withdrawn.contains(&of)
    }

    fn live(&mut self, of: Of) -> Option<Key> {
        let key = self.newest(of)?;
        self.settling.is_live(key).then_some(key)
    }

    fn attach<'r>(
        &mut self,
        of: Of,
        extra: Extra<'r>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if self.going.withdrawn.contains(&of) {
            return;
        }
        if let Some(key) = self.newest(of).filter(|key| !self.settling.is_settled(*key)) {
            out(match extra {
                Extra::Image(image) => Patch::Attach { key, image },
                Extra::Citation(citation) => Patch::Cite { key, citation },
            });
            return;
        }
        // What it belongs to has been printed: it comes after it, and says whose it is.
        let mut item = self.new_notice(Kind::Notice, "attachment", record);
        item.label = Some(match of {
            Of::Message(message) => message_id(message).into(),
            Of::Thought(step) | Of::Step(step) => step_id(step).into(),
        });
        match extra {
            Extra::Image(image) => item.images.push(image),
            Extra::Citation(citation) => item.citations.push(citation),
        }
        self.put(None, item, Growth::MayChange, out);
    }

    fn new_notice<'r>(
        &mut self,
        kind: Kind,
        sort: &'static str,
        record: &'r Record<'_>,
    ) -> Item<'r> {
        let id = format!("n{}", self.going.notices);
        self.going.notices += 1;
        let mut item = Item::new(kind, &*record.run, id);
        item.at_ms = record.at_ms;
        item.state = State::Done;
        item.sort = Some(sort.into());
        item
    }

    fn notice<'r>(
        &mut self,
        kind: Kind,
        sort: &'static str,
        text: impl Into<Cow<'r, str>>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let mut item = self.new_notice(kind, sort, record);
        item.text = text.into();
        self.put(None, item, Growth::MayChange, out);
    }
}
