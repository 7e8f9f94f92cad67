//! The items of a response: which one an event is about, and how far each of them is.

use crate::event::{
    AnsweredBy, AskKind, AskOption, Event, Phase, ReasoningOrigin, StepId, UnrecognisedReason,
};
use crate::ingest::json::{RawValue, is_true, string_or_json};
use crate::limits::{ITEM_ID_BYTES_MAX, RESPONSE_ITEMS_MAX};
use crate::run::{Fingerprint, Writer};

use super::output::output_done;
use super::reasoning::Part;
use super::text::Spoken;
use super::tool::Tool;
use super::{Body, LeftOpen, OpenAiResponses, Stage};

pub(super) const MESSAGE: &str = "message";
pub(super) const REASONING: &str = "reasoning";

/// How an event names its item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Key<'a> {
    pub(super) index: Option<u64>,
    /// Empty where there is none.
    pub(super) id: &'a str,
}

impl<'a> Key<'a> {
    /// Only the beginning of an id is kept and compared: it may be as long as its source likes.
    pub(super) fn new(index: Option<u64>, id: Option<&'a str>) -> Key<'a> {
        let id = id.unwrap_or("");
        Key { index, id: &id[..id.floor_char_boundary(ITEM_ID_BYTES_MAX)] }
    }

    pub(super) fn names_nothing(self) -> bool {
        self.index.is_none() && self.id.is_empty()
    }
}

/// What to do with an item that comes whole and whose beginning was not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unseen {
    Read,
    PassOver,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) index: Option<u64>,
    id: String,
    /// The source's type of it: an item of another type is another item.
    of_type: Fingerprint,
    /// Dense number within its response, in order of appearance.
    pub(super) number: u32,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Message {
        phase: Option<Phase>,
        spoken: Spoken,
    },
    Reasoning {
        text: Part,
        summary: Part,
        last: Option<(ReasoningOrigin, u64)>,
    },
    Tool(Tool),
    /// What a tool of another item put out.
    Output(StepId),
    /// Nothing is said until its end.
    Quiet,
    /// Of a type nobody has seen.
    Unknown,
    Closed,
}

impl Kind {
    fn message(phase: Option<Phase>) -> Kind {
        Kind::Message { phase, spoken: Spoken::default() }
    }

    fn reasoning() -> Kind {
        Kind::Reasoning { text: Part::default(), summary: Part::default(), last: None }
    }
}

impl Item {
    /// Whether this may be the item that comes again as one of this type.
    pub(super) fn fits(&self, of_type: Option<&str>) -> bool {
        of_type.is_none_or(|of_type| self.of_type == Fingerprint::of(of_type))
    }

    pub(super) fn has_id(&self, id: &str) -> bool {
        !id.is_empty() && self.id == id
    }

    pub(super) fn key(&self) -> Key<'_> {
        Key { index: self.index, id: &self.id }
    }

    /// Its source names items nowhere but in the end.
    fn has_no_name(&self) -> bool {
        self.index.is_none() && self.id.is_empty()
    }
}

/// Which item an event is about.
impl OpenAiResponses {
    pub(super) fn position(&self, key: Key<'_>) -> Option<usize> {
        self.position_of(key, |_| true)
    }

    /// The newest item of this name that fits.
    fn position_of(&self, key: Key<'_>, fits: impl Fn(&Item) -> bool) -> Option<usize> {
        if key.names_nothing() {
            return self.items.len().checked_sub(1).filter(|at| fits(&self.items[*at]));
        }
        let newest = |is_it: &dyn Fn(&Item) -> bool| {
            self.items.iter().rposition(|item| is_it(item) && fits(item))
        };
        let by_index = key.index.and_then(|_| newest(&|item| item.index == key.index));
        by_index
            .or_else(|| newest(&|item| !key.id.is_empty() && item.id == key.id))
            .or_else(|| newest(&Item::has_no_name))
    }

    pub(super) fn numbered(&self, number: u32) -> Option<usize> {
        self.items.iter().rposition(|item| item.number == number)
    }

    pub(super) fn open_item(&mut self, key: Key<'_>) -> Option<&mut Item> {
        let at = self.position(key)?;
        self.items.get_mut(at)
    }

    /// The message that a text is of, even if its beginning was missed.
    pub(super) fn message_item(&mut self, key: Key<'_>) -> usize {
        let known = |at: &usize| matches!(self.items[*at].kind, Kind::Message { .. });
        match self.position(key).filter(known) {
            Some(at) => at,
            None => self.push_item(key, MESSAGE, Kind::message(None)),
        }
    }

    pub(super) fn reasoning_item(&mut self, key: Key<'_>) -> usize {
        let known = |at: &usize| matches!(self.items[*at].kind, Kind::Reasoning { .. });
        match self.position(key).filter(known) {
            Some(at) => at,
            None => self.push_item(key, REASONING, Kind::reasoning()),
        }
    }

    /// Reasoning among the parts of another item: an item of its own.
    pub(super) fn reasoning_beside(&mut self, number: u32) -> usize {
        let key = self.numbered(number).map(|at| self.items[at].key());
        let index = key.and_then(|key| key.index);
        let id = key.map(|key| key.id.to_owned()).unwrap_or_default();
        self.reasoning_item(Key { index, id: &id })
    }

