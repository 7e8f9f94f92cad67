//! The tool calls of a round, and the matching of deltas to them.

use crate::event::StepId;
use crate::ingest::frame::JsonDepth;
use crate::limits::ROUND_CALLS_MAX;
use crate::run::{Fingerprint, ToolStart, Writer};

/// The tool calls of the open round, at most `ROUND_CALLS_MAX` of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RoundCalls {
    calls: Vec<RoundCall>,
    started_count: usize,
}

/// A tool call and the keys by which later deltas find it.
#[derive(Clone, Debug, PartialEq)]
struct RoundCall {
    /// Fingerprint instead of the id itself, which may be as long as a frame.
    id_fingerprint: Fingerprint,
    index: Option<u64>,
    step: StepId,
    /// Nesting depth of the arguments so far; a closed value accepts no more.
    depth: JsonDepth,
    is_closed: bool,
}

/// The identification of a call in a delta; each part may be missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallRef<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) index: Option<u64>,
}

impl RoundCalls {
    /// Appends arguments to the call that `named` identifies, starting it if it is new.
    pub(super) fn ensure_call_and_append_arguments(
        &mut self,
        named: CallRef<'_>,
        arguments: &str,
        out: &mut Writer<'_>,
    ) {
        let at = self.find_call(named).unwrap_or_else(|| self.start_call(named, out));
        let call = &mut self.calls[at];
        call.is_closed |= call.depth.scan_to_value_end(arguments.as_bytes()).is_some();
        out.append_arguments(call.step, arguments);
    }

    /// Finds the call by id first; an index may be missing, or always 0.
    fn find_call(&self, named: CallRef<'_>) -> Option<usize> {
        if !named.id.is_empty() {
            let id = Fingerprint::from_text(named.id);
            return self.calls.iter().rposition(|call| call.id_fingerprint == id);
        }
        let at = match named.index {
            Some(_) => self.calls.iter().rposition(|call| call.index == named.index)?,
            None => self.calls.len().checked_sub(1)?,
        };
        let another = !named.name.is_empty() && (named.index.is_none() || self.calls[at].is_closed);
        (!another).then_some(at)
    }

    /// Starts a tool step, with a generated id where the call has none; returns its position.
    fn start_call(&mut self, named: CallRef<'_>, out: &mut Writer<'_>) -> usize {
        let made = format!("call_{}", self.started_count);
        let id = if named.id.is_empty() { &made } else { named.id };
        let step = out.start_tool(ToolStart::client_function(id, named.name));
        if ROUND_CALLS_MAX <= self.calls.len() {
            self.calls.remove(0);
        }
        self.started_count += 1;
        self.calls.push(RoundCall {
            id_fingerprint: Fingerprint::from_text(id),
            index: named.index,
            step,
            depth: JsonDepth::default(),
            is_closed: false,
        });
        self.calls.len() - 1
    }
}
