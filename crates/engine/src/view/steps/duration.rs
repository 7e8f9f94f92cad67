//! Durations of steps, and their labels.

use crate::event::Millis;

/// Known start and end times of the steps of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StepTimes {
    /// Sum over the steps that have both times.
    total_of_timed: Option<Millis>,
    first_start: Option<Millis>,
    last_end: Option<Millis>,
}

impl StepTimes {
    /// Adds a step; its times may be missing.
    pub(super) fn add_step(&mut self, start: Option<Millis>, end: Option<Millis>) {
        if let Some(ran) = elapsed_ms(start, end) {
            self.total_of_timed = Some(self.total_of_timed.unwrap_or(0).saturating_add(ran));
        }
        self.first_start = [self.first_start, start].into_iter().flatten().min();
        self.last_end = self.last_end.max(end);
    }

    /// Earliest start.
    pub(super) fn first_start(&self) -> Option<Millis> {
        self.first_start
    }

    /// Sum of the durations; without any, the time from the first start to the last end.
    pub(super) fn total_or_span_ms(&self) -> Option<Millis> {
        self.total_of_timed.or(elapsed_ms(self.first_start, self.last_end))
    }
}

/// Time from start to end; `None` if the clock went back.
pub(super) fn elapsed_ms(start: Option<Millis>, end: Option<Millis>) -> Option<Millis> {
    end?.checked_sub(start?)
}

/// Label of the control: tenths below ten seconds, rounded to the nearest, without zero parts.
pub(super) fn ran_for_label(total: Option<Millis>) -> String {
    let Some(ms) = total else { return "Steps".to_owned() };
    let tenths = ms.saturating_add(50) / 100;
    if tenths < 100 {
        return match (tenths / 10, tenths % 10) {
            (seconds, 0) => format!("Ran for {seconds}s"),
            (seconds, tenth) => format!("Ran for {seconds}.{tenth}s"),
        };
    }
    let seconds = ms.saturating_add(500) / 1_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes, seconds) {
        (0, 0, seconds) => format!("Ran for {seconds}s"),
        (0, minutes, 0) => format!("Ran for {minutes}m"),
        (0, minutes, seconds) => format!("Ran for {minutes}m {seconds}s"),
        (hours, 0, _) => format!("Ran for {hours}h"),
        (hours, minutes, _) => format!("Ran for {hours}h {minutes}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_s5_a_time_is_said_in_few_words() {
        for (ms, words) in [
            (0, "0s"),
            (49, "0s"),
            (50, "0.1s"),
            (949, "0.9s"),
            (999, "1s"),
            (1_234, "1.2s"),
            (9_949, "9.9s"),
            (9_950, "10s"),
            (12_000, "12s"),
            (12_499, "12s"),
            (59_499, "59s"),
            (59_950, "1m"),
            (60_000, "1m"),
            (64_000, "1m 4s"),
            (3_599_499, "59m 59s"),
            (3_600_000, "1h"),
            (3_659_000, "1h"),
            (5_400_000, "1h 30m"),
            (u64::MAX, "5124095576030h 25m"),
        ] {
            assert_eq!(ran_for_label(Some(ms)), format!("Ran for {words}"), "{ms}");
        }
        assert_eq!(ran_for_label(None), "Steps");
    }

    #[test]
    fn steps_s5_a_clock_that_goes_back_does_not_count() {
        let mut ran = StepTimes::default();
        ran.add_step(Some(900), Some(100));
        assert_eq!(ran.total_or_span_ms(), None);
        ran.add_step(Some(1_000), Some(3_000));
        assert_eq!((ran.first_start(), ran.total_or_span_ms()), (Some(900), Some(2_000)));
    }
}
