//! Exponential backoff: pauses that double up to a limit.

use std::time::Duration;

use crate::limits::{REQUEST_ATTEMPTS_MAX, RETRY_DELAY_MAX, RETRY_DELAY_MIN};

/// Sequence of pauses, each twice the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    min: Duration,
    max: Duration,
    next: Duration,
}

impl Backoff {
    /// Creates a backoff whose pauses grow from `min` to `max`.
    pub fn new(min: Duration, max: Duration) -> Backoff {
        Backoff { min, max, next: min }
    }

    /// Returns the next pause and doubles the one after it, up to the longest.
    pub fn next_pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.max);
        pause
    }

    /// Starts again with the shortest pause.
    pub fn reset(&mut self) {
        self.next = self.min;
    }

    /// Sets the shortest pause, at most the longest one, and starts again with it. Does nothing if
    /// it is set already.
    pub fn set_min_and_reset_if_changed(&mut self, min: Duration) {
        let min = min.min(self.max);
        if self.min != min {
            self.min = min;
            self.reset();
        }
    }
}

/// Repeats a call with backoff while `is_transient` holds for its error, at most
/// [`REQUEST_ATTEMPTS_MAX`] times in all.
pub async fn retry_up_to_limit_with_backoff<T, E, F>(
    is_transient: impl Fn(&E) -> bool,
    mut call: impl FnMut() -> F,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
    let mut attempts = 1;
    loop {
        match call().await {
            Err(error) if is_transient(&error) && attempts < REQUEST_ATTEMPTS_MAX => {
                tokio::time::sleep(backoff.next_pause()).await;
                attempts += 1;
            }
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_limit() {
        let ms = Duration::from_millis;
        let mut backoff = Backoff::new(ms(100), ms(350));
        let pauses = [(); 4].map(|()| backoff.next_pause());
        assert_eq!(pauses, [ms(100), ms(200), ms(350), ms(350)]);
        backoff.reset();
        assert_eq!(backoff.next_pause(), ms(100));
        backoff.set_min_and_reset_if_changed(ms(900));
        assert_eq!([(); 2].map(|()| backoff.next_pause()), [ms(350), ms(350)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_repeated_while_its_error_is_transient_and_not_for_ever() {
        let check = async |errors: u32, is_transient: bool| {
            let mut calls = 0;
            let done = retry_up_to_limit_with_backoff(
                |()| is_transient,
                || {
                    calls += 1;
                    std::future::ready(if errors < calls { Ok(()) } else { Err(()) })
                },
            )
            .await;
            (done, calls)
        };
        assert_eq!(check(0, true).await, (Ok(()), 1));
        assert_eq!(check(1, false).await, (Err(()), 1));
        assert_eq!(check(REQUEST_ATTEMPTS_MAX - 1, true).await, (Ok(()), REQUEST_ATTEMPTS_MAX));
        assert_eq!(check(REQUEST_ATTEMPTS_MAX, true).await, (Err(()), REQUEST_ATTEMPTS_MAX));
    }
}
