//! What the run machine says of replies that break off, and of runs that go on all the same.

use engine::event::{Event, FailureReason, ReasoningOrigin, Stop};
use engine::run::{ToolStart, Writer};

use crate::support::Kept;
use crate::told::told;

/// Which messages broke off.
fn incomplete(kept: &Kept) -> Vec<u32> {
    let broken = kept.events().filter_map(|event| match event {
        Event::MessageEnded { message, incomplete: true } => Some(message.0),
        _ => None,
    });
    broken.collect()
}

#[test]
fn x8_a_message_after_which_the_run_breaks_off_broke_off() {
    let breaks: [fn(&mut Writer<'_>); 4] = [
        |out| out.complete(Stop::Length),
        |out| out.fail(FailureReason::Error, "no more"),
        |out| out.cancelled("enough"),
        |_| {},
    ];
    for say in breaks {
        let kept = told(|out| {
            out.text("Whole.");
            out.end_message();
            out.text("Hal");
            out.end_message();
            say(out);
        });
        assert_eq!(incomplete(&kept), [1]);
    }
    let kept = told(|out| {
        out.text("Hal");
        out.end_message();
        out.end_round(Some(Stop::Length));
        out.complete(Stop::End);
    });
    assert_eq!(incomplete(&kept), [0], "its round says so first");
    let kept = told(|out| {
        out.text("All of it.");
        out.end_message();
        out.complete(Stop::End);
    });
    assert_eq!(incomplete(&kept), [0; 0]);
}

#[test]
fn x8_a_message_that_is_whole_or_was_followed_is_whole() {
    let kept = told(|out| {
        out.text("Whole.");
        out.end_whole_message();
        out.fail(FailureReason::Error, "no more");
    });
    assert_eq!(incomplete(&kept), [0; 0], "its source said so");
    let kept = told(|out| {
        out.text("I look.");
        out.end_message();
        out.tool(ToolStart::function("c", "look"));
        out.fail(FailureReason::Error, "no more");
    });
    assert_eq!(incomplete(&kept), [0; 0], "it went on");
}

#[test]
fn b4_calls_of_the_client_are_over_when_the_model_is_asked_again() {
    let ended_before_the_round = |stop| {
        let kept = told(|out| {
            let step = out.tool(ToolStart::function("c", "look"));
            out.ready(step);
            out.end_round(Some(stop));
            out.round(None, None);
            out.text("Seen.");
            out.complete(Stop::End);
        });
        let at = |wanted: fn(&Event<'_>) -> bool| kept.events().position(wanted).unwrap();
        let ended = at(|event| matches!(event, Event::ToolEnded { .. }));
        ended < at(|event| matches!(event, Event::RoundStarted { round: 1, .. }))
    };
    assert!(ended_before_the_round(Stop::Tools));
    assert!(!ended_before_the_round(Stop::End), "nobody waits for it: its result may come");
}

#[test]
fn x7_a_failure_after_which_the_source_goes_on_is_told_once() {
    let notices = |retries: bool| {
        let kept = told(|out| {
            out.text("Hal");
            out.fail(FailureReason::Error, "overloaded");
            if retries {
                out.note(Event::RetryScheduled {
                    attempt: None,
                    attempts_max: None,
                    delay_ms: None,
                    reason: "overloaded".into(),
                });
            }
            out.round(None, None);
            out.text("Whole.");
            out.complete(Stop::End);
        });
        let told = kept.events().filter_map(|event| match event {
            Event::NoticeGiven { text, .. } => Some(text.to_string()),
            _ => None,
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(notices(false), ["overloaded"]);
    assert_eq!(notices(true), [""; 0]);
}

/// Which thoughts broke off.
fn thoughts_cut(kept: &Kept) -> Vec<u32> {
    let broken = kept.events().filter_map(|event| match event {
        Event::ReasoningEnded { step, incomplete: true } => Some(step.0),
        _ => None,
    });
    broken.collect()
}

#[test]
fn x8_thinking_after_which_the_run_breaks_off_broke_off() {
    for native in [true, false] {
        let think = |out: &mut Writer<'_>, text: &str| {
            if native {
                out.reasoning(text, ReasoningOrigin::Native);
            } else {
                out.text(&format!("Well.<think>{text}"));
            }
        };
        let kept = told(|out| think(out, "I weigh"));
        assert_eq!(thoughts_cut(&kept), [0], "native {native}");
        let kept = told(|out| {
            think(out, "I weigh");
            out.complete(Stop::End);
        });
        assert_eq!(thoughts_cut(&kept), [0; 0], "native {native}");
    }
    let kept = told(|out| {
        out.reasoning("I weigh.", ReasoningOrigin::Native);
        out.text("Heavy");
    });
    assert_eq!((thoughts_cut(&kept), incomplete(&kept)), (vec![], vec![0]), "it went on to speak");
    let kept = told(|out| {
        out.text("Well.<think>I weigh");
        out.fail(FailureReason::Error, "no more");
    });
    assert_eq!((thoughts_cut(&kept), incomplete(&kept)), (vec![0], vec![0]), "both were open");
}

#[test]
fn x8_what_the_person_stopped_broke_off_though_the_run_goes_on() {
    let kept = told(|out| {
        out.reasoning("I weigh", ReasoningOrigin::Native);
        out.broke_off();
        out.text("Hea");
        out.end_message();
        out.broke_off();
        out.text("Light.");
        out.end_message();
        out.complete(Stop::End);
    });
    assert_eq!((thoughts_cut(&kept), incomplete(&kept)), (vec![0], vec![0]));
}
