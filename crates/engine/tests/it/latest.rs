//! The view `latest`: seed 000, rules L1 to L9 and what the common rules mean for it.

mod document;

use millpond_engine::event::{ImageOwner, MessageId, MessagePhase, Outcome, ToolKind};
use millpond_engine::view::{ItemKind, ItemState, Page, Thinking, ViewName};
use millpond_engine::wire::{ContentMode, StreamKind};
use serde_json::{Value, json};

use crate::log::Log;
use crate::views::{SentFrame, encode_records, final_page};

/// Native frames of the view.
fn native_frames(log: &Log) -> Vec<SentFrame> {
    encode_records(StreamKind::new(ViewName::Latest), &log.records()).0
}

/// Native frames of the view with a thinking option.
fn native_frames_with_thinking(thinking: Thinking, log: &Log) -> Vec<SentFrame> {
    encode_records(StreamKind { thinking, ..StreamKind::new(ViewName::Latest) }, &log.records()).0
}

fn frame_names(sent: &[SentFrame]) -> Vec<&str> {
    sent.iter().map(|frame| frame.event.as_str()).collect()
}

fn payloads(sent: &[SentFrame], event: &str) -> Vec<Value> {
    sent.iter().filter(|frame| frame.event == event).map(SentFrame::data_json).collect()
}

/// Texts on the page that are not withdrawn.
fn shown_texts(page: &Page) -> Vec<&str> {
    let shown = page.items.values().filter(|item| item.state != ItemState::Withdrawn);
    shown.filter(|item| item.kind == ItemKind::Text).map(|item| &*item.text).collect()
}

/// State of the seed's client.
#[derive(Debug, Default, PartialEq)]
struct SeedClient {
    streamed: String,
    thinking: String,
    thread: Vec<String>,
}

impl SeedClient {
    /// Replays the frames as the seed's client does, calling `each` after every one.
    fn replay(sent: &[SentFrame], mut each: impl FnMut(&SeedClient)) -> SeedClient {
        let mut client = SeedClient::default();
        for frame in sent {
            let data = frame.data_json();
            let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
            match frame.event.as_str() {
                "thinking" => client.thinking = text("content"),
                "final_message_start" => client.thinking.clear(),
                "assistant" if data["delta"].is_string() && data["replace"] == false => {
                    client.streamed += &text("delta");
                }
                "assistant" => client.streamed = text("content") + &text("delta"),
                "withdrawn" => client.streamed.clear(),
                "user" => client.thread.push(text("content")),
                "completed" | "failed" | "cancelled" | "truncated" => {
                    client.streamed.clear();
                    client.thinking.clear();
                    if data["reply"] == "message" {
                        client.thread.push(text("content"));
                    }
                }
                _ => {}
            }
            each(&client);
        }
        client
    }
}

fn two_rounds() -> Log {
    let mut log = Log::new();
    log.prompt("Look at the files").start_round().push_reasoning(&["I should ", "look"]);
    log.push_message(&["Reading the ", "key parts"])
        .start_tool("read_file")
        .end_round()
        .succeed_tool(1, "content");
    log.start_round().push_message(&["Here is", " the ", "analysis."]).end_round().complete_run();
    log
}

#[test]
fn latest_l1_thinking_tools_and_arguments_never_reach_a_reader() {
    for frame in native_frames(&two_rounds()) {
        for hidden in ["I should", "look\"", "read_file", "secret", "content\":\"content"] {
            assert!(!frame.data.contains(hidden), "{frame:?}");
        }
    }
}

#[test]
fn latest_l1_code_in_a_reply_is_text_and_is_shown() {
    let mut log = Log::new();
    log.start_round().push_message(&["```sh\nls\n```"]).end_round().complete_run();
    assert_eq!(shown_texts(&final_page(ViewName::Latest, &log.records())), ["```sh\nls\n```"]);
}

