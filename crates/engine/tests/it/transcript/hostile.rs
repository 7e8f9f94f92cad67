//! Events in orders that no source sends: the page is defined, nothing panics, and the settled part
//! stays.

use millpond_engine::event::{
    AnsweredBy, AskKind, Citation, Event, Image, ImageOwner, MessageId, NoticeLevel, Outcome,
    ReasoningOrigin, StepId, TextMode, ToolKind, ToolOutcome, Usage, UsageScope,
};
use millpond_engine::view::Thinking;
use millpond_engine::view::patch::Settled;
use proptest::prelude::*;

use super::print_client::{
    PrintClient, arguments_appended, message_ended, message_started, output_appended, run_ended,
    run_started, text_appended, tool_ended, tool_ready, tool_started, tool_started_under,
    whole_message,
};

#[test]
fn transcript_t5_text_after_the_end_of_its_message_changes_nothing() {
    let mut screen = PrintClient::started();
    screen.push_events(whole_message(0, "One"));
    screen.push_events([text_appended(0, " more"), message_ended(0)]);
    assert_eq!(screen.rows(), ["=text One"]);
}

#[test]
fn transcript_t5_results_before_calls_and_of_unknown_tools_change_nothing() {
    let mut screen = PrintClient::started();
    screen.push_events([
        output_appended(0, "early"),
        tool_ready(0),
        tool_ended(0, ToolOutcome::Succeeded),
    ]);
    assert!(screen.rows().is_empty());
    screen.push_events([
        tool_started(0, ToolKind::Function),
        tool_started(0, ToolKind::Function),
        output_appended(0, "now"),
    ]);
    assert_eq!(screen.rows(), ["~tool now"]);
}

#[test]
fn transcript_t5_an_ask_answered_twice_keeps_its_first_answer() {
    let answer = |answer: &'static str| Event::AskResolved {
        ask: "a".into(),
        answer: answer.into(),
        by: AnsweredBy::Person,
    };
    let mut screen = PrintClient::started();
    screen.push_events([
        answer("none"),
        ask_opened(0),
        ask_opened(0),
        answer("first"),
        answer("second"),
    ]);
    assert_eq!(screen.rows().len(), 1);
    assert_eq!(screen.last_message()["answer"], "first");
}

#[test]
fn transcript_t5_a_second_ending_and_what_comes_late_change_nothing() {
    let mut screen = PrintClient::started();
    screen.push_events(whole_message(0, "One"));
    screen.push_events([
        run_ended(Outcome::Completed),
        run_ended(Outcome::Failed),
        text_appended(0, "late"),
    ]);
    screen.push_events(whole_message(1, "Late"));
    assert_eq!(screen.rows(), ["=text One"]);
    let endings = screen.frames.iter().filter(|(_, data)| data.get("outcome").is_some());
    assert_eq!(endings.count(), 1);
}

#[test]
fn transcript_t2_the_next_run_goes_on_where_the_last_one_ended() {
    let mut screen = PrintClient::started();
    screen.push_events(whole_message(0, "One"));
    screen.push_events([
        message_started(1),
        text_appended(1, "Two"),
        run_ended(Outcome::Interrupted),
    ]);
    screen.push(None, "next", run_started(TextMode::Incremental));
    screen.push(None, "next", message_started(0));
    screen.push(None, "next", text_appended(0, "Three"));
    assert_eq!(screen.rows(), ["=text One", "=text Two", "=error Interrupted", "~text Three"]);
    assert_eq!(screen.settled, Settled { count: 3, bytes: 0 });
}

fn ask_opened(id: u32) -> Event<'static> {
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

/// Any event about one of a few ids.
fn arbitrary_event(which: u8, id: u32, words: &'static str) -> Event<'static> {
    let (step, message_id) = (StepId(id), MessageId(id));
    let name = || ["a", "b", "c"][id as usize % 3].into();
    match which {
        0 => message_started(id),
        1..=4 => text_appended(id, words),
        5 => Event::TextRewritten {
            message: message_id,
            kept_bytes: words.len(),
            text: words.into(),
        },
        6 => message_ended(id),
        7 => tool_started(id, ToolKind::Command),
        8 => tool_started(id, ToolKind::Action),
        9 => tool_started_under(id, ToolKind::Mcp, Some(id / 2)),
        10 => arguments_appended(id, words),
        11 => Event::ArgumentsReplaced { step, text: words.into() },
        12 => tool_ready(id),
        13..=15 => output_appended(id, words),
        16 => tool_ended(id, ToolOutcome::Failed),
        17 => Event::ToolEnded { step, outcome: ToolOutcome::Denied, detail: Some(words.into()) },
        18 => ask_opened(id),
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
            owner: if id < 2 { ImageOwner::Message(message_id) } else { ImageOwner::Step(step) },
            image: Image::Inline { media_type: "image/png".into(), base64: words.into() },
        },
        26 => Event::SourceCited { message: message_id, citation: Citation::default() },
        27 => Event::ReasoningStarted {
            step,
            round: 0,
            origin: ReasoningOrigin::Native,
            interrupts: None,
        },
        28 => Event::ReasoningAppended { step, text: words.into() },
        29 => Event::ReasoningEnded { step, incomplete: false },
        30 => Event::UsageReported {
            scope: if id == 0 { UsageScope::Run } else { UsageScope::Round },
            usage: Usage::default(),
        },
        31 => Event::NoticeGiven { level: NoticeLevel::Error, text: words.into() },
        32 => Event::CheckpointSaved { hash: words.into() },
        33 => Event::PromptReceived {
            text: words.into(),
            images: Vec::new(),
            origin: millpond_engine::event::PromptOrigin::Person,
        },
        34 => Event::FinalDeclared { message: message_id },
        35 => run_ended(Outcome::Failed),
        _ => run_started(TextMode::Incremental),
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
        let thinking = if show { Thinking::Show } else { Thinking::ViewDefault };
        let mode = if cumulative { TextMode::Cumulative } else { TextMode::Incremental };
        let mut screen = PrintClient::with_thinking(thinking);
        screen.push_events([run_started(mode)]);
        screen.push_events(events.into_iter().map(|(which, id, words)| arbitrary_event(which, id, words)));
        screen.push_events([run_ended(Outcome::Completed)]);
        let all = Settled { count: u32::try_from(screen.messages.len()).unwrap(), bytes: 0 };
        prop_assert_eq!(screen.settled, all);
        let texts: Vec<&str> = screen.messages.iter().map(super::print_client::message_text).collect();
        let items: Vec<&str> = screen.page().items.values().map(|item| &*item.text).collect();
        prop_assert_eq!(texts, items);
    }
}
