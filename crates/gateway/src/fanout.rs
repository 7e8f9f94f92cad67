//! Bounded broadcast for many receivers.
//!
//! Each receiver gets everything since it subscribed, in order, or `Missed`. Polling takes no lock
//! if nothing is new, and a short one otherwise; receivers that are awake can read while others are
//! still being woken.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use slab::Slab;
use tokio::sync::Notify;

/// Reason why a receiver gets no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveError {
    /// Older values were dropped; the next call returns the next new one.
    Missed,
    /// The sender was dropped.
    Closed,
}

#[derive(Debug)]
struct FanoutShared<T> {
    /// Number of values sent. Changes only under the lock of `recent`.
    sent_count: AtomicU64,
    closed: AtomicBool,
    /// The newest values.
    recent: Mutex<VecDeque<T>>,
    recent_max: usize,
    receivers: Mutex<Slab<Arc<AtomicWaker>>>,
    /// Notified when the last receiver is dropped.
    abandoned: Notify,
}

fn lock_ignoring_poison<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    // After a panic the value is still consistent: each change is a single step.
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> FanoutShared<T> {
    fn wake_receivers(&self) {
        for (_, waker) in lock_ignoring_poison(&self.receivers).iter() {
            waker.wake();
        }
    }
}

/// Sends to all receivers. Dropping it closes the broadcast.
#[derive(Debug)]
pub struct Sender<T>(Arc<FanoutShared<T>>);

/// Subscribes new receivers.
#[derive(Debug)]
pub struct Subscriber<T>(Arc<FanoutShared<T>>);

/// Receives values.
#[derive(Debug)]
pub struct Receiver<T> {
    shared: Arc<FanoutShared<T>>,
    next_index: u64,
    waker: Arc<AtomicWaker>,
    key: usize,
}

/// Creates a broadcast with its first receiver. A receiver more than `recent_max` values behind
/// gets `Missed`. `initial` is the value before the first one sent; no receiver gets it.
pub fn fanout<T: Clone>(recent_max: usize, initial: T) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(FanoutShared {
        sent_count: AtomicU64::new(0),
        closed: AtomicBool::new(false),
        recent: Mutex::new(VecDeque::from([initial])),
        recent_max,
        receivers: Mutex::new(Slab::new()),
        abandoned: Notify::new(),
    });
    let receiver = Receiver::new(&shared, 0);
    (Sender(shared), receiver)
}

impl<T: Clone> Sender<T> {
    /// Returns a handle that subscribes new receivers.
    pub fn subscriber(&self) -> Subscriber<T> {
        Subscriber(Arc::clone(&self.0))
    }

    /// Sends a value to all receivers; the oldest kept value is dropped.
    pub fn send(&self, value: T) {
        let mut recent = lock_ignoring_poison(&self.0.recent);
        if recent.len() == self.0.recent_max {
            recent.pop_front();
        }
        recent.push_back(value);
        self.0.sent_count.fetch_add(1, Ordering::Release);
        drop(recent);
        self.0.wake_receivers();
    }

    /// Adds a receiver of values sent from now on.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::new(&self.0, self.0.sent_count.load(Ordering::Acquire))
    }

    /// Waits until the last receiver has been dropped. Others may have subscribed since.
    pub async fn wait_until_abandoned(&self) {
        self.0.abandoned.notified().await;
    }

    /// True if there is a receiver.
    pub fn has_receivers(&self) -> bool {
        !lock_ignoring_poison(&self.0.receivers).is_empty()
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Release);
        self.0.wake_receivers();
    }
}

impl<T: Clone> Subscriber<T> {
    /// Adds a receiver of values sent from now on, and returns the last value. `None` if closed.
    pub fn subscribe(&self) -> Option<(Receiver<T>, T)> {
        if self.is_closed() {
            return None;
        }
        let recent = lock_ignoring_poison(&self.0.recent);
        let last = recent.back()?.clone();
        let next_index = self.0.sent_count.load(Ordering::Acquire);
        drop(recent);
        Some((Receiver::new(&self.0, next_index), last))
    }

    /// True once the sender was dropped.
    pub fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// Wakes all receivers although there is no value.
    pub fn wake_all_receivers(&self) {
        self.0.wake_receivers();
    }
}

impl<T: Clone> Receiver<T> {
    fn new(shared: &Arc<FanoutShared<T>>, next_index: u64) -> Receiver<T> {
        let waker = Arc::new(AtomicWaker::new());
        let key = lock_ignoring_poison(&shared.receivers).insert(Arc::clone(&waker));
        Receiver { shared: Arc::clone(shared), next_index, waker, key }
    }

