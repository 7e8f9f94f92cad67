//! Withdrawn parts and nested parts.

use serde_json::json;

use super::frame_client::view_log;
use super::log::Log;

#[test]
fn steps_x16_what_is_taken_back_goes_and_the_new_round_starts_anew() {
    let log = Log::with_round_0()
        .start_reasoning(0)
        .finish_reasoning(0, "no")
        .append_text(0, "Wrong")
        .end_message(0)
        .start_tool(1, "t");
    let log = log
        .append_arguments(1, "{}")
        .output_and_succeed(1, "x")
        .withdraw(&[0], &[0, 1])
        .end_round(0)
        .start_round(1);
    let seen = view_log(
        &log.start_reasoning(2)
            .finish_reasoning(2, "yes")
            .append_text(1, "Right")
            .end_message(1)
            .end_round(1)
            .complete_run(),
    );
    assert_eq!(
        seen.item_summaries(),
        ["\"\" (Withdrawn)", "t() = \"\" (Withdrawn)", "Ran for 0s [thought \"yes\"]", "\"Right\""]
    );
    assert_eq!(seen.frames_named("withdrawn"), [&json!({"run": "run", "ids": ["m0", "s1"]})]);
    let finalized = seen.frames_named("finalized");
    assert_eq!((&finalized[0]["steps"], &finalized[0]["segments"]), (&json!([]), &json!([])));
    assert_eq!(seen.frames_named("overlay")[4]["phase"], "waiting");
}

#[test]
fn steps_x16_what_was_taken_back_does_not_come_back() {
    let log = Log::with_round_0()
        .start_tool(0, "t")
        .append_text(0, "a")
        .start_tool(1, "u")
        .withdraw(&[0], &[0, 1]);
    let log = log
        .append_text(0, "b")
        .rewrite_text(0, 0, "c")
        .output_and_succeed(0, "x")
        .output_and_succeed(1, "y")
        .end_message(0);
    let seen = view_log(&log.end_round(0).complete_run());
    assert_eq!(seen.item_summaries(), ["\"\" (Withdrawn)", "u() = \"\" (Withdrawn)"]);
}

#[test]
fn steps_x16_an_entry_is_taken_back_with_its_call() {
    let log = Log::with_round_0()
        .append_text(0, "a")
        .end_message(0)
        .start_tool(0, "ls")
        .mark_ready(0)
        .end_round(0);
    let seen = view_log(&log.output_and_succeed(0, "x").withdraw(&[], &[0]).complete_run());
    let withdrawn: Vec<_> =
        seen.frames_named("withdrawn").iter().map(|data| data["ids"].clone()).collect();
    assert_eq!(withdrawn, [json!(["e0"]), json!(["s0"])]);
    assert_eq!(seen.item_summaries(), ["\"a\"", "ls() = \"\" (Withdrawn)"]);
}

#[test]
fn steps_x16_a_folded_call_is_taken_back_before_and_after_its_result() {
    let log = Log::with_round_0()
        .start_tool(0, "ls")
        .start_tool(1, "cat")
        .start_tool(2, "rm")
        .mark_ready(0)
        .mark_ready(1)
        .mark_ready(2)
        .end_round(0);
    let log = log.output_and_succeed(0, "x").withdraw(&[], &[0, 1]);
    let seen = view_log(&log.output_and_succeed(1, "late").output_and_succeed(2, "y"));
    assert_eq!(
        seen.item_summaries(),
        ["Ran for 0s [ls() = \"\" (Withdrawn), cat() = \"\" (Withdrawn), rm() = \"y\"]"]
    );
}

#[test]
fn steps_x16_an_open_step_that_is_taken_back_leaves_the_overlay() {
    let seen =
        view_log(&Log::with_round_0().start_tool(0, "a").start_tool(1, "b").withdraw(&[], &[1]));
    assert_eq!(seen.frame_summaries()[1..], ["overlay tool a", "overlay tool b", "overlay tool a"]);
}

#[test]
fn steps_x18_what_a_sub_agent_does_is_under_its_tool() {
    let log = Log::with_round_0()
        .start_tool(0, "task")
        .start_sub_agent_tool(1, 0, "find")
        .start_sub_agent_tool(2, 1, "cat");
    let log = log
        .output_and_succeed(2, "z")
        .output_and_succeed(1, "y")
        .output_and_succeed(0, "x")
        .append_text(0, "Hi")
        .end_message(0);
    let log = log
        .start_tool(3, "task")
        .start_sub_agent_tool(4, 3, "find")
        .output_and_succeed(4, "w")
        .output_and_succeed(3, "v");
    let seen = view_log(&log.end_round(0).complete_run());
    assert_eq!(
        seen.item_summaries(),
        [
            "Ran for 0s [task() = \"x\" [find() = \"y\" [cat() = \"z\"]]]",
            "\"Hi\"",
            "task() = \"v\" [find() = \"w\"]",
        ]
    );
    assert_eq!(seen.frame_summaries()[1..3], ["overlay tool task", "overlay loading Working"]);
    assert_eq!(seen.frames_named("segment").len(), 2);
}

#[test]
fn steps_x18_a_sub_agent_that_works_between_rounds_is_under_the_entry() {
    let log = Log::with_round_0()
        .start_tool(0, "task")
        .append_arguments(0, "{}")
        .start_sub_agent_tool(1, 0, "early")
        .append_arguments(1, "1");
    let log = log
        .output_and_succeed(1, "a")
        .start_sub_agent_tool(2, 0, "both")
        .append_arguments(2, "2")
        .mark_ready(2)
        .mark_ready(0);
    let log = log
        .start_sub_agent_tool(3, 0, "none")
        .mark_ready(3)
        .end_round(0)
        .start_sub_agent_tool(4, 0, "late");
    let log = log
        .output_and_succeed(4, "c")
        .output_and_succeed(2, "b")
        .output_and_succeed(0, "x")
        .start_round(1)
        .complete_run();
    assert_eq!(
        view_log(&log).item_summaries(),
        [
            "Ran for 0s [task({}) = \"x\" [early(1) = \"a\", both(2) = \"b\", none() = \"\" (Called), late() = \"c\"]]",
        ]
    );
}

#[test]
fn steps_x18_a_step_that_only_gives_a_picture_after_its_call_has_an_entry() {
    let mut log = crate::log::Log::new();
    log.start_round().start_tool("t").end_round();
    let step = millpond_engine::event::ImageOwner::Step(millpond_engine::event::StepId(0));
    log.start_round().image(step, "aGk=").push_message(&["Seen."]).end_round().complete_run();
    let page = crate::views::final_page(millpond_engine::view::ViewName::Steps, &log.records());
    let control = page.items.values().next().unwrap();
    let shown = control.steps.iter().filter(|step| !step.images.is_empty()).count();
    assert_eq!(shown, 1, "{:#?}", page.items);
}
