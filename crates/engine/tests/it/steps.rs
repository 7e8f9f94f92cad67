//! The view `steps`, rule by rule: small logs in, pages and frames out.

mod durations;
mod entries;
mod fixtures;
mod frame_client;
mod frames;
mod hostile;
mod log;
mod matrix;
mod overlay;
mod parts;

use millpond_engine::event::{Event, ReasoningOrigin, StepId, ToolOutcome};
use millpond_engine::view::Thinking;
use serde_json::json;

use frame_client::{view_log, view_records};
use log::Log;

#[test]
fn steps_s3_text_tool_text_is_three_parts_in_their_order() {
    let log = Log::with_round_0().append_text(0, "I look").append_text(0, ".").end_message(0);
    let log = log
        .start_tool(0, "grep")
        .append_arguments(0, "{\"a\"")
        .append_arguments(0, ":1}")
        .mark_ready(0)
        .append_output(0, "fo");
    let log = log
        .output_and_succeed(0, "und")
        .append_text(1, "Found.")
        .end_message(1)
        .end_round(0)
        .complete_run();
    let seen = view_log(&log);
    assert_eq!(seen.item_summaries(), ["\"I look.\"", "grep({\"a\":1}) = \"found\"", "\"Found.\""]);
    assert_eq!(
        seen.frame_summaries(),
        [
            "overlay waiting Waiting",
            "overlay - -",
            "text 0 I look",
            "text 0 .",
            "segment 1 grep live",
            "segment 1 grep done",
            "text 2 Found.",
            "finalized 0 -",
            "completed",
        ]
    );
}

#[test]
fn steps_s3_a_late_step_says_how_it_ended_and_how_long_it_took() {
    let detail = Some("no such file".into());
    let failed = Event::ToolEnded { step: StepId(0), outcome: ToolOutcome::Failed, detail };
    let log = Log::with_round_0()
        .append_text(0, "a")
        .end_message(0)
        .set_time(1_000)
        .start_tool(0, "cat")
        .set_time(3_500)
        .push(failed);
    let log = log
        .set_time(4_000)
        .start_reasoning(1)
        .set_time(4_200)
        .finish_reasoning(1, "odd")
        .start_tool(2, "rm");
    let seen = view_log(&log.end_tool(2, ToolOutcome::Denied).end_round(0).complete_run());
    let ended: Vec<_> =
        seen.frames_named("segment").into_iter().filter(|data| data["state"] != "live").collect();
    assert_eq!(ended[0]["state"], "failed");
    assert_eq!(
        (&ended[0]["detail"], &ended[0]["ranForMs"]),
        (&json!("no such file"), &json!(2_500))
    );
    assert_eq!((&ended[1]["kind"], &ended[1]["text"]), (&json!("reasoning"), &json!("odd")));
    assert_eq!((&ended[2]["state"], &ended[2]["callId"]), (&json!("denied"), &json!("call_2")));
}

#[test]
fn steps_s3_a_rewrite_replaces_the_part() {
    let log = Log::with_round_0()
        .append_text(0, "Hello wrld")
        .rewrite_text(0, 7, "orld")
        .append_text(0, "!")
        .end_message(0);
    let seen = view_log(&log.end_round(0).complete_run());
    assert_eq!(seen.item_summaries(), ["\"Hello world!\""]);
    let replaced =
        json!({"run": "run", "round": 0, "index": 0, "replace": true, "delta": "Hello world"});
    assert_eq!(*seen.frames_named("text")[1], replaced);
}

