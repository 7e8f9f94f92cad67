//! The tour: one run of three rounds that shows what a run can have.

use crate::conversation::{ToolResult, Turn};

use super::script::ReplyScript;
use super::texts;

/// Reply of the tour's next round; the tool results since the prompt tell which it is.
pub(super) fn script_for_next_tour_round(turns: &[Turn]) -> ReplyScript {
    let since_prompt = turns.rsplit(|turn| matches!(turn, Turn::Person(_))).next();
    let results: Vec<&[ToolResult]> = since_prompt
        .unwrap_or_default()
        .iter()
        .filter_map(|turn| match turn {
            Turn::Results(results) => Some(results.as_slice()),
            Turn::Person(_) | Turn::Agent(_) => None,
        })
        .collect();
    let script = ReplyScript::new_empty();
    match &results[..] {
        [] => script
            .add_reasoning("I do not know this folder yet. A list of its files comes first.")
            .add_text("Let me see what is in this folder.")
            .add_tool_call("list_files", "{}")
            .end_with_tool_calls(),
        [_] => script
            .add_tagged_reasoning(
                "Two things at once: the open tasks, and the file that explains it.",
            )
            .add_text("I read the introduction and look for open tasks.")
            .add_tool_call("read_file", r#"{"path":"README.md"}"#)
            .add_tool_call("search_files", r#"{"pattern":"TODO"}"#)
            .end_with_tool_calls(),
        [listing, found, ..] => {
            let describe = |results: &[ToolResult], at: usize, describe: fn(&str) -> String| {
                results.get(at).map_or_else(String::new, |result| match result {
                    failed if failed.failed => texts::describe_failure(failed),
                    result => describe(result.text.trim_end()),
                })
            };
            script
                .add_text(&format!(
                    "## What I found\n\n{}\n\n{}\n\n{}",
                    describe(listing, 0, texts::describe_listing),
                    describe(found, 0, texts::describe_file),
                    describe(found, 1, texts::describe_matches),
                ))
                .end_with_stop()
        }
    }
}