#[test]
fn latest_l2_text_that_is_not_final_is_overwritten_never_two_at_once_never_joined() {
    let mut seen = Vec::new();
    SeedClient::replay(&native_frames(&two_rounds()), |client| seen.push(client.streamed.clone()));
    seen.dedup();
    let expected = [
        "",
        "Reading the ",
        "Reading the key parts",
        "Here is",
        "Here is the ",
        "Here is the analysis.",
        "",
    ];
    assert_eq!(seen, expected);
    let records = two_rounds().records();
    for end in 0..records.len() {
        assert!(shown_texts(&final_page(ViewName::Latest, &records[..end])).len() <= 1);
    }
}

#[test]
fn latest_l3_frames_come_in_the_order_of_the_document() {
    let expected = [
        "queued",
        "started",
        "user",
        "streaming",
        "thinking",
        "final_message_start",
        "assistant",
        "assistant",
        "tool",
        "tool",
        "streaming",
        "assistant",
        "assistant",
        "assistant",
        "completed",
    ];
    assert_eq!(frame_names(&native_frames(&two_rounds())), expected);
}

#[test]
fn latest_l3_thinking_carries_content_only_when_asked_and_then_the_increment_only() {
    let log = two_rounds();
    let contents = |thinking| -> Vec<Value> {
        let frames = payloads(&native_frames_with_thinking(thinking, &log), "thinking");
        frames.iter().map(|frame| frame["content"].clone()).collect()
    };
    assert_eq!(contents(Thinking::ViewDefault), [Value::Null]);
    assert_eq!(contents(Thinking::Latest), [Value::Null, json!("I should "), json!("look")]);
    assert_eq!(contents(Thinking::Show), contents(Thinking::Latest));
    assert!(contents(Thinking::Hide).is_empty());
}

#[test]
fn latest_l3_with_content_delta_bytes_grow_linearly_and_say_the_same() {
    let log = two_rounds();
    let kind = StreamKind { content: ContentMode::Delta, ..StreamKind::new(ViewName::Latest) };
    let (sent, _) = encode_records(kind, &log.records());
    let deltas: Vec<Value> = payloads(&sent, "assistant");
    let said: Vec<(&str, bool)> = deltas
        .iter()
        .map(|frame| (frame["delta"].as_str().unwrap(), frame["replace"].as_bool().unwrap()))
        .collect();
    let expected = [
        ("Reading the ", true),
        ("key parts", false),
        ("Here is", true),
        (" the ", false),
        ("analysis.", false),
    ];
    assert_eq!(said, expected);
    let accumulated = SeedClient::replay(&native_frames(&log), |_| {});
    assert_eq!(SeedClient::replay(&sent, |_| {}), accumulated);
}

#[test]
fn latest_l3_g2_the_final_message_start_is_told_once_for_each_run() {
    let mut log = two_rounds();
    for record in two_rounds().records() {
        log.push(record.event);
    }
    assert_eq!(payloads(&native_frames(&log), "final_message_start").len(), 2);
    assert_eq!(payloads(&native_frames(&log), "completed").len(), 2);
}

#[test]
fn latest_l4_the_ending_clears_everything_and_only_the_final_message_remains() {
    let client = SeedClient::replay(&native_frames(&two_rounds()), |_| {});
    assert_eq!(client.thread, ["Look at the files", "Here is the analysis."]);
    assert_eq!((client.streamed.as_str(), client.thinking.as_str()), ("", ""));
    let page = final_page(ViewName::Latest, &two_rounds().records());
    assert_eq!(shown_texts(&page), ["Here is the analysis."]);
    assert!(page.label.is_empty());
}

#[test]
fn latest_l5_the_final_message_is_the_last_of_the_last_round_and_holds_nothing_older() {
    let mut log = Log::new();
    log.start_round()
        .push_message(&["old"])
        .start_tool("t")
        .end_round()
        .succeed_tool(0, "r")
        .start_round()
        .push_message(&["a"]);
    log.push_reasoning(&["hm"]).push_message(&["b"]).end_round().complete_run();
    let ending = native_frames(&log).pop().unwrap().data_json();
    assert_eq!(
        (ending["content"].as_str(), ending["reply"].as_str()),
        (Some("b"), Some("message"))
    );
}

