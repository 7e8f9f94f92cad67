//! The view `latest`: seed 000, rules L1 to L9 and what the common rules mean for it.

use engine::event::{MessageId, Outcome, Owner, Phase, ToolKind};
use engine::view::{Kind as ItemKind, Picture, State, Thinking, ViewName};
use engine::wire::{Content, Kind};
use serde_json::{Value, json};

use crate::log::Log;
use crate::views::{Sent, frames, picture};

fn own(log: &Log) -> Vec<Sent> {
    frames(Kind::new(ViewName::Latest), &log.records()).0
}

fn with(thinking: Thinking, log: &Log) -> Vec<Sent> {
    frames(Kind { thinking, ..Kind::new(ViewName::Latest) }, &log.records()).0
}

fn names(sent: &[Sent]) -> Vec<&str> {
    sent.iter().map(|frame| frame.event.as_str()).collect()
}

fn payloads(sent: &[Sent], event: &str) -> Vec<Value> {
    sent.iter().filter(|frame| frame.event == event).map(Sent::json).collect()
}

/// The texts that stand on the page.
fn texts(page: &Picture) -> Vec<&str> {
    let shown = page.items.values().filter(|item| item.state != State::Withdrawn);
    shown.filter(|item| item.kind == ItemKind::Text).map(|item| &*item.text).collect()
}

/// What the seed's own client does with the frames.
#[derive(Debug, Default, PartialEq)]
struct SeedClient {
    streamed: String,
    thinking: String,
    thread: Vec<String>,
}

