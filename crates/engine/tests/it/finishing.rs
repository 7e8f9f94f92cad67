//! A run that a control word asked to end (F5): which events still count, and what cancels the
//! request.

use millpond_engine::event::{
    FailureReason, Image, MessageId, Outcome, ReasoningOrigin, StopReason, TextMode, ToolOutcome,
};
use millpond_engine::run::{InputEnd, RoundBoundaries, Run, ToolStart, Writer};

use crate::control_words::{check_ends, options_with_control_words, tool_outcomes};
use crate::rules::check_well_formed;
use crate::support::RecordedEvents;

/// Runs the calls of `say` on a writer and returns the events.
#[track_caller]
fn run_script(say: impl Fn(&mut Writer<'_>)) -> RecordedEvents {
    let mut kept = RecordedEvents::default();
    let mut run = Run::new(&options_with_control_words().run);
    let mut out = run.writer(None, &mut kept);
    out.start_run("test", TextMode::Incremental);
    say(&mut out);
    out.end_run(InputEnd::EndOfInput);
    check_well_formed(&kept, "told");
    kept
}

#[test]
fn f5_after_its_message_only_tools_of_the_reply_are_heard() {
    let kept = run_script(|out| {
        out.append_text("Done. !isfinish");
        let step = out.start_tool(ToolStart::client_function("a", "click"));
        out.append_text("LATE");
        out.append_or_rewrite_cumulative_text("LATE");
        out.append_and_remember_text("LATE");
        out.append_reasoning("LATE", ReasoningOrigin::Native);
        out.append_redacted_reasoning();
        out.append_message_image(Image::Url { url: "late".into() });
        out.end_tool_if_open(step, ToolOutcome::Succeeded, None);
        out.report_failed_and_end_text(FailureReason::Error, "late");
        out.report_cancelled_and_end_text("late");
        out.start_round_or_end_run(None, None);
        out.start_tool(ToolStart::client_function("b", "LATE"));
        out.append_prompt_unless_finish_requested("LATE");
    });
    check_ends(&kept, &["Done. "]);
    assert!(!kept.to_json_lines().contains("LATE") && !kept.to_json_lines().contains("late"));
}

#[test]
fn f5_a_tool_after_one_that_ended_is_waited_for() {
    let kept = run_script(|out| {
        out.append_text("!isfinish");
        let one = out.start_tool(ToolStart::client_function("a", "click"));
        out.end_tool_if_open(one, ToolOutcome::Succeeded, None);
        out.start_tool(ToolStart::client_function("b", "click"));
    });
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
}

#[test]
fn f5_the_result_of_an_earlier_reply_settles_nothing() {
    let kept = run_script(|out| {
        let old = out.start_tool(ToolStart::client_function("a", "click"));
        out.start_round_or_end_run(None, None);
        out.append_text("!isfinish");
        out.close_message_and_defer_end();
        out.end_tool_if_open(old, ToolOutcome::Succeeded, None);
    });
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
}

#[test]
fn f5_what_the_model_says_after_the_results_is_late() {
    let kept = run_script(|out| {
        out.set_round_boundaries(RoundBoundaries::AfterToolResults);
        out.append_text("Done!isfinish");
        let step = out.start_tool(ToolStart::client_function("a", "click"));
        out.end_tool_if_open(step, ToolOutcome::Failed, None);
        out.append_text("LATE");
        out.append_or_rewrite_cumulative_text("LATE");
    });
    check_ends(&kept, &["Done"]);
}

#[test]
fn f5_the_next_prompt_ends_the_run() {
    let kept = run_script(|out| {
        out.append_text("Done!isfinish");
        out.append_prompt_unless_finish_requested("LATE");
    });
    check_ends(&kept, &["Done"]);
    assert!(!kept.to_json_lines().contains("LATE"));
}

#[test]
fn f5_a_prompt_while_its_tools_run_ends_nothing_yet() {
    let kept = run_script(|out| {
        out.append_text("Done!isfinish");
        let step = out.start_tool(ToolStart::client_function("a", "click"));
        out.append_prompt_unless_finish_requested("Hurry up");
        out.end_tool_if_open(step, ToolOutcome::Succeeded, None);
    });
    check_ends(&kept, &["Done"]);
    assert_eq!(tool_outcomes(&kept), [ToolOutcome::Succeeded]);
}

#[test]
fn f5_a_word_that_was_taken_back_ends_nothing() {
    let kept = run_script(|out| {
        out.append_text("Done!isfinish");
        out.withdraw_whole_round_and_end_it();
        out.append_text("Other");
        out.report_completed_unless_failed(StopReason::End);
    });
    assert_eq!((kept.visible_text(), kept.final_text()), ("Other".to_owned(), "Other".to_owned()));
    let kept = run_script(|out| {
        out.append_text("Done!isfinish");
        out.withdraw_unfinished_and_end_round(&[]);
        out.append_text("Other");
        out.close_message_and_set_next_phase(None);
        out.append_text("Gone!isfinish");
        out.close_message_and_defer_end();
        out.withdraw_unfinished_and_end_round(&[MessageId(2)]);
        out.append_text("More");
    });
    assert_eq!(kept.visible_text(), "OtherMore");
}

#[test]
fn f5_a_reply_that_failed_asked_for_nothing() {
    let kept = run_script(|out| {
        out.append_text("Done!isfinish");
        out.report_failed_and_end_text(FailureReason::Error, "overloaded");
        out.start_round_or_end_run(None, None);
        out.append_text("Once more");
    });
    assert_eq!(kept.message_texts(), ["Done", "Once more"]);
    let kept = run_script(|out| {
        out.append_text("Done!isfinish");
        out.report_failed_and_end_text(FailureReason::Error, "overloaded");
    });
    assert_eq!(kept.ending().outcome, Outcome::Failed);
}