    /// Polls for the next value.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, ReceiveError>> {
        if let Some(received) = self.try_recv() {
            return Poll::Ready(received);
        }
        self.waker.register(cx.waker());
        // A value may have been sent in between.
        self.try_recv().map_or(Poll::Pending, Poll::Ready)
    }

    /// True once the sender was dropped.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire)
    }

    fn try_recv(&mut self) -> Option<Result<T, ReceiveError>> {
        // In this order: values sent before closing are received before it.
        let is_closed = self.shared.closed.load(Ordering::Acquire);
        if self.shared.sent_count.load(Ordering::Acquire) == self.next_index {
            return is_closed.then_some(Err(ReceiveError::Closed));
        }
        let recent = lock_ignoring_poison(&self.shared.recent);
        let sent_count = self.shared.sent_count.load(Ordering::Acquire);
        let lag = usize::try_from(sent_count - self.next_index).unwrap_or(usize::MAX);
        let value = recent.len().checked_sub(lag).and_then(|at| recent.get(at)).cloned();
        drop(recent);
        self.next_index = if value.is_some() { self.next_index + 1 } else { sent_count };
        Some(value.ok_or(ReceiveError::Missed))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut receivers = lock_ignoring_poison(&self.shared.receivers);
        receivers.try_remove(self.key);
        if receivers.is_empty() {
            self.shared.abandoned.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Waker;

    use proptest::prelude::*;

    use super::*;

    fn poll<T: Clone>(receiver: &mut Receiver<T>) -> Poll<Result<T, ReceiveError>> {
        receiver.poll_recv(&mut Context::from_waker(Waker::noop()))
    }

    proptest! {
        /// In any order of sending, subscribing, receiving and dropping: a receiver gets
        /// consecutive numbers, or `Missed`, and none from before it subscribed.
        #[test]
        fn each_gets_all_since_it_joined_or_hears_of_a_gap(
            steps in proptest::collection::vec((0..6_u8, 0..4_usize), 0..200),
            keep in 1..5_usize,
        ) {
            let (sender, first) = fanout(keep, 0_u64);
            let door = sender.subscriber();
            let mut made = 0_u64;
            let mut takers = vec![(first, made)];
            for (step, which) in steps {
                match step {
                    0..3 => {
                        made += 1;
                        sender.send(made);
                    }
                    3 => {
                        let (taker, last) = door.subscribe().unwrap();
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
                                prop_assert_eq!(error, ReceiveError::Missed);
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
                prop_assert_eq!(sender.has_receivers(), !takers.is_empty());
            }
            drop(sender);
            prop_assert!(door.subscribe().is_none());
            for (taker, had) in &mut takers {
                while let Poll::Ready(Ok(n)) = poll(taker) {
                    prop_assert_eq!(n, *had + 1);
                    *had = n;
                }
                prop_assert!(matches!(poll(taker), Poll::Ready(Err(ReceiveError::Closed | ReceiveError::Missed))));
            }
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nobody_sleeps_through_what_is_handed_out() {
        const COUNT: u64 = 20_000;
        let (sender, _first) = fanout(usize::MAX, 0);
        let tasks = (0..8).map(|_| {
            let (mut receiver, _) = sender.subscriber().subscribe().unwrap();
            tokio::spawn(async move {
                let mut sum = 0;
                while let Ok(n) = poll_fn(|cx| receiver.poll_recv(cx)).await {
                    sum += n;
                }
                sum
            })
        });
        let tasks: Vec<_> = tasks.collect();
        for n in 1..=COUNT {
            sender.send(n);
            if n % 7 == 0 {
                tokio::task::yield_now().await;
            }
        }
        drop(sender);
        for task in tasks {
            assert_eq!(task.await.unwrap(), COUNT * (COUNT + 1) / 2);
        }
    }

    #[tokio::test]
    async fn to_rouse_wakes_those_who_wait() {
        let (sender, mut receiver) = fanout(1, 0);
        let mut polled = 0;
        let wait = poll_fn(|cx| {
            polled += 1;
            assert!(receiver.poll_recv(cx).is_pending());
            if polled == 1 {
                sender.subscriber().wake_all_receivers();
                return Poll::Pending;
            }
            Poll::Ready(())
        });
        wait.await;
        assert_eq!(polled, 2);
    }
}
