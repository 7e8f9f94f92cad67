//! Events in orders that no honest source sends: the page is defined, nothing panics, and what is
//! settled stays.

use engine::event::{
    AnsweredBy, AskKind, Citation, Event, Image, Level, MessageId, Outcome, Owner, ReasoningOrigin,
    StepId, TextMode, ToolKind, ToolOutcome, Usage, UsageScope,
};
use engine::view::Thinking;
use engine::view::patch::Settled;
use proptest::prelude::*;

use super::screen::{
    Screen, arguments, ended, message, message_ended, output, ready, said, started, text, tool,
    tool_ended, tool_of,
};

#[test]
fn transcript_t5_text_after_the_end_of_its_message_changes_nothing() {
    let mut screen = Screen::started();
    screen.tell(said(0, "One"));
    screen.tell([text(0, " more"), message_ended(0)]);
    assert_eq!(screen.rows(), ["=text One"]);
}

#[test]
fn transcript_t5_results_before_calls_and_of_unknown_tools_change_nothing() {
    let mut screen = Screen::started();
    screen.tell([output(0, "early"), ready(0), tool_ended(0, ToolOutcome::Succeeded)]);
    assert!(screen.rows().is_empty());
    screen.tell([tool(0, ToolKind::Function), tool(0, ToolKind::Function), output(0, "now")]);
    assert_eq!(screen.rows(), ["~tool now"]);
}

#[test]
fn transcript_t5_an_ask_answered_twice_keeps_its_first_answer() {
    let answer = |answer: &'static str| Event::AskResolved {
        ask: "a".into(),
        answer: answer.into(),
        by: AnsweredBy::Person,
    };
    let mut screen = Screen::started();
    screen.tell([answer("none"), ask(0), ask(0), answer("first"), answer("second")]);
    assert_eq!(screen.rows().len(), 1);
    assert_eq!(screen.last()["answer"], "first");
}

#[test]
fn transcript_t5_a_second_ending_and_what_comes_late_change_nothing() {
    let mut screen = Screen::started();
    screen.tell(said(0, "One"));
    screen.tell([ended(Outcome::Completed), ended(Outcome::Failed), text(0, "late")]);
    screen.tell(said(1, "Late"));
    assert_eq!(screen.rows(), ["=text One"]);
    let endings = screen.frames.iter().filter(|(_, data)| data.get("outcome").is_some());
    assert_eq!(endings.count(), 1);
}

#[test]
fn transcript_t2_the_next_run_goes_on_where_the_last_one_ended() {
    let mut screen = Screen::started();
    screen.tell(said(0, "One"));
    screen.tell([message(1), text(1, "Two"), ended(Outcome::Interrupted)]);
    screen.push(None, "next", started(TextMode::Incremental));
    screen.push(None, "next", message(0));
    screen.push(None, "next", text(0, "Three"));
    assert_eq!(screen.rows(), ["=text One", "=text Two", "=error Interrupted", "~text Three"]);
    assert_eq!(screen.settled, Settled { count: 3, bytes: 0 });
}

fn ask(id: u32) -> Event<'static> {
    Event::AskOpened {
        ask: ["a", "b", "c"][id as usize % 3].into(),
        kind: AskKind::Tool,
        text: "May I?".into(),
        options: Vec::new(),
        step: Some(StepId(id)),
        digest: None,
        expires_at_ms: None,
    }
}

/// Any event about any of a few things.
fn event(which: u8, id: u32, words: &'static str) -> Event<'static> {
    let (step, message_id) = (StepId(id), MessageId(id));
    let name = || ["a", "b", "c"][id as usize % 3].into();
    match which {
        0 => message(id),
        1..=4 => text(id, words),
        5 => Event::TextRewritten {
            message: message_id,
            kept_bytes: words.len(),
            text: words.into(),
        },
        6 => message_ended(id),
        7 => tool(id, ToolKind::Command),
        8 => tool(id, ToolKind::Action),
        9 => tool_of(id, ToolKind::Mcp, Some(id / 2)),
        10 => arguments(id, words),
        11 => Event::ArgumentsReplaced { step, text: words.into() },
        12 => ready(id),
        13..=15 => output(id, words),
        16 => tool_ended(id, ToolOutcome::Failed),
        17 => Event::ToolEnded { step, outcome: ToolOutcome::Denied, detail: Some(words.into()) },
        18 => ask(id),
        19 => Event::AskResolved { ask: name(), answer: words.into(), by: AnsweredBy::Person },
        20 => Event::RequestStarted { request: name() },
        21 => Event::RequestEnded {
            request: (id != 0).then(name),
            cost_usd: (id == 1).then_some(0.5),
            failure: (id == 2).then(|| words.into()),
            cancel_reason: None,
        },
        22 => Event::RoundStarted { round: id, model: None, response: None },
        23 => Event::RoundEnded { round: id, stop: None, incomplete: false },
        24 => Event::Withdrawn { messages: vec![message_id], steps: vec![step] },
        25 => Event::ImageReceived {
            owner: if id < 2 { Owner::Message(message_id) } else { Owner::Step(step) },
            image: Image::Inline { media_type: "image/png".into(), base64: words.into() },
        },
        26 => Event::SourceCited { message: message_id, citation: Citation::default() },
        27 => Event::ReasoningStarted { step, round: 0, origin: ReasoningOrigin::Native },
        28 => Event::ReasoningAppended { step, text: words.into() },
        29 => Event::ReasoningEnded { step, incomplete: false },
        30 => Event::UsageReported {
            scope: if id == 0 { UsageScope::Run } else { UsageScope::Round },
            usage: Usage::default(),
        },
        31 => Event::NoticeGiven { level: Level::Error, text: words.into() },
        32 => Event::CheckpointSaved { hash: words.into() },
        33 => Event::PromptReceived { text: words.into(), images: Vec::new() },
        34 => Event::FinalDeclared { message: message_id },
        35 => ended(Outcome::Failed),
        _ => started(TextMode::Incremental),
    }
}

proptest! {
    /// The screen checks every frame and every patch.
    #[test]
    fn transcript_t2_no_order_of_events_changes_what_is_settled(
        events in proptest::collection::vec(
            (0_u8..37, 0_u32..5, prop::sample::select(vec!["a", "b\n", "ż\nc", "", "\n\n", "d e "])),
            0..120,
        ),
        show in any::<bool>(),
        cumulative in any::<bool>(),
    ) {
        let thinking = if show { Thinking::Show } else { Thinking::AsUsual };
        let mode = if cumulative { TextMode::Cumulative } else { TextMode::Incremental };
        let mut screen = Screen::with(thinking);
        screen.tell([started(mode)]);
        screen.tell(events.into_iter().map(|(which, id, words)| event(which, id, words)));
        screen.tell([ended(Outcome::Completed)]);
        let all = Settled { count: u32::try_from(screen.messages.len()).unwrap(), bytes: 0 };
        prop_assert_eq!(screen.settled, all);
        let texts: Vec<&str> = screen.messages.iter().map(super::screen::words).collect();
        let items: Vec<&str> = screen.picture().items.values().map(|item| &*item.text).collect();
        prop_assert_eq!(texts, items);
    }
}
