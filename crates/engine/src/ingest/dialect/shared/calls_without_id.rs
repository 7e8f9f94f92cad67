//! Matches items to calls without an id, and detects repeated item ends.

use std::collections::VecDeque;

use crate::event::StepId;
use crate::limits::{DEDUP_ITEMS_MAX, OPEN_TOOLS_MAX};
use crate::run::{Fingerprint, ToolStart, Writer};

use super::bounded::push_bounded;

/// Open calls without an id, and the lines that ended items.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallMatcher {
    /// Calls without an id, by fingerprint of name and arguments.
    calls_without_id: VecDeque<(Fingerprint, StepId)>,
    /// Fingerprints of lines that ended an item.
    ended_lines: VecDeque<Fingerprint>,
}

impl CallMatcher {
    /// Records a line that ends an item; returns true if the same line came before.
    pub(crate) fn record_end_and_detect_repeat(&mut self, id: &str, line: &str) -> bool {
        if id.is_empty() {
            return false;
        }
        let print = Fingerprint::from_text(line);
        if self.ended_lines.contains(&print) {
            return true;
        }
        push_bounded(&mut self.ended_lines, print, DEDUP_ITEMS_MAX);
        false
    }

    /// Open step with the call's id; `None` without an id.
    pub(crate) fn find_open_step_by_id(tool: ToolStart<'_>, out: &Writer<'_>) -> Option<StepId> {
        if tool.call.is_empty() { None } else { out.find_open_tool(tool.call) }
    }

    /// Open step of a call that continues. Without an id it is the oldest open one with the same
    /// name and arguments.
    pub(crate) fn find_open_step_of_call(
        &self,
        tool: ToolStart<'_>,
        arguments: &str,
        out: &Writer<'_>,
    ) -> Option<StepId> {
        if !tool.call.is_empty() {
            return out.find_open_tool(tool.call);
        }
        let print = name_and_arguments_fingerprint(tool, arguments);
        let mut same = self.calls_without_id.iter().filter(|(known, _)| *known == print);
        same.find(|(_, step)| out.is_tool_open(*step)).map(|&(_, step)| step)
    }

    /// Records the step of a call without an id.
    pub(crate) fn record_call_if_without_id(
        &mut self,
        tool: ToolStart<'_>,
        arguments: &str,
        step: StepId,
    ) {
        if tool.call.is_empty() {
            push_bounded(
                &mut self.calls_without_id,
                (name_and_arguments_fingerprint(tool, arguments), step),
                OPEN_TOOLS_MAX,
            );
        }
    }
}

/// Fingerprint of a tool's name and arguments.
fn name_and_arguments_fingerprint(tool: ToolStart<'_>, arguments: &str) -> Fingerprint {
    let mut print = Fingerprint::from_text(tool.name);
    print.push("\n");
    print.push(arguments);
    print
}
