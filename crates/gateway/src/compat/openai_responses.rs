//! The Responses API as a server speaks it: `response.created`, output items with their deltas, and
//! `response.completed`, `response.incomplete` or `response.failed`.
//!
//! Items are messages, reasoning, and, at the end of a run that asks for them, function calls that
//! are left to the client. Tools that were run on the way are not shown. The last response is the
//! truth: what was taken back is not in it, and what was changed stands in it as changed.

use engine::event::{Citation, Ending, Event, MessageId, Millis, Outcome, StepId, Stop};
use serde_json::value::{RawValue, to_raw_value};

use super::call::Unanswered;
use super::ending::is_refused;
use super::shown::is_link;
use super::spent::Spent;
use super::{Out, Protocol, Reasoning, json};

use event::{Envelope, Event as Said};
use item::{Annotation, Item, Kind, Status};
use response::{Failure, Incomplete, Response, Usage};

mod event;
mod item;
mod response;

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The model as the client asked for it.
    pub model: String,
    /// Seconds since the Unix epoch, for logs that tell no time.
    pub created: u64,
    pub reasoning: Reasoning,
}

#[derive(Clone, Debug, Default)]
pub struct OpenAiResponses {
    options: Options,
    run: String,
    /// Number of the next event.
    sequence: u64,
    /// All items, in order: the place of one is its index on the wire.
    items: Vec<Item>,
    unanswered: Unanswered,
    spent: Spent,
    body: Option<Box<RawValue>>,
}

impl OpenAiResponses {
    pub fn new(options: Options) -> OpenAiResponses {
        OpenAiResponses { options, ..OpenAiResponses::default() }
    }

    /// The whole response, once the run has ended: the body for clients that do not stream.
    pub fn body(&self) -> Option<&str> {
        self.body.as_deref().map(RawValue::get)
    }

    fn say(&mut self, event: &Said<'_>, out: Out<'_>) {
        json::say(&Envelope { event, sequence_number: self.sequence }, out);
        self.sequence += 1;
    }

    fn start_text(&mut self, message: MessageId, out: Out<'_>) {
        let id = format!("msg_{}_{}", self.run, message.0);
        self.open(Item::new(id, Kind::Message { message, annotations: Vec::new() }), out);
    }

    /// Puts an item down, with its one part.
    fn open(&mut self, item: Item, out: Out<'_>) -> usize {
        let output_index = self.items.len();
        self.say(&Said::OutputItemAdded { output_index, item: &item.bare() }, out);
        let item_id = &*item.id;
        match &item.kind {
            Kind::Message { .. } => {
                let part = &item.part();
                self.say(
                    &Said::ContentPartAdded { item_id, output_index, content_index: 0, part },
                    out,
                );
            }
            Kind::Reasoning { .. } => {
                let part = &item.part();
                let summary_index = 0;
                self.say(
                    &Said::ReasoningSummaryPartAdded { item_id, output_index, summary_index, part },
                    out,
                );
            }
            Kind::Call { .. } => {}
        }
        self.items.push(item);
        output_index
    }

    /// Where the open item is that this is about.
    fn find(&self, is_it: impl Fn(&Kind) -> bool) -> Option<usize> {
        self.items.iter().rposition(|item| item.is_open() && is_it(&item.kind))
    }

    /// Adds to an item. One that was changed is told whole when it is done, and not before.
    fn append(&mut self, output_index: usize, delta: &str, out: Out<'_>) {
        let Some(item) = self.items.get_mut(output_index) else { return };
        item.text.push_str(delta);
        if item.is_changed || delta.is_empty() {
            return;
        }
        let item_id = &*item.id.clone();
        let event = match item.kind {
            Kind::Message { .. } => Said::OutputTextDelta {
                item_id,
                output_index,
                content_index: 0,
                delta,
                logprobs: [],
            },
            Kind::Reasoning { .. } => {
                Said::ReasoningSummaryTextDelta { item_id, output_index, summary_index: 0, delta }
            }
            Kind::Call { .. } => Said::FunctionCallArgumentsDelta { item_id, output_index, delta },
        };
        self.say(&event, out);
    }

    fn append_text(&mut self, message: MessageId, delta: &str, out: Out<'_>) {
        if let Some(index) = self.find(|kind| kind.is_message(message)) {
            self.append(index, delta, out);
        }
    }

    fn rewrite_text(&mut self, message: MessageId, kept: usize, text: &str, out: Out<'_>) {
        let Some(index) = self.find(|kind| kind.is_message(message)) else { return };
        let Some(item) = self.items.get_mut(index) else { return };
        if kept < item.text.len() {
            item.is_changed = true;
            item.text.truncate(item.text.floor_char_boundary(kept));
        }
        self.append(index, text, out);
    }

    /// An item of reasoning begins with its first words: an encrypted one has none.
    fn think(&mut self, step: StepId, delta: &str, out: Out<'_>) {
        if self.options.reasoning == Reasoning::Hide || delta.is_empty() {
            return;
        }
        let index = self.find(|kind| kind.is_thought(step)).unwrap_or_else(|| {
            let id = format!("rs_{}_{}", self.run, self.items.len());
            self.open(Item::new(id, Kind::Reasoning { step }), out)
        });
        self.append(index, delta, out);
    }

