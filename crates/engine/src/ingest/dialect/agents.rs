//! What CLI agents have in common: they run their tools themselves, and some do not say where one
//! model call ends and the next begins.

use crate::event::{Executor, FailureReason, Level, Stop, ToolKind};
use crate::run::{ToolStart, Writer};

/// Whether the model has said anything since it last called a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Voice {
    #[default]
    Heard,
    CalledTool,
}

impl Voice {
    /// The run is over. If all that came after the last call was its result, then the model's
    /// last round had nothing to say, and the words before the call are not its reply.
    pub(super) fn complete(self, stop: Stop, out: &mut Writer<'_>) {
        if self == Voice::CalledTool {
            out.ensure_round();
        }
        out.end_message();
        out.complete(stop);
    }
}

/// A tool that the agent itself runs; the call is named where it is made.
pub(super) fn agent_tool(name: &str, kind: ToolKind) -> ToolStart<'_> {
    ToolStart { kind, executor: Executor::Client, ..ToolStart::function("", name) }
}

/// An error that may turn out to be the words of the run's ending, which then says them alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum LastError {
    #[default]
    None,
    /// Nothing has come since.
    Held(String),
    /// The run went on after it.
    Told(String),
}

impl LastError {
    pub(super) fn hold(&mut self, words: &str, out: &mut Writer<'_>) {
        if !matches!(self, LastError::Held(held) if held == words) {
            self.tell(out);
            *self = LastError::Held(words.to_owned());
        }
    }

    /// Something else comes: the error was no ending.
    pub(super) fn tell(&mut self, out: &mut Writer<'_>) {
        if let LastError::Held(words) = std::mem::take(self) {
            out.notice(Level::Error, &words);
            *self = LastError::Told(words);
        }
    }

    /// The run ends with these words of its own.
    pub(super) fn ends(&mut self, words: &str, out: &mut Writer<'_>) {
        match std::mem::take(self) {
            LastError::Held(held) if held.trim_ascii() != words.trim_ascii() => {
                out.notice(Level::Error, &held);
            }
            LastError::None | LastError::Held(_) | LastError::Told(_) => {}
        }
    }

    /// The words, for an ending that has none of its own.
    pub(super) fn take(&mut self) -> Option<String> {
        match std::mem::take(self) {
            LastError::None => None,
            LastError::Held(words) | LastError::Told(words) => Some(words),
        }
    }

    /// No more comes. Where nothing else has ended the run, the error did.
    pub(super) fn finish(&mut self, out: &mut Writer<'_>) {
        if out.is_settled() {
            self.tell(out);
        } else if let Some(words) = self.take() {
            out.fail(FailureReason::Error, &words);
        }
    }
}
