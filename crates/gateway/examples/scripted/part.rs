//! What a message asks the agent to play.

use serde::Deserialize;

/// A message in JSON. A field that is not given means: all of it, at once, without waiting.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Part {
    /// A recorded stream below the folder.
    pub(crate) play: String,
    /// So many bytes at a time.
    pub(crate) piece: Option<usize>,
    /// Milliseconds before each piece.
    pub(crate) pause: u64,
    /// Where the stream breaks off.
    pub(crate) cut: Option<usize>,
    /// Where the agent waits for an answer, to whatever ask.
    pub(crate) holds: Vec<usize>,
    /// What it says when it waits; the log then has an ask and its answer.
    pub(crate) ask: Option<String>,
}

/// What is done with the bytes of a stream, in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Act<'a> {
    Say(&'a [u8]),
    Hold,
}

impl Part {
    pub(crate) fn acts<'a>(&self, bytes: &'a [u8]) -> Vec<Act<'a>> {
        let mut left = bytes.get(..self.cut.unwrap_or(bytes.len())).unwrap_or(bytes);
        let mut acts = Vec::new();
        let mut at = 0;
        for hold in &self.holds {
            let (now, later) = left.split_at(hold.saturating_sub(at).min(left.len()));
            self.say(now, &mut acts);
            acts.push(Act::Hold);
            (left, at) = (later, at + now.len());
        }
        self.say(left, &mut acts);
        acts
    }

    fn say<'a>(&self, bytes: &'a [u8], acts: &mut Vec<Act<'a>>) {
        let piece = self.piece.unwrap_or(usize::MAX).max(1);
        acts.extend(bytes.chunks(piece).map(Act::Say));
    }
}
