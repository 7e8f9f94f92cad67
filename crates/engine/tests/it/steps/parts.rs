//! Parts that are taken back, and parts of parts.

use serde_json::json;

use super::log::Log;
use super::screen::see;

#[test]
fn steps_x16_what_is_taken_back_goes_and_the_new_round_starts_anew() {
    let log = Log::round_0().thinks(0).thought(0, "no").says(0, "Wrong").said(0).calls(1, "t");
    let log = log.with(1, "{}").gives(1, "x").withdraws(&[0], &[0, 1]).round_ends(0).round(1);
    let seen = see(&log.thinks(2).thought(2, "yes").says(1, "Right").said(1).round_ends(1).ends());
    assert_eq!(
        seen.page(),
        ["\"\" (Withdrawn)", "t() = \"\" (Withdrawn)", "Ran for 0s [thought \"yes\"]", "\"Right\""]
    );
    assert_eq!(seen.named("withdrawn"), [&json!({"run": "run", "ids": ["m0", "s1"]})]);
    let finalized = seen.named("finalized");
    assert_eq!((&finalized[0]["steps"], &finalized[0]["segments"]), (&json!([]), &json!([])));
    assert_eq!(seen.named("overlay")[4]["phase"], "waiting");
}

#[test]
fn steps_x16_what_was_taken_back_does_not_come_back() {
    let log = Log::round_0().calls(0, "t").says(0, "a").calls(1, "u").withdraws(&[0], &[0, 1]);
    let log = log.says(0, "b").rewrites(0, 0, "c").gives(0, "x").gives(1, "y").said(0);
    let seen = see(&log.round_ends(0).ends());
    assert_eq!(seen.page(), ["\"\" (Withdrawn)", "u() = \"\" (Withdrawn)"]);
}

#[test]
fn steps_x16_an_entry_is_taken_back_with_its_call() {
    let log = Log::round_0().says(0, "a").said(0).calls(0, "ls").ready(0).round_ends(0);
    let seen = see(&log.gives(0, "x").withdraws(&[], &[0]).ends());
    assert_eq!(seen.named("withdrawn")[0]["ids"], json!(["s0", "e0"]));
}

#[test]
fn steps_x16_an_open_step_that_is_taken_back_leaves_the_overlay() {
    let seen = see(&Log::round_0().calls(0, "a").calls(1, "b").withdraws(&[], &[1]));
    assert_eq!(seen.story()[1..], ["overlay tool a", "overlay tool b", "overlay tool a"]);
}

#[test]
fn steps_x18_what_a_sub_agent_does_is_under_its_tool() {
    let log = Log::round_0().calls(0, "task").sub_calls(1, 0, "find").sub_calls(2, 1, "cat");
    let log = log.gives(2, "z").gives(1, "y").gives(0, "x").says(0, "Hi").said(0);
    let log = log.calls(3, "task").sub_calls(4, 3, "find").gives(4, "w").gives(3, "v");
    let seen = see(&log.round_ends(0).ends());
    assert_eq!(
        seen.page(),
        [
            "Ran for 0s [task() = \"x\" [find() = \"y\" [cat() = \"z\"]]]",
            "\"Hi\"",
            "task() = \"v\" [find() = \"w\"]",
        ]
    );
    assert_eq!(seen.story()[1..3], ["overlay tool task", "overlay loading Working"]);
    assert_eq!(seen.named("segment").len(), 2);
}

#[test]
fn steps_x18_a_sub_agent_that_works_between_rounds_is_under_the_entry() {
    let log = Log::round_0().calls(0, "task").with(0, "{}").sub_calls(1, 0, "early").with(1, "1");
    let log = log.gives(1, "a").sub_calls(2, 0, "both").with(2, "2").ready(2).ready(0);
    let log = log.sub_calls(3, 0, "none").ready(3).round_ends(0).sub_calls(4, 0, "late");
    let log = log.gives(4, "c").gives(2, "b").gives(0, "x").round(1).ends();
    assert_eq!(
        see(&log).page(),
        [
            "Ran for 0s [task({}) = \"\" [early(1) = \"a\", both(2) = \"\" (Called), none() = \"\" (Called)] (Called)]",
            "entry task() = \"x\" [both() = \"b\", late() = \"c\"]",
        ]
    );
}

#[test]
fn steps_x18_a_step_that_only_gives_a_picture_after_its_call_has_an_entry() {
    let mut log = crate::log::Log::new();
    log.round().tool("t").end_round();
    let step = engine::event::Owner::Step(engine::event::StepId(0));
    log.round().image(step, "aGk=").message(&["Seen."]).end_round().done();
    let page = crate::views::picture(engine::view::ViewName::Steps, &log.records());
    let shown = page.items.values().filter(|item| !item.images.is_empty()).count();
    assert_eq!(shown, 1, "{:#?}", page.items);
}
