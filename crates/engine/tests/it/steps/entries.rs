//! Entries: results that arrive outside the round of their call.

use millpond_engine::event::{Outcome, ToolOutcome};
use serde_json::json;

use super::frame_client::view_log;
use super::log::Log;

#[test]
fn steps_s7_the_result_of_a_local_tool_is_an_entry_below() {
    let log = Log::with_round_0()
        .start_tool(0, "ls")
        .append_arguments(0, "{}")
        .set_time(500)
        .mark_ready(0)
        .append_output(0, "a ");
    let log = log
        .end_round(0)
        .set_time(3_000)
        .output_and_succeed(0, "b")
        .start_round(1)
        .append_text(0, "Two.")
        .end_message(0);
    let seen = view_log(&log.end_round(1).complete_run());
    assert_eq!(seen.item_summaries(), ["Ran for 0.5s [ls({}) = \"a b\"]", "\"Two.\""]);
    assert_eq!(seen.frames_named("finalized")[0]["steps"][0]["state"], "called");
    let entry = json!({
        "run": "run", "round": 0, "kind": "entry", "id": "e0", "state": "done", "name": "ls",
        "sort": "mcp", "callId": "call_0", "text": "a b", "ranForMs": 2_500, "step": "s0",
        "description": {"purpose": "mcp", "title": "ls", "covers_arguments": true},
    });
    assert_eq!(*seen.frames_named("entry")[0], entry);
}

#[test]
fn steps_s7_a_result_that_comes_in_the_next_round_stands_in_the_row_of_its_call() {
    let log = Log::with_round_0()
        .start_tool(0, "ls")
        .mark_ready(0)
        .end_round(0)
        .start_round(1)
        .start_reasoning(1);
    let log = log
        .finish_reasoning(1, "hm")
        .output_and_succeed(0, "a")
        .append_text(0, "One.")
        .end_message(0)
        .end_round(1)
        .complete_run();
    assert_eq!(
        view_log(&log).item_summaries(),
        ["Ran for 0s [ls() = \"a\"]", "Ran for 0s [thought \"hm\"]", "\"One.\""]
    );
}

#[test]
fn steps_s7_a_call_without_a_result_has_no_entry_and_is_called_not_done() {
    let log =
        Log::with_round_0().start_tool(0, "ls").mark_ready(0).start_tool(1, "cut").end_round(0);
    let log = log.end_tool(0, ToolOutcome::NoResult).end_tool(1, ToolOutcome::Cut).complete_run();
    let seen = view_log(&log);
    assert_eq!(
        seen.item_summaries(),
        ["Ran for 0s [ls() = \"\" (Called), cut() = \"\" (Incomplete)]"]
    );
    assert_eq!(seen.frames_named("entry").len(), 0);
}

#[test]
fn steps_s7_a_tool_between_two_rounds_is_an_entry_with_its_arguments() {
    let log = Log::with_round_0()
        .append_text(0, "a")
        .end_message(0)
        .end_round(0)
        .start_tool(0, "ls")
        .append_arguments(0, "{}");
    let log = log
        .output_and_succeed(0, "x")
        .start_tool(1, "never")
        .append_arguments(1, "{")
        .end_run(Outcome::Truncated);
    assert_eq!(
        view_log(&log).item_summaries(),
        [
            "\"a\"",
            "entry ls({}) = \"x\"",
            "entry never({) = \"\" (Incomplete)",
            "\"Cut off before its end\"",
        ]
    );
}

#[test]
fn steps_s7_a_call_is_pending_until_its_result_comes_and_only_then_settles() {
    let log = Log::with_round_0()
        .start_tool(0, "ls")
        .mark_ready(0)
        .append_text(0, "I look.")
        .end_message(0)
        .start_tool(1, "cat")
        .mark_ready(1)
        .end_round(0);
    let waiting = view_log(&log);
    assert_eq!(
        waiting.item_summaries(),
        ["Ran for 0s [ls() = \"\" (Pending)]", "\"I look.\"", "cat() = \"\" (Pending)"]
    );
    assert_eq!(waiting.page.settled.count, 0);
    let log = log.output_and_succeed(0, "a");
    let one = view_log(&log);
    assert_eq!(one.item_summaries()[0], "Ran for 0s [ls() = \"a\"]");
    assert_eq!(one.page.settled.count, 2);
    let both = view_log(&log.clone().output_and_succeed(1, "b"));
    assert_eq!(both.item_summaries()[2], "cat() = \"b\"");
    assert_eq!(both.page.settled.count, 3);
    let ended = view_log(&log.complete_run());
    assert_eq!(ended.item_summaries()[2], "cat() = \"\" (Called)");
}
