//! Tools of a run, each as one value.

use millpond_engine::event::{Event, Executor, StepId, ToolKind, ToolOutcome};

use crate::support::RecordedEvents;

/// Name, kind, who runs it, arguments, output and outcome of a tool.
pub(super) type ToolSummary = (String, ToolKind, Executor, String, String, ToolOutcome);

/// All tools, in the order of their starts.
pub(super) fn tool_summaries(kept: &RecordedEvents) -> Vec<ToolSummary> {
    let mut found: Vec<(StepId, ToolSummary)> = Vec::new();
    let tool_of = |found: &mut Vec<(StepId, ToolSummary)>, step: StepId| {
        found.iter().position(|(id, _)| *id == step).unwrap()
    };
    for event in kept.events() {
        match event {
            Event::ToolStarted { step, name, kind, executor, .. } => {
                let nothing = (String::new(), String::new());
                let tool =
                    (name.to_string(), *kind, *executor, nothing.0, nothing.1, ToolOutcome::Cut);
                found.push((*step, tool));
            }
            Event::ArgumentsAppended { step, text } => {
                let at = tool_of(&mut found, *step);
                found[at].1.3.push_str(text);
            }
            Event::ArgumentsReplaced { step, .. } => panic!("{step:?} said its arguments twice"),
            Event::OutputAppended { step, text } => {
                let at = tool_of(&mut found, *step);
                found[at].1.4.push_str(text);
            }
            Event::ToolEnded { step, outcome, .. } => {
                let at = tool_of(&mut found, *step);
                found[at].1.5 = *outcome;
            }
            _ => {}
        }
    }
    found.into_iter().map(|(_, tool)| tool).collect()
}

/// The first tool with this name, without the name.
pub(super) fn tool_summary(
    kept: &RecordedEvents,
    name: &str,
) -> (ToolKind, Executor, String, String, ToolOutcome) {
    let tools = tool_summaries(kept).into_iter();
    let mut named = tools.filter(|tool| tool.0 == name);
    let (_, kind, executor, arguments, output, outcome) = named.next().unwrap();
    (kind, executor, arguments, output, outcome)
}
