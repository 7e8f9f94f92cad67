//! Heartbeats: a prompt that a session gets by the clock, without anybody writing it.
//!
//! A session that is still busy with what came before misses its beat, and what was missed is not
//! made up for.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Local};
use croner::Cron;
use gateway::clock::{now_ms, random};
use gateway::gateway::{Gateway, new_session, no_chance};
use gateway::id::{OwnerId, QueuedId, RunId, SessionId};
use gateway::messages::{Refused, Turn, accept};
use gateway::store::{Query, Queued, Session, Store, StoreError};
use tokio::sync::Mutex;

#[derive(Clone, Debug)]
pub struct Heartbeat {
    schedule: Cron,
    /// The title of the session that it beats in; made if there is none.
    session: String,
    prompt: String,
}

/// A schedule that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{schedule}` is no schedule: {words}")]
pub struct BadSchedule {
    schedule: String,
    words: String,
}

/// What became of a beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    Begun(RunId),
    /// The session was busy.
    Missed,
}

/// Sessions that are looked at in one go.
const PAGE: usize = 200;
/// The longest sleep: a machine that slept itself wakes up with another time on its clock.
const SLEEP_MAX: Duration = Duration::from_secs(30);

impl Heartbeat {
    /// `schedule` is five fields, as `cron` has them, in local time. An agent that has nothing to
    /// report says the marker, and nobody hears of it.
    pub fn new(
        schedule: &str,
        session: &str,
        prompt: &str,
        marker: &str,
    ) -> Result<Heartbeat, BadSchedule> {
        let wrong = |words: String| BadSchedule { schedule: schedule.to_owned(), words };
        let cron = Cron::from_str(schedule).map_err(|error| wrong(error.to_string()))?;
        let prompt = format!(
            "{prompt}\n\n(Nobody is waiting for this: it came by the clock. If there is nothing to \
             report, answer with {marker} and nothing else.)"
        );
        Ok(Heartbeat { schedule: cron, session: session.to_owned(), prompt })
    }

    fn next_after(&self, now: &DateTime<Local>) -> Option<DateTime<Local>> {
        self.schedule.find_next_occurrence(now, false).ok()
    }

    /// Beats once, unless the session is busy.
    pub async fn beat(&self, gateway: &Arc<Gateway>, owner: OwnerId) -> Result<Beat, Refused> {
        let session = self.session(gateway, owner).await?;
        let queue = gateway.log.blocking(move |store| store.queue(session)).await?;
        if gateway.runs.of(session).is_some() || !queue.is_empty() {
            return Ok(Beat::Missed);
        }
        let now = now_ms();
        let id = QueuedId::new(now, random().map_err(no_chance)?);
        let queued = Queued { id, text: self.prompt.clone(), images: Vec::new(), accepted_ms: now };
        accept(gateway, session, queued, Turn::Next).await?;
        Ok(Beat::Begun(RunId::from(id)))
    }

    /// The oldest session of that title which is no branch of another.
    async fn session(&self, gateway: &Gateway, owner: OwnerId) -> Result<SessionId, StoreError> {
        static FINDING: Mutex<()> = Mutex::const_new(());
        let _alone = FINDING.lock().await;
        let title = self.session.clone();
        let find = move |store: &dyn Store| {
            let mut query = Query { limit: PAGE, ..Query::default() };
            let mut oldest: Option<Session> = None;
            loop {
                let page = store.sessions(owner, &query)?;
                let Some(last) = page.last() else { return Ok(oldest) };
                query.before = Some((last.changed_ms, last.id));
                let fits = |session: &Session| session.title == title && session.parent.is_none();
                oldest = page.into_iter().filter(fits).chain(oldest).min_by_key(|s| s.created_ms);
            }
        };
        if let Some(found) = gateway.log.blocking(find).await? {
            return Ok(found.id);
        }
        let session = new_session(owner, &self.session, now_ms())?;
        let id = session.id;
        gateway.log.blocking(move |store| store.create(&session)).await?;
        Ok(id)
    }
}

/// Beats as the schedule says, until the gateway stops.
pub async fn keep_beating(gateway: Arc<Gateway>, owner: OwnerId, heartbeat: Heartbeat) {
    let mut stopping = gateway.stopping.subscribe();
    while let Some(next) = heartbeat.next_after(&Local::now()) {
        loop {
            let left = (next - Local::now()).to_std().unwrap_or_default();
            if left.is_zero() {
                break;
            }
            tokio::select! {
                () = tokio::time::sleep(left.min(SLEEP_MAX)) => {}
                _ = stopping.wait_for(|stopping| *stopping) => return,
            }
        }
        match heartbeat.beat(&gateway, owner).await {
            Ok(Beat::Begun(run)) => tracing::info!(%run, "a heartbeat"),
            Ok(Beat::Missed) => tracing::info!("a heartbeat was missed: its session is busy"),
            Err(error) => tracing::error!(%error, "a heartbeat failed"),
        }
    }
    tracing::warn!("a heartbeat never comes again: its schedule has no more times");
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;

    use super::*;

    #[test]
    fn beats_come_when_the_schedule_says() {
        let heartbeat = Heartbeat::new("30 9 * * MON-FRI", "s", "p", "OK").unwrap();
        let friday = Local.with_ymd_and_hms(2026, 11, 13, 9, 30, 0).unwrap();
        let next = heartbeat.next_after(&friday).unwrap();
        assert_eq!(next.format("%a %H:%M").to_string(), "Mon 09:30");
        let bad = Heartbeat::new("now and then", "s", "p", "OK").unwrap_err();
        assert!(bad.to_string().starts_with("`now and then` is no schedule: "), "{bad}");
    }
}
