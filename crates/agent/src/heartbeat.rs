//! Heartbeats: prompts sent to a session on a cron schedule.
//!
//! A session that is busy skips the beat; skipped beats are not made up for.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Local};
use croner::Cron;
use millpond_engine::event::PromptOrigin;
use millpond_log::clock::{now_ms, random_bytes};
use millpond_log::id::{OwnerId, QueuedId, RunId, SessionId};
use millpond_log::queue::{Delivery, QueueError};
use millpond_log::scheduler::Scheduler;
use millpond_log::store::{QueuedMessage, Session, SessionQuery, Store, StoreError};
use tokio::sync::Mutex;

/// A scheduled prompt for one session.
#[derive(Clone, Debug)]
pub struct Heartbeat {
    schedule: Cron,
    /// Title of its session, which is created if missing.
    session_title: String,
    prompt: String,
}

/// A schedule that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid schedule `{schedule}`: {words}")]
pub struct InvalidSchedule {
    schedule: String,
    words: String,
}

/// Result of one beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeatResult {
    Started(RunId),
    /// The session was busy, so no run was started.
    SkippedBusy,
}

/// Sessions read per query.
const SESSIONS_PER_QUERY: usize = 200;
/// Longest sleep: a suspended machine wakes up with a different clock time.
const SLEEP_TIME_MAX: Duration = Duration::from_secs(30);

impl Heartbeat {
    /// Parses the schedule and creates the heartbeat. `schedule` has the five fields of `cron`, in
    /// local time. An agent with nothing to report replies with `marker`, which is not shown.
    pub fn new(
        schedule: &str,
        session: &str,
        prompt: &str,
        marker: &str,
    ) -> Result<Heartbeat, InvalidSchedule> {
        let invalid = |words: String| InvalidSchedule { schedule: schedule.to_owned(), words };
        let cron = Cron::from_str(schedule).map_err(|error| invalid(error.to_string()))?;
        let prompt = format!(
            "{prompt}\n\n(Nobody is waiting for this: it came by the clock. If there is nothing to \
             report, answer with {marker} and nothing else.)"
        );
        Ok(Heartbeat { schedule: cron, session_title: session.to_owned(), prompt })
    }

    fn next_time_after(&self, now: &DateTime<Local>) -> Option<DateTime<Local>> {
        self.schedule.find_next_occurrence(now, false).ok()
    }

    /// Queues the prompt as a new run, unless the session is busy.
    pub async fn queue_prompt_unless_busy(
        &self,
        scheduler: &Arc<Scheduler>,
        owner: OwnerId,
    ) -> Result<BeatResult, QueueError> {
        let session = self.find_or_create_session(scheduler, owner).await?;
        let queue = scheduler.log.call_store(move |store| store.load_queue(session)).await?;
        if scheduler.runs.active_run_of_session(session).is_some() || !queue.is_empty() {
            return Ok(BeatResult::SkippedBusy);
        }
        let now = now_ms();
        let id = QueuedId::new(now, random_bytes().map_err(StoreError::from)?);
        let queued = QueuedMessage {
            id,
            text: self.prompt.clone(),
            images: Vec::new(),
            origin: PromptOrigin::Heartbeat,
            accepted_ms: now,
        };
        scheduler.accept_message_once(session, queued, Delivery::NextRun).await?;
        Ok(BeatResult::Started(RunId::from(id)))
    }

    /// The oldest session of that title that is not a branch; created if there is none.
    async fn find_or_create_session(
        &self,
        scheduler: &Scheduler,
        owner: OwnerId,
    ) -> Result<SessionId, StoreError> {
        static FINDING: Mutex<()> = Mutex::const_new(());
        let _alone = FINDING.lock().await;
        let title = self.session_title.clone();
        let find = move |store: &dyn Store| {
            let mut query = SessionQuery { limit: SESSIONS_PER_QUERY, ..SessionQuery::default() };
            let mut oldest: Option<Session> = None;
            loop {
                let page = store.list_sessions_of_owner_by_query(owner, &query)?;
                let Some(last) = page.last() else { return Ok(oldest) };
                query.before = Some((last.changed_ms, last.id));
                let is_match =
                    |session: &Session| session.title == title && session.parent.is_none();
                oldest =
                    page.into_iter().filter(is_match).chain(oldest).min_by_key(|s| s.created_ms);
            }
        };
        if let Some(found) = scheduler.log.call_store(find).await? {
            return Ok(found.id);
        }
        let session = Session::new(owner, &self.session_title, now_ms())?;
        let id = session.id;
        scheduler.log.call_store(move |store| store.create_session(&session)).await?;
        Ok(id)
    }
}

/// Sends the prompt at each scheduled time, until the gateway stops.
pub async fn run_schedule_until_stopped(
    scheduler: Arc<Scheduler>,
    owner: OwnerId,
    heartbeat: Heartbeat,
) {
    let mut stopping = scheduler.stopping.subscribe();
    while let Some(next) = heartbeat.next_time_after(&Local::now()) {
        loop {
            let remaining = (next - Local::now()).to_std().unwrap_or_default();
            if remaining.is_zero() {
                break;
            }
            tokio::select! {
                () = tokio::time::sleep(remaining.min(SLEEP_TIME_MAX)) => {}
                _ = stopping.wait_for(|stopping| *stopping) => return,
            }
        }
        match heartbeat.queue_prompt_unless_busy(&scheduler, owner).await {
            Ok(BeatResult::Started(run)) => tracing::info!(%run, "a heartbeat"),
            Ok(BeatResult::SkippedBusy) => {
                tracing::info!("a heartbeat was missed: its session is busy");
            }
            Err(error) => tracing::error!(%error, "a heartbeat failed"),
        }
    }
    tracing::warn!("heartbeat stopped: its schedule has no future times");
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;

    use super::*;

    #[test]
    fn beats_come_when_the_schedule_says() {
        let heartbeat = Heartbeat::new("30 9 * * MON-FRI", "s", "p", "OK").unwrap();
        let friday = Local.with_ymd_and_hms(2026, 11, 13, 9, 30, 0).unwrap();
        let next = heartbeat.next_time_after(&friday).unwrap();
        assert_eq!(next.format("%a %H:%M").to_string(), "Mon 09:30");
        let error = Heartbeat::new("now and then", "s", "p", "OK").unwrap_err();
        assert!(error.to_string().starts_with("invalid schedule `now and then`: "), "{error}");
    }
}
