//! Erases deleted and expired sessions from time to time, and says what and when.

use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_gateway::gateway::Gateway;
use millpond_log::clock::now_ms;
use millpond_log::expiry::{ClockLook, ExpiryLook, ExpirySchedule};
use millpond_log::store::StoreError;
use millpond_log::store::sqlite::{ErasureReason, Retention, SqliteStore, Sweep};

const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// Removes deleted and expired sessions from the store every `SWEEP_INTERVAL`.
pub(super) async fn erase_expired_sessions_periodically(
    store: Arc<SqliteStore>,
    gateway: Arc<Gateway>,
    retention: Retention,
) {
    let mut schedule = ExpirySchedule::default();
    loop {
        tokio::time::sleep(SWEEP_INTERVAL).await;
        let (store, gateway) = (Arc::clone(&store), Arc::clone(&gateway));
        let sweep = move || {
            let result = sweep_once(&store, &gateway, retention, &mut schedule);
            (schedule, result)
        };
        let Ok((used_schedule, result)) = tokio::task::spawn_blocking(sweep).await else { return };
        schedule = used_schedule;
        if let Err(error) = result {
            // The next sweep retries.
            tracing::warn!(%error, "cannot remove all deleted sessions; retrying later");
        }
    }
}

fn sweep_once(
    store: &SqliteStore,
    gateway: &Gateway,
    retention: Retention,
    schedule: &mut ExpirySchedule,
) -> Result<(), StoreError> {
    let clock = ClockLook { now_ms: now_ms(), instant: Instant::now() };
    let expired = store.list_sessions_past_age(clock.now_ms, retention)?;
    let look = schedule.look(clock, &expired);
    log_notices(&look, retention);
    let sweep = Sweep { now: clock.now_ms, retention, due: &look.due };
    store.erase_expired_sessions_and_vacuum(sweep, |session, reason| {
        gateway.end_streams_and_announce_erased_session(session);
        match reason {
            ErasureReason::Deleted => tracing::debug!(%session, "deleted session erased"),
            ErasureReason::Age => tracing::info!(%session, "session erased: older than keep_days"),
            ErasureReason::Size => {
                tracing::info!(%session, "session erased: the log is larger than keep_megabytes");
            }
        }
    })
}

/// Logs what will be erased, and a jump of the clock.
fn log_notices(look: &ExpiryLook, retention: Retention) {
    let hours = look.notice.as_secs() / 3600;
    if let Some(jump) = look.jump
        && retention.max_age.is_some()
    {
        tracing::warn!(
            "the clock jumped by {} s; nothing is erased for its age in the next {hours} hours",
            jump.as_secs()
        );
    }
    if !look.announced.is_empty() {
        tracing::warn!(
            sessions = look.announced.len(),
            "sessions older than keep_days will be erased in {hours} h; to keep one, pin it"
        );
    }
}
