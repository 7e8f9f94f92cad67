//! Logs that no source should write: each has a page, and none breaks an invariant.

use std::time::Duration;

use cpu_time::ThreadTime;
use millpond_engine::event::{
    Event, ImageOwner, MessageId, Outcome, Record, StepId, ToolKind, ToolOutcome,
};
use millpond_engine::limits::STEP_DEPTH_MAX;
use millpond_engine::view::{Item, Thinking, ViewName};
use millpond_engine::wire::{Encoder, StreamKind};
use proptest::prelude::*;

use super::frame_client::{view_log, view_records};
use super::log::Log;

#[test]
fn steps_x7_nothing_counts_after_the_end() {
    let log = Log::with_round_0().append_text(0, "Hi").end_message(0).end_round(0).complete_run();
    let before = view_log(&log);
    let log = log
        .append_text(0, "late")
        .append_text(1, "late")
        .start_round(1)
        .start_tool(0, "t")
        .output_and_succeed(0, "x");
    let after = view_log(&log.end_round(1).end_run(Outcome::Failed));
    assert_eq!(before.frames, after.frames);
    assert_eq!(before.page, after.page);
}

#[test]
fn steps_x4_text_in_no_round_is_shown() {
    let log = Log::started()
        .append_text(0, "first")
        .end_message(0)
        .start_round(0)
        .append_text(1, "a")
        .end_message(1)
        .end_round(0);
    let seen = view_log(&log.append_text(2, "b").end_message(2).complete_run());
    assert_eq!(seen.item_summaries(), ["\"first\"", "\"a\"", "\"b\""]);
    assert_eq!(seen.frames_named("finalized").len(), 1);
}

#[test]
fn steps_of_unknown_names_change_nothing() {
    let log = Log::with_round_0()
        .output_and_succeed(7, "x")
        .finish_reasoning(8, "y")
        .append_arguments(9, "{}")
        .mark_ready(9)
        .end_message(3);
    let log = log.push_image(ImageOwner::Step(StepId(5)), "p").withdraw(&[4], &[6]).end_round(3);
    let seen =
        view_log(&log.start_tool(7, "t").output_and_succeed(7, "z").end_round(0).complete_run());
    assert_eq!(seen.item_summaries(), ["Ran for 0s [t() = \"z\"]"]);
}

#[test]
fn steps_that_start_twice_start_once() {
    let log = Log::with_round_0()
        .start_tool(0, "a")
        .start_tool(0, "b")
        .append_text(0, "Hi")
        .end_message(0)
        .start_tool(1, "c");
    let log = log
        .start_tool(1, "d")
        .output_and_succeed(1, "x")
        .start_tool(1, "e")
        .output_and_succeed(1, "y")
        .start_sub_agent_tool(1, 0, "f");
    let seen = view_log(&log.output_and_succeed(0, "z").end_round(0).complete_run());
    assert_eq!(seen.item_summaries(), ["Ran for 0s [a() = \"z\"]", "\"Hi\"", "c() = \"x\""]);
}

#[test]
fn steps_of_parents_that_do_not_exist_are_nobodys() {
    let log = Log::with_round_0()
        .start_sub_agent_tool(0, 9, "orphan")
        .output_and_succeed(0, "x")
        .start_sub_agent_tool(1, 1, "own");
    let log = log
        .append_text(0, "Hi")
        .end_message(0)
        .start_sub_agent_tool(2, 0, "grandchild")
        .output_and_succeed(2, "y");
    let seen = view_log(&log.end_round(0).complete_run());
    assert_eq!(seen.item_summaries(), ["\"Hi\""]);
}

#[test]
fn steps_deeper_than_the_limit_stand_beside_the_deepest() {
    let depth_of = |levels: u32| {
        let mut log = Log::with_round_0().start_tool(0, "t");
        for step in 1..=levels {
            log = log.start_sub_agent_tool(step, step - 1, "t");
        }
        let seen = view_log(&log.end_round(0).complete_run());
        let control = seen.page.items.values().next().unwrap();
        (max_depth(&control.steps), count_items(&control.steps))
    };
    let limit = u32::try_from(STEP_DEPTH_MAX).unwrap();
    assert_eq!(depth_of(limit), (STEP_DEPTH_MAX + 1, STEP_DEPTH_MAX + 1));
    assert_eq!(depth_of(limit + 1), (STEP_DEPTH_MAX + 1, STEP_DEPTH_MAX + 2));
    assert_eq!(depth_of(3_000), (STEP_DEPTH_MAX + 1, 3_001));
}

