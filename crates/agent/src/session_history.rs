//! Reads a session's log into the state that an agent starts a run with.

use millpond_engine::event::{AnsweredBy, Event, Millis, Record, StepId};
use millpond_log::Log;
use millpond_log::id::{RunId, SessionId};
use millpond_log::store::StoreError;

use crate::agent_loop::{BUDGET_ASK_PREFIX, RAISE_BUDGET_ANSWER};
use crate::conversation::Conversation;
use crate::model::TokenRates;
use crate::run_writer::UsageTotals;

/// State of a session and of the current run, from the log.
#[derive(Debug)]
pub struct SessionHistory {
    /// The session's conversation.
    pub conversation: Conversation,
    /// Events of the current run so far.
    pub run_events: Vec<Event<'static>>,
    /// Open asks of the current run.
    pub open_asks: Vec<OpenAsk>,
    /// Budget asks of the session.
    pub budget: BudgetAsks,
    /// Usage of the earlier runs.
    pub usage_before_run: UsageTotals,
}

/// Budget asks of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetAsks {
    /// Times a person raised the budget.
    pub raises: u32,
    /// Id and expiry of the open budget ask.
    pub open_ask: Option<(String, Millis)>,
}

/// An approval ask without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAsk {
    /// Id of the ask.
    pub id: String,
    /// Step of the call it is about.
    pub step: StepId,
    /// Digest of the action shown.
    pub digest: String,
    /// Time at which it expires.
    pub expires_at_ms: Millis,
}

/// Reads the session's log and folds it into a `SessionHistory` for `run`.
pub async fn load_session_history(
    log: &Log,
    session: SessionId,
    run: RunId,
    rates: TokenRates,
) -> Result<SessionHistory, StoreError> {
    let name = run.to_string();
    let mut memory = SessionHistory {
        conversation: Conversation::default(),
        run_events: Vec::new(),
        open_asks: Vec::new(),
        budget: BudgetAsks::default(),
        usage_before_run: UsageTotals::default(),
    };
    for_each_record_of_session(log, session, |record| {
        memory.conversation.apply(record);
        memory.budget.apply(&record.event);
        if record.run == name {
            memory.update_open_asks(&record.event);
            memory.run_events.push(record.event.clone().into_owned());
        } else {
            memory.usage_before_run.apply(&record.event, rates);
        }
    })
    .await?;
    Ok(memory)
}

/// The external agent's own id of this session, as last logged.
pub async fn load_agent_session_id(
    log: &Log,
    session: SessionId,
    agent: &str,
) -> Result<Option<String>, StoreError> {
    let (mut agent_session, mut is_run_of_agent) = (None, false);
    // Records from before the branch belong to the parent's session.
    let session_row = log.call_store(move |store| store.load_session_even_deleted(session)).await?;
    let branch_start = session_row.and_then(|row| row.parent).map_or(0, |(_, head)| head);
    for_each_record_of_session(log, session, |record| match &record.event {
        Event::RunStarted { dialect, .. } => is_run_of_agent = dialect == agent,
        Event::SessionNamed { name } if is_run_of_agent && branch_start <= record.seq => {
            agent_session = Some(name.to_string());
        }
        _ => {}
    })
    .await?;
    Ok(agent_session)
}

/// Calls `handle` with each record of the session, from the start.
async fn for_each_record_of_session(
    log: &Log,
    session: SessionId,
    mut handle: impl FnMut(&Record<'_>),
) -> Result<(), StoreError> {
    let mut next = 0;
    loop {
        let chunks = log.read(session, next).await?;
        let Some(end) = chunks.last().map(|chunk| chunk.next_seq()) else { return Ok(()) };
        for record in chunks.iter().flat_map(|chunk| chunk.records_from(next)) {
            let record = record.map_err(|error| StoreError::Damaged {
                session,
                seq: next,
                detail: error.to_string(),
            })?;
            handle(&record);
        }
        next = end;
    }
}

impl BudgetAsks {
    fn apply(&mut self, event: &Event<'_>) {
        match event {
            Event::AskOpened { ask, expires_at_ms, .. } if ask.starts_with(BUDGET_ASK_PREFIX) => {
                self.open_ask = Some((ask.to_string(), expires_at_ms.unwrap_or(Millis::MAX)));
            }
            Event::AskResolved { ask, answer, by } if ask.starts_with(BUDGET_ASK_PREFIX) => {
                self.open_ask = None;
                self.raises +=
                    u32::from(answer == RAISE_BUDGET_ANSWER && *by == AnsweredBy::Person);
            }
            _ => {}
        }
    }
}

impl SessionHistory {
    fn update_open_asks(&mut self, event: &Event<'_>) {
        match event {
            Event::AskOpened {
                ask,
                step: Some(step),
                digest: Some(digest),
                expires_at_ms: Some(expires_at_ms),
                ..
            } => self.open_asks.push(OpenAsk {
                id: ask.to_string(),
                step: *step,
                digest: digest.to_string(),
                expires_at_ms: *expires_at_ms,
            }),
            Event::AskResolved { ask, .. } => self.open_asks.retain(|open| open.id != *ask),
            _ => {}
        }
    }
}
