//! A client of native frames that checks every frame against the settled part.

use millpond_engine::event::{
    Ending, Event, Executor, Image, ImageOwner, MessageId, Millis, Outcome, Record, Reply, Sink,
    StepId, StopReason, TextMode, ToolKind, ToolOutcome,
};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;
use millpond_engine::view::patch::Settled;
use millpond_engine::view::{Item, Page, Patch, Thinking, View, ViewName, ViewOptions};
use millpond_engine::wire::{Encoder, StreamKind};
use serde_json::Value;

/// State of the client, and the view it checks.
pub(crate) struct PrintClient {
    encoder: Encoder,
    view: View,
    seq: u64,
    pub(crate) messages: Vec<Value>,
    pub(crate) frames: Vec<(String, Value)>,
    pub(crate) settled: Settled,
    /// Every settled point so far.
    pub(crate) settled_history: Vec<Settled>,
    printed: Vec<Item<'static>>,
}

impl Default for PrintClient {
    fn default() -> PrintClient {
        PrintClient::with_thinking(Thinking::ViewDefault)
    }
}

impl Sink for PrintClient {
    fn on_event(&mut self, at_ms: Option<Millis>, event: Event<'_>) {
        self.push(at_ms, "run", event);
    }
}

impl PrintClient {
    pub(crate) fn with_thinking(thinking: Thinking) -> PrintClient {
        let kind = StreamKind { thinking, ..StreamKind::new(ViewName::Transcript) };
        PrintClient {
            encoder: Encoder::new(kind, "session"),
            view: View::new(ViewName::Transcript, ViewOptions { thinking }),
            seq: 0,
            messages: Vec::new(),
            frames: Vec::new(),
            settled: Settled::default(),
            settled_history: Vec::new(),
            printed: Vec::new(),
        }
    }

    /// A client with a started run whose text is incremental.
    pub(crate) fn started() -> PrintClient {
        let mut screen = PrintClient::default();
        screen.push_events([run_started(TextMode::Incremental)]);
        screen
    }

