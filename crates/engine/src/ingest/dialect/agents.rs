//! What CLI agents have in common: they run their tools themselves, and some do not say where one
//! model call ends and the next begins.

use crate::event::{Executor, Stop, ToolKind};
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
