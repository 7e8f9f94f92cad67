//! Events that the run machine writes for each call of a dialect.

use millpond_engine::event::{
    AskKind, Citation, DroppedReason, Event, FailureReason, MarkupClass, MessageId, MessagePhase,
    Millis, ReasoningOrigin, Sink, StopReason, TextMode, ToolOutcome, Trace,
};
use millpond_engine::limits::LEADING_BLANK_BYTES_MAX;
use millpond_engine::run::{InputEnd, Run, RunOptions, ToolStart, Writer};

use crate::rules::check_well_formed;
use crate::support::RecordedEvents;

/// Runs the calls of `say` on a writer and returns the events.
pub(crate) fn run_script(say: impl Fn(&mut Writer<'_>)) -> RecordedEvents {
    let mut kept = RecordedEvents::default();
    let mut run = Run::new(&RunOptions::default());
    let mut out = run.writer(None, &mut kept);
    out.start_run("test", TextMode::Incremental);
    out.start_round_or_end_run(None, None);
    say(&mut out);
    out.end_run(InputEnd::EndOfInput);
    check_well_formed(&kept, "told");
    kept
}

fn hidden_markup(kept: &RecordedEvents, of: MarkupClass) -> String {
    let texts = kept.events().filter_map(|event| match event {
        Event::MarkupHidden { class, text } if *class == of => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

fn reasoning_text(kept: &RecordedEvents) -> String {
    let texts = kept.events().filter_map(|event| match event {
        Event::ReasoningAppended { text, .. } => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn x2_a_source_that_rewrites_after_its_thinking_keeps_the_tags_layout_out() {
    let kept = run_script(|out| {
        out.append_or_rewrite_cumulative_text("<think>a</think>\n\nHello world");
        out.append_or_rewrite_cumulative_text("<think>a</think>\n\nHello there");
    });
    assert_eq!(kept.visible_text(), "Hello there");
}

#[test]
fn x2_a_rewrite_inside_a_letter_keeps_whole_letters() {
    for (before, after) in [("né", "nè"), ("a🎉", "a🎈"), ("é", "è")] {
        let kept = run_script(|out| {
            out.append_or_rewrite_cumulative_text(before);
            out.append_or_rewrite_cumulative_text(after);
        });
        assert_eq!(kept.visible_text(), after);
    }
}

#[test]
fn what_a_message_has_said_is_known_to_the_letter() {
    run_script(|out| {
        assert!(!out.remembered_text_equals("a"));
        out.append_or_rewrite_cumulative_text("a");
        assert!(out.remembered_text_equals("a"));
        assert!(!out.remembered_text_equals("b") && !out.remembered_text_equals(""));
    });
}

#[test]
fn x15_what_was_declared_before_the_source_went_on_is_past() {
    let reply = |ends_first: bool| {
        let kept = run_script(|out| {
            out.append_text("first");
            out.close_message_and_defer_end();
            out.declare_final_message(MessageId(0));
            if ends_first {
                out.report_completed_unless_failed(StopReason::End);
            }
            out.start_round_or_end_run(None, None);
            out.append_text("second");
            out.report_completed_unless_failed(StopReason::End);
        });
        kept.events().find_map(|event| match event {
            Event::RunEnded { ending } => ending.message,
            _ => None,
        })
    };
    assert_eq!(reply(true), Some(MessageId(1)), "it had come to an end, and went on");
    assert_eq!(reply(false), Some(MessageId(0)), "it had not");
}

#[test]
fn blank_text_is_held_up_to_its_limit_and_hidden_past_it() {
    let blank = " ".repeat(LEADING_BLANK_BYTES_MAX);
    let kept = run_script(|out| {
        out.append_text(&blank);
        out.append_text("x");
    });
    assert!(kept.visible_text() == format!("{blank}x"), "at the limit all of it is text");
    let kept = run_script(|out| {
        out.append_text(&format!("{blank} "));
        out.append_text("x");
    });
    assert!(hidden_markup(&kept, MarkupClass::Blank) == format!("{blank} "), "past it none is");
    assert_eq!(kept.visible_text(), "x");
}

#[test]
fn blank_reasoning_is_held_up_to_its_limit() {
    let native =
        |out: &mut Writer<'_>, text: &str| out.append_reasoning(text, ReasoningOrigin::Native);
    let half = " ".repeat(LEADING_BLANK_BYTES_MAX / 2);
    let kept = run_script(|out| {
        native(out, &half);
        native(out, &half);
        native(out, " ");
        native(out, "x");
    });
    let expected = format!("{half}{half}x");
    assert!(reasoning_text(&kept) == expected, "what is past the limit is dropped");
}

#[test]
fn x4_blanks_between_reasoning_tags_are_kept_as_hidden() {
    let kept = run_script(|out| out.append_text("<think> \n</think>x"));
    assert_eq!(hidden_markup(&kept, MarkupClass::Blank), " \n");
    assert_eq!(reasoning_text(&kept), "");
    let kept = run_script(|out| out.append_text("<think></think>x"));
    assert_eq!(hidden_markup(&kept, MarkupClass::Blank), "");
    let empty =
        |event: &Event<'_>| matches!(event, Event::MarkupHidden { text, .. } if text.is_empty());
    assert!(!kept.events().any(empty), "nothing is hidden where there is nothing");
}

#[test]
fn blank_reasoning_in_the_middle_of_a_message_does_not_end_it() {
    let kept = run_script(|out| {
        out.append_text("one");
        out.append_reasoning(" ", ReasoningOrigin::Native);
        out.append_reasoning("\n", ReasoningOrigin::Native);
        out.append_text(" two");
    });
    assert_eq!(kept.message_texts(), ["one two"]);
    let kept = run_script(|out| {
        out.append_text("one");
        out.append_reasoning(" ", ReasoningOrigin::Native);
        out.append_reasoning("so", ReasoningOrigin::Native);
        out.append_text("two");
    });
    assert_eq!(kept.message_texts(), ["one\n\ntwo"]);
    assert_eq!(reasoning_text(&kept), " so");
}

#[test]
fn x17_a_message_that_stayed_blank_is_told_as_dropped() {
    #[derive(Default)]
    struct DroppedBytes(Vec<usize>);
    impl Sink for DroppedBytes {
        fn on_event(&mut self, _: Option<Millis>, _: Event<'_>) {}
        fn on_trace(&mut self, trace: Trace<'_>) {
            if let Trace::Dropped { bytes, reason: DroppedReason::Blank } = trace {
                self.0.push(bytes);
            }
        }
    }
    let mut dropped = DroppedBytes::default();
    let mut run = Run::new(&RunOptions::default());
    let mut out = run.writer(None, &mut dropped);
    out.start_run("test", TextMode::Incremental);
    out.append_text(" \n");
    out.close_message_and_defer_end();
    out.close_message_and_defer_end();
    out.end_run(InputEnd::EndOfInput);
    assert_eq!(dropped.0, [2]);
}

#[test]
fn a_tool_is_open_until_its_end_and_a_run_until_its_own() {
    run_script(|out| {
        let step = out.start_tool(ToolStart::client_function("a", "click"));
        assert!(out.is_tool_open(step));
        out.end_tool_if_open(step, ToolOutcome::Succeeded, None);
        assert!(!out.is_tool_open(step));
        assert!(!out.is_ended());
    });
    let mut kept = RecordedEvents::default();
    let mut run = Run::new(&RunOptions::default());
    let mut out = run.writer(None, &mut kept);
    out.start_run("test", TextMode::Incremental);
    out.end_run(InputEnd::EndOfInput);
    assert!(out.is_ended());
}

#[test]
fn x16_a_round_that_is_taken_back_closes_its_own_tools_only() {
    run_script(|out| {
        let earlier = out.start_tool(ToolStart::client_function("a", "click"));
        out.start_round_or_end_run(None, None);
        let own = [("b", "type"), ("c", "scroll")]
            .map(|(call, name)| out.start_tool(ToolStart::client_function(call, name)));
        out.withdraw_whole_round_and_end_it();
        assert!(out.is_tool_open(earlier));
        assert!(own.iter().all(|step| !out.is_tool_open(*step)));
        out.end_tool_if_open(earlier, ToolOutcome::Succeeded, None);
    });
}

#[test]
fn x13_an_ask_that_is_open_is_not_opened_again() {
    let kept = run_script(|out| {
        for ask in ["a", "b", "a"] {
            out.open_simple_ask_unless_open(ask, AskKind::Tool, "?", Vec::new(), None);
        }
    });
    let opened = kept.events().filter(|event| matches!(event, Event::AskOpened { .. }));
    assert_eq!(opened.count(), 2);
}

#[test]
fn x16_a_declared_message_that_is_taken_back_is_not_the_reply() {
    let kept = run_script(|out| {
        out.close_message_and_set_next_phase(Some(MessagePhase::Final));
        out.append_text("wrong");
        out.close_message_and_defer_end();
        out.declare_final_message(MessageId(0));
        out.withdraw_whole_round_and_end_it();
        out.append_text("right");
        out.report_completed_unless_failed(StopReason::End);
    });
    assert_eq!(kept.ending().message, Some(MessageId(1)));
}

#[test]
fn x16_live_text_is_taken_back_without_being_ended_first() {
    for unfinished in [false, true] {
        let kept = run_script(|out| {
            out.append_text("half a");
            if unfinished {
                out.withdraw_unfinished_and_end_round(&[]);
            } else {
                out.withdraw_whole_round_and_end_it();
            }
        });
        assert!(!kept.events().any(|event| matches!(event, Event::MessageEnded { .. })));
    }
}

#[test]
fn x8_what_breaks_off_says_so_and_what_was_whole_before_does_not() {
    let ends = |say: fn(&mut Writer<'_>)| -> Vec<bool> {
        let kept = run_script(say);
        let marks = kept.events().filter_map(|event| match event {
            Event::MessageEnded { incomplete, .. } | Event::RoundEnded { incomplete, .. } => {
                Some(*incomplete)
            }
            _ => None,
        });
        marks.collect()
    };
    assert_eq!(ends(|out| out.append_text("cut")), [true, true]);
    let whole = |out: &mut Writer<'_>| {
        out.append_text("whole");
        out.report_completed_unless_failed(StopReason::End);
    };
    assert_eq!(ends(whole), [false, false]);
    let long = |out: &mut Writer<'_>| {
        out.append_text("too long");
        out.report_completed_unless_failed(StopReason::Length);
    };
    assert_eq!(ends(long), [true, false], "the round says why it stopped");
    let late = |out: &mut Writer<'_>| {
        out.append_text("whole");
        out.close_message_and_defer_end();
        out.append_text("cut");
        out.report_failed_and_end_text(FailureReason::Error, "lost");
        out.start_round_or_end_run(None, None);
        out.append_text("again");
        out.report_completed_unless_failed(StopReason::End);
    };
    assert_eq!(ends(late), [false, true, true, false, false]);
}

#[test]
fn x18_a_source_that_comes_before_its_text_is_for_that_text() {
    let source =
        |title: &'static str| Citation { title: Some(title.into()), ..Citation::default() };
    let cited = |kept: &RecordedEvents| -> Vec<(u32, String)> {
        let cited = kept.events().filter_map(|event| match event {
            Event::SourceCited { message, citation } => {
                Some((message.0, citation.title.as_deref().unwrap_or_default().to_owned()))
            }
            _ => None,
        });
        cited.collect()
    };
    let kept = run_script(|out| {
        out.append_text("I search.");
        out.close_message_and_defer_end();
        out.append_or_hold_citation(source("for the next"));
        out.append_text("Found.");
        out.append_or_hold_citation(source("for this"));
        out.close_message_and_defer_end();
        out.append_or_hold_citation(source("for the last"));
    });
    let expected = [(1, "for this"), (1, "for the next"), (1, "for the last")];
    assert_eq!(cited(&kept), expected.map(|(id, title)| (id, title.to_owned())));
    let kept = run_script(|out| out.append_or_hold_citation(source("for nobody")));
    assert!(kept.events().any(|event| matches!(event, Event::Unrecognised { .. })));
}
