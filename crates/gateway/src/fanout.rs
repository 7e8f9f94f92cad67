//! One hands out, many take: each gets everything since it joined, in order, or hears that it
//! missed something.
//!
//! Made for many who wait for little. To look costs no lock, to take a short one, and those who are
//! being woken can take while others still wait to be woken.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use slab::Slab;

/// Why somebody who takes gets nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeError {
    /// Others were handed out before it came; it gets those that come now.
    Missed,
    /// Nothing will come any more.
    Closed,
}

#[derive(Debug)]
struct Shared<T> {
    /// How many have been handed out. Changes only under the lock of `kept`.
    made: AtomicU64,
    closed: AtomicBool,
    /// The last of them.
    kept: Mutex<VecDeque<T>>,
    keep: usize,
    takers: Mutex<Slab<Arc<AtomicWaker>>>,
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change under these locks is made in one go.
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Shared<T> {
    fn wake(&self) {
        for (_, waker) in held(&self.takers).iter() {
            waker.wake();
        }
    }
}

/// Hands out. When it is gone, those who take hear that it closed.
#[derive(Debug)]
pub struct Sender<T>(Arc<Shared<T>>);

/// Lets others join.
#[derive(Debug)]
pub struct Door<T>(Arc<Shared<T>>);

/// Takes.
#[derive(Debug)]
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    next: u64,
    waker: Arc<AtomicWaker>,
    key: usize,
}

/// One that hands out and the first that takes. Whoever is more than `keep` behind misses some.
/// `last` is what those who join find before anything was handed out.
pub fn fanout<T: Clone>(keep: usize, last: T) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        made: AtomicU64::new(0),
        closed: AtomicBool::new(false),
        kept: Mutex::new(VecDeque::from([last])),
        keep,
        takers: Mutex::new(Slab::new()),
    });
    let receiver = Receiver::new(&shared, 0);
    (Sender(shared), receiver)
}

impl<T: Clone> Sender<T> {
    pub fn door(&self) -> Door<T> {
        Door(Arc::clone(&self.0))
    }

    pub fn send(&self, value: T) {
        let mut kept = held(&self.0.kept);
        if kept.len() == self.0.keep {
            kept.pop_front();
        }
        kept.push_back(value);
        self.0.made.fetch_add(1, Ordering::Release);
        drop(kept);
        self.0.wake();
    }

    /// One more that takes what comes from now on.
    pub fn taker(&self) -> Receiver<T> {
        Receiver::new(&self.0, self.0.made.load(Ordering::Acquire))
    }

    pub fn has_takers(&self) -> bool {
        !held(&self.0.takers).is_empty()
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Release);
        self.0.wake();
    }
}

impl<T: Clone> Door<T> {
    /// One that takes what comes from now on, and what came last. Nothing when it is closed.
    pub fn join(&self) -> Option<(Receiver<T>, T)> {
        if self.is_closed() {
            return None;
        }
        let kept = held(&self.0.kept);
        let last = kept.back()?.clone();
        let next = self.0.made.load(Ordering::Acquire);
        drop(kept);
        Some((Receiver::new(&self.0, next), last))
    }

    pub fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// Makes everybody look up from waiting, though there is nothing to take.
    pub fn rouse(&self) {
        self.0.wake();
    }
}

impl<T: Clone> Receiver<T> {
    fn new(shared: &Arc<Shared<T>>, next: u64) -> Receiver<T> {
        let waker = Arc::new(AtomicWaker::new());
        let key = held(&shared.takers).insert(Arc::clone(&waker));
        Receiver { shared: Arc::clone(shared), next, waker, key }
    }

