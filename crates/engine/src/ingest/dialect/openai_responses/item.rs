//! The items of a response: which one an event is about, and how far each of them is.

use crate::event::{
    AnsweredBy, AskKind, AskOption, Event, Phase, ReasoningOrigin, StepId, UnrecognisedReason,
};
use crate::ingest::json::{RawValue, is_true, string_or_json};
use crate::limits::RESPONSE_ITEMS_MAX;
use crate::run::Writer;

use super::output::output_done;
use super::text::Part;
use super::tool::Tool;
use super::{Body, LeftOpen, OpenAiResponses, Stage};

/// How an event names its item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Key<'a> {
    pub(super) index: Option<u64>,
    /// Empty where there is none.
    pub(super) id: &'a str,
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
    /// Dense number within its response, in order of appearance.
    pub(super) number: u32,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Message {
        phase: Option<Phase>,
        part: Part,
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
        Kind::Message { phase, part: Part::default() }
    }

    fn reasoning() -> Kind {
        Kind::Reasoning { text: Part::default(), summary: Part::default(), last: None }
    }
}

impl Item {
    /// Its source names items nowhere but in the end.
    fn has_no_name(&self) -> bool {
        self.index.is_none() && self.id.is_empty()
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }
}

/// Which item an event is about.
impl OpenAiResponses {
    pub(super) fn position(&self, key: Key<'_>) -> Option<usize> {
        if key.index.is_none() && key.id.is_empty() {
            return self.items.len().checked_sub(1);
        }
        let newest = |is_it: &dyn Fn(&Item) -> bool| self.items.iter().rposition(is_it);
        let by_index = key.index.and_then(|_| newest(&|item| item.index == key.index));
        by_index
            .or_else(|| newest(&|item| !key.id.is_empty() && item.id == key.id))
            .or_else(|| newest(&Item::has_no_name))
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
            None => self.push_item(key, Kind::message(None)),
        }
    }

    pub(super) fn reasoning_item(&mut self, key: Key<'_>) -> usize {
        let known = |at: &usize| matches!(self.items[*at].kind, Kind::Reasoning { .. });
        match self.position(key).filter(known) {
            Some(at) => at,
            None => self.push_item(key, Kind::reasoning()),
        }
    }

    fn push_item(&mut self, key: Key<'_>, kind: Kind) -> usize {
        if RESPONSE_ITEMS_MAX <= self.items.len() {
            self.items.remove(0);
            // It can no longer be told which items were seen.
            self.stage = Stage::Joined;
        }
        let number = self.items_begun;
        self.items_begun = number.wrapping_add(1);
        self.items.push(Item { index: key.index, id: key.id.to_owned(), number, kind });
        self.items.len() - 1
    }
}

/// Beginning and end of an item.
impl OpenAiResponses {
    pub(super) fn item_added(&mut self, index: Option<u64>, raw: &RawValue, out: &mut Writer<'_>) {
        match serde_json::from_str::<Body<'_>>(raw.get()) {
            Ok(body) => {
                self.begin_item(index, &body, raw, out);
            }
            Err(_) => out.unrecognised(UnrecognisedReason::Unreadable, raw.get()),
        }
    }

    fn begin_item(
        &mut self,
        index: Option<u64>,
        body: &Body<'_>,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> usize {
        out.unknown_fields(&body.unknown);
        let kind = match body.kind.as_deref().unwrap_or("") {
            "message" => Kind::message(match body.phase.as_deref() {
                Some("commentary") => Some(Phase::Commentary),
                Some("final_answer") => Some(Phase::Final),
                _ => None,
            }),
            "reasoning" => Kind::reasoning(),
            "compaction" | "mcp_approval_request" | "mcp_approval_response" => Kind::Quiet,
            "additional_tools" => Kind::Closed,
            kind => self.begin_tool(kind, body, out).unwrap_or_else(|| {
                out.unrecognised(UnrecognisedReason::Frame, raw.get());
                Kind::Unknown
            }),
        };
        let id = body.id.as_deref().unwrap_or("");
        self.push_item(Key { index, id }, kind)
    }

    /// An item as it is in the end. Only what was not seen before counts.
    pub(super) fn item_done(
        &mut self,
        index: Option<u64>,
        raw: &RawValue,
        unseen: Unseen,
        out: &mut Writer<'_>,
    ) {
        let Ok(body) = serde_json::from_str::<Body<'_>>(raw.get()) else {
            return out.unrecognised(UnrecognisedReason::Unreadable, raw.get());
        };
        out.unknown_fields(&body.unknown);
        let key = Key { index, id: body.id.as_deref().unwrap_or("") };
        let at = match self.position(key) {
            Some(at) => {
                if let Kind::Unknown = self.items[at].kind {
                    out.unrecognised(UnrecognisedReason::Frame, raw.get());
                }
                at
            }
            None if unseen == Unseen::PassOver => return,
            None => self.begin_item(index, &body, raw, out),
        };
        match self.items[at].kind.clone() {
            Kind::Message { .. } => self.message_done(at, &body, out),
            Kind::Reasoning { .. } => self.reasoning_done(at, &body, out),
            Kind::Tool(tool) => tool.done(&body, out),
            Kind::Output(step) => output_done(step, &body, out),
            Kind::Quiet => self.quiet_done(&body, out),
            Kind::Unknown | Kind::Closed => {}
        }
        self.items[at].kind = Kind::Closed;
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