#[test]
fn steps_s4_the_steps_before_the_text_are_under_one_control_before_it() {
    let log = Log::with_round_0()
        .prompt("Where?")
        .start_reasoning(0)
        .set_time(1_000)
        .finish_reasoning(0, "hm");
    let log = log
        .start_tool(1, "grep")
        .append_arguments(1, "{}")
        .set_time(2_200)
        .output_and_succeed(1, "found");
    let log = log
        .append_text(0, "Here.")
        .end_message(0)
        .start_tool(2, "open")
        .output_and_succeed(2, "ok")
        .end_round(0)
        .complete_run();
    assert_eq!(
        view_log(&log).item_summaries(),
        [
            "user \"Where?\"",
            "Ran for 2.2s [thought \"hm\", grep({}) = \"found\"]",
            "\"Here.\"",
            "open() = \"ok\"",
        ]
    );
}

#[test]
fn steps_s4_a_single_step_is_under_a_control_as_well() {
    let log = Log::with_round_0()
        .start_tool(0, "grep")
        .set_time(12_000)
        .output_and_succeed(0, "x")
        .append_text(0, "Hi")
        .end_message(0);
    let seen = view_log(&log.end_round(0).complete_run());
    assert_eq!(seen.item_summaries(), ["Ran for 12s [grep() = \"x\"]", "\"Hi\""]);
}

#[test]
fn steps_s4_a_step_that_ends_after_the_first_text_stays_under_the_control() {
    let log = Log::with_round_0()
        .start_tool(0, "slow")
        .append_text(0, "Meanwhile")
        .end_message(0)
        .set_time(64_000);
    let seen = view_log(&log.output_and_succeed(0, "x").end_round(0).complete_run());
    assert_eq!(seen.item_summaries(), ["Ran for 1m 4s [slow() = \"x\"]", "\"Meanwhile\""]);
    assert_eq!(seen.frames_named("segment"), [&json!(null); 0]);
}

#[test]
fn steps_s3_thinking_in_the_middle_of_a_message_stands_between_its_words() {
    let log = Log::with_round_0()
        .append_text(0, "pre")
        .interrupt_with_reasoning(0, 0, ReasoningOrigin::Tag)
        .finish_reasoning(0, "x")
        .append_text(0, "mid")
        .append_text(0, "-");
    let log = log
        .interrupt_with_reasoning(0, 1, ReasoningOrigin::Tag)
        .finish_reasoning(1, "y")
        .append_text(0, "post")
        .end_message(0)
        .end_round(0)
        .complete_run();
    assert_eq!(
        view_log(&log).item_summaries(),
        ["\"pre\"", "thought \"x\"", "\"mid-\"", "thought \"y\"", "\"post\""]
    );
}

#[test]
fn steps_s3_thinking_beside_a_message_cuts_no_word() {
    let parts = |before: &'static str, after: &'static str| {
        let log = Log::with_round_0()
            .append_text(0, before)
            .interrupt_with_reasoning(0, 0, ReasoningOrigin::Native)
            .finish_reasoning(0, "x")
            .append_text(0, after)
            .append_text(0, "End.");
        view_log(&log.end_message(0).end_round(0).complete_run()).item_summaries()
    };
    assert_eq!(parts("The mi", "ll. "), ["\"The mill. End.\"", "thought \"x\""]);
    assert_eq!(parts("One.", "Two. "), ["\"One.\"", "thought \"x\"", "\"Two. End.\""]);
    assert_eq!(parts("One ", "two. "), ["\"One \"", "thought \"x\"", "\"two. End.\""]);
    assert_eq!(parts("一", "二"), ["\"一\"", "thought \"x\"", "\"二End.\""]);
}

#[test]
fn steps_s3_thinking_for_another_message_cuts_none() {
    let log = Log::with_round_0()
        .append_text(0, "One.")
        .append_text(1, "Two.")
        .interrupt_with_reasoning(0, 0, ReasoningOrigin::Tag)
        .finish_reasoning(0, "x")
        .append_text(1, " Three.")
        .append_text(0, " Four.");
    assert_eq!(
        view_log(&log.end_message(1).end_message(0).end_round(0).complete_run()).item_summaries(),
        ["\"One. Four.\"", "\"Two. Three.\"", "thought \"x\""]
    );
}

