//! The view `steps`, rule by rule: small logs in, pages and frames out.

mod fixtures;
mod frames;
mod hostile;
mod log;
mod matrix;
mod parts;
mod screen;

use engine::event::{Event, MessageId, Outcome, Owner, StepId, ToolKind, ToolOutcome};
use engine::view::{Options, Thinking, steps::Steps};
use serde_json::json;

use log::Log;
use screen::{see, see_with};

#[test]
fn steps_s1_nothing_but_the_overlay_shows_before_the_first_text() {
    let log = Log::round_0().thinks(0).thought(0, "hm").calls(1, "grep").with(1, "{}").ready(1);
    let seen = see(&log.gives(1, "found"));
    assert_eq!(seen.page(), [""; 0]);
    assert_eq!(
        seen.story(),
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
        (ToolKind::ImageGeneration, "loading Making a picture"),
        (ToolKind::Function, "tool net"),
        (ToolKind::Mcp, "tool net"),
        (ToolKind::Action, "tool net"),
        (ToolKind::Command, "tool net"),
        (ToolKind::Edit, "tool net"),
        (ToolKind::Agent, "tool net"),
        (ToolKind::Builtin, "tool net"),
    ] {
        let seen = see(&Log::round_0().calls_a(kind, 0, "net", None).ends());
        assert_eq!(seen.story()[1], format!("overlay {words}"));
        let sort = serde_json::to_value(kind).unwrap();
        assert_eq!(seen.named("finalized")[0]["steps"][0]["sort"], sort);
    }
    let nameless = see(&Log::round_0().calls(0, ""));
    assert_eq!(nameless.story()[1], "overlay tool Using a tool");
}

#[test]
fn steps_s1_the_overlay_follows_the_newest_step_and_tells_only_changes() {
    let log = Log::round_0().calls(0, "old").calls(1, "new").calls(2, "new");
    let log = log.gives(2, "").gives(1, "").gives(0, "");
    assert_eq!(
        see(&log).story()[1..],
        ["overlay tool old", "overlay tool new", "overlay tool old", "overlay loading Working"]
    );
}

#[test]
fn steps_s1_an_image_of_a_message_is_its_first_text() {
    let log = Log::round_0().calls(0, "draw").gives(0, "ok");
    let seen = see(&log.pictures(Owner::Message(MessageId(0)), "a.png").round_ends(0).ends());
    assert_eq!(seen.page(), ["Ran for 0s [draw() = \"ok\"]", "\"\" <a.png>"]);
    assert_eq!(seen.story()[3..6], ["overlay - -", "text 0 ", "image"]);
}

#[test]
fn steps_s2_the_overlay_goes_with_the_first_text_and_stays_gone() {
    let log = Log::round_0().says(0, "Hi").said(0).thinks(0).thought(0, "hm").calls(1, "grep");
    let log = log.gives(1, "x").says(1, "Bye").said(1).round_ends(0).ends();
    let seen = see(&log);
    let overlays: Vec<_> = seen.named("overlay").iter().map(|data| &data["phase"]).collect();
    assert_eq!(overlays, [&json!("waiting"), &json!(null)]);
    assert_eq!(seen.named("overlay")[1]["round"], 0);
    let mut view = Steps::new(Options::default());
    log.records.iter().for_each(|record| view.apply(record, &mut |_| {}));
    assert_eq!(view.suppressed_overlays(), 4, "two steps began and ended too late for it");
}

#[test]
fn steps_s2_the_next_round_has_its_own_overlay() {
    let log = Log::round_0().says(0, "Hi").said(0).round_ends(0).round(1).calls(0, "grep");
    let seen = see(&log.gives(0, "x").round_ends(1).ends());
    assert_eq!(seen.named("overlay")[2]["phase"], "waiting");
    assert_eq!(seen.named("overlay")[2]["round"], 1);
    assert_eq!(seen.named("overlay")[3]["label"], "grep");
}

