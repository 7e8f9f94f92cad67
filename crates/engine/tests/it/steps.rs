//! The view `steps`, rule by rule: small logs in, pages and frames out.

mod fixtures;
mod frame_client;
mod frames;
mod hostile;
mod log;
mod matrix;
mod parts;

use millpond_engine::event::{
    Event, ImageOwner, MessageId, Outcome, StepId, ToolKind, ToolOutcome,
};
use millpond_engine::view::{Thinking, ViewOptions, steps::Steps};
use serde_json::json;

use frame_client::{view_log, view_records};
use log::Log;

#[test]
fn steps_s1_nothing_but_the_overlay_shows_before_the_first_text() {
    let log = Log::with_round_0()
        .start_reasoning(0)
        .finish_reasoning(0, "hm")
        .start_tool(1, "grep")
        .append_arguments(1, "{}")
        .mark_ready(1);
    let seen = view_log(&log.output_and_succeed(1, "found"));
    assert_eq!(seen.item_summaries(), [""; 0]);
    assert_eq!(
        seen.frame_summaries(),
        [
            "overlay waiting Waiting",
            "overlay reasoning Thinking",
            "overlay loading Working",
            "overlay tool grep",
            "overlay loading Working",
        ]
    );
}

#[test]
fn steps_s1_the_overlay_has_a_phase_and_words_for_every_kind_of_tool() {
    for (kind, words) in [
        (ToolKind::WebSearch, "web_search Searching the web"),
        (ToolKind::WebFetch, "web_search Reading a web page"),
        (ToolKind::CodeInterpreter, "code_interpreter Running code"),
        (ToolKind::FileSearch, "tool Searching files"),
        (ToolKind::ImageGeneration, "loading Generating an image"),
        (ToolKind::Function, "tool net"),
        (ToolKind::Mcp, "tool net"),
        (ToolKind::Action, "tool net"),
        (ToolKind::Command, "tool net"),
        (ToolKind::Edit, "tool net"),
        (ToolKind::Agent, "tool net"),
        (ToolKind::Builtin, "tool net"),
    ] {
        let seen =
            view_log(&Log::with_round_0().start_tool_of_kind(kind, 0, "net", None).complete_run());
        assert_eq!(seen.frame_summaries()[1], format!("overlay {words}"));
        let sort = serde_json::to_value(kind).unwrap();
        assert_eq!(seen.frames_named("finalized")[0]["steps"][0]["sort"], sort);
    }
    let nameless = view_log(&Log::with_round_0().start_tool(0, ""));
    assert_eq!(nameless.frame_summaries()[1], "overlay tool Using a tool");
}

#[test]
fn steps_s1_the_overlay_follows_the_newest_step_and_tells_only_changes() {
    let log = Log::with_round_0().start_tool(0, "old").start_tool(1, "new").start_tool(2, "new");
    let log = log.output_and_succeed(2, "").output_and_succeed(1, "").output_and_succeed(0, "");
    assert_eq!(
        view_log(&log).frame_summaries()[1..],
        ["overlay tool old", "overlay tool new", "overlay tool old", "overlay loading Working"]
    );
}

#[test]
fn steps_s1_an_image_of_a_message_is_its_first_text() {
    let log = Log::with_round_0().start_tool(0, "draw").output_and_succeed(0, "ok");
    let seen = view_log(
        &log.push_image(ImageOwner::Message(MessageId(0)), "a.png").end_round(0).complete_run(),
    );
    assert_eq!(seen.item_summaries(), ["Ran for 0s [draw() = \"ok\"]", "\"\" <a.png>"]);
    assert_eq!(seen.frame_summaries()[3..6], ["overlay - -", "text 0 ", "image"]);
}

#[test]
fn steps_s2_the_overlay_goes_with_the_first_text_and_stays_gone() {
    let log = Log::with_round_0()
        .append_text(0, "Hi")
        .end_message(0)
        .start_reasoning(0)
        .finish_reasoning(0, "hm")
        .start_tool(1, "grep");
    let log = log
        .output_and_succeed(1, "x")
        .append_text(1, "Bye")
        .end_message(1)
        .end_round(0)
        .complete_run();
    let seen = view_log(&log);
    let overlays: Vec<_> = seen.frames_named("overlay").iter().map(|data| &data["phase"]).collect();
    assert_eq!(overlays, [&json!("waiting"), &json!(null)]);
    assert_eq!(seen.frames_named("overlay")[1]["round"], 0);
    let mut view = Steps::new(ViewOptions::default());
    log.records.iter().for_each(|record| view.apply(record, &mut |_| {}));
    assert_eq!(view.suppressed_overlays(), 4, "two steps began and ended too late for it");
}

#[test]
fn steps_s2_the_next_round_has_its_own_overlay() {
    let log = Log::with_round_0()
        .append_text(0, "Hi")
        .end_message(0)
        .end_round(0)
        .start_round(1)
        .start_tool(0, "grep");
    let seen = view_log(&log.output_and_succeed(0, "x").end_round(1).complete_run());
    assert_eq!(seen.frames_named("overlay")[2]["phase"], "waiting");
    assert_eq!(seen.frames_named("overlay")[2]["round"], 1);
    assert_eq!(seen.frames_named("overlay")[3]["label"], "grep");
}

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

#[test]
fn steps_s6_a_round_without_text_has_its_overlay_throughout_and_then_only_the_control() {
    let log = Log::with_round_0()
        .start_reasoning(0)
        .set_time(1_234)
        .finish_reasoning(0, "hm")
        .end_round(0)
        .complete_run();
    let seen = view_log(&log);
    assert_eq!(seen.item_summaries(), ["Ran for 1.2s [thought \"hm\"]"]);
    assert_eq!(
        seen.frame_summaries()[1..],
        [
            "overlay reasoning Thinking",
            "overlay loading Working",
            "overlay - -",
            "finalized 0 Ran for 1.2s",
            "completed",
        ]
    );
}

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
    assert_eq!(
        seen.item_summaries(),
        ["Ran for 0.5s [ls({}) = \"\" (Called)]", "entry ls() = \"a b\"", "\"Two.\""]
    );
    let entry = json!({
        "run": "run", "round": 0, "kind": "entry", "id": "e0", "state": "done", "name": "ls",
        "sort": "mcp", "callId": "call_0", "text": "a b", "ranForMs": 2_500,
    });
    assert_eq!(*seen.frames_named("entry")[0], entry);
}

#[test]
fn steps_s7_a_result_that_comes_in_the_next_round_stands_above_its_text_and_control() {
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
        [
            "Ran for 0s [ls() = \"\" (Called)]",
            "entry ls() = \"a\"",
            "Ran for 0s [thought \"hm\"]",
            "\"One.\""
        ]
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
        ["\"a\"", "entry ls({}) = \"x\"", "entry never({) = \"\" (Incomplete)"]
    );
}

#[test]
fn steps_s3_thinking_in_the_middle_of_a_message_stands_between_its_words() {
    let log = Log::with_round_0()
        .append_text(0, "pre")
        .start_reasoning(0)
        .finish_reasoning(0, "x")
        .append_text(0, "mid")
        .append_text(0, "-");
    let log = log
        .start_reasoning(1)
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
fn steps_s3_a_rewrite_reaches_into_the_part_it_changes() {
    let log = Log::with_round_0()
        .append_text(0, "pre")
        .start_reasoning(0)
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