    fn push_item(&mut self, key: Key<'_>, of_type: &str, kind: Kind) -> usize {
        if RESPONSE_ITEMS_MAX <= self.items.len() {
            self.items.remove(0);
            // It can no longer be told which items were seen.
            self.stage = Stage::Joined;
        }
        let number = self.items_begun;
        self.items_begun = number.wrapping_add(1);
        let (id, of_type) = (key.id.to_owned(), Fingerprint::of(of_type));
        self.items.push(Item { index: key.index, id, of_type, number, kind });
        self.items.len() - 1
    }
}

/// Beginning and end of an item.
impl OpenAiResponses {
    pub(super) fn item_added(&mut self, index: Option<u64>, raw: &RawValue, out: &mut Writer<'_>) {
        if let Some(body) = read_body(raw, out) {
            self.begin_item(index, &body, raw, out);
        }
    }

    fn begin_item(
        &mut self,
        index: Option<u64>,
        body: &Body<'_>,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> usize {
        let kind = match body.kind.as_deref().unwrap_or("") {
            MESSAGE => Kind::message(phase_of(body)),
            REASONING => Kind::reasoning(),
            "compaction" | "mcp_approval_request" | "mcp_approval_response" => Kind::Quiet,
            "additional_tools" => Kind::Closed,
            kind => self.begin_tool(kind, body, out).unwrap_or_else(|| {
                out.unrecognised(UnrecognisedReason::Frame, raw.get());
                Kind::Unknown
            }),
        };
        let key = Key::new(index, body.id.as_deref());
        self.push_item(key, body.kind.as_deref().unwrap_or(""), kind)
    }

    /// An item as it is in the end. Only what was not seen before counts.
    pub(super) fn item_done(&mut self, index: Option<u64>, raw: &RawValue, out: &mut Writer<'_>) {
        if let Some(body) = read_body(raw, out) {
            let key = Key::new(index, body.id.as_deref());
            let seen = self.position_of(key, |item| item.fits(body.kind.as_deref()));
            self.close_item(seen, index, (raw, &body), Unseen::Read, out);
        }
    }

    /// An item that comes once more with the end of the response.
    pub(super) fn item_again(
        &mut self,
        seen: Option<u32>,
        index: u64,
        raw: &RawValue,
        unseen: Unseen,
        out: &mut Writer<'_>,
    ) {
        if let Some(body) = read_body(raw, out) {
            let seen = seen.and_then(|number| self.numbered(number));
            self.close_item(seen, Some(index), (raw, &body), unseen, out);
        }
    }

    fn close_item(
        &mut self,
        seen: Option<usize>,
        index: Option<u64>,
        (raw, body): (&RawValue, &Body<'_>),
        unseen: Unseen,
        out: &mut Writer<'_>,
    ) {
        let at = match seen {
            Some(at) => {
                if let Kind::Unknown = self.items[at].kind {
                    out.unrecognised(UnrecognisedReason::Frame, raw.get());
                }
                at
            }
            None if unseen == Unseen::PassOver => return,
            None => self.begin_item(index, body, raw, out),
        };
        let number = self.items[at].number;
        match self.items[at].kind.clone() {
            Kind::Message { .. } => self.message_done(at, body, out),
            Kind::Reasoning { .. } => self.reasoning_done(at, body, out),
            Kind::Tool(tool) => tool.done(body, out),
            Kind::Output(step) => output_done(step, body, out),
            Kind::Quiet => self.quiet_done(body, out),
            Kind::Unknown | Kind::Closed => {}
        }
        if let Some(at) = self.numbered(number) {
            self.items[at].kind = Kind::Closed;
        }
    }

    fn quiet_done(&mut self, body: &Body<'_>, out: &mut Writer<'_>) {
        match body.kind.as_deref() {
            Some("compaction") => out.note(Event::HistoryCompacted { summary: None }),
            Some("mcp_approval_request") => {
                self.left_open = self.left_open.max(LeftOpen::Approval);
                ask_approval(body, out);
            }
            Some("mcp_approval_response") => {
                let yes = body.approve.is_some_and(is_true);
                let answer = if yes { "approve" } else { "deny" };
                let ask = body.approval.as_deref().unwrap_or("");
                out.resolve_ask(ask, answer, AnsweredBy::Person);
            }
            _ => {}
        }
    }
}

fn read_body<'a>(raw: &'a RawValue, out: &mut Writer<'_>) -> Option<Body<'a>> {
    let body: Option<Body<'_>> = serde_json::from_str(raw.get()).ok();
    match &body {
        Some(body) => out.unknown_fields(&body.unknown),
        None => out.unrecognised(UnrecognisedReason::Unreadable, raw.get()),
    }
    body
}

pub(super) fn phase_of(body: &Body<'_>) -> Option<Phase> {
    match body.phase.as_deref() {
        Some("commentary") => Some(Phase::Commentary),
        Some("final_answer") => Some(Phase::Final),
        _ => None,
    }
}

fn ask_approval(body: &Body<'_>, out: &mut Writer<'_>) {
    let name = body.name.as_deref().unwrap_or("");
    let server = body.server_label.as_deref().unwrap_or("");
    let arguments = body.arguments.map(string_or_json).unwrap_or_default();
    let text = format!("{name} on {server}: {arguments}");
    let option =
        |id: &'static str, label: &'static str| AskOption { id: id.into(), label: label.into() };
    let options = vec![option("approve", "Approve"), option("deny", "Deny")];
    out.ask(body.id.as_deref().unwrap_or(""), AskKind::Mcp, &text, options, None);
}