#[test]
fn latest_l5_a_last_round_without_a_message_ends_with_none_never_with_an_older_text() {
    let mut log = Log::new();
    log.start_round()
        .push_message(&["old"])
        .start_tool("t")
        .end_round()
        .succeed_tool(0, "r")
        .start_round()
        .end_round();
    log.end_run(Outcome::Completed, None);
    let ending = native_frames(&log).pop().unwrap().data_json();
    assert_eq!((ending["content"].as_str(), ending["reply"].as_str()), (Some(""), Some("none")));
    assert!(shown_texts(&final_page(ViewName::Latest, &log.records())).is_empty());
}

#[test]
fn latest_l6_an_early_exit_ends_with_its_own_message_and_nothing_wipes_it() {
    let mut log = Log::new();
    log.start_round().push_message(&["Which file do you mean?"]).end_round();
    log.end_run(Outcome::Failed, Some(MessageId(0)));
    let page = final_page(ViewName::Latest, &log.records());
    assert_eq!(shown_texts(&page), ["Which file do you mean?"]);
    assert_eq!(page.label, "Failed: it broke");
    assert_eq!(native_frames(&log).pop().unwrap().event, "failed");
}

#[test]
fn latest_l7_sources_with_no_thinking_or_only_whole_messages_work_the_same() {
    let mut log = Log::new();
    log.start_round().push_message(&["All at once."]).end_round().complete_run();
    let sent = native_frames(&log);
    let expected =
        ["queued", "started", "streaming", "final_message_start", "assistant", "completed"];
    assert_eq!(frame_names(&sent), expected);
    assert_eq!(SeedClient::replay(&sent, |_| {}).thread, ["All at once."]);
}

#[test]
fn latest_l8_the_status_is_one_of_the_agreed_words_and_only_the_newest_is_kept() {
    let mut log = Log::new();
    log.start_round()
        .push_reasoning(&["x"])
        .push_message(&["a"])
        .start_tool("t")
        .open_ask("q", "May I?");
    let mut words = Vec::new();
    let mut all = log.clone();
    all.answer_ask("q", "yes")
        .succeed_tool(1, "r")
        .end_round()
        .end_run(Outcome::Failed, Some(MessageId(0)));
    let records = all.records();
    for end in 1..=records.len() {
        words.push(final_page(ViewName::Latest, &records[..end]).label);
    }
    words.dedup();
    let expected = [
        "Thinking",
        "Writing reply",
        "Working",
        "Waiting for you",
        "Working",
        "Thinking",
        "Failed: it broke",
    ];
    assert_eq!(words, expected);
}

#[test]
fn latest_x15_a_declared_final_message_beats_the_last_text() {
    let mut log = Log::new();
    log.start_round().open_message_in(Some(MessagePhase::Final), &["The answer."]).end_message();
    log.start_tool("log").succeed_tool(0, "ok").push_message(&["(cleaning up)"]).end_round();
    log.end_run(Outcome::Completed, Some(MessageId(0)));
    let page = final_page(ViewName::Latest, &log.records());
    assert_eq!(shown_texts(&page), ["The answer."]);
    assert_eq!(native_frames(&log).pop().unwrap().data_json()["content"], "The answer.");
}

#[test]
fn latest_x16_withdrawn_text_leaves_the_page_and_is_never_final() {
    let mut log = Log::new();
    log.start_round().push_message(&["half a rep"]).withdraw(&[0], &[]);
    let page = final_page(ViewName::Latest, &log.records());
    assert!(shown_texts(&page).is_empty());
    assert_eq!(payloads(&native_frames(&log), "withdrawn")[0]["ids"], json!(["m0"]));
    log.end_round().start_round().push_message(&["a whole reply"]).end_round().complete_run();
    assert_eq!(shown_texts(&final_page(ViewName::Latest, &log.records())), ["a whole reply"]);
}

