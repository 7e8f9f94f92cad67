//! The Responses API as a server: `response.created`, output items with deltas, and
//! `response.completed`, `response.incomplete` or `response.failed`.
//!
//! Items are messages, reasoning, and function calls left to the client at the end of a run that
//! asks for them. Tools that were run on the way are not shown. The last response is authoritative:
//! without withdrawn items, and with rewritten text.

use millpond_engine::event::{
    Citation, Ending, Event, MessageId, Millis, Outcome, StepId, StopReason,
};
use millpond_engine::event_family;
use serde_json::value::{RawValue, to_raw_value};

use super::ending::is_refused;
use super::run_usage::RunUsage;
use super::tool_calls::UnansweredCalls;
use super::urls::is_web_url;
use super::{PayloadSink, Protocol, Reasoning, json};

use event::{Envelope, Event as WireEvent};
use item::{Annotation, Item, ItemKind, Status};
use response::{Failure, Incomplete, Response, Usage};

mod event;
mod item;
mod response;

/// Options of a response.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The model as the client named it.
    pub model: String,
    /// Seconds since the Unix epoch, if the log has no times.
    pub created: u64,
    pub reasoning: Reasoning,
}

/// Encodes one run as Responses API events.
#[derive(Clone, Debug, Default)]
pub struct OpenAiResponses {
    options: Options,
    run: String,
    /// Number of the next event.
    next_sequence: u64,
    /// All items; the position of one is its `output_index`.
    items: Vec<Item>,
    unanswered: UnansweredCalls,
    usage: RunUsage,
    body: Option<Box<RawValue>>,
}

impl OpenAiResponses {
    /// Encoder with these options.
    pub fn new(options: Options) -> OpenAiResponses {
        OpenAiResponses { options, ..OpenAiResponses::default() }
    }

    /// The whole response after the run has ended: the body for clients that do not stream.
    pub fn body(&self) -> Option<&str> {
        self.body.as_deref().map(RawValue::get)
    }

    fn write_event(&mut self, event: &WireEvent<'_>, out: PayloadSink<'_>) {
        json::write_payload(&Envelope { event, sequence_number: self.next_sequence }, out);
        self.next_sequence += 1;
    }

    fn start_text(&mut self, message: MessageId, out: PayloadSink<'_>) {
        let id = format!("msg_{}_{}", self.run, message.0);
        self.open_item(Item::new(id, ItemKind::Message { message, annotations: Vec::new() }), out);
    }

    /// Adds an item with its one part. Returns its index.
    fn open_item(&mut self, item: Item, out: PayloadSink<'_>) -> usize {
        let output_index = self.items.len();
        self.write_event(
            &WireEvent::OutputItemAdded { output_index, item: &item.to_wire_object_without_part() },
            out,
        );
        let item_id = &*item.id;
        match &item.kind {
            ItemKind::Message { .. } => {
                let part = &item.to_wire_part();
                self.write_event(
                    &WireEvent::ContentPartAdded { item_id, output_index, content_index: 0, part },
                    out,
                );
            }
            ItemKind::Reasoning { .. } => {
                let part = &item.to_wire_part();
                let summary_index = 0;
                self.write_event(
                    &WireEvent::ReasoningSummaryPartAdded {
                        item_id,
                        output_index,
                        summary_index,
                        part,
                    },
                    out,
                );
            }
            ItemKind::Call { .. } => {}
        }
        self.items.push(item);
        output_index
    }

    /// Index of the matching open item.
    fn find_open_item(&self, matches_kind: impl Fn(&ItemKind) -> bool) -> Option<usize> {
        self.items.iter().rposition(|item| item.is_open() && matches_kind(&item.kind))
    }

    /// Appends to an item. A rewritten one sends no deltas; its text is sent when it is done.
    fn append_to_item(&mut self, output_index: usize, delta: &str, out: PayloadSink<'_>) {
        let Some(item) = self.items.get_mut(output_index) else { return };
        item.text.push_str(delta);
        if item.has_changed_sent_text || delta.is_empty() {
            return;
        }
        let item_id = &*item.id.clone();
        let event = match item.kind {
            ItemKind::Message { .. } => WireEvent::OutputTextDelta {
                item_id,
                output_index,
                content_index: 0,
                delta,
                logprobs: [],
            },
            ItemKind::Reasoning { .. } => WireEvent::ReasoningSummaryTextDelta {
                item_id,
                output_index,
                summary_index: 0,
                delta,
            },
            ItemKind::Call { .. } => {
                WireEvent::FunctionCallArgumentsDelta { item_id, output_index, delta }
            }
        };
        self.write_event(&event, out);
    }

