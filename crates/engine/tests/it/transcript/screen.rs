//! A client of the view: it knows only frames, and every frame is checked against what it has
//! already printed.

use engine::event::{Ending, Executor, Outcome, Reply, Stop, ToolKind, ToolOutcome};
use engine::event::{Event, MessageId, Millis, Record, Sink, StepId, TextMode};
use engine::ingest::{Ingest, Options};
use engine::run::Cut;
use engine::view::patch::Settled;
use engine::view::{Item, Options as ViewOptions, Patch, Picture, Thinking, View, ViewName};
use engine::wire::{Encoder, Kind};
use serde_json::Value;

pub(crate) struct Screen {
    encoder: Encoder,
    view: View,
    seq: u64,
    pub(crate) messages: Vec<Value>,
    pub(crate) frames: Vec<(String, Value)>,
    pub(crate) settled: Settled,
    /// Every place the settled part has had.
    pub(crate) path: Vec<Settled>,
    printed: Vec<Item<'static>>,
}

impl Default for Screen {
    fn default() -> Screen {
        Screen::with(Thinking::AsUsual)
    }
}

impl Sink for Screen {
    fn event(&mut self, at_ms: Option<Millis>, event: Event<'_>) {
        self.push(at_ms, "run", event);
    }
}

impl Screen {
    pub(crate) fn with(thinking: Thinking) -> Screen {
        let kind = Kind { thinking, ..Kind::new(ViewName::Transcript) };
        Screen {
            encoder: Encoder::new(kind, "session", 0),
            view: View::new(ViewName::Transcript, ViewOptions { thinking }),
            seq: 0,
            messages: Vec::new(),
            frames: Vec::new(),
            settled: Settled::default(),
            path: Vec::new(),
            printed: Vec::new(),
        }
    }

    /// A run of a source whose text only grows, begun.
    pub(crate) fn started() -> Screen {
        let mut screen = Screen::default();
        screen.tell([started(TextMode::Incremental)]);
        screen
    }