    /// A source that comes after its message is done stands in the last response only.
    fn cite(&mut self, message: MessageId, citation: &Citation<'_>, out: Out<'_>) {
        let Some(url) = citation.url.as_deref().filter(|url| is_link(url)) else { return };
        let at = self.items.iter().rposition(|item| item.kind.is_message(message));
        let Some(output_index) = at else { return };
        let Some(item) = self.items.get_mut(output_index) else { return };
        let annotation = Annotation::new(url, citation.title.as_deref(), &item.text);
        let Kind::Message { annotations, .. } = &mut item.kind else { return };
        let annotation_index = annotations.len();
        annotations.push(annotation.clone());
        if item.is_open() {
            let event = Said::OutputTextAnnotationAdded {
                item_id: &item.id.clone(),
                output_index,
                content_index: 0,
                annotation_index,
                annotation: &annotation,
            };
            self.say(&event, out);
        }
    }

    /// Says an item whole, and that it is done.
    fn close(&mut self, output_index: usize, status: Status, out: Out<'_>) {
        let Some(item) = self.items.get_mut(output_index).filter(|item| item.is_open()) else {
            return;
        };
        item.status = status;
        let item = item.clone();
        let (item_id, text) = (&*item.id, &*item.text);
        match &item.kind {
            Kind::Message { .. } => {
                let (content_index, logprobs, part) = (0, [], &item.part());
                let whole =
                    Said::OutputTextDone { item_id, output_index, content_index, text, logprobs };
                self.say(&whole, out);
                self.say(
                    &Said::ContentPartDone { item_id, output_index, content_index, part },
                    out,
                );
            }
            Kind::Reasoning { .. } => {
                let (summary_index, part) = (0, &item.part());
                let whole =
                    Said::ReasoningSummaryTextDone { item_id, output_index, summary_index, text };
                self.say(&whole, out);
                let done =
                    Said::ReasoningSummaryPartDone { item_id, output_index, summary_index, part };
                self.say(&done, out);
            }
            Kind::Call { name, .. } => {
                let arguments = text;
                let done =
                    Said::FunctionCallArgumentsDone { item_id, output_index, name, arguments };
                self.say(&done, out);
            }
        }
        self.say(&Said::OutputItemDone { output_index, item: &item.whole() }, out);
    }

    fn close_where(&mut self, is_it: impl Fn(&Kind) -> bool, status: Status, out: Out<'_>) {
        if let Some(index) = self.find(is_it) {
            self.close(index, status, out);
        }
    }

    fn withdraw(&mut self, messages: &[MessageId], steps: &[StepId], out: Out<'_>) {
        for index in 0..self.items.len() {
            let Some(item) = self.items.get_mut(index) else { return };
            if item.kind.is_of(messages, steps) {
                item.is_withdrawn = true;
                self.close(index, Status::Incomplete, out);
            }
        }
    }

    fn ask_for_calls(&mut self, ending: &Ending<'_>, out: Out<'_>) {
        for (step, call) in self.unanswered.take(ending) {
            let id = format!("fc_{}_{}", self.run, step.0);
            let kind = Kind::Call { step, call: call.id, name: call.name };
            let index = self.open(Item::new(id, kind), out);
            self.append(index, &call.arguments, out);
            self.close(index, Status::Completed, out);
        }
    }

    fn response(&self, status: &'static str, ending: Option<&Ending<'_>>) -> Box<RawValue> {
        let standing = self.items.iter().filter(|item| !item.is_withdrawn);
        let output: Vec<_> = standing.map(Item::whole).collect();
        let response = Response {
            id: &format!("resp_{}", self.run),
            created_at: self.options.created,
            model: &self.options.model,
            status,
            output: &output,
            incomplete_details: ending.filter(|_| status == "incomplete").map(Incomplete::of),
            error: ending.filter(|_| status == "failed").map(Failure::of),
            usage: ending.and_then(|_| self.spent.total()).map(Usage::new),
            ..Response::default()
        };
        to_raw_value(&response).unwrap_or_default()
    }
}

impl Protocol for OpenAiResponses {
    fn begin(&mut self, run: &str, at: Option<Millis>, out: Out<'_>) {
        run.clone_into(&mut self.run);
        self.options.created = at.map_or(self.options.created, |at| at / 1000);
        let response = &*self.response("in_progress", None);
        self.say(&Said::Created { response }, out);
        self.say(&Said::InProgress { response }, out);
    }

    fn event(&mut self, event: &Event<'_>, out: Out<'_>) {
        self.spent.apply(event);
        self.unanswered.apply(event);
        match event {
            Event::MessageStarted { message, .. } => self.start_text(*message, out),
            Event::TextAppended { message, text } => self.append_text(*message, text, out),
            Event::TextRewritten { message, kept_bytes, text } => {
                self.rewrite_text(*message, *kept_bytes, text, out);
            }
            Event::MessageEnded { message, .. } => {
                self.close_where(|kind| kind.is_message(*message), Status::Completed, out);
            }
            Event::SourceCited { message, citation } => self.cite(*message, citation, out),
            Event::ReasoningAppended { step, text } => self.think(*step, text, out),
            Event::ReasoningEnded { step, .. } => {
                self.close_where(|kind| kind.is_thought(*step), Status::Completed, out);
            }
            Event::Withdrawn { messages, steps } => self.withdraw(messages, steps, out),
            _ => {}
        }
    }

    fn end(&mut self, ending: &Ending<'_>, out: Out<'_>) {
        for index in 0..self.items.len() {
            self.close(index, Status::Incomplete, out);
        }
        self.ask_for_calls(ending, out);
        let is_cut = ending.stop == Some(Stop::Length);
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
        let body = self.response(status, Some(ending));
        let response = &*body;
        let event = match status {
            "completed" => Said::Completed { response },
            "incomplete" => Said::Incomplete { response },
            _ => Said::Failed { response },
        };
        self.say(&event, out);
        self.body = Some(body);
    }
}
