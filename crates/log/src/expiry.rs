//! When a session that is too old may be erased: after a notice, and never on one look at the clock.
//!
//! A clock that is wrong for a moment, or set wrong, would make every session look old. So a session
//! is erased only if it has looked too old for the whole time of a notice, measured by the monotonic
//! clock; if the two clocks disagree, the notice begins anew and is longer.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use millpond_engine::event::Millis;

use crate::id::SessionId;

/// Time between the notice and the erasure of a session that is too old.
pub const EXPIRY_NOTICE: Duration = Duration::from_hours(1);

/// The same for a day after the clock has jumped.
pub const EXPIRY_NOTICE_AFTER_JUMP: Duration = Duration::from_hours(24);

/// Difference between the two clocks from which on it is a jump.
pub const CLOCK_JUMP_MIN: Duration = Duration::from_mins(5);

/// Sessions that look too old, and since when.
#[derive(Debug, Default)]
pub struct ExpirySchedule {
    last_look: Option<ClockLook>,
    last_jump: Option<Instant>,
    /// When each session may be erased.
    erased_from: HashMap<SessionId, Instant>,
}

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug)]
pub struct ClockLook {
    pub now_ms: Millis,
    pub instant: Instant,
}

/// Result of one look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpiryLook {
    /// Sessions whose notice has passed.
    pub due: Vec<SessionId>,
    /// Sessions that were not known as too old before, and the time until they are due.
    pub announced: Vec<SessionId>,
    pub notice: Duration,
    /// Distance of the clock from the expected time, if it has jumped.
    pub jump: Option<Duration>,
}

impl ExpirySchedule {
    /// Takes the sessions that look too old now.
    pub fn look(&mut self, clock: ClockLook, expired: &[SessionId]) -> ExpiryLook {
        let jump = self.last_look.and_then(|last| clock.jump_since(last));
        self.last_look = Some(clock);
        if jump.is_some() {
            self.last_jump = Some(clock.instant);
            self.erased_from.clear();
        }
        let has_jumped_lately = self
            .last_jump
            .is_some_and(|jump| clock.instant.duration_since(jump) < EXPIRY_NOTICE_AFTER_JUMP);
        let notice = if has_jumped_lately { EXPIRY_NOTICE_AFTER_JUMP } else { EXPIRY_NOTICE };
        let mut result = ExpiryLook { notice, jump, ..ExpiryLook::default() };
        let mut erased_from = HashMap::with_capacity(expired.len());
        for session in expired {
            let from = self.erased_from.get(session).copied().unwrap_or_else(|| {
                result.announced.push(*session);
                clock.instant + notice
            });
            erased_from.insert(*session, from);
            if from <= clock.instant {
                result.due.push(*session);
            }
        }
        self.erased_from = erased_from;
        result
    }
}

impl ClockLook {
    /// Difference between the movements of the two clocks, if it is a jump.
    fn jump_since(self, last: ClockLook) -> Option<Duration> {
        let elapsed = self.instant.duration_since(last.instant);
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let expected_ms = last.now_ms.saturating_add(elapsed_ms);
        let jump = Duration::from_millis(self.now_ms.abs_diff(expected_ms));
        (CLOCK_JUMP_MIN <= jump).then_some(jump)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(numbers: &[u8]) -> Vec<SessionId> {
        numbers.iter().map(|n| SessionId::new(1, [*n; 10])).collect()
    }

    /// Looks whose wall clock is `jump` ahead of the monotonic one.
    struct Clock {
        schedule: ExpirySchedule,
        start: Instant,
    }

    impl Clock {
        fn look(&mut self, after: Duration, jump: Duration, expired: &[u8]) -> ExpiryLook {
            let now_ms = u64::try_from((after + jump).as_millis()).unwrap();
            let look = ClockLook { now_ms, instant: self.start + after };
            self.schedule.look(look, &sessions(expired))
        }
    }

    fn new_clock() -> Clock {
        Clock { schedule: ExpirySchedule::default(), start: Instant::now() }
    }

    const SECOND: Duration = Duration::from_secs(1);
    const STEADY: Duration = Duration::ZERO;

    #[test]
    fn a_session_is_announced_once_and_due_after_its_notice() {
        let mut clock = new_clock();
        let first = clock.look(STEADY, STEADY, &[1]);
        assert_eq!((first.announced, first.notice), (sessions(&[1]), EXPIRY_NOTICE));
        assert_eq!(first.due, []);
        let later = clock.look(EXPIRY_NOTICE.saturating_sub(SECOND), STEADY, &[1, 2]);
        assert_eq!((later.announced, later.due), (sessions(&[2]), vec![]));
        let due = clock.look(EXPIRY_NOTICE, STEADY, &[1, 2]);
        assert_eq!((due.announced, due.due), (vec![], sessions(&[1])));
    }

    #[test]
    fn a_session_that_was_changed_meanwhile_is_announced_anew() {
        let mut clock = new_clock();
        clock.look(STEADY, STEADY, &[1]);
        clock.look(10 * SECOND, STEADY, &[]);
        let again = clock.look(EXPIRY_NOTICE, STEADY, &[1]);
        assert_eq!((again.announced, again.due), (sessions(&[1]), vec![]));
    }

    #[test]
    fn a_jump_of_the_clock_erases_nothing_for_a_day() {
        let jump = Duration::from_hours(24 * 40);
        let mut clock = new_clock();
        clock.look(STEADY, STEADY, &[1]);
        let jumped = clock.look(EXPIRY_NOTICE, jump, &[1, 2, 3]);
        assert_eq!(jumped.jump, Some(jump));
        assert_eq!((jumped.due, jumped.announced), (vec![], sessions(&[1, 2, 3])));
        assert_eq!(jumped.notice, EXPIRY_NOTICE_AFTER_JUMP);
        let hours = |n| Duration::from_hours(n);
        assert_eq!(clock.look(hours(20), jump, &[1, 2, 3, 4]).announced, sessions(&[4]));
        // The clock is right again: nothing was lost, and nothing is due.
        let back = clock.look(hours(21), STEADY, &[1]);
        assert_eq!((back.jump, back.due), (Some(jump), vec![]));
        assert_eq!(clock.look(hours(44), STEADY, &[1]).due, []);
        let steady = clock.look(hours(45), STEADY, &[1, 5]);
        assert_eq!((steady.due, steady.notice), (sessions(&[1]), EXPIRY_NOTICE));
    }

    #[test]
    fn a_clock_that_is_put_right_by_a_little_is_no_jump() {
        let mut clock = new_clock();
        clock.look(STEADY, STEADY, &[1]);
        let look = clock.look(EXPIRY_NOTICE, CLOCK_JUMP_MIN.saturating_sub(SECOND), &[1]);
        assert_eq!((look.jump, look.due), (None, sessions(&[1])));
    }
}
