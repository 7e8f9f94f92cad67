//! A gateway with an agent in it, on a folder of its own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent::demo::Pace;
use agent::model::Rates;
use agent::policy::Policies;
use agent::provider::Provider;
use agent::rounds::{Bounds, Caution, Looped, Setup};
use agent::tools::{Builtin, Root, Toolbox};
use engine::event::{Ending, Event, Image, Record};
use engine::ingest::DialectName;
use gateway::access::Allowed;
use gateway::agent::Agent;
use gateway::gateway::{Gateway, new_session};
use gateway::id::{OwnerId, QueuedId, RunId, SessionId};
use gateway::messages::{Turn, accept, keep_working};
use gateway::runs::Heard;
use gateway::store::sqlite::{Durability, SqliteStore};
use gateway::store::{Queued, Store};

pub(crate) struct House {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) session: SessionId,
    pub(crate) store: Arc<SqliteStore>,
    sent: std::sync::atomic::AtomicU8,
}

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_mins(1);

/// The demo agent in a folder.
pub(crate) fn demo(folder: &Path) -> Setup {
    let mut builtins = Builtin::ALL.to_vec();
    builtins.push(Builtin::DrawChart);
    Setup {
        provider: Provider::Demo(Pace::AtOnce),
        dialect: DialectName::OpenAiChat,
        system: String::new(),
        toolbox: Toolbox { root: Root::open(folder).unwrap(), builtins, servers: Vec::new() },
        policies: Policies::default(),
        caution: Caution::Ask,
        bounds: Bounds::default(),
        rates: Rates::default(),
        control_words: Vec::new(),
        checkpoints: None,
    }
}

/// A folder with something in it.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("README.md"), "# Pond\n\nIt is calm.\n").unwrap();
    std::fs::write(folder.path().join("depth.txt"), "3 m\n").unwrap();
    folder
}

async fn open(store: &Arc<SqliteStore>, agent: Arc<dyn Agent>) -> Arc<Gateway> {
    let allowed = Allowed::new(0, false, &[], &[]);
    let gateway = Gateway::open(Arc::clone(store), allowed, false, Some(agent)).await.unwrap();
    let gateway = Arc::new(gateway);
    tokio::spawn(keep_working(Arc::clone(&gateway)));
    gateway
}

impl House {
    pub(crate) async fn new(data: &Path, setup: Setup) -> House {
        House::with(data, Arc::new(Looped::new(setup))).await
    }

    pub(crate) async fn with(data: &Path, agent: Arc<dyn Agent>) -> House {
        let store = Arc::new(SqliteStore::open(data, Durability::Window).unwrap());
        let session = new_session(OwnerId::from_bytes([1; 16]), "", 1).unwrap();
        store.create(&session).unwrap();
        let gateway = open(&store, agent).await;
        House { gateway, session: session.id, store, sent: 0.into() }
    }

    /// Another session of the same gateway; each has a number of its own.
    pub(crate) fn another(&self, number: u8) -> House {
        let session = new_session(OwnerId::from_bytes([1; 16]), "", 1).unwrap();
        self.store.create(&session).unwrap();
        let (gateway, store) = (Arc::clone(&self.gateway), Arc::clone(&self.store));
        House { gateway, session: session.id, store, sent: (number * 8).into() }
    }

    /// The process ends, and another begins.
    pub(crate) async fn restart(self, setup: Setup) -> House {
        self.restart_with(Arc::new(Looped::new(setup))).await
    }

    pub(crate) async fn restart_with(self, agent: Arc<dyn Agent>) -> House {
        self.gateway.stop_streams();
        self.gateway.runs.stop_all().await;
        self.gateway.log.close().await;
        let gateway = open(&self.store, agent).await;
        House { gateway, ..self }
    }

