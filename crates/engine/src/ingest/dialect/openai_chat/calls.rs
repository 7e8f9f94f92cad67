//! The tool calls of a round, and which of them a delta is of.

use crate::event::StepId;
use crate::ingest::frame::Depth;
use crate::limits::ROUND_CALLS_MAX;
use crate::run::{Fingerprint, ToolStart, Writer};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Calls {
    calls: Vec<Call>,
    begun: usize,
}

/// A call, as later deltas may name it.
#[derive(Clone, Debug, PartialEq)]
struct Call {
    /// Of its id, which may be as long as a frame.
    id: Fingerprint,
    index: Option<u64>,
    step: StepId,
    /// How far the arguments are: a closed value takes no more.
    depth: Depth,
    closed: bool,
}

/// How a delta names its call; each part may be missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) index: Option<u64>,
}

impl Calls {
    /// Goes on with the call a delta names, or begins it.
    pub(super) fn delta(&mut self, named: Named<'_>, arguments: &str, out: &mut Writer<'_>) {
        let at = self.find(named).unwrap_or_else(|| self.begin(named, out));
        let call = &mut self.calls[at];
        call.closed |= call.depth.read(arguments.as_bytes()).is_some();
        out.arguments(call.step, arguments);
    }

    /// Ids count most; an index may be missing, or always 0.
    fn find(&self, named: Named<'_>) -> Option<usize> {
        if !named.id.is_empty() {
            let id = Fingerprint::of(named.id);
            return self.calls.iter().rposition(|call| call.id == id);
        }
        let at = match named.index {
            Some(_) => self.calls.iter().rposition(|call| call.index == named.index)?,
            None => self.calls.len().checked_sub(1)?,
        };
        let another = !named.name.is_empty() && (named.index.is_none() || self.calls[at].closed);
        (!another).then_some(at)
    }

    fn begin(&mut self, named: Named<'_>, out: &mut Writer<'_>) -> usize {
        let made = format!("call_{}", self.begun);
        let id = if named.id.is_empty() { &made } else { named.id };
        let step = out.tool(ToolStart::function(id, named.name));
        if ROUND_CALLS_MAX <= self.calls.len() {
            self.calls.remove(0);
        }
        self.begun += 1;
        self.calls.push(Call {
            id: Fingerprint::of(id),
            index: named.index,
            step,
            depth: Depth::default(),
            closed: false,
        });
        self.calls.len() - 1
    }
}
