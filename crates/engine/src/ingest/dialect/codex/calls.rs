//! Which call an item is about, where its id does not say, and which items have been told already.

use std::collections::VecDeque;

use crate::event::StepId;
use crate::limits::{ITEMS_REMEMBERED_MAX, OPEN_TOOLS_MAX};
use crate::run::{Fingerprint, ToolStart, Writer};

#[derive(Clone, Debug, Default, PartialEq)]
pub(in super::super) struct Calls {
    /// Calls without an id, known by what they do.
    nameless: VecDeque<(Fingerprint, StepId)>,
    /// Lines that ended an item.
    ends: VecDeque<Fingerprint>,
}

impl Calls {
    /// Whether this very line has ended this item before.
    pub(in super::super) fn is_repeat(&mut self, id: &str, line: &str) -> bool {
        if id.is_empty() {
            return false;
        }
        let print = Fingerprint::of(line);
        if self.ends.contains(&print) {
            return true;
        }
        push(&mut self.ends, print, ITEMS_REMEMBERED_MAX);
        false
    }

    /// The open step of a call that starts: without an id there is none.
    pub(in super::super) fn started(tool: ToolStart<'_>, out: &Writer<'_>) -> Option<StepId> {
        if tool.call.is_empty() { None } else { out.step_of(tool.call) }
    }

    /// The open step of a call that goes on. Without an id it is the oldest that does the same:
    /// no call takes the place of another.
    pub(in super::super) fn step_of(
        &self,
        tool: ToolStart<'_>,
        arguments: &str,
        out: &Writer<'_>,
    ) -> Option<StepId> {
        if !tool.call.is_empty() {
            return out.step_of(tool.call);
        }
        let print = print_of(tool, arguments);
        let mut same = self.nameless.iter().filter(|(known, _)| *known == print);
        same.find(|(_, step)| out.is_open(*step)).map(|&(_, step)| step)
    }

    pub(in super::super) fn add(&mut self, tool: ToolStart<'_>, arguments: &str, step: StepId) {
        if tool.call.is_empty() {
            push(&mut self.nameless, (print_of(tool, arguments), step), OPEN_TOOLS_MAX);
        }
    }
}

fn print_of(tool: ToolStart<'_>, arguments: &str) -> Fingerprint {
    let mut print = Fingerprint::of(tool.name);
    print.push("\n");
    print.push(arguments);
    print
}

fn push<T>(list: &mut VecDeque<T>, entry: T, max: usize) {
    if max <= list.len() {
        list.pop_front();
    }
    list.push_back(entry);
}
