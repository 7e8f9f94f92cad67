//! What the log of a session holds for an agent that is about to work in it.

use engine::event::{AnsweredBy, Event, Millis, Record, StepId};
use gateway::id::{RunId, SessionId};
use gateway::log::Log;
use gateway::store::{Chunk, StoreError};

use crate::conversation::Conversation;
use crate::model::Rates;
use crate::pen::Used;
use crate::rounds::{BUDGET_ASK, GO_ON};

#[derive(Debug)]
pub struct Memory {
    pub conversation: Conversation,
    /// What the run that is worked on has said so far.
    pub run: Vec<Event<'static>>,
    /// What it has asked that nobody has answered.
    pub asks: Vec<OpenAsk>,
    pub budget: Budget,
    /// What the runs before it have used.
    pub used_before: Used,
}

/// What a person has been asked about the cost of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// How often they said that it may cost more.
    pub raised: u32,
    /// What is asked and not answered, and until when.
    pub open: Option<(String, Millis)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAsk {
    pub id: String,
    pub step: StepId,
    pub digest: String,
    pub expires_at_ms: Millis,
}

pub async fn remember(
    log: &Log,
    session: SessionId,
    run: RunId,
    rates: Rates,
) -> Result<Memory, StoreError> {
    let name = run.to_string();
    let mut memory = Memory {
        conversation: Conversation::default(),
        run: Vec::new(),
        asks: Vec::new(),
        budget: Budget::default(),
        used_before: Used::default(),
    };
    each_record(log, session, |record| {
        memory.conversation.hear(&record);
        memory.budget.hear(&record.event);
        if record.run == name {
            memory.hear_ask(&record.event);
            memory.run.push(record.event.into_owned());
        } else {
            memory.used_before.hear(&record.event, rates);
        }
    })
    .await?;
    Ok(memory)
}

/// What an agent calls its own conversation here, as it said last.
pub async fn own_name(
    log: &Log,
    session: SessionId,
    agent: &str,
) -> Result<Option<String>, StoreError> {
    let (mut named, mut is_agents) = (None, false);
    // What a branch has from before it was one is a conversation of the session that it came from.
    let own = log.blocking(move |store| store.session(session)).await?;
    let own_from = own.and_then(|own| own.parent).map_or(0, |(_, head)| head);
    each_record(log, session, |record| match &record.event {
        Event::RunStarted { dialect, .. } => is_agents = dialect == agent,
        Event::SessionNamed { name } if is_agents && own_from <= record.seq => {
            named = Some(name.to_string());
        }
        _ => {}
    })
    .await?;
    Ok(named)
}

/// Reads a session from its beginning.
async fn each_record(
    log: &Log,
    session: SessionId,
    mut hear: impl FnMut(Record<'_>),
) -> Result<(), StoreError> {
    let mut next = 0;
    loop {
        let chunks = log.read(session, next).await?;
        let Some(end) = chunks.last().map(Chunk::end) else { return Ok(()) };
        for record in chunks.iter().flat_map(|chunk| chunk.records(next)) {
            hear(record.map_err(|error| StoreError::Damaged {
                session,
                seq: next,
                detail: error.to_string(),
            })?);
        }
        next = end;
    }
}

impl Budget {
    fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::AskOpened { ask, expires_at_ms, .. } if ask.starts_with(BUDGET_ASK) => {
                self.open = Some((ask.to_string(), expires_at_ms.unwrap_or(Millis::MAX)));
            }
            Event::AskResolved { ask, answer, by } if ask.starts_with(BUDGET_ASK) => {
                self.open = None;
                self.raised += u32::from(answer == GO_ON && *by == AnsweredBy::Person);
            }
            _ => {}
        }
    }
}

impl Memory {
    fn hear_ask(&mut self, event: &Event<'_>) {
        match event {
            Event::AskOpened {
                ask,
                step: Some(step),
                digest: Some(digest),
                expires_at_ms: Some(expires_at_ms),
                ..
            } => self.asks.push(OpenAsk {
                id: ask.to_string(),
                step: *step,
                digest: digest.to_string(),
                expires_at_ms: *expires_at_ms,
            }),
            Event::AskResolved { ask, .. } => self.asks.retain(|open| open.id != *ask),
            _ => {}
        }
    }
}