    /// The next one, as soon as there is one.
    pub fn poll_take(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, TakeError>> {
        if let Some(taken) = self.take() {
            return Poll::Ready(taken);
        }
        self.waker.register(cx.waker());
        // One may have come in between.
        self.take().map_or(Poll::Pending, Poll::Ready)
    }

    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire)
    }

    fn take(&mut self) -> Option<Result<T, TakeError>> {
        // In this order: what was handed out before the end is seen before the end.
        let closed = self.shared.closed.load(Ordering::Acquire);
        if self.shared.made.load(Ordering::Acquire) == self.next {
            return closed.then_some(Err(TakeError::Closed));
        }
        let kept = held(&self.shared.kept);
        let made = self.shared.made.load(Ordering::Acquire);
        let behind = usize::try_from(made - self.next).unwrap_or(usize::MAX);
        let next = kept.len().checked_sub(behind).and_then(|at| kept.get(at)).cloned();
        drop(kept);
        self.next = if next.is_some() { self.next + 1 } else { made };
        Some(next.ok_or(TakeError::Missed))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        held(&self.shared.takers).try_remove(self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Waker;

    use proptest::prelude::*;

    use super::*;

    fn poll<T: Clone>(receiver: &mut Receiver<T>) -> Poll<Result<T, TakeError>> {
        receiver.poll_take(&mut Context::from_waker(Waker::noop()))
    }

    proptest! {
        /// Whatever the order of sending, joining, taking and leaving: one that takes gets a run of
        /// numbers without a gap, unless it hears of one, and never one from before it joined.
        #[test]
        fn each_gets_all_since_it_joined_or_hears_of_a_gap(
            steps in proptest::collection::vec((0..6_u8, 0..4_usize), 0..200),
            keep in 1..5_usize,
        ) {
            let (sender, first) = fanout(keep, 0_u64);
            let door = sender.door();
            let mut made = 0_u64;
            let mut takers = vec![(first, made)];
            for (step, which) in steps {
                match step {
                    0..3 => {
                        made += 1;
                        sender.send(made);
                    }
                    3 => {
                        let (taker, last) = door.join().unwrap();
                        prop_assert_eq!(last, made);
                        takers.push((taker, made));
                    }
                    4 if which < takers.len() => {
                        let (taker, had) = &mut takers[which];
                        let behind = made - *had;
                        *had = match poll(taker) {
                            Poll::Ready(Ok(n)) => {
                                prop_assert_eq!(n, *had + 1);
                                n
                            }
                            Poll::Ready(Err(error)) => {
                                prop_assert_eq!(error, TakeError::Missed);
                                prop_assert!((keep as u64) < behind);
                                made
                            }
                            Poll::Pending => {
                                prop_assert_eq!(behind, 0);
                                made
                            }
                        };
                    }
                    5 if which < takers.len() => {
                        takers.swap_remove(which);
                    }
                    _ => {}
                }
                prop_assert_eq!(sender.has_takers(), !takers.is_empty());
            }
            drop(sender);
            prop_assert!(door.join().is_none());
            for (taker, had) in &mut takers {
                while let Poll::Ready(Ok(n)) = poll(taker) {
                    prop_assert_eq!(n, *had + 1);
                    *had = n;
                }
                prop_assert!(matches!(poll(taker), Poll::Ready(Err(TakeError::Closed | TakeError::Missed))));
            }
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nobody_sleeps_through_what_is_handed_out() {
        const COUNT: u64 = 20_000;
        let (sender, _first) = fanout(usize::MAX, 0);
        let takers = (0..8).map(|_| {
            let (mut taker, _) = sender.door().join().unwrap();
            tokio::spawn(async move {
                let mut sum = 0;
                while let Ok(n) = poll_fn(|cx| taker.poll_take(cx)).await {
                    sum += n;
                }
                sum
            })
        });
        let takers: Vec<_> = takers.collect();
        for n in 1..=COUNT {
            sender.send(n);
            if n % 7 == 0 {
                tokio::task::yield_now().await;
            }
        }
        drop(sender);
        for taker in takers {
            assert_eq!(taker.await.unwrap(), COUNT * (COUNT + 1) / 2);
        }
    }

    #[tokio::test]
    async fn to_rouse_wakes_those_who_wait() {
        let (sender, mut taker) = fanout(1, 0);
        let mut polled = 0;
        let waiting = poll_fn(|cx| {
            polled += 1;
            assert!(taker.poll_take(cx).is_pending());
            if polled == 1 {
                sender.door().rouse();
                return Poll::Pending;
            }
            Poll::Ready(())
        });
        waiting.await;
        assert_eq!(polled, 2);
    }
}