fn max_depth(items: &[Item<'_>]) -> usize {
    items.iter().map(|item| 1 + max_depth(&item.steps)).max().unwrap_or(0)
}

fn count_items(items: &[Item<'_>]) -> usize {
    items.iter().map(|item| 1 + count_items(&item.steps)).sum()
}

#[test]
fn steps_s4_a_round_that_is_not_ended_is_closed_by_the_next() {
    let log = Log::with_round_0()
        .start_tool(0, "a")
        .output_and_succeed(0, "x")
        .append_text(0, "Hi")
        .start_round(1)
        .start_tool(1, "b");
    let seen = view_log(
        &log.end_round(0).output_and_succeed(1, "y").end_round(1).end_round(1).complete_run(),
    );
    assert_eq!(
        seen.item_summaries(),
        ["Ran for 0s [a() = \"x\"]", "\"Hi\"", "Ran for 0s [b() = \"y\"]"]
    );
    let rounds: Vec<_> =
        seen.frames_named("finalized").iter().map(|data| data["round"].clone()).collect();
    assert_eq!(rounds, [0, 1], "each once");
}

#[test]
fn steps_x10_every_beginning_of_a_log_has_a_page_that_its_frames_tell() {
    let log = Log::with_round_0()
        .start_reasoning(0)
        .finish_reasoning(0, "hm")
        .start_tool(1, "a")
        .start_sub_agent_tool(2, 1, "b");
    let log = log
        .output_and_succeed(2, "x")
        .append_text(0, "Hi")
        .append_text(0, "!")
        .rewrite_text(0, 1, "o")
        .end_message(0);
    let log = log
        .start_tool(3, "c")
        .append_arguments(3, "{}")
        .end_round(0)
        .output_and_succeed(1, "y")
        .output_and_succeed(3, "z")
        .start_round(1);
    let log =
        log.append_text(1, "Bye").withdraw(&[0], &[3]).end_message(1).end_round(1).complete_run();
    for length in 1..=log.records.len() {
        let mut beginning = log.clone();
        beginning.records.truncate(length);
        view_log(&beginning);
        view_log(&beginning.end_run(Outcome::Truncated));
    }
}

/// CPU time of a log of many rounds, each with steps, texts and late results.
fn encode_cpu_time(rounds: u32) -> Duration {
    let mut log = Log::started();
    for round in 0..rounds {
        let (step, message) = (4 * round, 2 * round);
        log = log
            .start_round(round)
            .start_reasoning(step)
            .finish_reasoning(step, "hm")
            .start_tool(step + 1, "a");
        log = log
            .output_and_succeed(step + 1, "x")
            .append_text(message, "one")
            .append_text(message, " two")
            .end_message(message);
        log = log
            .start_tool(step + 2, "b")
            .output_and_succeed(step + 2, "y")
            .append_text(message + 1, "three");
        log = log
            .end_message(message + 1)
            .start_tool(step + 3, "c")
            .mark_ready(step + 3)
            .end_round(round);
        log = log.output_and_succeed(step + 3, "z");
    }
    let read = || {
        let mut encoder = Encoder::new(StreamKind::new(ViewName::Steps), "session");
        let start = ThreadTime::now();
        for record in &log.records {
            encoder.push(record, &mut |frame| {
                std::hint::black_box(frame);
            });
        }
        start.elapsed()
    };
    (0..3).map(|_| read()).min().unwrap()
}

#[test]
fn steps_x14_a_long_session_costs_its_length() {
    let small = encode_cpu_time(500).max(Duration::from_micros(200));
    let large = encode_cpu_time(4_000);
    assert!(large <= 24 * small, "{small:?} for one, {large:?} for eight");
}

fn any_event() -> impl Strategy<Value = Event<'static>> {
    let (id, text) = (0..5_u32, prop_oneof![Just("a"), Just("ą"), Just("\n")]);
    (0..17_u8, id.clone(), id, text).prop_map(|(which, id, other, text)| {
        let (step, message) = (StepId(id), MessageId(id));
        let log = Log::default();
        let log = match which {
            0 => log.start_round(id),
            1 => log.end_round(id),
            2 | 3 => log.append_text(id, text),
            4 => log.end_message(id),
            5 => log.rewrite_text(id, other as usize, text),
            6 => log.start_reasoning(id),
            7 => log.push(Event::ReasoningAppended { step, text: text.into() }),
            8 => log.push(Event::ReasoningEnded { step, incomplete: false }),
            9 => log.start_tool(id, text),
            10 => log.start_tool_of_kind(ToolKind::Agent, id, text, Some(StepId(other))),
            11 => log.append_arguments(id, text),
            12 => log.mark_ready(id),
            13 => log.append_output(id, text),
            14 => log.end_tool(
                id,
                if other == 0 { ToolOutcome::NoResult } else { ToolOutcome::Succeeded },
            ),
            15 if other < 2 => log.withdraw(&[id], &[other]),
            15 => log.push_image(ImageOwner::Step(step), text),
            _ => log.push_image(ImageOwner::Message(message), text),
        };
        log.records.into_iter().next().map(|record| record.event).unwrap()
    })
}

proptest! {
    #[test]
    fn steps_x9_any_log_has_a_page_that_its_frames_tell(
        events in prop::collection::vec((prop::option::of(0..9_u64), any_event()), 0..60),
        cut in any::<bool>(),
    ) {
        let mut log = Log::started().start_round(0);
        // A run numbers its steps; frames name a step by its number.
        let mut started = std::collections::BTreeSet::new();
        for (at_ms, event) in events {
            if let Event::ToolStarted { step, .. } | Event::ReasoningStarted { step, .. } = &event
                && !started.insert(*step)
            {
                continue;
            }
            log = log.push(event);
            log.records.last_mut().unwrap().at_ms = at_ms;
        }
        let log = if cut { log } else { log.complete_run() };
        let records: Vec<Record<'_>> = log.records;
        for thinking in [Thinking::ViewDefault, Thinking::Hide] {
            view_records(thinking, &records);
        }
    }
}
