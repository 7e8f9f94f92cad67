//! The items of a response: lookup by key, start and completion.

use crate::event::{
    AnsweredBy, AskKind, AskOption, Event, MessagePhase, ReasoningOrigin, StepId,
    UnrecognisedReason,
};
use crate::ingest::json::{RawValue, is_true, string_or_json};
use crate::limits::{ITEM_ID_BYTES_MAX, RESPONSE_ITEMS_MAX};
use crate::run::{Fingerprint, Writer};

use super::output::end_tool_with_output_item;
use super::reasoning::ReasoningProgress;
use super::text::MessageProgress;
use super::tool::ToolItem;
use super::{ItemBody, OpenAiResponses, PendingAction, ResponseStage};

/// Item type of a message.
pub(super) const MESSAGE_TYPE: &str = "message";
/// Item type of reasoning.
pub(super) const REASONING_TYPE: &str = "reasoning";

/// Identification of an item in an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ItemKey<'a> {
    pub(super) index: Option<u64>,
    /// Empty if not given.
    pub(super) id: &'a str,
}

impl<'a> ItemKey<'a> {
    /// Creates a key; the id is cut to `ITEM_ID_BYTES_MAX`, because providers set no limit.
    pub(super) fn new(index: Option<u64>, id: Option<&'a str>) -> ItemKey<'a> {
        let id = id.unwrap_or("");
        ItemKey { index, id: &id[..id.floor_char_boundary(ITEM_ID_BYTES_MAX)] }
    }

    /// Returns true if neither index nor id is given.
    pub(super) fn is_empty(self) -> bool {
        self.index.is_none() && self.id.is_empty()
    }
}

/// Treatment of a whole item whose start was not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnseenItems {
    Read,
    Skip,
}

/// An item of the current response.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ResponseItem {
    pub(super) index: Option<u64>,
    id: String,
    /// Fingerprint of the provider's `type`; two items of different types are never the same.
    type_fingerprint: Fingerprint,
    /// Dense number within its response, in order of appearance.
    pub(super) number: u32,
    pub(super) kind: ItemKind,
}

/// Kind of an item, with the state it needs until it is complete.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ItemKind {
    Message {
        phase: Option<MessagePhase>,
        progress: MessageProgress,
    },
    Reasoning {
        text: ReasoningProgress,
        summary: ReasoningProgress,
        last: Option<(ReasoningOrigin, u64)>,
    },
    Tool(ToolItem),
    /// Output of a tool that has its own item.
    Output(StepId),
    /// Written only when it is complete.
    Deferred,
    /// An unknown type; kept as unrecognised.
    Unknown,
    Closed,
}

impl ItemKind {
    /// Kind of a message without text.
    fn new_message(phase: Option<MessagePhase>) -> ItemKind {
        ItemKind::Message { phase, progress: MessageProgress::default() }
    }

    /// Kind of a reasoning item without text.
    fn new_reasoning() -> ItemKind {
        ItemKind::Reasoning {
            text: ReasoningProgress::default(),
            summary: ReasoningProgress::default(),
            last: None,
        }
    }
}

impl ResponseItem {
    /// Returns true if `of_type` is this item's type or is not given.
    pub(super) fn matches_type_if_given(&self, of_type: Option<&str>) -> bool {
        of_type.is_none_or(|of_type| self.type_fingerprint == Fingerprint::from_text(of_type))
    }

    /// Returns true if `id` is not empty and is this item's id.
    pub(super) fn has_id(&self, id: &str) -> bool {
        !id.is_empty() && self.id == id
    }

    /// Key of this item.
    pub(super) fn key(&self) -> ItemKey<'_> {
        ItemKey { index: self.index, id: &self.id }
    }

    /// Returns true if the item has neither index nor id.
    fn has_no_index_or_id(&self) -> bool {
        self.index.is_none() && self.id.is_empty()
    }
}

/// Lookup of items.
impl OpenAiResponses {
    /// Position of the newest item with this key.
    pub(super) fn find_newest_item_position(&self, key: ItemKey<'_>) -> Option<usize> {
        self.find_newest_item_where(key, |_| true)
    }

