//! The settled part only grows, never changes, and is the same for every chunking.

use std::time::Duration;

use cpu_time::ThreadTime;
use millpond_engine::event::{
    AnsweredBy, AskKind, Event, MessageId, Outcome, Record, StepId, TextMode, ToolKind, ToolOutcome,
};
use millpond_engine::view::patch::Settled;
use millpond_engine::view::{Thinking, View, ViewName, ViewOptions};
use serde_json::Value;

use super::print_client::{
    PrintClient, message_ended, message_started, message_text, output_appended, run_ended,
    run_started, text_appended, tool_ended, tool_ready, tool_started, whole_message,
};
use crate::fixtures::fixture_streams;
use crate::support::ingest_whole;

fn ask_opened(id: &str) -> Event<'_> {
    Event::AskOpened {
        ask: id.into(),
        kind: AskKind::Followup,
        text: "Which?".into(),
        options: Vec::new(),
        step: None,
        digest: None,
        expires_at_ms: None,
    }
}

fn ask_resolved(id: &str, by: AnsweredBy) -> Event<'_> {
    Event::AskResolved { ask: id.into(), answer: "this".into(), by }
}

#[test]
fn transcript_t2_an_item_settles_only_after_all_before_it() {
    let mut screen = PrintClient::started();
    screen.push_events(whole_message(0, "One"));
    screen.push_events([tool_started(0, ToolKind::Function), tool_started(1, ToolKind::Function)]);
    screen.push_events(whole_message(1, "Two"));
    screen.push_events([tool_ended(1, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows(), ["=text One", "~tool", "+tool", "+text Two"]);
    screen.push_events([tool_ended(0, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows(), ["=text One", "=tool", "=tool", "=text Two"]);
}

/// A list that is filtered before it is counted may show [1, 3] and then [1, 2, 3], so that 3 is
/// printed twice and 2 never. Here an item has its index from its first moment: one that is hidden
/// for good has none, and one that is there but has nothing to show yet holds up what follows.
#[test]
fn transcript_t2_hiding_an_item_does_not_disturb_what_is_printed() {
    let thoughts = [
        Event::ReasoningStarted {
            step: StepId(0),
            round: 0,
            origin: millpond_engine::event::ReasoningOrigin::Native,
            interrupts: None,
        },
        Event::ReasoningAppended { step: StepId(0), text: "2".into() },
    ];
    let over = Event::ReasoningEnded { step: StepId(0), incomplete: false };
    for (thinking, between, after) in [
        (Thinking::ViewDefault, vec!["=text 1", "=text 3"], vec!["=text 1", "=text 3"]),
        (
            Thinking::Show,
            vec!["=text 1", "~reasoning 2", "+text 3"],
            vec!["=text 1", "=reasoning 2", "=text 3"],
        ),
    ] {
        let mut screen = PrintClient::with_thinking(thinking);
        screen.push_events([run_started(TextMode::Incremental)]);
        screen.push_events(whole_message(0, "1"));
        screen.push_events(thoughts.clone());
        screen.push_events(whole_message(1, "3"));
        assert_eq!(screen.rows(), between);
        screen.push_events([over.clone()]);
        assert_eq!(screen.rows(), after);
    }
}

#[test]
fn transcript_t2_in_every_fixture_the_settled_part_only_grows_and_all_of_it_settles() {
    let mut steps = 0;
    for stream in fixture_streams() {
        let kept = ingest_whole(&std::fs::read(&stream).unwrap());
        for thinking in [Thinking::ViewDefault, Thinking::Show] {
            let mut screen = PrintClient::with_thinking(thinking);
            for event in kept.events() {
                screen.push_events([event.clone()]);
            }
            let name = stream.display();
            // A run that ends waiting for an answer leaves the ask open, and so all after it.
            let is_open = |message: &Value| message["type"] == "ask" && message["state"] == "live";
            let all = screen.messages.iter().take_while(|message| !is_open(message)).count();
            let all = Settled { count: u32::try_from(all).unwrap(), bytes: 0 };
            assert_eq!(screen.settled, all, "{name}");
            for (message, item) in screen.messages.iter().zip(screen.page().items.values()) {
                assert_eq!(message_text(message), item.text, "{name}");
                assert_eq!(message["partial"], false, "{name}");
            }
            steps += screen.settled_history.len();
        }
    }
    assert!(500 < steps, "the fixtures settle in {steps} steps only");
}

/// All that every fixture's messages say is on the page, and nothing of it twice.
#[test]
fn transcript_t2_every_fixtures_text_is_there_once() {
    for stream in fixture_streams() {
        let kept = ingest_whole(&std::fs::read(&stream).unwrap());
        if kept.events().any(|event| matches!(event, Event::TextRewritten { .. })) {
            continue;
        }
        let mut screen = PrintClient::default();
        screen.push_events(kept.events().cloned());
        // What was printed before it was taken back does not count.
        let named = screen.messages.iter().filter_map(|message| message["indexes"].as_array());
        let named: Vec<&Value> = named.flatten().collect();
        let counts = |message: &&Value| {
            let is_text = message["say"] == "text" || message["say"] == "completion_result";
            is_text && !named.contains(&&message["index"])
        };
        let shown: String = screen.messages.iter().filter(counts).map(message_text).collect();
        assert_eq!(shown, kept.visible_text(), "{}", stream.display());
    }
}

#[test]
fn transcript_t5_what_a_dead_run_left_partial_is_closed() {
    let mut screen = PrintClient::started();
    screen.push_events([
        message_started(0),
        text_appended(0, "Hal"),
        tool_started(0, ToolKind::Command),
        output_appended(0, "fi"),
    ]);
    screen.push_events([ask_opened("a"), Event::RequestStarted { request: "q".into() }]);
    assert_eq!(screen.settled_count(), 0);
    screen.push_events([run_ended(Outcome::Interrupted)]);
    assert_eq!(
        screen.rows(),
        [
            "=text Hal",
            "=command_output fi",
            "=ask:followup Which?",
            r#"=api_req_started {"cost":null}"#,
            "=error Interrupted"
        ]
    );
    assert!(screen.messages[..4].iter().all(|message| message["state"] == "incomplete"));
    assert_eq!(screen.messages[2]["isAnswered"], false);
}

/// Settled bytes of a text that arrives in these pieces.
fn settled_bytes<'t>(pieces: impl IntoIterator<Item = &'t str>) -> usize {
    let mut screen = PrintClient::started();
    screen.push_events([message_started(0)]);
    screen.push_events(pieces.into_iter().map(|piece| text_appended(0, piece)));
    screen.settled.bytes
}

#[test]
fn transcript_t8_lines_settle_as_they_are_written() {
    assert_eq!(settled_bytes(["No line"]), 0);
    assert_eq!(settled_bytes(["One\nTw"]), 4);
    assert_eq!(settled_bytes(["One\n", "Two\r\n", "Thr"]), 9);
    assert_eq!(settled_bytes(["\n\n"]), 2);
}

#[test]
fn transcript_t8_a_long_line_settles_at_a_space() {
    let line = |bytes: usize| "ż".repeat(bytes / 2) + &"a".repeat(bytes % 2);
    assert_eq!(settled_bytes([&*(line(255) + " b")]), 0);
    assert_eq!(settled_bytes([&*(line(256) + " b")]), 257);
    assert_eq!(settled_bytes([&*(line(400) + "b")]), 0);
    assert_eq!(settled_bytes([&*(line(256) + " " + &line(255) + " b")]), 257);
    assert_eq!(settled_bytes([&*(line(256) + " " + &line(256) + " b")]), 514);
}

#[test]
fn transcript_t8_how_a_text_was_cut_does_not_move_where_it_settles() {
    let long = "a word or two, ".repeat(60);
    for whole in
        ["One\nTwo\n\nThree", "\n", "żółć \u{1f600}\nłódź", &*long, &*(long.clone() + "\n")]
    {
        let cuts: Vec<usize> = whole.char_indices().map(|(at, _)| at).skip(1).collect();
        let chars: Vec<String> = whole.chars().map(String::from).collect();
        assert_eq!(settled_bytes(chars.iter().map(|text| &**text)), settled_bytes([whole]));
        for cut in cuts {
            let (head, tail) = whole.split_at(cut);
            assert_eq!(settled_bytes([head, tail]), settled_bytes([whole]), "cut at {cut}");
            let by_char = chars.iter().map(|text| &**text).take(head.chars().count());
            assert_eq!(settled_bytes(by_char), settled_bytes([head]), "as far as {cut}");
        }
    }
}

#[test]
fn transcript_t8_a_text_that_may_be_rewritten_settles_when_it_has_ended() {
    let quirk = Event::QuirkActed { quirk: "cumulative-text".into(), detail: "".into() };
    for before in
        [vec![run_started(TextMode::Cumulative)], vec![run_started(TextMode::Incremental), quirk]]
    {
        let mut screen = PrintClient::default();
        screen.push_events(before);
        screen.push_events([message_started(0), text_appended(0, "One\nTwo\n")]);
        assert_eq!(screen.settled, Settled::default());
        let kept_bytes = 4;
        screen.push_events([Event::TextRewritten {
            message: MessageId(0),
            kept_bytes,
            text: "2\n".into(),
        }]);
        screen.push_events([message_ended(0)]);
        assert_eq!(screen.rows(), ["=text One\n2"]);
    }
}

#[test]
fn transcript_t8_what_was_printed_and_then_rewritten_is_said_anew() {
    let rewritten = |kept_bytes| Event::TextRewritten {
        message: MessageId(0),
        kept_bytes,
        text: "two\n".into(),
    };
    let mut screen = PrintClient::started();
    screen.push_events([
        message_started(0),
        text_appended(0, "One\nTwo"),
        rewritten(4),
        text_appended(0, "more\n"),
    ]);
    // A text that has changed once settles no further before its end.
    assert_eq!(screen.settled, Settled { count: 0, bytes: 4 });
    assert_eq!(screen.rows(), ["~text One\ntwo\nmore"]);
    let mut screen = PrintClient::started();
    screen.push_events([
        message_started(0),
        text_appended(0, "One\nTwo"),
        rewritten(1),
        text_appended(0, "!"),
        message_ended(0),
    ]);
    assert_eq!(screen.rows(), ["=text One", "=withdrawn [0]", "=text Otwo\n!"]);
}

#[test]
fn transcript_t8_output_settles_line_by_line_once_the_arguments_are_whole() {
    let mut screen = PrintClient::started();
    screen.push_events([tool_started(0, ToolKind::Command), output_appended(0, "one\n")]);
    assert_eq!(screen.settled.bytes, 0);
    screen.push_events([tool_ready(0)]);
    assert_eq!(screen.settled.bytes, 4);
    screen.push_events([output_appended(0, "two\nthr")]);
    assert_eq!(screen.settled.bytes, 8);
    screen.push_events([tool_ended(0, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows(), ["=command_output one\ntwo\nthr"]);
}

#[test]
fn transcript_t9_an_open_ask_blocks_what_follows_and_drops_nothing() {
    for by in [AnsweredBy::Person, AnsweredBy::Policy, AnsweredBy::Nobody] {
        let mut screen = PrintClient::started();
        screen.push_events([ask_opened("a"), ask_opened("b")]);
        for id in 0..50 {
            screen.push_events(whole_message(id, "Line\n"));
        }
        screen.push_events([message_started(50), text_appended(50, "Line\nTail")]);
        screen.push_events([ask_resolved("b", by)]);
        assert_eq!(screen.settled, Settled::default());
        assert_eq!(screen.rows().len(), 53);
        screen.push_events([ask_resolved("a", by)]);
        assert_eq!(screen.settled, Settled { count: 52, bytes: 5 });
        assert_eq!(screen.messages[0]["answer"], "this");
        assert_eq!(screen.messages[0]["isAnswered"], by != AnsweredBy::Nobody);
    }
}

/// CPU time of `count` messages that all settle at the end.
fn settle_cpu_time(count: u32) -> Duration {
    let mut records = vec![run_started(TextMode::Incremental), ask_opened("a")];
    records.extend((0..count).flat_map(|id| whole_message(id, "Some words\n")));
    records.push(ask_resolved("a", AnsweredBy::Person));
    let record = |event| Record { seq: 0, at_ms: None, run: "run".into(), event };
    let records: Vec<Record<'_>> = records.into_iter().map(record).collect();
    let run = || {
        let start = ThreadTime::now();
        let mut view = View::new(ViewName::Transcript, ViewOptions::default());
        for record in &records {
            view.apply(record, &mut |patch| {
                std::hint::black_box(&patch);
            });
        }
        start.elapsed()
    };
    (0..3).map(|_| run()).min().unwrap()
}

#[test]
fn transcript_t7_an_update_costs_the_same_however_long_the_transcript_is() {
    let small = settle_cpu_time(4_000).max(Duration::from_micros(200));
    let large = settle_cpu_time(32_000);
    assert!(large < small * 24, "{small:?} became {large:?}");
}
