//! The numbers that events count themselves with.

/// Not every server counts: some say the same number, or one below zero, in every event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sequence {
    #[default]
    Unknown,
    First(u64),
    /// Has been seen to grow.
    Counting {
        last: u64,
    },
    Meaningless,
}

impl Sequence {
    /// Whether an event of this number has come before.
    pub(super) fn is_repeat(&mut self, number: Option<u64>) -> bool {
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