    /// Position of the newest item with this key that satisfies `fits`; by index, then by id, then
    /// an anonymous one.
    fn find_newest_item_where(
        &self,
        key: ItemKey<'_>,
        fits: impl Fn(&ResponseItem) -> bool,
    ) -> Option<usize> {
        if key.is_empty() {
            return self.items.len().checked_sub(1).filter(|at| fits(&self.items[*at]));
        }
        let newest = |is_it: &dyn Fn(&ResponseItem) -> bool| {
            self.items.iter().rposition(|item| is_it(item) && fits(item))
        };
        let by_index = key.index.and_then(|_| newest(&|item| item.index == key.index));
        by_index
            .or_else(|| newest(&|item| !key.id.is_empty() && item.id == key.id))
            .or_else(|| newest(&ResponseItem::has_no_index_or_id))
    }

    /// Position of the item with this number.
    pub(super) fn position_by_number(&self, number: u32) -> Option<usize> {
        self.items.iter().rposition(|item| item.number == number)
    }

    /// Returns the item with this key.
    pub(super) fn find_newest_item_mut(&mut self, key: ItemKey<'_>) -> Option<&mut ResponseItem> {
        let at = self.find_newest_item_position(key)?;
        self.items.get_mut(at)
    }

    /// Position of the message with this key; adds one if its start was missed.
    pub(super) fn ensure_message_item(&mut self, key: ItemKey<'_>) -> usize {
        let known = |at: &usize| matches!(self.items[*at].kind, ItemKind::Message { .. });
        match self.find_newest_item_position(key).filter(known) {
            Some(at) => at,
            None => self.push_item_bounded(key, MESSAGE_TYPE, ItemKind::new_message(None)),
        }
    }

    /// Position of the reasoning item with this key; adds one if its start was missed.
    pub(super) fn ensure_reasoning_item(&mut self, key: ItemKey<'_>) -> usize {
        let known = |at: &usize| matches!(self.items[*at].kind, ItemKind::Reasoning { .. });
        match self.find_newest_item_position(key).filter(known) {
            Some(at) => at,
            None => self.push_item_bounded(key, REASONING_TYPE, ItemKind::new_reasoning()),
        }
    }

    /// Position of a separate reasoning item for reasoning among the parts of item `number`.
    pub(super) fn ensure_reasoning_item_sharing_key(&mut self, number: u32) -> usize {
        let key = self.position_by_number(number).map(|at| self.items[at].key());
        let index = key.and_then(|key| key.index);
        let id = key.map(|key| key.id.to_owned()).unwrap_or_default();
        self.ensure_reasoning_item(ItemKey { index, id: &id })
    }

    /// Appends an item, dropping the oldest one beyond `RESPONSE_ITEMS_MAX`; returns its position.
    fn push_item_bounded(&mut self, key: ItemKey<'_>, of_type: &str, kind: ItemKind) -> usize {
        if RESPONSE_ITEMS_MAX <= self.items.len() {
            self.items.remove(0);
            // Which items were seen is no longer known.
            self.stage = ResponseStage::JoinedMidway;
        }
        let number = self.items_started;
        self.items_started = number.wrapping_add(1);
        let (id, of_type) = (key.id.to_owned(), Fingerprint::from_text(of_type));
        self.items.push(ResponseItem {
            index: key.index,
            id,
            type_fingerprint: of_type,
            number,
            kind,
        });
        self.items.len() - 1
    }
}

/// Start and completion of items.
impl OpenAiResponses {
    /// Starts an item from its `added` event.
    pub(super) fn apply_item_added(
        &mut self,
        index: Option<u64>,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) {
        if let Some(body) = parse_item_or_write_unrecognised(raw, out) {
            self.start_item(index, &body, raw, out);
        }
    }

    /// Starts an item, with its tool step if it is a tool; returns its position.
    fn start_item(
        &mut self,
        index: Option<u64>,
        body: &ItemBody<'_>,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> usize {
        let kind = match body.kind.as_deref().unwrap_or("") {
            MESSAGE_TYPE => ItemKind::new_message(parse_phase(body)),
            REASONING_TYPE => ItemKind::new_reasoning(),
            "compaction" | "mcp_approval_request" | "mcp_approval_response" => ItemKind::Deferred,
            "additional_tools" => ItemKind::Closed,
            kind => self.try_start_or_find_tool_step(kind, body, out).unwrap_or_else(|| {
                out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
                ItemKind::Unknown
            }),
        };
        let key = ItemKey::new(index, body.id.as_deref());
        self.push_item_bounded(key, body.kind.as_deref().unwrap_or(""), kind)
    }

