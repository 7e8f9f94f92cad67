//! The runs that are going: who can stop them, and what becomes of those whose writer is gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::event::{Event, FailureReason, Image, Outcome, Record};
use engine::run::unfinished::Unfinished;
use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::agent::{Agent, Job, Place, Prompt};
use crate::clock::now_ms;
use crate::id::{RunId, SessionId};
use crate::log::{Log, RunLog};
use crate::messages::Queues;
use crate::news::News;
use crate::store::{Chunk, RunRow, Store, StoreError};

/// How long to wait before the ending of a run is tried again that could not be kept.
const RETRY_EVERY: Duration = Duration::from_secs(1);

/// What a run is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    GoOn,
    Cancel,
    /// The gateway stops.
    Interrupt,
}

#[derive(Clone, Debug, Default)]
pub struct Runs {
    going: Arc<Mutex<HashMap<RunId, Going>>>,
    /// Whether the gateway stops: then no run begins.
    stopping: watch::Sender<bool>,
    count: watch::Sender<usize>,
    /// Told whenever a run has gone: its session has room for another.
    freed: Arc<Notify>,
    news: News,
}

/// What a person said to an ask.
#[derive(Debug)]
pub struct Answer {
    pub ask: String,
    pub answer: String,
    /// Told what became of it; one that is dropped came too late.
    pub heard: oneshot::Sender<Heard>,
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    Taken,
    /// It was answered before, or expired, or was never asked.
    NotOpen,
    /// It is none of the options.
    NoOption,
}

#[derive(Debug)]
struct Going {
    session: SessionId,
    wish: watch::Sender<Wish>,
    answers: Option<mpsc::Sender<Answer>>,
    /// How many asks of it are open.
    asks: usize,
}

/// A run's place among those that are going, given up when dropped.
#[derive(Debug)]
pub struct Ticket {
    runs: Runs,
    run: RunId,
    session: SessionId,
    pub wish: watch::Receiver<Wish>,
    /// Answers that came before whoever works on the run was there to take them.
    early: Mutex<Option<mpsc::Receiver<Answer>>>,
}

/// Answers that may wait for whoever works on a run.
const ANSWERS_WAITING_MAX: usize = 16;

impl Ticket {
    /// From now on answers to asks of this run come here.
    pub fn take_answers(&self) -> mpsc::Receiver<Answer> {
        let early = self.early.lock().unwrap_or_else(PoisonError::into_inner).take();
        early.unwrap_or_else(|| self.hear_answers())
    }

    /// From now on answers to asks of this run wait for whoever takes them.
    fn keep_answers(&self) {
        let answers = self.hear_answers();
        *self.early.lock().unwrap_or_else(PoisonError::into_inner) = Some(answers);
    }

    /// Says how many asks of the run are open, to those who list sessions.
    pub fn asking(&self, asks: usize) {
        let mut going = self.runs.lock();
        let Some(of) = going.get_mut(&self.run).filter(|of| of.asks != asks) else { return };
        of.asks = asks;
        drop(going);
        self.runs.news.tell(self.session);
    }

    fn hear_answers(&self) -> mpsc::Receiver<Answer> {
        let (sender, answers) = mpsc::channel(ANSWERS_WAITING_MAX);
        if let Some(going) = self.runs.lock().get_mut(&self.run) {
            going.answers = Some(sender);
        }
        answers
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut going = self.runs.lock();
        going.remove(&self.run);
        self.runs.count.send_replace(going.len());
        drop(going);
        self.runs.freed.notify_one();
        self.runs.news.tell(self.session);
    }
}

