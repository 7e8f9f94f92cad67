//! The overlay: shown until the first text of a round, and gone after it.

use millpond_engine::event::{ImageOwner, MessageId, ToolKind};
use millpond_engine::view::{ViewName, ViewOptions, steps::Steps};
use millpond_engine::wire::{Encoder, StreamKind};
use serde_json::json;

use super::frame_client::view_log;
use super::log::Log;

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
fn steps_s1_no_kind_of_step_is_inline_before_the_text_and_each_is_after_it() {
    for kind in [
        ToolKind::Function,
        ToolKind::Mcp,
        ToolKind::WebSearch,
        ToolKind::CodeInterpreter,
        ToolKind::FileSearch,
    ] {
        let log = Log::with_round_0().start_tool_of_kind(kind, 0, "net", None);
        let log = log.output_and_succeed(0, "x");
        assert_eq!(view_log(&log).item_summaries(), [""; 0], "{kind:?}");
        let log = log.append_text(0, "Hi").end_message(0).start_tool_of_kind(kind, 1, "net", None);
        let shown = view_log(&log).item_summaries();
        let row_for_earlier_steps = "? (Live)";
        assert_eq!(shown, [row_for_earlier_steps, "\"Hi\"", "net() = \"\" (Live)"], "{kind:?}");
    }
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
    assert_eq!(view.suppressed_overlay_count(), 4, "two steps began and ended too late for it");
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
fn steps_s4_the_row_of_the_control_is_kept_from_the_first_text_on() {
    let log = Log::with_round_0().start_reasoning(0).finish_reasoning(0, "hm").append_text(0, "Hi");
    let live = view_log(&log);
    assert_eq!(live.item_summaries(), ["? (Live)", "\"Hi\" (Live)"]);
    assert!(live.page.items.values().next().unwrap().steps.is_empty(), "nothing shows in it");
    let log = log.end_message(0).end_round(0);
    assert_eq!(view_log(&log).item_summaries(), ["Ran for 0s [thought \"hm\"]", "\"Hi\""]);
    let without = Log::with_round_0().append_text(0, "Hi");
    assert_eq!(view_log(&without).item_summaries(), ["\"Hi\" (Live)"], "there will be no control");
    let gone = Log::with_round_0().start_tool(0, "t").append_text(0, "Hi").withdraw(&[], &[0]);
    assert_eq!(view_log(&gone.end_message(0).end_round(0)).item_summaries(), ["\"Hi\""]);
}

#[test]
fn steps_s2_no_status_line_stands_beside_the_text_of_a_round() {
    let mut labels = Vec::new();
    let log = Log::with_round_0()
        .start_tool(0, "grep")
        .append_text(0, "Hi")
        .start_tool(1, "open")
        .output_and_succeed(1, "x")
        .start_reasoning(2)
        .append_text(1, "Bye")
        .end_round(0)
        .output_and_succeed(0, "y")
        .start_round(1);
    let mut encoder = Encoder::new(StreamKind::new(ViewName::Steps), "session");
    for record in &log.records {
        encoder.push(record, &mut |_| {});
        let page = encoder.page();
        labels.push((page.overlay.is_some(), page.label.clone()));
    }
    labels.dedup();
    let shown = |overlay: bool, label: &str| (overlay, label.to_owned());
    assert_eq!(
        labels,
        [
            shown(false, "Thinking"),
            shown(true, "Thinking"),
            shown(true, "Working: grep"),
            shown(false, ""),
            shown(true, "Thinking"),
        ]
    );
}