    /// Writes runs into the log, as if they had been.
    pub(crate) async fn seed(&self, runs: &[Vec<Event<'static>>]) {
        for (n, events) in runs.iter().enumerate() {
            let n = u8::try_from(n).unwrap();
            let mut run = self.gateway.log.run(self.session, RunId::from_bytes([100 + n; 16]));
            let facts = events.iter().map(|event| (Some(1), event.clone())).collect();
            run.append(facts).await.unwrap();
        }
    }

    /// Sends a message; gives the run it becomes.
    pub(crate) async fn send(&self, text: &str) -> RunId {
        self.send_to(text, Turn::Next).await
    }

    pub(crate) fn queue(&self) -> Vec<Queued> {
        self.store.queue(self.session).unwrap()
    }

    pub(crate) fn set_queue(&self, queue: &[Queued]) {
        self.store.set_queue(self.session, queue).unwrap();
    }

    pub(crate) async fn send_to(&self, text: &str, turn: Turn) -> RunId {
        self.show(text, Vec::new(), turn).await
    }

    /// Sends a message with pictures.
    pub(crate) async fn show(&self, text: &str, images: Vec<Image<'static>>, turn: Turn) -> RunId {
        let n = self.sent.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let id = QueuedId::new(u64::from(n) + 1, [n; 10]);
        let message = Queued { id, text: text.to_owned(), images, accepted_ms: 1 };
        accept(&self.gateway, self.session, message, turn).await.unwrap();
        RunId::from(id)
    }

    /// The events of a run, up to the first of which this is true.
    pub(crate) async fn until(
        &self,
        run: RunId,
        enough: impl Fn(&Event<'_>) -> bool,
    ) -> Vec<Event<'static>> {
        let reading = async {
            let mut end = self.gateway.log.follow(self.session).await.unwrap();
            loop {
                let events = self.events(run).await;
                if let Some(at) = events.iter().position(&enough) {
                    return events.into_iter().take(at + 1).collect();
                }
                end.changed().await.unwrap();
            }
        };
        tokio::time::timeout(PATIENCE, reading).await.unwrap()
    }

    pub(crate) async fn events(&self, run: RunId) -> Vec<Event<'static>> {
        let (mut events, mut next, name) = (Vec::new(), 0, run.to_string());
        loop {
            let chunks = self.gateway.log.read(self.session, next).await.unwrap();
            let Some(end) = chunks.last().map(gateway::store::Chunk::end) else { return events };
            for record in chunks.iter().flat_map(|chunk| chunk.records(next)) {
                let record: Record<'_> = record.unwrap();
                if record.run == name {
                    events.push(record.event.into_owned());
                }
            }
            next = end;
        }
    }

    /// Everything that became of a message.
    pub(crate) async fn ask(&self, text: &str) -> Vec<Event<'static>> {
        let run = self.send(text).await;
        self.whole(run).await
    }

    pub(crate) async fn whole(&self, run: RunId) -> Vec<Event<'static>> {
        self.until(run, |event| matches!(event, Event::RunEnded { .. })).await
    }

    /// Waits until the run asks something; gives the ask's id.
    pub(crate) async fn asked(&self, run: RunId) -> String {
        let events = self.until(run, |event| matches!(event, Event::AskOpened { .. })).await;
        match events.last() {
            Some(Event::AskOpened { ask, .. }) => ask.to_string(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn answer(&self, run: RunId, ask: &str, answer: &str) -> Option<Heard> {
        // A run that was found waiting takes answers a moment after the gateway has opened.
        self.gateway.runs.answer(run, ask.to_owned(), answer.to_owned()).await
    }
}

pub(crate) fn ending<'e>(events: &'e [Event<'static>]) -> &'e Ending<'static> {
    match events.last() {
        Some(Event::RunEnded { ending }) => ending,
        other => panic!("a run that ended, not {other:?}"),
    }
}

/// The text of all messages, a line between two.
pub(crate) fn said(events: &[Event<'static>]) -> String {
    let mut said = String::new();
    for event in events {
        match event {
            Event::MessageStarted { .. } if !said.is_empty() => said.push('\n'),
            Event::TextAppended { text, .. } => said.push_str(text),
            _ => {}
        }
    }
    said
}

/// What the run's last message says.
pub(crate) fn reply(events: &[Event<'static>]) -> String {
    let message = ending(events).message;
    let texts = events.iter().filter_map(|event| match event {
        Event::TextAppended { message: of, text } if Some(*of) == message => Some(&**text),
        _ => None,
    });
    texts.collect()
}

pub(crate) fn outcomes(events: &[Event<'static>]) -> Vec<engine::event::ToolOutcome> {
    let ended = events.iter().filter_map(|event| match event {
        Event::ToolEnded { outcome, .. } => Some(*outcome),
        _ => None,
    });
    ended.collect()
}