impl Runs {
    /// Those who list sessions hear from `news` when a run has gone.
    pub fn new(news: News) -> Runs {
        Runs { news, ..Runs::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Going>> {
        self.going.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing if a run is going in this session, or the gateway stops.
    pub fn begin(&self, session: SessionId, run: RunId) -> Option<Ticket> {
        let mut going = self.lock();
        if *self.stopping.borrow() || going.values().any(|other| other.session == session) {
            return None;
        }
        let (sender, wish) = watch::channel(Wish::GoOn);
        going.insert(run, Going { session, wish: sender, answers: None, asks: 0 });
        self.count.send_replace(going.len());
        Some(Ticket { runs: self.clone(), run, session, wish, early: Mutex::default() })
    }

    /// Done when a run has gone since this was last asked.
    pub async fn one_gone(&self) {
        self.freed.notified().await;
    }

    /// How many are going.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Hands an answer to whoever works on the run, and says what became of it. Nothing if nobody
    /// who takes answers does.
    pub async fn answer(&self, run: RunId, ask: String, answer: String) -> Option<Heard> {
        let answers = self.lock().get(&run)?.answers.clone()?;
        let (heard, told) = oneshot::channel();
        answers.try_send(Answer { ask, answer, heard }).ok()?;
        Some(told.await.unwrap_or(Heard::NotOpen))
    }

    /// The run that is going in a session.
    pub fn of(&self, session: SessionId) -> Option<RunId> {
        self.lock().iter().find(|(_, going)| going.session == session).map(|(run, _)| *run)
    }

    /// How many asks are open in the run that is going in a session.
    pub fn asks(&self, session: SessionId) -> usize {
        self.lock().values().find(|going| going.session == session).map_or(0, |going| going.asks)
    }

    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Says whether the run is going.
    pub fn cancel(&self, run: RunId) -> bool {
        self.lock().get(&run).is_some_and(|going| going.wish.send(Wish::Cancel).is_ok())
    }

    /// Asks every run to end, lets no other begin, and waits until the last has gone.
    pub async fn stop_all(&self) {
        {
            let going = self.lock();
            self.stopping.send_replace(true);
            for going in going.values() {
                // One that is just ending needs no wish.
                let _ended = going.wish.send(Wish::Interrupt);
            }
        }
        let mut count = self.count.subscribe();
        let _none_left = count.wait_for(|count| *count == 0).await;
    }
}

/// Ends every run that the store has open, for whoever wrote them is gone; but for those of `agent`
/// that wait for an answer, which it goes on with. One whose log is damaged stays open until it was
/// repaired; it costs no other session anything.
pub async fn end_open_runs(
    log: &Log,
    runs: &Runs,
    queues: &Arc<Queues>,
    agent: Option<&dyn Agent>,
) -> Result<Vec<Job>, StoreError> {
    let mut waiting = Vec::new();
    for row in log.blocking(Store::open_runs).await? {
        match interrupt_or_keep(log, runs, queues, agent, &row).await {
            Err(error @ StoreError::Damaged { .. }) => {
                tracing::error!(%error, run = %row.id, "a run could not be ended");
            }
            kept => waiting.extend(kept?),
        }
    }
    Ok(waiting)
}

/// What ends the run that is open after the record before `end`, as records that follow it. A branch
/// that begins in the middle of a run ends it there.
pub async fn closing(log: &Log, session: SessionId, end: u64) -> Result<Option<Chunk>, StoreError> {
    let mut open: Option<(String, Unfinished)> = None;
    let mut next = 0;
    while next < end {
        let from = next;
        let chunks = log.read(session, from).await?;
        for record in chunks.iter().flat_map(|chunk| chunk.records(from)) {
            let record = record.map_err(|error| damaged(session, next, &error))?;
            if end <= record.seq {
                break;
            }
            next = record.seq + 1;
            match &mut open {
                Some((run, unfinished)) if **run == *record.run => unfinished.hear(&record.event),
                _ => {
                    let mut unfinished = Unfinished::default();
                    unfinished.hear(&record.event);
                    open = Some((record.run.into_owned(), unfinished));
                }
            }
        }
        if chunks.is_empty() {
            break;
        }
    }
    let Some((run, unfinished)) = open else { return Ok(None) };
    let events = unfinished.close(Outcome::Interrupted, None, "");
    if events.is_empty() {
        return Ok(None);
    }
    let mut lines = String::new();
    let at_ms = Some(now_ms());
    let len = events.len() as u64;
    for (seq, event) in (end..).zip(events) {
        let record = Record { seq, at_ms, run: run.as_str().into(), event };
        let line = serde_json::to_string(&record)
            .map_err(|error| StoreError::Failed(format!("a record is no JSON: {error}")))?;
        lines.push_str(&line);
        lines.push('\n');
    }
    Ok(Some(Chunk { first: end, len, lines: lines.into() }))
}

fn damaged(session: SessionId, seq: u64, error: &serde_json::Error) -> StoreError {
    StoreError::Damaged { session, seq, detail: error.to_string() }
}

async fn interrupt_or_keep(
    log: &Log,
    runs: &Runs,
    queues: &Arc<Queues>,
    agent: Option<&dyn Agent>,
    row: &RunRow,
) -> Result<Option<Job>, StoreError> {
    let mut run = log.run(row.session, row.id);
    let (mut is_agents, mut prompt, mut joined) = (false, None, Vec::new());
    let unfinished = read_back(log, row, |event| {
        run.recall(event);
        match event {
            Event::RunStarted { dialect, .. } => {
                is_agents = agent.is_some_and(|agent| agent.resumes() && agent.name() == dialect);
            }
            Event::PromptReceived { text, images } if prompt.is_none() => {
                let images = images.iter().cloned().map(Image::into_owned).collect();
                prompt = Some(Prompt { text: text.to_string(), images });
            }
            Event::PromptJoined { queued } => joined.push(queued.to_string()),
            _ => {}
        }
    })
    .await?;
    if !joined.is_empty() {
        forget_joined(log, row.session, joined).await?;
    }
    if is_agents
        && unfinished.waits()
        && let Some(ticket) = runs.begin(row.session, row.id)
    {
        ticket.keep_answers();
        let place = Place { run, ticket, queues: Arc::clone(queues) };
        return Ok(Some(Job::found(prompt.unwrap_or_default(), place, unfinished)));
    }
    let events = unfinished.close(Outcome::Interrupted, None, "");
    let at = Some(now_ms());
    let facts = events.into_iter().map(|event| (at, event)).collect();
    run.append(facts).await?;
    Ok(None)
}

/// A process that ended between writing that messages joined a run and taking them out of the queue
/// has left them in both.
async fn forget_joined(
    log: &Log,
    session: SessionId,
    joined: Vec<String>,
) -> Result<(), StoreError> {
    log.blocking(move |store| {
        let mut queue = store.queue(session)?;
        let before = queue.len();
        queue.retain(|queued| !joined.contains(&queued.id.to_string()));
        if queue.len() == before { Ok(()) } else { store.set_queue(session, &queue) }
    })
    .await
}

/// What a run has left open, as its log tells. `hear` is told each event.
async fn read_back(
    log: &Log,
    row: &RunRow,
    mut hear: impl FnMut(&Event<'_>),
) -> Result<Unfinished, StoreError> {
    let name = row.id.to_string();
    let mut unfinished = Unfinished::default();
    let mut next = row.first;
    loop {
        let chunks = log.read(row.session, next).await?;
        let Some(end) = chunks.last().map(Chunk::end) else {
            return Ok(unfinished);
        };
        for record in chunks.iter().flat_map(|chunk| chunk.records(next)) {
            let record = record.map_err(|error| damaged(row.session, next, &error))?;
            if record.run == name {
                unfinished.hear(&record.event);
                hear(&record.event);
            }
        }
        next = end;
    }
}

/// The log could not be kept: ends the run as failed, now or as soon as there is room again. No
/// other run of its session begins before.
pub async fn end_as_unkept(mut run: RunLog, ticket: Ticket, error: StoreError) {
    let row = RunRow {
        id: run.id(),
        session: run.session(),
        first: 0,
        ended: None,
        used: crate::store::Used::default(),
    };
    loop {
        let kept = match read_back(run.log(), &row, |_| {}).await {
            Ok(unfinished) => {
                let reason = Some(FailureReason::Storage);
                let events = unfinished.close(Outcome::Failed, reason, &error.to_string());
                let at = Some(now_ms());
                run.append(events.into_iter().map(|event| (at, event)).collect()).await
            }
            Err(error) => Err(error),
        };
        match kept {
            Ok(_) | Err(StoreError::NoSession(_) | StoreError::RunEnded(_)) => break,
            Err(_) => tokio::time::sleep(RETRY_EVERY).await,
        }
    }
    drop(ticket);
}
