//! Events of the run machine for interrupted replies, and for runs that continue after one.

use millpond_engine::event::{Event, FailureReason, ReasoningOrigin, StopReason};
use millpond_engine::run::{Interruption, ToolStart, Writer};

use crate::run_writer::run_script;
use crate::support::RecordedEvents;

/// Ids of the incomplete messages.
fn incomplete_messages(kept: &RecordedEvents) -> Vec<u32> {
    let broken = kept.events().filter_map(|event| match event {
        Event::MessageEnded { message, incomplete: true } => Some(message.0),
        _ => None,
    });
    broken.collect()
}

#[test]
fn x8_a_message_after_which_the_run_breaks_off_broke_off() {
    let breaks: [fn(&mut Writer<'_>); 4] = [
        |out| out.report_completed_unless_failed(StopReason::Length),
        |out| out.report_failed_and_end_text(FailureReason::Error, "no more"),
        |out| out.report_cancelled_and_end_text("enough"),
        |_| {},
    ];
    for say in breaks {
        let kept = run_script(|out| {
            out.append_text("Whole.");
            out.close_message_and_defer_end();
            out.append_text("Hal");
            out.close_message_and_defer_end();
            say(out);
        });
        assert_eq!(incomplete_messages(&kept), [1]);
    }
    let kept = run_script(|out| {
        out.append_text("Hal");
        out.close_message_and_defer_end();
        out.end_round(Some(StopReason::Length));
        out.report_completed_unless_failed(StopReason::End);
    });
    assert_eq!(incomplete_messages(&kept), [0], "its round says so first");
    let kept = run_script(|out| {
        out.append_text("All of it.");
        out.close_message_and_defer_end();
        out.report_completed_unless_failed(StopReason::End);
    });
    assert_eq!(incomplete_messages(&kept), [0; 0]);
}

#[test]
fn x8_a_message_that_is_whole_or_was_followed_is_whole() {
    let kept = run_script(|out| {
        out.append_text("Whole.");
        out.close_message_and_emit_end();
        out.report_failed_and_end_text(FailureReason::Error, "no more");
    });
    assert_eq!(incomplete_messages(&kept), [0; 0], "its source said so");
    let kept = run_script(|out| {
        out.append_text("I look.");
        out.close_message_and_defer_end();
        out.start_tool(ToolStart::client_function("c", "look"));
        out.report_failed_and_end_text(FailureReason::Error, "no more");
    });
    assert_eq!(incomplete_messages(&kept), [0; 0], "it went on");
}

#[test]
fn b4_calls_of_the_client_are_over_when_the_model_is_asked_again() {
    let ended_before_the_round = |stop| {
        let kept = run_script(|out| {
            let step = out.start_tool(ToolStart::client_function("c", "look"));
            out.emit_tool_ready_once(step);
            out.end_round(Some(stop));
            out.start_round_or_end_run(None, None);
            out.append_text("Seen.");
            out.report_completed_unless_failed(StopReason::End);
        });
        let at = |wanted: fn(&Event<'_>) -> bool| kept.events().position(wanted).unwrap();
        let ended = at(|event| matches!(event, Event::ToolEnded { .. }));
        ended < at(|event| matches!(event, Event::RoundStarted { round: 1, .. }))
    };
    assert!(ended_before_the_round(StopReason::Tools));
    assert!(!ended_before_the_round(StopReason::End), "nobody waits for it: its result may come");
}

#[test]
fn x7_a_failure_after_which_the_source_goes_on_is_told_once() {
    let notices = |retries: bool| {
        let kept = run_script(|out| {
            out.append_text("Hal");
            out.report_failed_and_end_text(FailureReason::Error, "overloaded");
            if retries {
                out.append_stateless_event(Event::RetryScheduled {
                    attempt: None,
                    attempts_max: None,
                    delay_ms: None,
                    reason: "overloaded".into(),
                });
            }
            out.start_round_or_end_run(None, None);
            out.append_text("Whole.");
            out.report_completed_unless_failed(StopReason::End);
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

/// Ids of the incomplete reasoning steps.
fn incomplete_reasoning_steps(kept: &RecordedEvents) -> Vec<u32> {
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
                out.append_reasoning(text, ReasoningOrigin::Native);
            } else {
                out.append_text(&format!("Well.<think>{text}"));
            }
        };
        let kept = run_script(|out| think(out, "I weigh"));
        assert_eq!(incomplete_reasoning_steps(&kept), [0], "native {native}");
        let kept = run_script(|out| {
            think(out, "I weigh");
            out.report_completed_unless_failed(StopReason::End);
        });
        assert_eq!(incomplete_reasoning_steps(&kept), [0; 0], "native {native}");
    }
    let kept = run_script(|out| {
        out.append_reasoning("I weigh.", ReasoningOrigin::Native);
        out.append_text("Heavy");
    });
    assert_eq!(
        (incomplete_reasoning_steps(&kept), incomplete_messages(&kept)),
        (vec![], vec![0]),
        "it went on to speak"
    );
    let kept = run_script(|out| {
        out.append_text("Well.<think>I weigh");
        out.report_failed_and_end_text(FailureReason::Error, "no more");
    });
    assert_eq!(
        (incomplete_reasoning_steps(&kept), incomplete_messages(&kept)),
        (vec![0], vec![0]),
        "both were open"
    );
}

#[test]
fn x8_what_the_person_stopped_broke_off_though_the_run_goes_on() {
    let kept = run_script(|out| {
        out.append_reasoning("I weigh", ReasoningOrigin::Native);
        out.end_text_and_report_interruption(Interruption::ReplyStopped);
        out.append_text("Hea");
        out.close_message_and_defer_end();
        out.end_text_and_report_interruption(Interruption::ReplyStopped);
        out.append_text("Light.");
        out.close_message_and_defer_end();
        out.report_completed_unless_failed(StopReason::End);
    });
    assert_eq!((incomplete_reasoning_steps(&kept), incomplete_messages(&kept)), (vec![0], vec![0]));
}