#[test]
fn latest_x2_a_source_that_rewrites_gives_a_replace() {
    let mut log = Log::new();
    log.start_round()
        .open_message(&["Hello wrld"])
        .rewrite(7, "orld")
        .end_message()
        .end_round()
        .complete_run();
    let contents: Vec<Value> = payloads(&native_frames(&log), "assistant")
        .iter()
        .map(|one| one["content"].clone())
        .collect();
    assert_eq!(contents, ["Hello wrld", "Hello world"]);
    let kind = StreamKind { content: ContentMode::Delta, ..StreamKind::new(ViewName::Latest) };
    let (sent, _) = encode_records(kind, &log.records());
    assert_eq!(payloads(&sent, "assistant")[1]["delta"], "Hello world");
    assert_eq!(payloads(&sent, "assistant")[1]["replace"], true);
}

#[test]
fn latest_x8_the_partial_of_a_cut_run_stays_and_is_marked() {
    let mut log = Log::new();
    log.start_round()
        .push_message(&["half a rep"])
        .end_round()
        .end_run(Outcome::Truncated, Some(MessageId(0)));
    let page = final_page(ViewName::Latest, &log.records());
    assert_eq!(shown_texts(&page), ["half a rep"]);
    assert_eq!(page.items.values().next().unwrap().state, ItemState::Incomplete);
    let ending = native_frames(&log).pop().unwrap();
    assert_eq!(
        (ending.event.as_str(), &ending.data_json()["incomplete"]),
        ("truncated", &json!(true))
    );
}

#[test]
fn latest_x13_an_ask_is_told_with_all_it_has_and_its_answer_too() {
    let mut log = Log::new();
    log.start_round()
        .start_tool_of_kind("bash", ToolKind::Command)
        .open_ask("q1", "rm -r x")
        .answer_ask("q1", "no");
    let sent = native_frames(&log);
    let ask = &payloads(&sent, "ask")[0];
    for name in ["id", "kind", "text", "options", "digest", "expiresAt"] {
        assert!(ask.as_object().unwrap().contains_key(name), "{name} is missing in {ask}");
    }
    let resolved = json!({ "run": "r1", "id": "q1", "answer": "no", "by": "person" });
    assert_eq!(payloads(&sent, "ask-resolved"), [resolved]);
}

#[test]
fn latest_x18_pictures_come_by_reference_and_stand_with_their_message() {
    let mut log = Log::new();
    log.start_round()
        .open_message(&["See:"])
        .image(ImageOwner::Message(MessageId(0)), "QUJDREVGR0g=");
    let page = final_page(ViewName::Latest, &log.records());
    let reference = &page.items.values().next().unwrap().images[0].reference;
    assert!(reference.starts_with("sha256:"));
    assert!(native_frames(&log).iter().all(|frame| !frame.data.contains("QUJDREVGR0g=")));
    assert_eq!(payloads(&native_frames(&log), "image")[0]["ref"], **reference);
}

#[test]
fn latest_l2_a_reply_stands_below_the_prompt_that_it_answers() {
    let texts = |log: &Log| {
        let page = final_page(ViewName::Latest, &log.records());
        page.items.values().map(|item| item.text.to_string()).collect::<Vec<_>>()
    };
    let mut log = Log::new();
    log.prompt("First?").start_round().push_message(&["One."]).end_round().prompt("Second?");
    assert_eq!(texts(&log), ["First?", "One.", "Second?"]);
    log.start_round().open_message(&["Two"]);
    assert_eq!(texts(&log), ["First?", "Second?", "Two"]);
    log.append_text(".").end_message().end_round().complete_run();
    assert_eq!(texts(&log), ["First?", "Second?", "Two."]);
}
