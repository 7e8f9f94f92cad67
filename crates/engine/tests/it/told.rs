//! What the run machine makes of what a dialect says, word by word.

use engine::event::{
    AskKind, Citation, DroppedReason, Event, FailureReason, MarkupClass, MessageId, Millis, Phase,
    ReasoningOrigin, Sink, Stop, TextMode, ToolOutcome, Trace,
};
use engine::limits::BLANK_BYTES_MAX;
use engine::run::{Cut, Run, RunOptions, ToolStart, Writer};

use crate::rules::check_well_formed;
use crate::support::Kept;

pub(crate) fn told(say: impl Fn(&mut Writer<'_>)) -> Kept {
    let mut kept = Kept::default();
    let mut run = Run::new(&RunOptions::default());
    let mut out = run.writer(None, &mut kept);
    out.start("test", TextMode::Incremental);
    out.round(None, None);
    say(&mut out);
    out.finish(Cut::EndOfInput);
    check_well_formed(&kept, "told");
    kept
}

fn hidden(kept: &Kept, of: MarkupClass) -> String {
    let texts = kept.events().filter_map(|event| match event {
        Event::MarkupHidden { class, text } if *class == of => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

fn reasoning(kept: &Kept) -> String {
    let texts = kept.events().filter_map(|event| match event {
        Event::ReasoningAppended { text, .. } => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn x2_a_source_that_rewrites_after_its_thinking_keeps_the_tags_layout_out() {
    let kept = told(|out| {
        out.text_so_far("<think>a</think>\n\nHello world");
        out.text_so_far("<think>a</think>\n\nHello there");
    });
    assert_eq!(kept.visible(), "Hello there");
}

#[test]
fn x2_a_rewrite_inside_a_letter_keeps_whole_letters() {
    for (before, after) in [("né", "nè"), ("a🎉", "a🎈"), ("é", "è")] {
        let kept = told(|out| {
            out.text_so_far(before);
            out.text_so_far(after);
        });
        assert_eq!(kept.visible(), after);
    }
}

#[test]
fn what_a_message_has_said_is_known_to_the_letter() {
    told(|out| {
        assert!(!out.has_said("a"));
        out.text_so_far("a");
        assert!(out.has_said("a"));
        assert!(!out.has_said("b") && !out.has_said(""));
    });
}

#[test]
fn x15_what_was_declared_before_the_source_went_on_is_past() {
    let reply = |ends_first: bool| {
        let kept = told(|out| {
            out.text("first");
            out.end_message();
            out.declare_message(MessageId(0));
            if ends_first {
                out.complete(Stop::End);
            }
            out.round(None, None);
            out.text("second");
            out.complete(Stop::End);
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
    let blank = " ".repeat(BLANK_BYTES_MAX);
    let kept = told(|out| {
        out.text(&blank);
        out.text("x");
    });
    assert!(kept.visible() == format!("{blank}x"), "at the limit all of it is text");
    let kept = told(|out| {
        out.text(&format!("{blank} "));
        out.text("x");
    });
    assert!(hidden(&kept, MarkupClass::Blank) == format!("{blank} "), "past it none is");
    assert_eq!(kept.visible(), "x");
}

#[test]
fn blank_reasoning_is_held_up_to_its_limit() {
    let native = |out: &mut Writer<'_>, text: &str| out.reasoning(text, ReasoningOrigin::Native);
    let half = " ".repeat(BLANK_BYTES_MAX / 2);
    let kept = told(|out| {
        native(out, &half);
        native(out, &half);
        native(out, " ");
        native(out, "x");
    });
    let expected = format!("{half}{half}x");
    assert!(reasoning(&kept) == expected, "what is past the limit is dropped");
}

#[test]
fn x4_blanks_between_reasoning_tags_are_kept_as_hidden() {
    let kept = told(|out| out.text("<think> \n</think>x"));
    assert_eq!(hidden(&kept, MarkupClass::Blank), " \n");
    assert_eq!(reasoning(&kept), "");
    let kept = told(|out| out.text("<think></think>x"));
    assert_eq!(hidden(&kept, MarkupClass::Blank), "");
    let empty =
        |event: &Event<'_>| matches!(event, Event::MarkupHidden { text, .. } if text.is_empty());
    assert!(!kept.events().any(empty), "nothing is hidden where there is nothing");
}

#[test]
fn blank_reasoning_in_the_middle_of_a_message_does_not_end_it() {
    let kept = told(|out| {
        out.text("one");
        out.reasoning(" ", ReasoningOrigin::Native);
        out.reasoning("\n", ReasoningOrigin::Native);
        out.text(" two");
    });
    assert_eq!(kept.messages(), ["one two"]);
    let kept = told(|out| {
        out.text("one");
        out.reasoning(" ", ReasoningOrigin::Native);
        out.reasoning("so", ReasoningOrigin::Native);
        out.text("two");
    });
    assert_eq!(kept.messages(), ["one", "two"]);
    assert_eq!(reasoning(&kept), " so");
}

#[test]
fn x17_a_message_that_stayed_blank_is_told_as_dropped() {
    #[derive(Default)]
    struct Dropped(Vec<usize>);
    impl Sink for Dropped {
        fn event(&mut self, _: Option<Millis>, _: Event<'_>) {}
        fn trace(&mut self, trace: Trace<'_>) {
            if let Trace::Dropped { bytes, reason: DroppedReason::Blank } = trace {
                self.0.push(bytes);
            }
        }
    }
    let mut dropped = Dropped::default();
    let mut run = Run::new(&RunOptions::default());
    let mut out = run.writer(None, &mut dropped);
    out.start("test", TextMode::Incremental);
    out.text(" \n");
    out.end_message();
    out.end_message();
    out.finish(Cut::EndOfInput);
    assert_eq!(dropped.0, [2]);
}

#[test]
fn a_tool_is_open_until_its_end_and_a_run_until_its_own() {
    told(|out| {
        let step = out.tool(ToolStart::function("a", "click"));
        assert!(out.is_open(step));
        out.end_tool(step, ToolOutcome::Succeeded, None);
        assert!(!out.is_open(step));
        assert!(!out.is_ended());
    });
    let mut kept = Kept::default();
    let mut run = Run::new(&RunOptions::default());
    let mut out = run.writer(None, &mut kept);
    out.start("test", TextMode::Incremental);
    out.finish(Cut::EndOfInput);
    assert!(out.is_ended());
}

#[test]
fn x16_a_round_that_is_taken_back_closes_its_own_tools_only() {
    told(|out| {
        let earlier = out.tool(ToolStart::function("a", "click"));
        out.round(None, None);
        let own = [("b", "type"), ("c", "scroll")]
            .map(|(call, name)| out.tool(ToolStart::function(call, name)));
        out.withdraw_round();
        assert!(out.is_open(earlier));
        assert!(own.iter().all(|step| !out.is_open(*step)));
        out.end_tool(earlier, ToolOutcome::Succeeded, None);
    });
}

#[test]
fn x13_an_ask_that_is_open_is_not_opened_again() {
    let kept = told(|out| {
        for ask in ["a", "b", "a"] {
            out.ask(ask, AskKind::Tool, "?", Vec::new(), None);
        }
    });
    let opened = kept.events().filter(|event| matches!(event, Event::AskOpened { .. }));
    assert_eq!(opened.count(), 2);
}

#[test]
fn x16_a_declared_message_that_is_taken_back_is_not_the_reply() {
    let kept = told(|out| {
        out.begin_message(Some(Phase::Final));
        out.text("wrong");
        out.end_message();
        out.declare_message(MessageId(0));
        out.withdraw_round();
        out.text("right");
        out.complete(Stop::End);
    });
    assert_eq!(kept.ending().message, Some(MessageId(1)));
}

#[test]
fn x16_live_text_is_taken_back_without_being_ended_first() {
    for unfinished in [false, true] {
        let kept = told(|out| {
            out.text("half a");
            if unfinished { out.withdraw_unfinished(&[]) } else { out.withdraw_round() }
        });
        assert!(!kept.events().any(|event| matches!(event, Event::MessageEnded { .. })));
    }
}

#[test]
fn x8_what_breaks_off_says_so_and_what_was_whole_before_does_not() {
    let ends = |say: fn(&mut Writer<'_>)| -> Vec<bool> {
        let kept = told(say);
        let marks = kept.events().filter_map(|event| match event {
            Event::MessageEnded { incomplete, .. } | Event::RoundEnded { incomplete, .. } => {
                Some(*incomplete)
            }
            _ => None,
        });
        marks.collect()
    };
    assert_eq!(ends(|out| out.text("cut")), [true, true]);
    let whole = |out: &mut Writer<'_>| {
        out.text("whole");
        out.complete(Stop::End);
    };
    assert_eq!(ends(whole), [false, false]);
    let long = |out: &mut Writer<'_>| {
        out.text("too long");
        out.complete(Stop::Length);
    };
    assert_eq!(ends(long), [true, false], "the round says why it stopped");
    let late = |out: &mut Writer<'_>| {
        out.text("whole");
        out.end_message();
        out.text("cut");
        out.fail(FailureReason::Error, "lost");
        out.round(None, None);
        out.text("again");
        out.complete(Stop::End);
    };
    assert_eq!(ends(late), [false, true, true, false, false]);
}

#[test]
fn x18_a_source_that_comes_before_its_text_is_for_that_text() {
    let source =
        |title: &'static str| Citation { title: Some(title.into()), ..Citation::default() };
    let cited = |kept: &Kept| -> Vec<(u32, String)> {
        let cited = kept.events().filter_map(|event| match event {
            Event::SourceCited { message, citation } => {
                Some((message.0, citation.title.as_deref().unwrap_or_default().to_owned()))
            }
            _ => None,
        });
        cited.collect()
    };
    let kept = told(|out| {
        out.text("I search.");
        out.end_message();
        out.cite(source("for the next"));
        out.text("Found.");
        out.cite(source("for this"));
        out.end_message();
        out.cite(source("for the last"));
    });
    let expected = [(1, "for this"), (1, "for the next"), (1, "for the last")];
    assert_eq!(cited(&kept), expected.map(|(id, title)| (id, title.to_owned())));
    let kept = told(|out| out.cite(source("for nobody")));
    assert!(kept.events().any(|event| matches!(event, Event::Unrecognised { .. })));
}
