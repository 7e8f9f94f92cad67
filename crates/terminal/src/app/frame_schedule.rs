//! Times of frames: at most one per interval, an early one after a key, none during a resize.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits::FRAME_INTERVAL;

/// Longest time that drawing is held back while a window is being resized.
const RESIZE_HOLD_MAX: Duration = Duration::from_secs(3);

/// Decides when the next frame is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameSchedule {
    pending: PendingFrame,
    last_frame: Instant,
    /// Last frame that showed a key early.
    last_echo: Instant,
    /// Set while the window is being resized.
    held_until: Option<Instant>,
}

/// Changes since the last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PendingFrame {
    None,
    Update,
    /// A key came: one early frame between two regular ones may show it.
    Echo,
}

impl FrameSchedule {
    /// Starts with a frame to draw.
    pub(super) fn with_first_frame_pending(now: Instant) -> FrameSchedule {
        let pending = PendingFrame::Update;
        FrameSchedule { pending, last_frame: now, last_echo: now, held_until: None }
    }

    /// Requests a frame.
    pub(super) fn request(&mut self) {
        self.pending = self.pending.max(PendingFrame::Update);
    }

    /// Requests an early frame that shows a key.
    pub(super) fn request_early_frame(&mut self) {
        self.pending = PendingFrame::Echo;
    }

    /// Holds frames back until the resize ends or takes too long.
    pub(super) fn hold_for_resize(&mut self, now: Instant) {
        self.held_until = Some(now + RESIZE_HOLD_MAX);
    }

    pub(super) fn is_held_for_resize(&self) -> bool {
        self.held_until.is_some()
    }

    pub(super) fn end_resize_hold(&mut self) {
        self.held_until = None;
    }

    /// Returns the time of the next frame; `None` if nothing has changed.
    pub(super) fn next_frame_time(&self) -> Option<Instant> {
        let regular = self.last_frame + FRAME_INTERVAL;
        let due = match self.pending {
            PendingFrame::None => return None,
            PendingFrame::Update => regular,
            PendingFrame::Echo => regular.min(self.last_echo + FRAME_INTERVAL),
        };
        Some(self.held_until.map_or(due, |until| until.max(due)))
    }

    /// Notes that a frame is drawn now.
    pub(super) fn mark_drawn_and_end_resize_hold(&mut self, now: Instant) {
        if self.pending == PendingFrame::Echo {
            self.last_echo = now;
        }
        self.pending = PendingFrame::None;
        self.held_until = None;
        self.last_frame = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_keep_their_distance_and_a_key_is_shown_early_once() {
        let start = Instant::now();
        let ms = |ms| start + Duration::from_millis(ms);
        let mut schedule = FrameSchedule::with_first_frame_pending(start);
        assert_eq!(schedule.next_frame_time(), Some(start + FRAME_INTERVAL));
        schedule.mark_drawn_and_end_resize_hold(ms(40));
        assert_eq!(schedule.next_frame_time(), None);
        schedule.request_early_frame();
        schedule.request();
        assert_eq!(schedule.next_frame_time(), Some(start + FRAME_INTERVAL), "due already");
        schedule.mark_drawn_and_end_resize_hold(ms(41));
        schedule.request_early_frame();
        assert_eq!(schedule.next_frame_time(), Some(ms(41) + FRAME_INTERVAL));
        schedule.hold_for_resize(ms(42));
        assert_eq!(schedule.next_frame_time(), Some(ms(42) + RESIZE_HOLD_MAX));
        schedule.end_resize_hold();
        assert_eq!(schedule.next_frame_time(), Some(ms(41) + FRAME_INTERVAL));
    }
}