#[test]
fn steps_s3_text_tool_text_is_three_parts_in_their_order() {
    let log = Log::round_0().says(0, "I look").says(0, ".").said(0);
    let log = log.calls(0, "grep").with(0, "{\"a\"").with(0, ":1}").ready(0).puts_out(0, "fo");
    let log = log.gives(0, "und").says(1, "Found.").said(1).round_ends(0).ends();
    let seen = see(&log);
    assert_eq!(seen.page(), ["\"I look.\"", "grep({\"a\":1}) = \"found\"", "\"Found.\""]);
    assert_eq!(
        seen.story(),
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
    let log = Log::round_0().says(0, "a").said(0).at(1_000).calls(0, "cat").at(3_500).and(failed);
    let log = log.at(4_000).thinks(1).at(4_200).thought(1, "odd").calls(2, "rm");
    let seen = see(&log.ends_as(2, ToolOutcome::Denied).round_ends(0).ends());
    let ended: Vec<_> =
        seen.named("segment").into_iter().filter(|data| data["state"] != "live").collect();
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
    let log = Log::round_0().says(0, "Hello wrld").rewrites(0, 7, "orld").says(0, "!").said(0);
    let seen = see(&log.round_ends(0).ends());
    assert_eq!(seen.page(), ["\"Hello world!\""]);
    let replaced =
        json!({"run": "run", "round": 0, "index": 0, "replace": true, "delta": "Hello world"});
    assert_eq!(*seen.named("text")[1], replaced);
}

#[test]
fn steps_s4_the_steps_before_the_text_are_under_one_control_before_it() {
    let log = Log::round_0().prompt("Where?").thinks(0).at(1_000).thought(0, "hm");
    let log = log.calls(1, "grep").with(1, "{}").at(2_200).gives(1, "found");
    let log = log.says(0, "Here.").said(0).calls(2, "open").gives(2, "ok").round_ends(0).ends();
    assert_eq!(
        see(&log).page(),
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
    let log = Log::round_0().calls(0, "grep").at(12_000).gives(0, "x").says(0, "Hi").said(0);
    let seen = see(&log.round_ends(0).ends());
    assert_eq!(seen.page(), ["Ran for 12s [grep() = \"x\"]", "\"Hi\""]);
}

#[test]
fn steps_s4_a_step_that_ends_after_the_first_text_stays_under_the_control() {
    let log = Log::round_0().calls(0, "slow").says(0, "Meanwhile").said(0).at(64_000);
    let seen = see(&log.gives(0, "x").round_ends(0).ends());
    assert_eq!(seen.page(), ["Ran for 1m 4s [slow() = \"x\"]", "\"Meanwhile\""]);
    assert_eq!(seen.named("segment"), [&json!(null); 0]);
}

#[test]
fn steps_s5_the_durations_of_the_steps_before_the_text_are_added() {
    let log = Log::round_0().at(1_000).calls(0, "a").calls(1, "b").at(2_000).gives(0, "");
    let log = log.at(3_000).gives(1, "").at(9_000).says(0, "Hi").said(0);
    let log = log.calls(2, "late").at(20_000).gives(2, "").round_ends(0).ends();
    let seen = see(&log);
    assert_eq!(seen.named("finalized")[0]["ranForMs"], 3_000);
    assert_eq!(seen.named("finalized")[0]["label"], "Ran for 3s");
}

#[test]
fn steps_s5_without_a_step_that_has_both_times_the_span_counts() {
    let log = Log::round_0().at(1_000).calls(0, "a").untimed().gives(0, "");
    let log = log.calls(1, "b").at(5_400).gives(1, "").says(0, "Hi").said(0);
    let seen = see(&log.round_ends(0).ends());
    assert_eq!(seen.named("finalized")[0]["label"], "Ran for 4.4s");
}

#[test]
fn steps_s5_without_any_time_the_label_is_steps() {
    let log = Log::run().round(0).calls(0, "a").gives(0, "").says(0, "Hi").said(0);
    let seen = see(&log.round_ends(0).ends());
    assert_eq!(seen.named("finalized")[0]["label"], "Steps");
    assert_eq!(seen.named("finalized")[0]["ranForMs"], json!(null));
    let begun = Log::round_0().calls(0, "a").untimed().gives(0, "").round_ends(0).ends();
    assert_eq!(see(&begun).page(), ["Steps [a() = \"\"]"], "a start alone is no time");
}

#[test]
fn steps_s6_a_round_without_text_has_its_overlay_throughout_and_then_only_the_control() {
    let log = Log::round_0().thinks(0).at(1_234).thought(0, "hm").round_ends(0).ends();
    let seen = see(&log);
    assert_eq!(seen.page(), ["Ran for 1.2s [thought \"hm\"]"]);
    assert_eq!(
        seen.story()[1..],
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
    let log = Log::round_0().calls(0, "ls").with(0, "{}").at(500).ready(0).puts_out(0, "a ");
    let log = log.round_ends(0).at(3_000).gives(0, "b").round(1).says(0, "Two.").said(0);
    let seen = see(&log.round_ends(1).ends());
    assert_eq!(
        seen.page(),
        ["Ran for 0.5s [ls({}) = \"\" (Called)]", "entry ls() = \"a b\"", "\"Two.\""]
    );
    let entry = json!({
        "run": "run", "round": 0, "kind": "entry", "id": "e0", "state": "done", "name": "ls",
        "sort": "mcp", "callId": "call_0", "text": "a b", "ranForMs": 2_500,
    });
    assert_eq!(*seen.named("entry")[0], entry);
}

#[test]
fn steps_s7_a_result_that_comes_in_the_next_round_stands_above_its_text_and_control() {
    let log = Log::round_0().calls(0, "ls").ready(0).round_ends(0).round(1).thinks(1);
    let log = log.thought(1, "hm").gives(0, "a").says(0, "One.").said(0).round_ends(1).ends();
    assert_eq!(
        see(&log).page(),
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
    let log = Log::round_0().calls(0, "ls").ready(0).calls(1, "cut").round_ends(0);
    let log = log.ends_as(0, ToolOutcome::NoResult).ends_as(1, ToolOutcome::Cut).ends();
    let seen = see(&log);
    assert_eq!(seen.page(), ["Ran for 0s [ls() = \"\" (Called), cut() = \"\" (Incomplete)]"]);
    assert_eq!(seen.named("entry").len(), 0);
}

#[test]
fn steps_s7_a_tool_between_two_rounds_is_an_entry_with_its_arguments() {
    let log = Log::round_0().says(0, "a").said(0).round_ends(0).calls(0, "ls").with(0, "{}");
    let log = log.gives(0, "x").calls(1, "never").with(1, "{").ends_with(Outcome::Truncated);
    assert_eq!(
        see(&log).page(),
        ["\"a\"", "entry ls({}) = \"x\"", "entry never({) = \"\" (Incomplete)"]
    );
}

#[test]
fn steps_s3_thinking_in_the_middle_of_a_message_stands_between_its_words() {
    let log = Log::round_0().says(0, "pre").thinks(0).thought(0, "x").says(0, "mid").says(0, "-");
    let log = log.thinks(1).thought(1, "y").says(0, "post").said(0).round_ends(0).ends();
    assert_eq!(
        see(&log).page(),
        ["\"pre\"", "thought \"x\"", "\"mid-\"", "thought \"y\"", "\"post\""]
    );
}

#[test]
fn steps_s3_a_rewrite_reaches_into_the_part_it_changes() {
    let log = Log::round_0().says(0, "pre").thinks(0).thought(0, "x").says(0, "mid");
    let log = log.rewrites(0, 4, "ore").says(0, "!");
    assert_eq!(see(&log).page(), ["\"pre\"", "thought \"x\"", "\"more!\" (Live)"]);
    let log = log.rewrites(0, 2, "ss").said(0).round_ends(0).ends();
    assert_eq!(see(&log).page(), ["\"prss\"", "thought \"x\"", "\"\" (Withdrawn)"]);
}

#[test]
fn steps_s8_every_text_is_on_the_page_once() {
    let log = Log::round_0().thinks(0).thought(0, "AAAA").calls(1, "t").with(1, "BBBB");
    let log = log.gives(1, "CCCC").says(0, "DDDD").said(0).calls(2, "u").with(2, "EEEE").ready(2);
    let log = log.round_ends(0).gives(2, "FFFF").ends();
    let page = see(&log).page().join("\n");
    for text in ["AAAA", "BBBB", "CCCC", "DDDD", "EEEE", "FFFF"] {
        assert_eq!(page.matches(text).count(), 1, "{text} in {page}");
    }
}

#[test]
fn steps_s8_what_comes_after_a_steps_end_is_no_part_of_it() {
    let log = Log::round_0().thinks(0).thought(0, "hm").thought(0, "hm").calls(1, "t");
    let log = log.gives(1, "x").gives(1, "x").with(1, "{}").says(0, "Hi").said(0);
    assert_eq!(
        see(&log.round_ends(0).ends()).page(),
        ["Ran for 0s [thought \"hm\", t() = \"x\"]", "\"Hi\""]
    );
}

#[test]
fn steps_thinking_hide_leaves_no_trace_of_it() {
    let log = Log::round_0().thinks(0).thought(0, "secret").says(0, "Hi").said(0).thinks(1);
    let log = log.thought(1, "secret").says(1, "Bye").said(1).round_ends(0).ends();
    let seen = see_with(Thinking::Hide, &log.records);
    assert_eq!(seen.page(), ["\"Hi\"", "\"Bye\""]);
    assert_eq!(seen.story()[1..3], ["overlay loading Working", "overlay - -"]);
    assert!(!format!("{:?}{:?}", seen.frames, seen.picture).contains("secret"));
    for thinking in [Thinking::AsUsual, Thinking::Show] {
        let seen = see_with(thinking, &log.records);
        assert_eq!(seen.page()[0], "Ran for 0s [thought \"secret\"]");
        assert!(!seen.story().join("").contains("secret"), "the overlay does not quote");
    }
}

#[test]
fn steps_x13_an_ask_is_told_and_what_goes_on_after_it() {
    let log = Log::round_0().asks("a").answers("a").says(0, "Hi").said(0).round_ends(0).ends();
    let seen = see(&log);
    assert_eq!(seen.story()[1..3], ["ask", "ask-resolved"]);
}
