//! The testing matrix of the view's document, row by row, and its edge cases.

use super::frame_client::view_log;
use super::log::Log;

/// The overlay's phases in order; `-` where it is hidden.
fn overlay_phases(log: &Log) -> Vec<String> {
    let seen = view_log(log);
    let overlays = seen.frames_named("overlay");
    overlays.iter().map(|data| data["phase"].as_str().unwrap_or("-").to_owned()).collect()
}

#[test]
fn steps_s9_remote_reasoning_tool_text_tool() {
    let log = Log::with_round_0()
        .start_reasoning(0)
        .finish_reasoning(0, "hm")
        .start_tool(1, "search")
        .output_and_succeed(1, "x");
    let log = log
        .append_text(0, "Here")
        .end_message(0)
        .start_tool(2, "open")
        .output_and_succeed(2, "y")
        .end_round(0)
        .complete_run();
    assert_eq!(overlay_phases(&log), ["waiting", "reasoning", "loading", "tool", "loading", "-"]);
    let seen = view_log(&log);
    assert_eq!(
        seen.item_summaries(),
        ["Ran for 0s [thought \"hm\", search() = \"x\"]", "\"Here\"", "open() = \"y\"",]
    );
    assert_eq!(
        seen.frame_summaries()[5..],
        [
            "overlay - -",
            "text 0 Here",
            "segment 1 open live",
            "segment 1 open done",
            "finalized 0 Ran for 0s",
            "completed",
        ]
    );
}

#[test]
fn steps_s9_remote_tool_then_text_only() {
    let log = Log::with_round_0()
        .start_tool(0, "search")
        .output_and_succeed(0, "x")
        .append_text(0, "Here")
        .end_message(0);
    let log = log.end_round(0).complete_run();
    assert_eq!(overlay_phases(&log), ["waiting", "tool", "loading", "-"]);
    assert_eq!(view_log(&log).item_summaries(), ["Ran for 0s [search() = \"x\"]", "\"Here\""]);
}

#[test]
fn steps_s9_remote_reasoning_only_then_text_only() {
    let log = Log::with_round_0()
        .start_reasoning(0)
        .finish_reasoning(0, "hm")
        .append_text(0, "Here")
        .end_message(0);
    let log = log.end_round(0).complete_run();
    assert_eq!(overlay_phases(&log), ["waiting", "reasoning", "loading", "-"]);
    assert_eq!(view_log(&log).item_summaries(), ["Ran for 0s [thought \"hm\"]", "\"Here\""]);
}

#[test]
fn steps_s9_local_no_text_then_the_tools_result() {
    let log = Log::with_round_0()
        .start_reasoning(0)
        .finish_reasoning(0, "hm")
        .start_tool(1, "ls")
        .mark_ready(1)
        .end_round(0);
    let log = log
        .output_and_succeed(1, "a b")
        .start_round(1)
        .append_text(0, "Two files")
        .end_message(0)
        .end_round(1)
        .complete_run();
    let expected = ["waiting", "reasoning", "loading", "tool", "-", "waiting", "-"];
    assert_eq!(overlay_phases(&log), expected);
    assert_eq!(
        view_log(&log).item_summaries(),
        ["Ran for 0s [thought \"hm\", ls() = \"a b\"]", "\"Two files\"",]
    );
}

#[test]
fn steps_s9_local_text_then_the_tools_result() {
    let log = Log::with_round_0()
        .append_text(0, "I look")
        .end_message(0)
        .start_tool(0, "ls")
        .append_arguments(0, "{}")
        .mark_ready(0);
    let log = log
        .end_round(0)
        .output_and_succeed(0, "a b")
        .start_round(1)
        .append_text(1, "Two files")
        .end_message(1);
    let log = log.end_round(1).complete_run();
    assert_eq!(overlay_phases(&log), ["waiting", "-", "waiting", "-"]);
    let seen = view_log(&log);
    assert_eq!(seen.item_summaries(), ["\"I look\"", "ls({}) = \"a b\"", "\"Two files\""]);
    assert_eq!(
        seen.frame_summaries()[2..7],
        [
            "text 0 I look",
            "segment 1 ls live",
            "segment 1 ls called",
            "finalized 0 -",
            "entry ls done",
        ]
    );
}

#[test]
fn steps_s9_edge_no_text_at_all() {
    let log = Log::with_round_0()
        .start_tool(0, "search")
        .output_and_succeed(0, "x")
        .end_round(0)
        .complete_run();
    assert_eq!(overlay_phases(&log), ["waiting", "tool", "loading", "-"]);
    assert_eq!(view_log(&log).item_summaries(), ["Ran for 0s [search() = \"x\"]"]);
    let nothing = Log::with_round_0().end_round(0).complete_run();
    assert_eq!(overlay_phases(&nothing), ["waiting", "-"]);
    assert_eq!(view_log(&nothing).item_summaries(), [""; 0]);
}

#[test]
fn steps_s9_edge_several_texts() {
    let log = Log::with_round_0()
        .start_tool(0, "a")
        .output_and_succeed(0, "")
        .append_text(0, "One")
        .end_message(0);
    let log = log
        .start_reasoning(1)
        .finish_reasoning(1, "hm")
        .append_text(1, "Two")
        .end_message(1)
        .append_text(2, "Three")
        .end_message(2);
    assert_eq!(
        view_log(&log.end_round(0).complete_run()).item_summaries(),
        ["Ran for 0s [a() = \"\"]", "\"One\"", "thought \"hm\"", "\"Two\"", "\"Three\""]
    );
}

#[test]
fn steps_s9_edge_timing_missing() {
    let log = Log::with_round_0()
        .set_time(2_000)
        .start_reasoning(0)
        .clear_time()
        .finish_reasoning(0, "hm")
        .start_tool(1, "a");
    let log = log
        .set_time(6_000)
        .output_and_succeed(1, "")
        .append_text(0, "Hi")
        .end_message(0)
        .end_round(0)
        .complete_run();
    assert_eq!(view_log(&log).item_summaries()[0], "Ran for 4s [thought \"hm\", a() = \"\"]");
}
