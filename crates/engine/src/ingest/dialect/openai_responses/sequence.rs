//! Sequence numbers of events, for the detection of repeats.

/// Sequence numbers seen so far; some servers send a constant or negative number in each event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sequence {
    #[default]
    Unknown,
    First(u64),
    /// The numbers have been seen to grow.
    Counting {
        last: u64,
    },
    Meaningless,
}

impl Sequence {
    /// Records an event's number; returns true if a counting server has sent it before.
    pub(super) fn record_number_and_detect_repeat(&mut self, number: Option<u64>) -> bool {
        let Some(number) = number else {
            return false;
        };
        match *self {
            Sequence::Unknown => *self = Sequence::First(number),
            Sequence::First(last) | Sequence::Counting { last } if last < number => {
                *self = Sequence::Counting { last: number };
            }
            Sequence::First(_) => *self = Sequence::Meaningless,
            Sequence::Counting { .. } => return true,
            Sequence::Meaningless => {}
        }
        false
    }
}