    /// Completes an item from its `done` event; writes only what was not streamed.
    pub(super) fn apply_item_done(
        &mut self,
        index: Option<u64>,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) {
        if let Some(body) = parse_item_or_write_unrecognised(raw, out) {
            let key = ItemKey::new(index, body.id.as_deref());
            let seen = self.find_newest_item_where(key, |item| {
                item.matches_type_if_given(body.kind.as_deref())
            });
            self.write_rest_and_close_item(seen, index, (raw, &body), UnseenItems::Read, out);
        }
    }

    /// Completes an item from the final list of the response; `seen` is its number if it was
    /// streamed.
    pub(super) fn complete_listed_item(
        &mut self,
        seen: Option<u32>,
        index: u64,
        raw: &RawValue,
        unseen: UnseenItems,
        out: &mut Writer<'_>,
    ) {
        if let Some(body) = parse_item_or_write_unrecognised(raw, out) {
            let seen = seen.and_then(|number| self.position_by_number(number));
            self.write_rest_and_close_item(seen, Some(index), (raw, &body), unseen, out);
        }
    }

    /// Writes the rest of an item and closes it.
    fn write_rest_and_close_item(
        &mut self,
        seen: Option<usize>,
        index: Option<u64>,
        (raw, body): (&RawValue, &ItemBody<'_>),
        unseen: UnseenItems,
        out: &mut Writer<'_>,
    ) {
        let at = match seen {
            Some(at) => {
                if let ItemKind::Unknown = self.items[at].kind {
                    out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
                }
                at
            }
            None if unseen == UnseenItems::Skip => return,
            None => self.start_item(index, body, raw, out),
        };
        let number = self.items[at].number;
        match self.items[at].kind.clone() {
            ItemKind::Message { .. } => self.complete_message_item(at, body, out),
            ItemKind::Reasoning { .. } => self.complete_reasoning_item(at, body, out),
            ItemKind::Tool(tool) => tool.complete_arguments_and_end_if_result(body, out),
            ItemKind::Output(step) => end_tool_with_output_item(step, body, out),
            ItemKind::Deferred => self.write_deferred_item(body, out),
            ItemKind::Unknown | ItemKind::Closed => {}
        }
        if let Some(at) = self.position_by_number(number) {
            self.items[at].kind = ItemKind::Closed;
        }
    }

    /// Writes a compaction, an approval request or an approval response.
    fn write_deferred_item(&mut self, body: &ItemBody<'_>, out: &mut Writer<'_>) {
        match body.kind.as_deref() {
            Some("compaction") => {
                out.append_stateless_event(Event::HistoryCompacted { summary: None });
            }
            Some("mcp_approval_request") => {
                self.pending_action = self.pending_action.max(PendingAction::Approval);
                open_approval_ask(body, out);
            }
            Some("mcp_approval_response") => {
                let yes = body.approve.is_some_and(is_true);
                let answer = if yes { "approve" } else { "deny" };
                let ask = body.approval.as_deref().unwrap_or("");
                out.resolve_ask_if_open(ask, answer, AnsweredBy::Person);
            }
            _ => {}
        }
    }
}

/// Deserializes an item and writes its unknown fields; writes it as unrecognised if that fails.
fn parse_item_or_write_unrecognised<'a>(
    raw: &'a RawValue,
    out: &mut Writer<'_>,
) -> Option<ItemBody<'a>> {
    let body: Option<ItemBody<'_>> = serde_json::from_str(raw.get()).ok();
    match &body {
        Some(body) => out.append_unknown_fields_once(&body.unknown),
        None => out.append_unrecognised(UnrecognisedReason::Unreadable, raw.get()),
    }
    body
}

/// Reads the `phase` of a message.
pub(super) fn parse_phase(body: &ItemBody<'_>) -> Option<MessagePhase> {
    match body.phase.as_deref() {
        Some("commentary") => Some(MessagePhase::Commentary),
        Some("final_answer") => Some(MessagePhase::Final),
        _ => None,
    }
}

/// Opens an ask for an MCP tool approval.
fn open_approval_ask(body: &ItemBody<'_>, out: &mut Writer<'_>) {
    let name = body.name.as_deref().unwrap_or("");
    let server = body.server_label.as_deref().unwrap_or("");
    let arguments = body.arguments.map(string_or_json).unwrap_or_default();
    let text = format!("{name} on {server}: {arguments}");
    let option =
        |id: &'static str, label: &'static str| AskOption { id: id.into(), label: label.into() };
    let options = vec![option("approve", "Approve"), option("deny", "Deny")];
    out.open_simple_ask_unless_open(
        body.id.as_deref().unwrap_or(""),
        AskKind::Mcp,
        &text,
        options,
        None,
    );
}