    fn append_text(&mut self, message: MessageId, delta: &str, out: PayloadSink<'_>) {
        if let Some(index) = self.find_open_item(|kind| kind.is_message_with_id(message)) {
            self.append_to_item(index, delta, out);
        }
    }

    fn rewrite_text(
        &mut self,
        message: MessageId,
        kept_bytes: usize,
        text: &str,
        out: PayloadSink<'_>,
    ) {
        let Some(index) = self.find_open_item(|kind| kind.is_message_with_id(message)) else {
            return;
        };
        let Some(item) = self.items.get_mut(index) else { return };
        if kept_bytes < item.text.len() {
            item.has_changed_sent_text = true;
            item.text.truncate(item.text.floor_char_boundary(kept_bytes));
        }
        self.append_to_item(index, text, out);
    }

    /// Appends reasoning. Its item starts with the first text: encrypted reasoning has none.
    fn append_reasoning_if_shown(&mut self, step: StepId, delta: &str, out: PayloadSink<'_>) {
        if self.options.reasoning == Reasoning::Hide || delta.is_empty() {
            return;
        }
        let index =
            self.find_open_item(|kind| kind.is_reasoning_of_step(step)).unwrap_or_else(|| {
                let id = format!("rs_{}_{}", self.run, self.items.len());
                self.open_item(Item::new(id, ItemKind::Reasoning { step }), out)
            });
        self.append_to_item(index, delta, out);
    }

    /// Adds a citation. After its message is done, it appears in the last response only.
    fn add_citation_if_web_url(
        &mut self,
        message: MessageId,
        citation: &Citation<'_>,
        out: PayloadSink<'_>,
    ) {
        let Some(url) = citation.url.as_deref().filter(|url| is_web_url(url)) else { return };
        let at = self.items.iter().rposition(|item| item.kind.is_message_with_id(message));
        let Some(output_index) = at else { return };
        let Some(item) = self.items.get_mut(output_index) else { return };
        let annotation = Annotation::new(url, citation.title.as_deref(), &item.text);
        let ItemKind::Message { annotations, .. } = &mut item.kind else { return };
        let annotation_index = annotations.len();
        annotations.push(annotation.clone());
        if item.is_open() {
            let event = WireEvent::OutputTextAnnotationAdded {
                item_id: &item.id.clone(),
                output_index,
                content_index: 0,
                annotation_index,
                annotation: &annotation,
            };
            self.write_event(&event, out);
        }
    }

    /// Writes the complete item, as done.
    fn close_item_if_open(&mut self, output_index: usize, status: Status, out: PayloadSink<'_>) {
        let Some(item) = self.items.get_mut(output_index).filter(|item| item.is_open()) else {
            return;
        };
        item.status = status;
        let item = item.clone();
        let (item_id, text) = (&*item.id, &*item.text);
        match &item.kind {
            ItemKind::Message { .. } => {
                let (content_index, logprobs, part) = (0, [], &item.to_wire_part());
                let text_done = WireEvent::OutputTextDone {
                    item_id,
                    output_index,
                    content_index,
                    text,
                    logprobs,
                };
                self.write_event(&text_done, out);
                self.write_event(
                    &WireEvent::ContentPartDone { item_id, output_index, content_index, part },
                    out,
                );
            }
            ItemKind::Reasoning { .. } => {
                let (summary_index, part) = (0, &item.to_wire_part());
                let text_done = WireEvent::ReasoningSummaryTextDone {
                    item_id,
                    output_index,
                    summary_index,
                    text,
                };
                self.write_event(&text_done, out);
                let part_done = WireEvent::ReasoningSummaryPartDone {
                    item_id,
                    output_index,
                    summary_index,
                    part,
                };
                self.write_event(&part_done, out);
            }
            ItemKind::Call { name, .. } => {
                let arguments = text;
                let arguments_done =
                    WireEvent::FunctionCallArgumentsDone { item_id, output_index, name, arguments };
                self.write_event(&arguments_done, out);
            }
        }
        self.write_event(
            &WireEvent::OutputItemDone { output_index, item: &item.to_wire_object() },
            out,
        );
    }

    fn close_matching_item(
        &mut self,
        matches_kind: impl Fn(&ItemKind) -> bool,
        status: Status,
        out: PayloadSink<'_>,
    ) {
        if let Some(index) = self.find_open_item(matches_kind) {
            self.close_item_if_open(index, status, out);
        }
    }

