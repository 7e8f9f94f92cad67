//! The message format of the playback agent.

use serde::Deserialize;

/// A message in JSON. Missing fields mean: the whole stream, at once, without waiting.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PlayRequest {
    /// A recorded stream below the folder.
    pub(crate) play: String,
    /// Bytes per chunk.
    pub(crate) piece: Option<usize>,
    /// Milliseconds before each chunk.
    pub(crate) pause: u64,
    /// Byte position at which the stream is cut.
    pub(crate) cut: Option<usize>,
    /// Byte positions at which the agent waits for an answer.
    pub(crate) holds: Vec<usize>,
    /// Text of the ask; the log then has the ask and its answer.
    pub(crate) ask: Option<String>,
}

/// One step of the playback.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PlayStep<'a> {
    SendBytes(&'a [u8]),
    WaitForAnswer,
}

impl PlayRequest {
    pub(crate) fn play_steps<'a>(&self, bytes: &'a [u8]) -> Vec<PlayStep<'a>> {
        let mut left = bytes.get(..self.cut.unwrap_or(bytes.len())).unwrap_or(bytes);
        let mut acts = Vec::new();
        let mut at = 0;
        for hold in &self.holds {
            let (now, later) = left.split_at(hold.saturating_sub(at).min(left.len()));
            self.push_send_steps(now, &mut acts);
            acts.push(PlayStep::WaitForAnswer);
            (left, at) = (later, at + now.len());
        }
        self.push_send_steps(left, &mut acts);
        acts
    }

    fn push_send_steps<'a>(&self, bytes: &'a [u8], acts: &mut Vec<PlayStep<'a>>) {
        let piece = self.piece.unwrap_or(usize::MAX).max(1);
        acts.extend(bytes.chunks(piece).map(PlayStep::SendBytes));
    }
}
