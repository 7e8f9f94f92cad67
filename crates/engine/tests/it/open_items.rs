//! Items that are not texts and that their source updates side by side: reasoning, tools, asks, and
//! what the source has not finished.

use millpond_engine::event::{Event, NoticeLevel, ToolOutcome, UnrecognisedReason};
use millpond_engine::run::grammar::EventOrderChecker;
use millpond_engine::view::{ItemKind, ItemState, Thinking, ViewName};
use millpond_engine::wire::StreamKind;
use proptest::prelude::*;
use serde_json::json;

use crate::event_queries::ingest_fixture;
use crate::support::{RecordedEvents, ingest_whole};
use crate::views::{encode_records, final_page, to_records};

fn is_lost(event: &Event<'_>) -> bool {
    matches!(event, Event::Withdrawn { .. } | Event::Unrecognised { .. })
}

#[test]
fn transcript_t2_partial_tools_asks_and_reasoning_get_their_completion_while_others_come() {
    let kept = ingest_fixture("kilo/partial-items-interleave.jsonl");
    assert_eq!(kept.reasoning_steps(), ["a!", "b!"]);
    assert_eq!(kept.message_texts(), ["Meanwhile.", "It lists.", "Done."]);
    let arguments = |path: &str| format!(r#"{{"tool":"newFile","path":"{path}"}}"#);
    let read = r#"{"tool":"readFile","path":"a/long/path","content":"x"}"#;
    let calls = [
        ("readFile".to_owned(), read.to_owned()),
        ("newFile".to_owned(), arguments("c/e")),
        ("newFile".to_owned(), arguments("d/e")),
        ("execute_command".to_owned(), "ls".to_owned()),
    ];
    assert_eq!(kept.tool_calls(), calls);
    assert_eq!(kept.tool_outcomes(), [ToolOutcome::Succeeded; 4]);
    assert_eq!(kept.all_output(), "one");
    assert_eq!(kept.count_events(|event| matches!(event, Event::AskOpened { .. })), 3);
    assert_eq!(kept.count_events(is_lost), 0);
}

#[test]
fn transcript_t5_x8_what_a_dead_run_left_partial_is_kept_and_closed() {
    let kept = ingest_fixture("kilo/partial-items-cut-off.jsonl");
    assert_eq!(kept.reasoning_steps(), ["Whe"]);
    let arguments: Vec<String> = kept.tool_calls().into_iter().map(|(_, text)| text).collect();
    assert_eq!(arguments[0], r#"{"tool":"readFile","path":"a"}"#);
    assert_eq!(arguments[1], r#"{"tool":"newFile","path":"b"}"#);
    assert_eq!(kept.tool_outcomes(), [ToolOutcome::Cut; 2]);
    assert_eq!(kept.prompt_texts(), ["Hel", "Left"]);
    assert_eq!(kept.notice_texts(NoticeLevel::Error), ["Bro"]);
    let page = final_page(ViewName::Transcript, &to_records(&kept));
    assert!(page.items.values().all(|item| item.state != ItemState::Live));
    let question = page.items.values().find(|item| item.kind == ItemKind::Ask).unwrap();
    assert_eq!((&*question.text, question.state), ("Whi", ItemState::Incomplete));
}

#[test]
fn transcript_t8_reasoning_that_its_source_rewrites_settles_whole() {
    let reasoning = |text: &str, partial: bool| {
        let line =
            json!({"ts": 2, "type": "say", "say": "reasoning", "text": text, "partial": partial});
        format!("{line}\n")
    };
    let request =
        json!({"ts": 1, "type": "say", "say": "api_req_started", "text": r#"{"cost":1}"#});
    let stream = format!("{request}\n{}{}", reasoning("one\ntwo", true), reasoning("three", false));
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.reasoning_steps(), ["one\ntwo", "three"]);
    let kind = StreamKind { thinking: Thinking::Show, ..StreamKind::new(ViewName::Transcript) };
    let (_, page) = encode_records(kind, &to_records(&kept));
    let shown = page.items.values().filter(|item| item.kind == ItemKind::Reasoning);
    let shown: String = shown.map(|item| &*item.text).collect();
    assert_eq!(shown, "three");
    assert!(page.items.values().all(|item| item.kind != ItemKind::Withdrawal));
}

#[test]
fn thoughts_with_ids_of_acp_keep_their_own_text() {
    let kept = ingest_fixture("acp/thoughts-interleave.jsonl");
    assert_eq!(kept.reasoning_steps(), ["one more", "two more"]);
    assert_eq!(kept.count_events(is_lost), 0);
}

#[test]
fn messages_of_acp_that_grow_on_both_sides_of_a_tool_are_not_withdrawn() {
    let kept = ingest_fixture("acp/messages-on-both-sides-of-a-tool.jsonl");
    assert_eq!(kept.message_texts(), ["Hello ", "Other ", "world.", "thing."]);
    assert_eq!(kept.count_events(is_lost), 0);
}

#[test]
fn parts_of_opencode_that_interleave_keep_their_own_text() {
    let kept = ingest_fixture("opencode/serve-parts-interleave.sse");
    assert_eq!(kept.message_texts(), ["Hello world", "Other"]);
    assert_eq!(kept.count_events(is_lost), 0);
}

#[test]
fn a_denial_that_its_result_repeats_is_in_the_log_once() {
    let kept = ingest_fixture("claude-code/denial-repeated-by-its-result.jsonl");
    assert_eq!(kept.tool_outcomes(), [ToolOutcome::Denied]);
    let page = final_page(ViewName::Transcript, &to_records(&kept));
    let shown: String = page.items.values().map(|item| &*item.text).collect();
    assert_eq!(shown.matches("No, use trash instead.").count(), 1, "{shown}");
}

#[test]
fn x7_text_after_the_end_marker_of_its_own_response_is_late() {
    for stream in [
        "anthropic/text-after-message-stop.sse",
        "bedrock/content-after-message-stop.jsonl",
        "gemini/text-after-finish-reason.sse",
    ] {
        let kept = ingest_fixture(stream);
        assert_eq!((kept.final_text().as_str(), kept.round_count()), ("Hi.", 1), "{stream}");
        let late = |event: &Event<'_>| {
            matches!(event, Event::Unrecognised { reason: UnrecognisedReason::Late, .. })
        };
        assert_eq!(kept.count_events(late), 1, "{stream}");
    }
}

#[test]
fn the_models_name_is_on_every_round_of_a_source_that_says_it_once() {
    for stream in [
        "acp/thoughts-interleave.jsonl",
        "cursor-agent/whole-output.jsonl",
        "gemini-cli/text-tool-text.jsonl",
        "kilo/partial-items-interleave.jsonl",
    ] {
        let kept = ingest_fixture(stream);
        let named = |event: &Event<'_>| matches!(event, Event::RoundStarted { model: Some(_), .. });
        assert_eq!(kept.count_events(named), kept.round_count(), "{stream}");
    }
    let kilo = ingest_fixture("kilo/partial-items-interleave.jsonl");
    let page = final_page(ViewName::Transcript, &to_records(&kilo));
    let request = page.items.values().find(|item| item.kind == ItemKind::Request).unwrap();
    assert!(request.text.contains(r#""model":"pond-1""#), "{}", request.text);
}

/// Kind of a generated item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
    Tool,
    Ask,
}

const KINDS: [Kind; 5] = [Kind::Text, Kind::Reasoning, Kind::Tool, Kind::Ask, Kind::Reasoning];

/// An update of one item: it grows, is sent again as it was before, or is complete.
#[derive(Clone, Debug)]
enum Update {
    Grow(usize, &'static str),
    Stale(usize),
    Complete(usize),
}

fn any_update() -> impl Strategy<Value = Update> {
    let piece = prop_oneof![Just("One. "), Just("two"), Just("Three!"), Just("é")];
    prop_oneof![
        6 => (0..5_usize, piece).prop_map(|(item, text)| Update::Grow(item, text)),
        1 => (0..5_usize).prop_map(Update::Stale),
        2 => (0..5_usize).prop_map(Update::Complete),
    ]
}

/// Items of a source: their text so far, their text before that, and if they are complete.
#[derive(Default)]
struct Items {
    texts: [String; 5],
    earlier: [String; 5],
    is_complete: [bool; 5],
}

impl Items {
    /// The item that an update changes, if it does; all others are sent by no source.
    fn apply(&mut self, update: &Update) -> Option<usize> {
        match *update {
            Update::Grow(item, text) if !self.is_complete[item] => {
                self.earlier[item].clone_from(&self.texts[item]);
                self.texts[item].push_str(text);
                Some(item)
            }
            Update::Complete(item) if !self.texts[item].is_empty() => {
                self.is_complete[item] = true;
                Some(item)
            }
            Update::Stale(item) if !self.earlier[item].is_empty() => Some(item),
            Update::Grow(..) | Update::Stale(_) | Update::Complete(_) => None,
        }
    }

    fn of_kind(&self, kind: Kind) -> Vec<String> {
        let items = self.texts.iter().zip(KINDS);
        let mut texts: Vec<String> = items
            .filter(|(text, of)| *of == kind && !text.is_empty())
            .map(|(text, _)| text.clone())
            .collect();
        texts.sort();
        texts
    }
}

fn kilo_call(item: usize, text: &str) -> String {
    json!({"tool": format!("tool{item}"), "content": text}).to_string()
}

fn kilo_line(item: usize, text: &str, partial: bool) -> String {
    let ts = 2 + item;
    let line = match KINDS[item] {
        Kind::Text => {
            json!({"ts": ts, "type": "say", "say": "text", "text": text, "partial": partial})
        }
        Kind::Reasoning => {
            json!({"ts": ts, "type": "say", "say": "reasoning", "text": text, "partial": partial})
        }
        Kind::Tool => {
            let call = kilo_call(item, text);
            json!({"ts": ts, "type": "say", "say": "tool", "text": call, "partial": partial})
        }
        Kind::Ask => {
            let call = kilo_call(item, text);
            json!({"ts": ts, "type": "ask", "ask": "tool", "text": call, "partial": partial})
        }
    };
    format!("{line}\n")
}

/// Stream of Kilo messages, and its items at the end.
fn kilo_stream(updates: &[Update]) -> (String, Items) {
    let request = json!({"ts": 1, "type": "say", "say": "api_req_started", "text": "{}"});
    let (mut stream, mut items) = (format!("{request}\n"), Items::default());
    for update in updates {
        let Some(item) = items.apply(update) else { continue };
        stream += &match update {
            Update::Stale(_) => kilo_line(item, &items.earlier[item], true),
            Update::Grow(..) | Update::Complete(_) => {
                kilo_line(item, &items.texts[item], !items.is_complete[item])
            }
        };
    }
    (stream, items)
}

fn acp_line(kind: &str, id: usize, text: &str) -> String {
    let update = json!({"sessionUpdate": kind, "messageId": format!("i{id}"),
        "content": {"type": "text", "text": text}});
    let params = json!({"sessionId": "s", "update": update});
    format!("{}\n", json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
}

fn check_order(kept: &RecordedEvents) {
    let mut checker = EventOrderChecker::default();
    for event in kept.events() {
        checker.apply(event).unwrap();
    }
}

proptest! {
    #[test]
    fn t2_items_of_every_kind_that_interleave_have_their_final_text_once(
        updates in proptest::collection::vec(any_update(), 1..40)
    ) {
        let (stream, items) = kilo_stream(&updates);
        let kept = ingest_whole(stream.as_bytes());
        check_order(&kept);
        let mut texts = kept.message_texts();
        texts.sort();
        prop_assert_eq!(texts, items.of_kind(Kind::Text));
        let mut thoughts = kept.reasoning_steps();
        thoughts.sort();
        prop_assert_eq!(thoughts, items.of_kind(Kind::Reasoning));
        let mut calls: Vec<String> =
            kept.tool_calls().into_iter().map(|(_, arguments)| arguments).collect();
        calls.sort();
        let called = (0..5).filter(|item| {
            matches!(KINDS[*item], Kind::Tool | Kind::Ask) && !items.texts[*item].is_empty()
        });
        let mut expected: Vec<String> =
            called.map(|item| kilo_call(item, &items.texts[item])).collect();
        expected.sort();
        prop_assert_eq!(calls, expected);
        let asked = usize::from(items.is_complete[3]);
        let opened = kept.count_events(|event| matches!(event, Event::AskOpened { .. }));
        prop_assert_eq!(opened, asked);
        prop_assert_eq!(kept.count_events(is_lost), 0);
    }

    #[test]
    fn t2_thoughts_and_messages_of_acp_that_interleave_lose_and_double_nothing(
        updates in proptest::collection::vec((0..4_usize, "[a-z]{1,3}"), 1..30)
    ) {
        let mut stream = acp_line("agent_message_chunk", 9, "Pond. ");
        let (mut said, mut thought) = ("Pond. ".to_owned(), String::new());
        for (item, text) in &updates {
            let (kind, all) = match item % 2 {
                0 => ("agent_message_chunk", &mut said),
                _ => ("agent_thought_chunk", &mut thought),
            };
            all.push_str(text);
            stream += &acp_line(kind, *item, text);
        }
        let kept = ingest_whole(stream.as_bytes());
        check_order(&kept);
        let sorted = |text: &str| {
            let mut chars: Vec<char> = text.chars().collect();
            chars.sort_unstable();
            chars
        };
        prop_assert_eq!(sorted(&kept.visible_text()), sorted(&said));
        prop_assert_eq!(sorted(&kept.reasoning_text()), sorted(&thought));
        prop_assert_eq!(kept.count_events(is_lost), 0);
    }
}