    #[track_caller]
    pub(crate) fn push_events<'e>(&mut self, events: impl IntoIterator<Item = Event<'e>>) {
        for event in events {
            self.push(None, "run", event);
        }
    }

    #[track_caller]
    pub(crate) fn push(&mut self, at_ms: Option<Millis>, run: &str, event: Event<'_>) {
        let record = Record { seq: self.seq, at_ms, run: run.into(), event };
        self.seq += 1;
        let mut settled = self.settled;
        let mut known = self.page().items.len();
        self.view.apply(&record, &mut |patch| {
            check_patch_keeps_settled(&patch, &mut settled, &mut known);
        });
        let mut frames = Vec::new();
        self.encoder.push(&record, &mut |frame| {
            frames.push((frame.event.to_owned(), serde_json::from_str(frame.data).unwrap()));
        });
        for (name, data) in frames {
            self.apply_frame(&name, &data);
            self.frames.push((name, data));
        }
        for (printed, item) in self.printed.iter().zip(self.page().items.values()) {
            assert_eq!(printed, item, "a settled item has changed");
        }
        let items = self.encoder.page().items.values().skip(self.printed.len());
        let new = (self.settled.count as usize) - self.printed.len();
        self.printed.extend(items.take(new).cloned());
    }

    #[track_caller]
    fn apply_frame(&mut self, name: &str, data: &Value) {
        assert!(data["run"].is_string(), "{name} names no run");
        let index = || usize::try_from(data["index"].as_u64().unwrap()).unwrap();
        match name {
            "message" => {
                assert!(self.settled.count as usize <= index(), "{data} is settled");
                if let Some(message) = self.messages.get_mut(index()) {
                    if index() == self.settled.count as usize {
                        let bytes = self.settled.bytes;
                        assert_eq!(message_text(message)[..bytes], message_text(data)[..bytes]);
                    }
                    *message = data.clone();
                } else {
                    assert_eq!(index(), self.messages.len(), "an index is left out");
                    self.messages.push(data.clone());
                }
            }
            "append" => {
                let message = &mut self.messages[index()];
                assert_eq!(message["state"], "live", "{data} is for one that is over");
                message["text"] = (message_text(message).to_owned() + message_text(data)).into();
            }
            "settled" => {
                let settled: Settled = serde_json::from_value(data.clone()).unwrap();
                assert!(self.settled < settled, "from {:?} to {settled:?}", self.settled);
                self.settled = settled;
                self.settled_history.push(settled);
                let settled = &self.messages[..settled.count as usize];
                assert!(settled.iter().all(|message| message["state"] != "live"));
                if let Some(next) = self.messages.get(settled.len()) {
                    assert!(message_text(next).is_char_boundary(self.settled.bytes));
                } else {
                    assert_eq!(self.settled.bytes, 0);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn page(&self) -> &Page {
        self.encoder.page()
    }

    /// One line per item: `=` settled, `+` complete, `~` live, then its name and text.
    pub(crate) fn rows(&self) -> Vec<String> {
        let row = |(at, message): (usize, &Value)| {
            let mark = match message["state"].as_str().unwrap() {
                _ if at < self.settled.count as usize => '=',
                "live" | "draft" => '~',
                _ => '+',
            };
            format!("{mark}{} {}", message_name(message), message_text(message))
                .trim_end()
                .to_owned()
        };
        self.messages.iter().enumerate().map(row).collect()
    }

    pub(crate) fn settled_count(&self) -> u32 {
        self.settled.count
    }

    /// The last message.
    pub(crate) fn last_message(&self) -> &Value {
        self.messages.last().unwrap()
    }
}

/// Asserts that a patch does not touch the settled part.
#[track_caller]
fn check_patch_keeps_settled(patch: &Patch<'_>, settled: &mut Settled, known: &mut usize) {
    let free = |key: u32| assert!(settled.count <= key, "{patch:?} after {settled:?}");
    match patch {
        Patch::Put { key, .. } => {
            free(key.0);
            let begun = key.0 == settled.count && 0 < settled.bytes;
            assert!(!begun, "{patch:?} after {settled:?}");
            assert!(key.0 as usize <= *known, "a key is left out");
            *known = (*known).max(key.0 as usize + 1);
        }
        Patch::Rewrite { key, kept_bytes, .. } => {
            free(key.0);
            assert!(settled.count != key.0 || settled.bytes <= *kept_bytes, "{patch:?}");
        }
        Patch::Append { key, .. }
        | Patch::Close { key, .. }
        | Patch::Result { key, .. }
        | Patch::Attach { key, .. }
        | Patch::Cite { key, .. }
        | Patch::Describe { key, .. } => free(key.0),
        Patch::Withdraw { keys } => {
            for key in keys {
                free(key.0);
                assert!(key.0 != settled.count || settled.bytes == 0, "{patch:?}");
            }
        }
        Patch::Settle(next) => *settled = *next,
        Patch::Next { .. }
        | Patch::Remove { .. }
        | Patch::Overlay(_)
        | Patch::RoundClosed { .. } => panic!("{patch:?}"),
        Patch::Status(_) | Patch::Ask(_) | Patch::Resolve(_) | Patch::Ended(_) => {}
    }
}

pub(crate) fn message_text(message: &Value) -> &str {
    message["text"].as_str().or(message["content"].as_str()).unwrap()
}

fn message_name(message: &Value) -> String {
    match message["type"].as_str().unwrap() {
        "ask" => format!("ask:{}", message["ask"].as_str().unwrap()),
        "say" => message["say"].as_str().unwrap().to_owned(),
        other => other.to_owned(),
    }
}

/// Feeds Kilo messages to a client.
pub(crate) struct KiloSource {
    ingest: Ingest,
    pub(crate) client: PrintClient,
}

impl KiloSource {
    pub(crate) fn new() -> KiloSource {
        let options =
            IngestOptions { dialect: Some("kilo".parse().unwrap()), ..IngestOptions::default() };
        KiloSource { ingest: Ingest::new(&options), client: PrintClient::default() }
    }

    /// A source with one completed request, as before all but the first message.
    pub(crate) fn after_a_request() -> KiloSource {
        let mut kilo = KiloSource::new();
        kilo.push_line(r#"{"ts":1,"type":"say","say":"api_req_started","text":"{\"cost\":1}"}"#);
        kilo
    }

    #[track_caller]
    pub(crate) fn push_line(&mut self, line: &str) -> Vec<String> {
        self.ingest.push(line.as_bytes(), None, &mut self.client);
        self.ingest.push(b"\n", None, &mut self.client);
        self.client.rows()
    }

    #[track_caller]
    pub(crate) fn finish(&mut self) -> Vec<String> {
        self.ingest.finish(InputEnd::EndOfInput, None, &mut self.client);
        self.client.rows()
    }
}

pub(crate) fn run_started(mode: TextMode) -> Event<'static> {
    Event::RunStarted { version: 1, dialect: "test".into(), mode }
}

pub(crate) fn message_started(id: u32) -> Event<'static> {
    Event::MessageStarted { message: MessageId(id), round: 0, phase: None }
}

pub(crate) fn text_appended(id: u32, text: &str) -> Event<'_> {
    Event::TextAppended { message: MessageId(id), text: text.into() }
}

pub(crate) fn message_ended(id: u32) -> Event<'static> {
    Event::MessageEnded { message: MessageId(id), incomplete: false }
}

/// Events of a whole message.
pub(crate) fn whole_message(id: u32, words: &str) -> [Event<'_>; 3] {
    [message_started(id), text_appended(id, words), message_ended(id)]
}

pub(crate) fn tool_started(step: u32, kind: ToolKind) -> Event<'static> {
    tool_started_under(step, kind, None)
}

pub(crate) fn tool_started_under(step: u32, kind: ToolKind, parent: Option<u32>) -> Event<'static> {
    Event::ToolStarted {
        step: StepId(step),
        round: 0,
        call: format!("call-{step}").into(),
        name: format!("tool-{step}").into(),
        kind,
        executor: Executor::Client,
        server: None,
        parent: parent.map(StepId),
    }
}

pub(crate) fn arguments_appended(step: u32, text: &str) -> Event<'_> {
    Event::ArgumentsAppended { step: StepId(step), text: text.into() }
}

pub(crate) fn tool_ready(step: u32) -> Event<'static> {
    Event::ToolReady { step: StepId(step) }
}

pub(crate) fn output_appended(step: u32, text: &str) -> Event<'_> {
    Event::OutputAppended { step: StepId(step), text: text.into() }
}

pub(crate) fn tool_ended(step: u32, outcome: ToolOutcome) -> Event<'static> {
    Event::ToolEnded { step: StepId(step), outcome, detail: None }
}

pub(crate) fn run_ended(outcome: Outcome) -> Event<'static> {
    let completed = outcome == Outcome::Completed;
    Event::RunEnded {
        ending: Ending {
            outcome,
            stop: completed.then_some(StopReason::End),
            reason: None,
            detail: None,
            reply: Reply::None,
            message: None,
            incomplete: !completed,
        },
    }
}

pub(crate) fn image_received(owner: ImageOwner) -> Event<'static> {
    Event::ImageReceived { owner, image: Image::Url { url: "http://a.test/p.png".into() } }
}
