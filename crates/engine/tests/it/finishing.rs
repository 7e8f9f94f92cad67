//! A run that was asked to end by a control word (F5): what is still heard, and what takes the
//! word back.

use engine::event::{
    FailureReason, Image, MessageId, Outcome, ReasoningOrigin, Stop, TextMode, ToolOutcome,
};
use engine::run::{Cut, Rounds, Run, ToolStart, Writer};

use crate::control_words::{check_ends, options, tools};
use crate::rules::check_well_formed;
use crate::support::Kept;

/// What a run makes of what a dialect says.
#[track_caller]
fn told(say: impl Fn(&mut Writer<'_>)) -> Kept {
    let mut kept = Kept::default();
    let mut run = Run::new(&options().run);
    let mut out = run.writer(None, &mut kept);
    out.start("test", TextMode::Incremental);
    say(&mut out);
    out.finish(Cut::EndOfInput);
    check_well_formed(&kept, "told");
    kept
}

#[test]
fn f5_after_its_message_only_tools_of_the_reply_are_heard() {
    let kept = told(|out| {
        out.text("Done. !isfinish");
        let step = out.tool(ToolStart::function("a", "click"));
        out.text("LATE");
        out.text_so_far("LATE");
        out.text_kept("LATE");
        out.reasoning("LATE", ReasoningOrigin::Native);
        out.redacted_reasoning();
        out.image(Image::Url { url: "late".into() });
        out.end_tool(step, ToolOutcome::Succeeded, None);
        out.fail(FailureReason::Error, "late");
        out.cancelled("late");
        out.round(None, None);
        out.tool(ToolStart::function("b", "LATE"));
        out.prompt("LATE");
    });
    check_ends(&kept, &["Done. "]);
    assert!(!kept.lines().contains("LATE") && !kept.lines().contains("late"));
}

#[test]
fn f5_a_tool_after_one_that_ended_is_waited_for() {
    let kept = told(|out| {
        out.text("!isfinish");
        let one = out.tool(ToolStart::function("a", "click"));
        out.end_tool(one, ToolOutcome::Succeeded, None);
        out.tool(ToolStart::function("b", "click"));
    });
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
}

#[test]
fn f5_the_result_of_an_earlier_reply_settles_nothing() {
    let kept = told(|out| {
        let old = out.tool(ToolStart::function("a", "click"));
        out.round(None, None);
        out.text("!isfinish");
        out.end_message();
        out.end_tool(old, ToolOutcome::Succeeded, None);
    });
    assert_eq!(kept.ending().outcome, Outcome::Truncated);
}

#[test]
fn f5_what_the_model_says_after_the_results_is_late() {
    let kept = told(|out| {
        out.rounds(Rounds::AfterResults);
        out.text("Done!isfinish");
        let step = out.tool(ToolStart::function("a", "click"));
        out.end_tool(step, ToolOutcome::Failed, None);
        out.text("LATE");
        out.text_so_far("LATE");
    });
    check_ends(&kept, &["Done"]);
}

#[test]
fn f5_the_next_prompt_ends_the_run() {
    let kept = told(|out| {
        out.text("Done!isfinish");
        out.prompt("LATE");
    });
    check_ends(&kept, &["Done"]);
    assert!(!kept.lines().contains("LATE"));
}

#[test]
fn f5_a_prompt_while_its_tools_run_ends_nothing_yet() {
    let kept = told(|out| {
        out.text("Done!isfinish");
        let step = out.tool(ToolStart::function("a", "click"));
        out.prompt("Hurry up");
        out.end_tool(step, ToolOutcome::Succeeded, None);
    });
    check_ends(&kept, &["Done"]);
    assert_eq!(tools(&kept), [ToolOutcome::Succeeded]);
}

#[test]
fn f5_a_word_that_was_taken_back_ends_nothing() {
    let kept = told(|out| {
        out.text("Done!isfinish");
        out.withdraw_round();
        out.text("Other");
        out.complete(Stop::End);
    });
    assert_eq!((kept.visible(), kept.reply()), ("Other".to_owned(), "Other".to_owned()));
    let kept = told(|out| {
        out.text("Done!isfinish");
        out.withdraw_unfinished(&[]);
        out.text("Other");
        out.begin_message(None);
        out.text("Gone!isfinish");
        out.end_message();
        out.withdraw_unfinished(&[MessageId(2)]);
        out.text("More");
    });
    assert_eq!(kept.visible(), "OtherMore");
}

#[test]
fn f5_a_reply_that_failed_asked_for_nothing() {
    let kept = told(|out| {
        out.text("Done!isfinish");
        out.fail(FailureReason::Error, "overloaded");
        out.round(None, None);
        out.text("Once more");
    });
    assert_eq!(kept.messages(), ["Done", "Once more"]);
    let kept = told(|out| {
        out.text("Done!isfinish");
        out.fail(FailureReason::Error, "overloaded");
    });
    assert_eq!(kept.ending().outcome, Outcome::Failed);
}
