//! The testing matrix of the view's document, row by row, and its edge cases.

use super::log::Log;
use super::screen::see;

/// The phases of the overlay, one after the other; `-` where it goes.
fn phases(log: &Log) -> Vec<String> {
    let seen = see(log);
    let overlays = seen.named("overlay");
    overlays.iter().map(|data| data["phase"].as_str().unwrap_or("-").to_owned()).collect()
}

#[test]
fn steps_s9_remote_reasoning_tool_text_tool() {
    let log = Log::round_0().thinks(0).thought(0, "hm").calls(1, "search").gives(1, "x");
    let log = log.says(0, "Here").said(0).calls(2, "open").gives(2, "y").round_ends(0).ends();
    assert_eq!(phases(&log), ["waiting", "reasoning", "loading", "tool", "loading", "-"]);
    let seen = see(&log);
    assert_eq!(
        seen.page(),
        ["Ran for 0s [thought \"hm\", search() = \"x\"]", "\"Here\"", "open() = \"y\"",]
    );
    assert_eq!(
        seen.story()[5..],
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
    let log = Log::round_0().calls(0, "search").gives(0, "x").says(0, "Here").said(0);
    let log = log.round_ends(0).ends();
    assert_eq!(phases(&log), ["waiting", "tool", "loading", "-"]);
    assert_eq!(see(&log).page(), ["Ran for 0s [search() = \"x\"]", "\"Here\""]);
}

#[test]
fn steps_s9_remote_reasoning_only_then_text_only() {
    let log = Log::round_0().thinks(0).thought(0, "hm").says(0, "Here").said(0);
    let log = log.round_ends(0).ends();
    assert_eq!(phases(&log), ["waiting", "reasoning", "loading", "-"]);
    assert_eq!(see(&log).page(), ["Ran for 0s [thought \"hm\"]", "\"Here\""]);
}

#[test]
fn steps_s9_local_no_text_then_the_tools_result() {
    let log = Log::round_0().thinks(0).thought(0, "hm").calls(1, "ls").ready(1).round_ends(0);
    let log = log.gives(1, "a b").round(1).says(0, "Two files").said(0).round_ends(1).ends();
    let expected = ["waiting", "reasoning", "loading", "tool", "-", "waiting", "-"];
    assert_eq!(phases(&log), expected);
    assert_eq!(
        see(&log).page(),
        [
            "Ran for 0s [thought \"hm\", ls() = \"\" (Called)]",
            "entry ls() = \"a b\"",
            "\"Two files\"",
        ]
    );
}

#[test]
fn steps_s9_local_text_then_the_tools_result() {
    let log = Log::round_0().says(0, "I look").said(0).calls(0, "ls").with(0, "{}").ready(0);
    let log = log.round_ends(0).gives(0, "a b").round(1).says(1, "Two files").said(1);
    let log = log.round_ends(1).ends();
    assert_eq!(phases(&log), ["waiting", "-", "waiting", "-"]);
    let seen = see(&log);
    assert_eq!(
        seen.page(),
        ["\"I look\"", "ls({}) = \"\" (Called)", "entry ls() = \"a b\"", "\"Two files\""]
    );
    assert_eq!(
        seen.story()[2..7],
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
    let log = Log::round_0().calls(0, "search").gives(0, "x").round_ends(0).ends();
    assert_eq!(phases(&log), ["waiting", "tool", "loading", "-"]);
    assert_eq!(see(&log).page(), ["Ran for 0s [search() = \"x\"]"]);
    let nothing = Log::round_0().round_ends(0).ends();
    assert_eq!(phases(&nothing), ["waiting", "-"]);
    assert_eq!(see(&nothing).page(), [""; 0]);
}

#[test]
fn steps_s9_edge_several_texts() {
    let log = Log::round_0().calls(0, "a").gives(0, "").says(0, "One").said(0);
    let log = log.thinks(1).thought(1, "hm").says(1, "Two").said(1).says(2, "Three").said(2);
    assert_eq!(
        see(&log.round_ends(0).ends()).page(),
        ["Ran for 0s [a() = \"\"]", "\"One\"", "thought \"hm\"", "\"Two\"", "\"Three\""]
    );
}

#[test]
fn steps_s9_edge_timing_missing() {
    let log = Log::round_0().at(2_000).thinks(0).untimed().thought(0, "hm").calls(1, "a");
    let log = log.at(6_000).gives(1, "").says(0, "Hi").said(0).round_ends(0).ends();
    assert_eq!(see(&log).page()[0], "Ran for 4s [thought \"hm\", a() = \"\"]");
}