impl SeedClient {
    fn watch(sent: &[Sent], mut each: impl FnMut(&SeedClient)) -> SeedClient {
        let mut client = SeedClient::default();
        for frame in sent {
            let data = frame.json();
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
    log.prompt("Look at the files").round().thinking(&["I should ", "look"]);
    log.message(&["Reading the ", "key parts"]).tool("read_file").end_round().result(1, "content");
    log.round().message(&["Here is", " the ", "analysis."]).end_round().done();
    log
}

#[test]
fn latest_l1_thinking_tools_and_arguments_never_reach_a_reader() {
    for frame in own(&two_rounds()) {
        for hidden in ["I should", "look\"", "read_file", "secret", "content\":\"content"] {
            assert!(!frame.data.contains(hidden), "{frame:?}");
        }
    }
}

#[test]
fn latest_l1_code_in_a_reply_is_text_and_is_shown() {
    let mut log = Log::new();
    log.round().message(&["```sh\nls\n```"]).end_round().done();
    assert_eq!(texts(&picture(ViewName::Latest, &log.records())), ["```sh\nls\n```"]);
}

#[test]
fn latest_l2_text_that_is_not_final_is_overwritten_never_two_at_once_never_joined() {
    let mut seen = Vec::new();
    SeedClient::watch(&own(&two_rounds()), |client| seen.push(client.streamed.clone()));
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
        assert!(texts(&picture(ViewName::Latest, &records[..end])).len() <= 1);
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
    assert_eq!(names(&own(&two_rounds())), expected);
}

#[test]
fn latest_l3_thinking_carries_content_only_when_asked_and_then_the_increment_only() {
    let log = two_rounds();
    let contents = |thinking| -> Vec<Value> {
        let frames = payloads(&with(thinking, &log), "thinking");
        frames.iter().map(|frame| frame["content"].clone()).collect()
    };
    assert_eq!(contents(Thinking::AsUsual), [Value::Null]);
    assert_eq!(contents(Thinking::Latest), [Value::Null, json!("I should "), json!("look")]);
    assert_eq!(contents(Thinking::Show), contents(Thinking::Latest));
    assert!(contents(Thinking::Hide).is_empty());
}

#[test]
fn latest_l3_with_content_delta_bytes_grow_linearly_and_say_the_same() {
    let log = two_rounds();
    let kind = Kind { content: Content::Delta, ..Kind::new(ViewName::Latest) };
    let (sent, _) = frames(kind, &log.records());
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
    let accumulated = SeedClient::watch(&own(&log), |_| {});
    assert_eq!(SeedClient::watch(&sent, |_| {}), accumulated);
}

#[test]
fn latest_l3_g2_the_final_message_start_is_told_once_for_each_run() {
    let mut log = two_rounds();
    for record in two_rounds().records() {
        log.push(record.event);
    }
    assert_eq!(payloads(&own(&log), "final_message_start").len(), 2);
    assert_eq!(payloads(&own(&log), "completed").len(), 2);
}

#[test]
fn latest_l4_the_ending_clears_everything_and_only_the_final_message_remains() {
    let client = SeedClient::watch(&own(&two_rounds()), |_| {});
    assert_eq!(client.thread, ["Look at the files", "Here is the analysis."]);
    assert_eq!((client.streamed.as_str(), client.thinking.as_str()), ("", ""));
    let page = picture(ViewName::Latest, &two_rounds().records());
    assert_eq!(texts(&page), ["Here is the analysis."]);
    assert!(page.label.is_empty());
}

#[test]
fn latest_l5_the_final_message_is_the_last_of_the_last_round_and_holds_nothing_older() {
    let mut log = Log::new();
    log.round().message(&["old"]).tool("t").end_round().result(0, "r").round().message(&["a"]);
    log.thinking(&["hm"]).message(&["b"]).end_round().done();
    let ending = own(&log).pop().unwrap().json();
    assert_eq!(
        (ending["content"].as_str(), ending["reply"].as_str()),
        (Some("b"), Some("message"))
    );
}

#[test]
fn latest_l5_a_last_round_without_a_message_ends_with_none_never_with_an_older_text() {
    let mut log = Log::new();
    log.round().message(&["old"]).tool("t").end_round().result(0, "r").round().end_round();
    log.end(Outcome::Completed, None);
    let ending = own(&log).pop().unwrap().json();
    assert_eq!((ending["content"].as_str(), ending["reply"].as_str()), (Some(""), Some("none")));
    assert!(texts(&picture(ViewName::Latest, &log.records())).is_empty());
}

#[test]
fn latest_l6_an_early_exit_ends_with_its_own_message_and_nothing_wipes_it() {
    let mut log = Log::new();
    log.round().message(&["Which file do you mean?"]).end_round();
    log.end(Outcome::Failed, Some(MessageId(0)));
    let page = picture(ViewName::Latest, &log.records());
    assert_eq!(texts(&page), ["Which file do you mean?"]);
    assert_eq!(page.label, "Failed: it broke");
    assert_eq!(own(&log).pop().unwrap().event, "failed");
}

#[test]
fn latest_l7_sources_with_no_thinking_or_only_whole_messages_work_the_same() {
    let mut log = Log::new();
    log.round().message(&["All at once."]).end_round().done();
    let sent = own(&log);
    let expected =
        ["queued", "started", "streaming", "final_message_start", "assistant", "completed"];
    assert_eq!(names(&sent), expected);
    assert_eq!(SeedClient::watch(&sent, |_| {}).thread, ["All at once."]);
}

#[test]
fn latest_l8_the_status_is_one_of_the_agreed_words_and_only_the_newest_is_kept() {
    let mut log = Log::new();
    log.round().thinking(&["x"]).message(&["a"]).tool("t").ask("q", "May I?");
    let mut words = Vec::new();
    let mut all = log.clone();
    all.answer("q", "yes").result(1, "r").end_round().end(Outcome::Failed, Some(MessageId(0)));
    let records = all.records();
    for end in 1..=records.len() {
        words.push(picture(ViewName::Latest, &records[..end]).label);
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
    log.round().open_message_in(Some(Phase::Final), &["The answer."]).end_message();
    log.tool("log").result(0, "ok").message(&["(cleaning up)"]).end_round();
    log.end(Outcome::Completed, Some(MessageId(0)));
    let page = picture(ViewName::Latest, &log.records());
    assert_eq!(texts(&page), ["The answer."]);
    assert_eq!(own(&log).pop().unwrap().json()["content"], "The answer.");
}

#[test]
fn latest_x16_withdrawn_text_leaves_the_page_and_is_never_final() {
    let mut log = Log::new();
    log.round().message(&["half a rep"]).withdraw(&[0], &[]);
    let page = picture(ViewName::Latest, &log.records());
    assert!(texts(&page).is_empty());
    assert_eq!(payloads(&own(&log), "withdrawn")[0]["ids"], json!(["m0"]));
    log.end_round().round().message(&["a whole reply"]).end_round().done();
    assert_eq!(texts(&picture(ViewName::Latest, &log.records())), ["a whole reply"]);
}

#[test]
fn latest_x2_a_source_that_rewrites_gives_a_replace() {
    let mut log = Log::new();
    log.round().open_message(&["Hello wrld"]).rewrite(7, "orld").end_message().end_round().done();
    let contents: Vec<Value> =
        payloads(&own(&log), "assistant").iter().map(|one| one["content"].clone()).collect();
    assert_eq!(contents, ["Hello wrld", "Hello world"]);
    let kind = Kind { content: Content::Delta, ..Kind::new(ViewName::Latest) };
    let (sent, _) = frames(kind, &log.records());
    assert_eq!(payloads(&sent, "assistant")[1]["delta"], "Hello world");
    assert_eq!(payloads(&sent, "assistant")[1]["replace"], true);
}

#[test]
fn latest_x8_the_partial_of_a_cut_run_stays_and_is_marked() {
    let mut log = Log::new();
    log.round().message(&["half a rep"]).end_round().end(Outcome::Truncated, Some(MessageId(0)));
    let page = picture(ViewName::Latest, &log.records());
    assert_eq!(texts(&page), ["half a rep"]);
    assert_eq!(page.items.values().next().unwrap().state, State::Incomplete);
    let ending = own(&log).pop().unwrap();
    assert_eq!((ending.event.as_str(), &ending.json()["incomplete"]), ("truncated", &json!(true)));
}

#[test]
fn latest_x13_an_ask_is_told_with_all_it_has_and_its_answer_too() {
    let mut log = Log::new();
    log.round().tool_of("bash", ToolKind::Command).ask("q1", "rm -r x").answer("q1", "no");
    let sent = own(&log);
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
    log.round().open_message(&["See:"]).image(Owner::Message(MessageId(0)), "QUJDREVGR0g=");
    let page = picture(ViewName::Latest, &log.records());
    let reference = &page.items.values().next().unwrap().images[0].reference;
    assert!(reference.starts_with("sha256:"));
    assert!(own(&log).iter().all(|frame| !frame.data.contains("QUJDREVGR0g=")));
    assert_eq!(payloads(&own(&log), "image")[0]["ref"], **reference);
}
