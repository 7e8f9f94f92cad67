//! Logs that no source should make: every one has a page, and none breaks anything.

use std::time::Duration;

use cpu_time::ThreadTime;
use engine::event::{Event, MessageId, Outcome, Owner, Record, StepId, ToolKind, ToolOutcome};
use engine::limits::STEP_DEPTH_MAX;
use engine::view::{Item, Thinking, ViewName};
use engine::wire::{Encoder, Kind};
use proptest::prelude::*;

use super::log::Log;
use super::screen::{see, see_with};

#[test]
fn steps_x7_nothing_counts_after_the_end() {
    let log = Log::round_0().says(0, "Hi").said(0).round_ends(0).ends();
    let before = see(&log);
    let log = log.says(0, "late").says(1, "late").round(1).calls(0, "t").gives(0, "x");
    let after = see(&log.round_ends(1).ends_with(Outcome::Failed));
    assert_eq!(before.frames, after.frames);
    assert_eq!(before.picture, after.picture);
}

#[test]
fn steps_x4_text_in_no_round_is_shown() {
    let log = Log::run().says(0, "first").said(0).round(0).says(1, "a").said(1).round_ends(0);
    let seen = see(&log.says(2, "b").said(2).ends());
    assert_eq!(seen.page(), ["\"first\"", "\"a\"", "\"b\""]);
    assert_eq!(seen.named("finalized").len(), 1);
}

#[test]
fn steps_of_unknown_names_change_nothing() {
    let log = Log::round_0().gives(7, "x").thought(8, "y").with(9, "{}").ready(9).said(3);
    let log = log.pictures(Owner::Step(StepId(5)), "p").withdraws(&[4], &[6]).round_ends(3);
    let seen = see(&log.calls(7, "t").gives(7, "z").round_ends(0).ends());
    assert_eq!(seen.page(), ["Ran for 0s [t() = \"z\"]"]);
}

#[test]
fn steps_that_start_twice_start_once() {
    let log = Log::round_0().calls(0, "a").calls(0, "b").says(0, "Hi").said(0).calls(1, "c");
    let log = log.calls(1, "d").gives(1, "x").calls(1, "e").gives(1, "y").sub_calls(1, 0, "f");
    let seen = see(&log.gives(0, "z").round_ends(0).ends());
    assert_eq!(seen.page(), ["Ran for 0s [a() = \"z\"]", "\"Hi\"", "c() = \"x\""]);
}

#[test]
fn steps_of_parents_that_do_not_exist_are_nobodys() {
    let log = Log::round_0().sub_calls(0, 9, "orphan").gives(0, "x").sub_calls(1, 1, "own");
    let log = log.says(0, "Hi").said(0).sub_calls(2, 0, "grandchild").gives(2, "y");
    let seen = see(&log.round_ends(0).ends());
    assert_eq!(seen.page(), ["\"Hi\""]);
}

#[test]
fn steps_deeper_than_the_limit_stand_beside_the_deepest() {
    let depth_of = |levels: u32| {
        let mut log = Log::round_0().calls(0, "t");
        for step in 1..=levels {
            log = log.sub_calls(step, step - 1, "t");
        }
        let seen = see(&log.round_ends(0).ends());
        let control = seen.picture.items.values().next().unwrap();
        (depth(&control.steps), count(&control.steps))
    };
    let limit = u32::try_from(STEP_DEPTH_MAX).unwrap();
    assert_eq!(depth_of(limit), (STEP_DEPTH_MAX + 1, STEP_DEPTH_MAX + 1));
    assert_eq!(depth_of(limit + 1), (STEP_DEPTH_MAX + 1, STEP_DEPTH_MAX + 2));
    assert_eq!(depth_of(3_000), (STEP_DEPTH_MAX + 1, 3_001));
}