    #[track_caller]
    pub(crate) fn tell<'e>(&mut self, events: impl IntoIterator<Item = Event<'e>>) {
        for event in events {
            self.push(None, "run", event);
        }
    }

    #[track_caller]
    pub(crate) fn push(&mut self, at_ms: Option<Millis>, run: &str, event: Event<'_>) {
        let record = Record { seq: self.seq, at_ms, run: run.into(), event };
        self.seq += 1;
        let mut settled = self.settled;
        let mut known = self.picture().items.len();
        self.view.apply(&record, &mut |patch| check(&patch, &mut settled, &mut known));
        let mut frames = Vec::new();
        self.encoder.push(&record, &mut |frame| {
            frames.push((frame.event.to_owned(), serde_json::from_str(frame.data).unwrap()));
        });
        for (name, data) in frames {
            self.frame(&name, &data);
            self.frames.push((name, data));
        }
        for (printed, item) in self.printed.iter().zip(self.picture().items.values()) {
            assert_eq!(printed, item, "a settled item has changed");
        }
        let items = self.encoder.picture().items.values().skip(self.printed.len());
        let new = (self.settled.count as usize) - self.printed.len();
        self.printed.extend(items.take(new).cloned());
    }

    #[track_caller]
    fn frame(&mut self, name: &str, data: &Value) {
        assert!(data["run"].is_string(), "{name} names no run");
        let index = || usize::try_from(data["index"].as_u64().unwrap()).unwrap();
        match name {
            "message" => {
                assert!(self.settled.count as usize <= index(), "{data} is settled");
                if let Some(message) = self.messages.get_mut(index()) {
                    if index() == self.settled.count as usize {
                        let bytes = self.settled.bytes;
                        assert_eq!(words(message)[..bytes], words(data)[..bytes]);
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
                message["text"] = (words(message).to_owned() + words(data)).into();
            }
            "settled" => {
                let settled: Settled = serde_json::from_value(data.clone()).unwrap();
                assert!(self.settled < settled, "from {:?} to {settled:?}", self.settled);
                self.settled = settled;
                self.path.push(settled);
                let settled = &self.messages[..settled.count as usize];
                assert!(settled.iter().all(|message| message["state"] != "live"));
                if let Some(next) = self.messages.get(settled.len()) {
                    assert!(words(next).is_char_boundary(self.settled.bytes));
                } else {
                    assert_eq!(self.settled.bytes, 0);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn picture(&self) -> &Picture {
        self.encoder.picture()
    }

    /// One line for each item: `=` settled, `+` complete, `~` live, then its name and its text.
    pub(crate) fn rows(&self) -> Vec<String> {
        let row = |(at, message): (usize, &Value)| {
            let mark = match message["state"].as_str().unwrap() {
                _ if at < self.settled.count as usize => '=',
                "live" => '~',
                _ => '+',
            };
            format!("{mark}{} {}", name(message), words(message)).trim_end().to_owned()
        };
        self.messages.iter().enumerate().map(row).collect()
    }

    pub(crate) fn count(&self) -> u32 {
        self.settled.count
    }

    /// The frames of the item that is last.
    pub(crate) fn last(&self) -> &Value {
        self.messages.last().unwrap()
    }
}

/// No patch touches what is settled.
#[track_caller]
fn check(patch: &Patch<'_>, settled: &mut Settled, known: &mut usize) {
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
        | Patch::Attach { key, .. }
        | Patch::Cite { key, .. } => free(key.0),
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

pub(crate) fn words(message: &Value) -> &str {
    message["text"].as_str().or(message["content"].as_str()).unwrap()
}

fn name(message: &Value) -> String {
    match message["type"].as_str().unwrap() {
        "ask" => format!("ask:{}", message["ask"].as_str().unwrap()),
        "say" => message["say"].as_str().unwrap().to_owned(),
        other => other.to_owned(),
    }
}

/// Kilo's messages, one after another, on a screen.
pub(crate) struct Kilo {
    ingest: Ingest,
    pub(crate) screen: Screen,
}

impl Kilo {
    pub(crate) fn new() -> Kilo {
        let options = Options { from: Some("kilo".parse().unwrap()), ..Options::default() };
        Kilo { ingest: Ingest::new(&options), screen: Screen::default() }
    }

    /// After a request that is over, as all but the first message are.
    pub(crate) fn after_a_request() -> Kilo {
        let mut kilo = Kilo::new();
        kilo.say(r#"{"ts":1,"type":"say","say":"api_req_started","text":"{\"cost\":1}"}"#);
        kilo
    }

    #[track_caller]
    pub(crate) fn say(&mut self, line: &str) -> Vec<String> {
        self.ingest.push(line.as_bytes(), None, &mut self.screen);
        self.ingest.push(b"\n", None, &mut self.screen);
        self.screen.rows()
    }

    #[track_caller]
    pub(crate) fn end(&mut self) -> Vec<String> {
        self.ingest.finish(Cut::EndOfInput, None, &mut self.screen);
        self.screen.rows()
    }
}

pub(crate) fn started(mode: TextMode) -> Event<'static> {
    Event::RunStarted { version: 1, dialect: "test".into(), mode }
}

pub(crate) fn message(id: u32) -> Event<'static> {
    Event::MessageStarted { message: MessageId(id), round: 0, phase: None }
}

pub(crate) fn text(id: u32, text: &str) -> Event<'_> {
    Event::TextAppended { message: MessageId(id), text: text.into() }
}

pub(crate) fn message_ended(id: u32) -> Event<'static> {
    Event::MessageEnded { message: MessageId(id), incomplete: false }
}

/// A whole message.
pub(crate) fn said(id: u32, words: &str) -> [Event<'_>; 3] {
    [message(id), text(id, words), message_ended(id)]
}

pub(crate) fn tool(step: u32, kind: ToolKind) -> Event<'static> {
    tool_of(step, kind, None)
}

pub(crate) fn tool_of(step: u32, kind: ToolKind, parent: Option<u32>) -> Event<'static> {
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

pub(crate) fn arguments(step: u32, text: &str) -> Event<'_> {
    Event::ArgumentsAppended { step: StepId(step), text: text.into() }
}

pub(crate) fn ready(step: u32) -> Event<'static> {
    Event::ToolReady { step: StepId(step) }
}

pub(crate) fn output(step: u32, text: &str) -> Event<'_> {
    Event::OutputAppended { step: StepId(step), text: text.into() }
}

pub(crate) fn tool_ended(step: u32, outcome: ToolOutcome) -> Event<'static> {
    Event::ToolEnded { step: StepId(step), outcome, detail: None }
}

pub(crate) fn ended(outcome: Outcome) -> Event<'static> {
    let completed = outcome == Outcome::Completed;
    Event::RunEnded {
        ending: Ending {
            outcome,
            stop: completed.then_some(Stop::End),
            reason: None,
            detail: None,
            reply: Reply::None,
            message: None,
            incomplete: !completed,
        },
    }
}