#[test]
fn steps_s3_a_rewrite_reaches_into_the_part_it_changes() {
    let log = Log::with_round_0()
        .append_text(0, "pre")
        .interrupt_with_reasoning(0, 0, ReasoningOrigin::Tag)
        .finish_reasoning(0, "x")
        .append_text(0, "mid");
    let log = log.rewrite_text(0, 4, "ore").append_text(0, "!");
    assert_eq!(view_log(&log).item_summaries(), ["\"pre\"", "thought \"x\"", "\"more!\" (Live)"]);
    let log = log.rewrite_text(0, 2, "ss").end_message(0).end_round(0).complete_run();
    assert_eq!(view_log(&log).item_summaries(), ["\"prss\"", "thought \"x\"", "\"\" (Withdrawn)"]);
}

#[test]
fn steps_s8_every_text_is_on_the_page_once() {
    let log = Log::with_round_0()
        .start_reasoning(0)
        .finish_reasoning(0, "AAAA")
        .start_tool(1, "t")
        .append_arguments(1, "BBBB");
    let log = log
        .output_and_succeed(1, "CCCC")
        .append_text(0, "DDDD")
        .end_message(0)
        .start_tool(2, "u")
        .append_arguments(2, "EEEE")
        .mark_ready(2);
    let log = log.end_round(0).output_and_succeed(2, "FFFF").complete_run();
    let page = view_log(&log).item_summaries().join("\n");
    for text in ["AAAA", "BBBB", "CCCC", "DDDD", "EEEE", "FFFF"] {
        assert_eq!(page.matches(text).count(), 1, "{text} in {page}");
    }
}

#[test]
fn steps_s8_what_comes_after_a_steps_end_is_no_part_of_it() {
    let log = Log::with_round_0()
        .start_reasoning(0)
        .finish_reasoning(0, "hm")
        .finish_reasoning(0, "hm")
        .start_tool(1, "t");
    let log = log
        .output_and_succeed(1, "x")
        .output_and_succeed(1, "x")
        .append_arguments(1, "{}")
        .append_text(0, "Hi")
        .end_message(0);
    assert_eq!(
        view_log(&log.end_round(0).complete_run()).item_summaries(),
        ["Ran for 0s [thought \"hm\", t() = \"x\"]", "\"Hi\""]
    );
}

#[test]
fn steps_thinking_hide_leaves_no_trace_of_it() {
    let log = Log::with_round_0()
        .start_reasoning(0)
        .finish_reasoning(0, "secret")
        .append_text(0, "Hi")
        .end_message(0)
        .start_reasoning(1);
    let log = log
        .finish_reasoning(1, "secret")
        .append_text(1, "Bye")
        .end_message(1)
        .end_round(0)
        .complete_run();
    let seen = view_records(Thinking::Hide, &log.records);
    assert_eq!(seen.item_summaries(), ["\"Hi\"", "\"Bye\""]);
    assert_eq!(seen.frame_summaries()[1..3], ["overlay loading Working", "overlay - -"]);
    assert!(!format!("{:?}{:?}", seen.frames, seen.page).contains("secret"));
    for thinking in [Thinking::ViewDefault, Thinking::Show] {
        let seen = view_records(thinking, &log.records);
        assert_eq!(seen.item_summaries()[0], "Ran for 0s [thought \"secret\"]");
        assert!(!seen.frame_summaries().join("").contains("secret"), "the overlay does not quote");
    }
}

#[test]
fn steps_x13_an_ask_is_told_and_what_goes_on_after_it() {
    let log = Log::with_round_0()
        .open_ask("a")
        .answer_ask("a")
        .append_text(0, "Hi")
        .end_message(0)
        .end_round(0)
        .complete_run();
    let seen = view_log(&log);
    assert_eq!(seen.frame_summaries()[1..3], ["ask", "ask-resolved"]);
}
