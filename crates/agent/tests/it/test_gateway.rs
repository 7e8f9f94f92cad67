//! A gateway with an agent, on a temporary folder.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use millpond_agent::agent_loop::{ApprovalMode, ModelAgent, ModelAgentConfig, RunLimits};
use millpond_agent::demo::Pace;
use millpond_agent::model::TokenRates;
use millpond_agent::policy::ToolPolicies;
use millpond_agent::provider::Provider;
use millpond_agent::tools::{BuiltinTool, Toolbox, WorkingFolder};
use millpond_engine::event::{Ending, Event, Image};
use millpond_engine::ingest::DialectName;
use millpond_engine::run::RunOptions;
use millpond_log::agent::Agent;
use millpond_log::id::{OwnerId, QueuedId, RunId, SessionId};
use millpond_log::queue::Delivery;
use millpond_log::runs::AnswerResult;
use millpond_log::scheduler::Scheduler;
use millpond_log::store::sqlite::{Durability, SqliteStore};
use millpond_log::store::{QueuedMessage, Session, Store};

/// A gateway, and the session that the test uses.
pub(crate) struct TestGateway {
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) session: SessionId,
    pub(crate) store: Arc<SqliteStore>,
    sent: std::sync::atomic::AtomicU8,
}

/// Longest wait for an event.
const WAIT_TIMEOUT: Duration = Duration::from_mins(3);

/// Time between two looks at a process that is not a child.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Configuration of the demo agent in a folder.
pub(crate) fn demo_config(folder: &Path) -> ModelAgentConfig {
    let mut builtins = BuiltinTool::ALL.to_vec();
    builtins.push(BuiltinTool::DrawChart);
    ModelAgentConfig {
        provider: Provider::Demo(Pace::AtOnce),
        dialect: DialectName::OpenAiChat,
        system_prompt: String::new(),
        toolbox: Toolbox {
            folder: WorkingFolder::open(folder).unwrap(),
            builtins,
            servers: Vec::new(),
        },
        policies: ToolPolicies::default(),
        approval_mode: ApprovalMode::Ask,
        limits: RunLimits::default(),
        rates: TokenRates::default(),
        run_options: RunOptions::default(),
        checkpoints: None,
    }
}

/// A temporary folder with two files.
pub(crate) fn sample_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("README.md"), "# Pond\n\nIt is calm.\n").unwrap();
    std::fs::write(folder.path().join("depth.txt"), "3 m\n").unwrap();
    folder
}

async fn open_gateway(store: &Arc<SqliteStore>, agent: Arc<dyn Agent>) -> Arc<Scheduler> {
    let store = Arc::clone(store) as Arc<dyn Store>;
    let scheduler = Arc::new(Scheduler::open_and_recover_runs(store, Some(agent)).await.unwrap());
    tokio::spawn(Arc::clone(&scheduler).resume_and_run_queues_until_stopped());
    scheduler
}

impl TestGateway {
    pub(crate) async fn new(data: &Path, config: ModelAgentConfig) -> TestGateway {
        TestGateway::with_agent(data, Arc::new(ModelAgent::new(config))).await
    }

    pub(crate) async fn with_agent(data: &Path, agent: Arc<dyn Agent>) -> TestGateway {
        let store = Arc::new(SqliteStore::open(data, Durability::Window).unwrap());
        let session = Session::new(OwnerId::from_bytes([1; 16]), "", 1).unwrap();
        store.create_session(&session).unwrap();
        let scheduler = open_gateway(&store, agent).await;
        TestGateway { scheduler, session: session.id, store, sent: 0.into() }
    }

    /// Another session of the same gateway; `number` must be unique.
    pub(crate) fn another_session(&self, number: u8) -> TestGateway {
        let session = Session::new(OwnerId::from_bytes([1; 16]), "", 1).unwrap();
        self.store.create_session(&session).unwrap();
        let (scheduler, store) = (Arc::clone(&self.scheduler), Arc::clone(&self.store));
        TestGateway { scheduler, session: session.id, store, sent: (number * 8).into() }
    }

    /// Stops the gateway and opens another one on the same store.
    pub(crate) async fn restart(self, config: ModelAgentConfig) -> TestGateway {
        self.restart_with(Arc::new(ModelAgent::new(config))).await
    }

    pub(crate) async fn restart_with(self, agent: Arc<dyn Agent>) -> TestGateway {
        self.scheduler.stopping.send_replace(true);
        self.scheduler.runs.interrupt_all_and_shut_down().await;
        self.scheduler.log.close().await;
        let scheduler = open_gateway(&self.store, agent).await;
        TestGateway { scheduler, ..self }
    }