fn depth(items: &[Item<'_>]) -> usize {
    items.iter().map(|item| 1 + depth(&item.steps)).max().unwrap_or(0)
}

fn count(items: &[Item<'_>]) -> usize {
    items.iter().map(|item| 1 + count(&item.steps)).sum()
}

#[test]
fn steps_s4_a_round_that_is_not_ended_is_closed_by_the_next() {
    let log = Log::round_0().calls(0, "a").gives(0, "x").says(0, "Hi").round(1).calls(1, "b");
    let seen = see(&log.round_ends(0).gives(1, "y").round_ends(1).round_ends(1).ends());
    assert_eq!(seen.page(), ["Ran for 0s [a() = \"x\"]", "\"Hi\"", "Ran for 0s [b() = \"y\"]"]);
    let rounds: Vec<_> = seen.named("finalized").iter().map(|data| data["round"].clone()).collect();
    assert_eq!(rounds, [0, 1], "each once");
}

#[test]
fn steps_x10_every_beginning_of_a_log_has_a_page_that_its_frames_tell() {
    let log = Log::round_0().thinks(0).thought(0, "hm").calls(1, "a").sub_calls(2, 1, "b");
    let log = log.gives(2, "x").says(0, "Hi").says(0, "!").rewrites(0, 1, "o").said(0);
    let log = log.calls(3, "c").with(3, "{}").round_ends(0).gives(1, "y").gives(3, "z").round(1);
    let log = log.says(1, "Bye").withdraws(&[0], &[3]).said(1).round_ends(1).ends();
    for length in 1..=log.records.len() {
        let mut beginning = log.clone();
        beginning.records.truncate(length);
        see(&beginning);
        see(&beginning.ends_with(Outcome::Truncated));
    }
}

/// CPU time of a log of many rounds, each with steps, texts and late results.
fn time_of(rounds: u32) -> Duration {
    let mut log = Log::run();
    for round in 0..rounds {
        let (step, message) = (4 * round, 2 * round);
        log = log.round(round).thinks(step).thought(step, "hm").calls(step + 1, "a");
        log = log.gives(step + 1, "x").says(message, "one").says(message, " two").said(message);
        log = log.calls(step + 2, "b").gives(step + 2, "y").says(message + 1, "three");
        log = log.said(message + 1).calls(step + 3, "c").ready(step + 3).round_ends(round);
        log = log.gives(step + 3, "z");
    }
    let read = || {
        let mut encoder = Encoder::new(Kind::new(ViewName::Steps), "session", 0);
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
    let small = time_of(500).max(Duration::from_micros(200));
    let large = time_of(4_000);
    assert!(large <= 24 * small, "{small:?} for one, {large:?} for eight");
}

fn any_event() -> impl Strategy<Value = Event<'static>> {
    let (id, text) = (0..5_u32, prop_oneof![Just("a"), Just("ą"), Just("\n")]);
    (0..17_u8, id.clone(), id, text).prop_map(|(which, id, other, text)| {
        let (step, message) = (StepId(id), MessageId(id));
        let log = Log::default();
        let log = match which {
            0 => log.round(id),
            1 => log.round_ends(id),
            2 | 3 => log.says(id, text),
            4 => log.said(id),
            5 => log.rewrites(id, other as usize, text),
            6 => log.thinks(id),
            7 => log.and(Event::ReasoningAppended { step, text: text.into() }),
            8 => log.and(Event::ReasoningEnded { step, incomplete: false }),
            9 => log.calls(id, text),
            10 => log.calls_a(ToolKind::Agent, id, text, Some(StepId(other))),
            11 => log.with(id, text),
            12 => log.ready(id),
            13 => log.puts_out(id, text),
            14 => log.ends_as(
                id,
                if other == 0 { ToolOutcome::NoResult } else { ToolOutcome::Succeeded },
            ),
            15 if other < 2 => log.withdraws(&[id], &[other]),
            15 => log.pictures(Owner::Step(step), text),
            _ => log.pictures(Owner::Message(message), text),
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
        let mut log = Log::run().round(0);
        for (at_ms, event) in events {
            log = log.and(event);
            log.records.last_mut().unwrap().at_ms = at_ms;
        }
        let log = if cut { log } else { log.ends() };
        let records: Vec<Record<'_>> = log.records;
        for thinking in [Thinking::AsUsual, Thinking::Hide] {
            see_with(thinking, &records);
        }
    }
}