    fn withdraw_items(&mut self, messages: &[MessageId], steps: &[StepId], out: PayloadSink<'_>) {
        for index in 0..self.items.len() {
            let Some(item) = self.items.get_mut(index) else { return };
            if item.kind.belongs_to_any(messages, steps) {
                item.is_withdrawn = true;
                self.close_item_if_open(index, Status::Incomplete, out);
            }
        }
    }

    fn write_client_calls(&mut self, ending: &Ending<'_>, out: PayloadSink<'_>) {
        for (step, call) in self.unanswered.take_if_stopped_for_tools(ending) {
            let id = format!("fc_{}_{}", self.run, step.0);
            let kind = ItemKind::Call { step, call: call.id, name: call.name };
            let index = self.open_item(Item::new(id, kind), out);
            self.append_to_item(index, &call.arguments, out);
            self.close_item_if_open(index, Status::Completed, out);
        }
    }

    fn build_response(&self, status: &'static str, ending: Option<&Ending<'_>>) -> Box<RawValue> {
        let remaining_items = self.items.iter().filter(|item| !item.is_withdrawn);
        let output: Vec<_> = remaining_items.map(Item::to_wire_object).collect();
        let response = Response {
            id: &format!("resp_{}", self.run),
            created_at: self.options.created,
            model: &self.options.model,
            status,
            output: &output,
            incomplete_details: ending
                .filter(|_| status == "incomplete")
                .map(Incomplete::from_ending),
            error: ending.filter(|_| status == "failed").map(Failure::from_ending),
            usage: ending.and_then(|_| self.usage.total()).map(Usage::new),
            ..Response::default()
        };
        to_raw_value(&response).unwrap_or_default()
    }
}

impl Protocol for OpenAiResponses {
    fn write_run_start(&mut self, run: &str, at: Option<Millis>, out: PayloadSink<'_>) {
        run.clone_into(&mut self.run);
        self.options.created = at.map_or(self.options.created, |at| at / 1000);
        let response = &*self.build_response("in_progress", None);
        self.write_event(&WireEvent::Created { response }, out);
        self.write_event(&WireEvent::InProgress { response }, out);
    }

    fn apply_event(&mut self, event: &Event<'_>, out: PayloadSink<'_>) {
        self.usage.track_event(event);
        self.unanswered.track_event(event);
        match event {
            Event::MessageStarted { message, .. } => self.start_text(*message, out),
            Event::TextAppended { message, text } => self.append_text(*message, text, out),
            Event::TextRewritten { message, kept_bytes, text } => {
                self.rewrite_text(*message, *kept_bytes, text, out);
            }
            Event::MessageEnded { message, .. } => {
                self.close_matching_item(
                    |kind| kind.is_message_with_id(*message),
                    Status::Completed,
                    out,
                );
            }
            Event::SourceCited { message, citation } => {
                self.add_citation_if_web_url(*message, citation, out);
            }
            Event::ReasoningAppended { step, text } => {
                self.append_reasoning_if_shown(*step, text, out);
            }
            Event::ReasoningEnded { step, .. } => {
                self.close_matching_item(
                    |kind| kind.is_reasoning_of_step(*step),
                    Status::Completed,
                    out,
                );
            }
            Event::Withdrawn { messages, steps } => self.withdraw_items(messages, steps, out),
            // Without a form in this protocol.
            Event::ImageReceived { .. }
            | Event::ReasoningStarted { .. }
            | Event::FinalDeclared { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Tool)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    fn write_run_end(&mut self, ending: &Ending<'_>, out: PayloadSink<'_>) {
        for index in 0..self.items.len() {
            self.close_item_if_open(index, Status::Incomplete, out);
        }
        self.write_client_calls(ending, out);
        let is_cut = ending.stop == Some(StopReason::Length);
        let status = match ending.outcome {
            Outcome::Completed if !is_cut => "completed",
            Outcome::Completed => "incomplete",
            Outcome::Failed if is_refused(ending) => "incomplete",
            Outcome::Failed
            | Outcome::Cancelled
            | Outcome::Truncated
            | Outcome::Stalled
            | Outcome::Interrupted => "failed",
        };
        let body = self.build_response(status, Some(ending));
        let response = &*body;
        let event = match status {
            "completed" => WireEvent::Completed { response },
            "incomplete" => WireEvent::Incomplete { response },
            _ => WireEvent::Failed { response },
        };
        self.write_event(&event, out);
        self.body = Some(body);
    }
}