    /// Appends runs to the log.
    pub(crate) async fn append_finished_runs(&self, runs: &[Vec<Event<'static>>]) {
        for (n, events) in runs.iter().enumerate() {
            let n = u8::try_from(n).unwrap();
            let mut run = self
                .scheduler
                .log
                .build_run_appender(self.session, RunId::from_bytes([100 + n; 16]));
            let timed_events = events.iter().map(|event| (Some(1), event.clone())).collect();
            run.append(timed_events).await.unwrap();
        }
    }

    /// Sends a message; returns its run.
    pub(crate) async fn send(&self, text: &str) -> RunId {
        self.send_as_turn(text, Delivery::NextRun).await
    }

    pub(crate) fn queue(&self) -> Vec<QueuedMessage> {
        self.store.load_queue(self.session).unwrap()
    }

    pub(crate) fn set_queue(&self, queue: &[QueuedMessage]) {
        self.store.set_queue(self.session, queue).unwrap();
    }

    pub(crate) async fn send_as_turn(&self, text: &str, turn: Delivery) -> RunId {
        self.send_with_images(text, Vec::new(), turn).await
    }

    /// Sends a message with images.
    pub(crate) async fn send_with_images(
        &self,
        text: &str,
        images: Vec<Image<'static>>,
        turn: Delivery,
    ) -> RunId {
        let n = self.sent.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let id = QueuedId::new(u64::from(n) + 1, [n; 10]);
        let message = QueuedMessage {
            id,
            text: text.to_owned(),
            images,
            origin: millpond_engine::event::PromptOrigin::Person,
            accepted_ms: 1,
        };
        self.scheduler.accept_message_once(self.session, message, turn).await.unwrap();
        RunId::from(id)
    }

    /// Waits for the first event that satisfies `enough`; returns the run's events up to it.
    pub(crate) async fn events_until(
        &self,
        run: RunId,
        is_last: impl Fn(&Event<'_>) -> bool,
    ) -> Vec<Event<'static>> {
        let read_events = async {
            let mut log_end = self.scheduler.log.watch_log_end(self.session).await.unwrap();
            loop {
                let events = self.events(run).await;
                if let Some(index) = events.iter().position(&is_last) {
                    return events.into_iter().take(index + 1).collect();
                }
                log_end.changed().await.unwrap();
            }
        };
        tokio::time::timeout(WAIT_TIMEOUT, read_events).await.unwrap()
    }

    pub(crate) async fn events(&self, run: RunId) -> Vec<Event<'static>> {
        let (mut events, mut next_seq, name) = (Vec::new(), 0, run.to_string());
        loop {
            let chunks = self.scheduler.log.read(self.session, next_seq).await.unwrap();
            let Some(end) = chunks.last().map(|chunk| chunk.next_seq()) else {
                return events;
            };
            for record in chunks.iter().flat_map(|chunk| chunk.records_from(next_seq)) {
                let record = record.unwrap();
                if record.run == name {
                    events.push(record.event.clone().into_owned());
                }
            }
            next_seq = end;
        }
    }

    /// Sends a message and waits for the end of its run; returns all its events.
    pub(crate) async fn send_and_wait_for_end(&self, text: &str) -> Vec<Event<'static>> {
        let run = self.send(text).await;
        self.events_to_end(run).await
    }

    pub(crate) async fn events_to_end(&self, run: RunId) -> Vec<Event<'static>> {
        self.events_until(run, |event| matches!(event, Event::RunEnded { .. })).await
    }

    /// Waits until the run opens an ask; returns its id.
    pub(crate) async fn wait_for_ask(&self, run: RunId) -> String {
        let events = self.events_until(run, |event| matches!(event, Event::AskOpened { .. })).await;
        match events.last() {
            Some(Event::AskOpened { ask, .. }) => ask.to_string(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn answer(&self, run: RunId, ask: &str, answer: &str) -> Option<AnswerResult> {
        // A resumed run accepts answers a moment after the gateway has opened.
        self.scheduler
            .runs
            .deliver_answer_and_await_result(run, ask.to_owned(), answer.to_owned())
            .await
    }
}

pub(crate) fn ending<'e>(events: &'e [Event<'static>]) -> &'e Ending<'static> {
    match events.last() {
        Some(Event::RunEnded { ending }) => ending,
        other => panic!("a run that ended, not {other:?}"),
    }
}

/// Text of all messages, joined by line breaks.
pub(crate) fn all_message_text(events: &[Event<'static>]) -> String {
    let mut text_so_far = String::new();
    for event in events {
        match event {
            Event::MessageStarted { .. } if !text_so_far.is_empty() => text_so_far.push('\n'),
            Event::TextAppended { text, .. } => text_so_far.push_str(text),
            _ => {}
        }
    }
    text_so_far
}

/// Text of the run's final message.
pub(crate) fn final_message_text(events: &[Event<'static>]) -> String {
    let message = ending(events).message;
    let texts = events.iter().filter_map(|event| match event {
        Event::TextAppended { message: message_id, text } if Some(*message_id) == message => {
            Some(&**text)
        }
        _ => None,
    });
    texts.collect()
}

pub(crate) fn tool_outcomes(events: &[Event<'static>]) -> Vec<millpond_engine::event::ToolOutcome> {
    let ended = events.iter().filter_map(|event| match event {
        Event::ToolEnded { outcome, .. } => Some(*outcome),
        _ => None,
    });
    ended.collect()
}

/// Waits until a process has ended. It may still be a zombie that nobody has reaped.
pub(crate) async fn wait_for_process_end(pid: &str) {
    let ended = async {
        loop {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            if stat.is_empty() || stat.contains(") Z ") {
                return;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    let result = tokio::time::timeout(WAIT_TIMEOUT, ended).await;
    assert!(result.is_ok(), "process {pid} is still running");
}
