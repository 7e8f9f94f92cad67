//! Durations on the control of a round.

use serde_json::json;

use super::frame_client::view_log;
use super::log::Log;

#[test]
fn steps_s5_the_durations_of_the_steps_before_the_text_are_added() {
    let log = Log::with_round_0()
        .set_time(1_000)
        .start_tool(0, "a")
        .start_tool(1, "b")
        .set_time(2_000)
        .output_and_succeed(0, "");
    let log = log
        .set_time(3_000)
        .output_and_succeed(1, "")
        .set_time(9_000)
        .append_text(0, "Hi")
        .end_message(0);
    let log = log
        .start_tool(2, "late")
        .set_time(20_000)
        .output_and_succeed(2, "")
        .end_round(0)
        .complete_run();
    let seen = view_log(&log);
    assert_eq!(seen.frames_named("finalized")[0]["ranForMs"], 3_000);
    assert_eq!(seen.frames_named("finalized")[0]["label"], "Ran for 3s");
}

#[test]
fn steps_s5_without_a_step_that_has_both_times_the_span_counts() {
    let log = Log::with_round_0()
        .set_time(1_000)
        .start_tool(0, "a")
        .clear_time()
        .output_and_succeed(0, "");
    let log = log
        .start_tool(1, "b")
        .set_time(5_400)
        .output_and_succeed(1, "")
        .append_text(0, "Hi")
        .end_message(0);
    let seen = view_log(&log.end_round(0).complete_run());
    assert_eq!(seen.frames_named("finalized")[0]["label"], "Ran for 4.4s");
}

#[test]
fn steps_s5_without_any_time_the_label_is_steps() {
    let log = Log::started()
        .start_round(0)
        .start_tool(0, "a")
        .output_and_succeed(0, "")
        .append_text(0, "Hi")
        .end_message(0);
    let seen = view_log(&log.end_round(0).complete_run());
    assert_eq!(seen.frames_named("finalized")[0]["label"], "Steps");
    assert_eq!(seen.frames_named("finalized")[0]["ranForMs"], json!(null));
    let begun = Log::with_round_0()
        .start_tool(0, "a")
        .clear_time()
        .output_and_succeed(0, "")
        .end_round(0)
        .complete_run();
    assert_eq!(
        view_log(&begun).item_summaries(),
        ["Steps [a() = \"\"]"],
        "a start alone is no time"
    );
}
