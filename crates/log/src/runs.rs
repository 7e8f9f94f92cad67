//! Active runs: registration, cancellation and answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::id::{RunId, SessionId};
use crate::session_changes::SessionChanges;

/// Request to an active run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunControl {
    Continue,
    Cancel,
    /// The process is stopping.
    Interrupt,
}

/// Registry of active runs. Cheap to clone; all clones share it.
#[derive(Clone, Debug, Default)]
pub struct ActiveRuns {
    by_id: Arc<Mutex<HashMap<RunId, ActiveRun>>>,
    /// True once the process is stopping; then no run can begin.
    stopping: watch::Sender<bool>,
    count: watch::Sender<usize>,
    /// Notified whenever a run is removed.
    run_removed: Arc<Notify>,
    session_changes: SessionChanges,
}

/// A person's answer to an ask.
#[derive(Debug)]
pub struct Answer {
    pub ask: String,
    pub answer: String,
    /// Receives the result; dropping it means that the ask was no longer open.
    pub result: oneshot::Sender<AnswerResult>,
}

/// Result of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerResult {
    Accepted,
    /// Already answered, expired, or never asked.
    NotOpen,
    /// Not one of the ask's options.
    UnknownOption,
}

/// An active run.
#[derive(Debug)]
struct ActiveRun {
    session: SessionId,
    control: watch::Sender<RunControl>,
    answers: Option<mpsc::Sender<Answer>>,
    /// Number of open asks.
    open_ask_count: usize,
}

/// Registration of an active run, removed when dropped.
#[derive(Debug)]
pub struct Ticket {
    runs: ActiveRuns,
    run: RunId,
    session: SessionId,
    pub control: watch::Receiver<RunControl>,
    /// Buffers answers that arrive before the agent has opened the channel.
    early_answers: Mutex<Option<mpsc::Receiver<Answer>>>,
}

/// Answers buffered per run.
const ANSWERS_QUEUED_MAX: usize = 16;

impl Ticket {
    /// Returns the channel on which answers to this run's asks arrive.
    pub fn open_answer_channel_if_run_open(&self) -> mpsc::Receiver<Answer> {
        let early_answers =
            self.early_answers.lock().unwrap_or_else(PoisonError::into_inner).take();
        early_answers.unwrap_or_else(|| self.register_answer_channel())
    }

    /// Buffers answers until `open_answer_channel_if_run_open` is called.
    pub(crate) fn buffer_early_answers(&self) {
        let answers = self.register_answer_channel();
        *self.early_answers.lock().unwrap_or_else(PoisonError::into_inner) = Some(answers);
    }

    /// Sets the number of open asks and notifies session subscribers if it changed.
    pub fn set_open_ask_count_and_notify(&self, asks: usize) {
        let mut active_runs = self.runs.lock();
        let Some(active_run) =
            active_runs.get_mut(&self.run).filter(|candidate| candidate.open_ask_count != asks)
        else {
            return;
        };
        active_run.open_ask_count = asks;
        drop(active_runs);
        self.runs.session_changes.notify_changed(self.session);
    }

    /// Registers a new answer channel for the run.
    fn register_answer_channel(&self) -> mpsc::Receiver<Answer> {
        let (sender, answers) = mpsc::channel(ANSWERS_QUEUED_MAX);
        if let Some(active_run) = self.runs.lock().get_mut(&self.run) {
            active_run.answers = Some(sender);
        }
        answers
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut active_runs = self.runs.lock();
        active_runs.remove(&self.run);
        self.runs.count.send_replace(active_runs.len());
        drop(active_runs);
        self.runs.run_removed.notify_one();
        self.runs.session_changes.notify_changed(self.session);
    }
}

impl ActiveRuns {
    /// Creates an empty registry. `session_changes` is notified when a run is removed or its number
    /// of open asks changes.
    pub fn new(session_changes: SessionChanges) -> ActiveRuns {
        ActiveRuns { session_changes, ..ActiveRuns::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, ActiveRun>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a run. `None` if the session has an active run, or the process is stopping.
    pub fn try_register_run(&self, session: SessionId, run: RunId) -> Option<Ticket> {
        let mut active_runs = self.lock();
        if *self.stopping.borrow() || active_runs.values().any(|other| other.session == session) {
            return None;
        }
        let (sender, control) = watch::channel(RunControl::Continue);
        active_runs
            .insert(run, ActiveRun { session, control: sender, answers: None, open_ask_count: 0 });
        self.count.send_replace(active_runs.len());
        Some(Ticket { runs: self.clone(), run, session, control, early_answers: Mutex::default() })
    }

    /// Waits until a run has been removed since the last call.
    pub async fn wait_until_any_run_removed(&self) {
        self.run_removed.notified().await;
    }

    /// Waits until a run is no longer registered.
    pub async fn wait_until_run_removed(&self, run: RunId) {
        let mut count = self.count.subscribe();
        while self.lock().contains_key(&run) {
            // An error is not possible: `self` has the sender.
            let _changed = count.changed().await;
        }
    }

    /// Number of active runs.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Delivers an answer to the run's agent and returns the result. `None` if the run is not
    /// active or takes no answers.
    pub async fn deliver_answer_and_await_result(
        &self,
        run: RunId,
        ask: String,
        answer: String,
    ) -> Option<AnswerResult> {
        let answers = self.lock().get(&run)?.answers.clone()?;
        let (result_sender, result_receiver) = oneshot::channel();
        answers.try_send(Answer { ask, answer, result: result_sender }).ok()?;
        Some(result_receiver.await.unwrap_or(AnswerResult::NotOpen))
    }

    /// The active run of a session.
    pub fn active_run_of_session(&self, session: SessionId) -> Option<RunId> {
        self.lock()
            .iter()
            .find(|(_, active_run)| active_run.session == session)
            .map(|(run, _)| *run)
    }

    /// Number of open asks in the active run of a session.
    pub fn open_ask_count_of_session(&self, session: SessionId) -> usize {
        self.lock()
            .values()
            .find(|active_run| active_run.session == session)
            .map_or(0, |active_run| active_run.open_ask_count)
    }

    /// True if no run is active.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Requests cancellation. Returns false if the run is not active.
    pub fn request_cancel(&self, run: RunId) -> bool {
        self.lock()
            .get(&run)
            .is_some_and(|active_run| active_run.control.send(RunControl::Cancel).is_ok())
    }

    /// Interrupts every run, prevents new ones, and waits until none is left.
    pub async fn interrupt_all_and_shut_down(&self) {
        {
            let active_runs = self.lock();
            self.stopping.send_replace(true);
            for active_run in active_runs.values() {
                // An error means that the run is just ending.
                let _ended = active_run.control.send(RunControl::Interrupt);
            }
        }
        let mut count = self.count.subscribe();
        let _none_left = count.wait_for(|count| *count == 0).await;
    }
}
