//! The view `sentences`: seed 004, rules F1 to F7 and what the common rules mean for it. Where
//! sentences end is tested in `sentences.rs`.

mod document;

use millpond_engine::event::{
    Citation, Event, ImageOwner, MessageId, Outcome, StepId, ToolKind, ToolOutcome,
};
use millpond_engine::view::{ItemKind, ItemState, Page, ViewName};
use millpond_engine::wire::{FrameFormat, StreamKind};
use serde_json::{Value, json};

use crate::log::Log;
use crate::views::{SentFrame, encode_records, final_page};

/// Native frames of the view.
fn native_frames(log: &Log) -> Vec<SentFrame> {
    encode_records(StreamKind::new(ViewName::Sentences), &log.records()).0
}

fn payloads(sent: &[SentFrame], event: &str) -> Vec<Value> {
    sent.iter().filter(|frame| frame.event == event).map(SentFrame::data_json).collect()
}

fn bubble_texts(page: &Page) -> Vec<&str> {
    let shown = page.items.values().filter(|item| item.state != ItemState::Withdrawn);
    shown.filter(|item| item.kind == ItemKind::Text).map(|item| &*item.text).collect()
}

/// State of the seed's client: complete bubbles, and the live text.
#[derive(Debug, Default)]
struct SeedClient {
    done: Vec<(String, String)>,
    live: Option<(String, String)>,
}

impl SeedClient {
    /// Replays the frames as the seed's client does.
    fn replay(sent: &[SentFrame]) -> SeedClient {
        let mut client = SeedClient::default();
        for frame in sent {
            let data = frame.data_json();
            let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
            match frame.event.as_str() {
                "text-delta" => match &mut client.live {
                    Some((id, live)) => {
                        assert_eq!(*id, text("id"), "two pieces live at once");
                        live.push_str(&text("delta"));
                    }
                    None => client.live = Some((text("id"), text("delta"))),
                },
                "text-message" => {
                    let live = client.live.take().unwrap();
                    assert_eq!(live, (text("id"), text("content")), "it replaces the live text");
                    client.done.push(live);
                }
                _ => {}
            }
        }
        client
    }

    fn done_texts(&self) -> Vec<&str> {
        self.done.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// The seed's example as a log.
fn seed_example_log() -> Log {
    let mut log = Log::new();
    log.start_round().push_message(&["Dobra, zaraz ", "sprawdzę co mamy na ekranie."]);
    log.start_tool_of_kind("computer", ToolKind::Action).succeed_tool(0, "ok");
    log.push_message(&["Widzę przeglądarkę. Te", "raz kliknę w pasek adresu."]);
    log.start_tool_of_kind("computer", ToolKind::Action).succeed_tool(1, "ok");
    log.push_message(&["Super, pole jest aktywne. ", "Wpiszę teraz adres."])
        .end_round()
        .complete_run();
    log
}

#[test]
fn sentences_f1_each_sentence_is_a_bubble_that_replaces_the_live_text() {
    let client = SeedClient::replay(&native_frames(&seed_example_log()));
    let expected = [
        "Dobra, zaraz sprawdzę co mamy na ekranie.",
        "Widzę przeglądarkę. ",
        "Teraz kliknę w pasek adresu.",
        "Super, pole jest aktywne. ",
        "Wpiszę teraz adres.",
    ];
    assert_eq!(client.done_texts(), expected);
    assert!(client.live.is_none());
    assert_eq!(
        bubble_texts(&final_page(ViewName::Sentences, &seed_example_log().records())),
        expected
    );
}

#[test]
fn sentences_f1_ids_are_stable_and_used_once() {
    let client = SeedClient::replay(&native_frames(&seed_example_log()));
    let mut ids: Vec<&str> = client.done.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["m0.0", "m1.0", "m1.1", "m2.0", "m2.1"]);
    ids.dedup();
    assert_eq!(ids.len(), client.done.len());
}

#[test]
fn sentences_f1_however_the_text_is_cut_the_bubbles_are_the_same_and_hold_every_character() {
    let text = "One e.g. two. Three!  \n\nFour (five.) six?! 3.14 is pi";
    let mut whole = Log::new();
    whole.start_round().push_message(&[text]).end_round().complete_run();
    let expected = SeedClient::replay(&native_frames(&whole));
    assert_eq!(expected.done_texts().concat(), text);
    for cut in (1..text.len()).filter(|&at| text.is_char_boundary(at)) {
        let mut log = Log::new();
        log.start_round().push_message(&[&text[..cut], &text[cut..]]).end_round().complete_run();
        assert_eq!(SeedClient::replay(&native_frames(&log)).done, expected.done, "cut at {cut}");
    }
}

#[test]
fn sentences_f1_a_sentence_that_follows_another_is_one_patch() {
    let mut log = Log::new();
    log.start_round()
        .push_message(&["One is here. Two", " is.", " Three."])
        .end_round()
        .complete_run();
    let kind = StreamKind { format: FrameFormat::Patch, ..StreamKind::new(ViewName::Sentences) };
    let (sent, page) = encode_records(kind, &log.records());
    let next: Vec<Value> =
        sent.iter().map(SentFrame::data_json).filter(|patch| patch.get("next").is_some()).collect();
    assert_eq!(next, [json!({"next": "Two"}), json!({"next": "Three."})]);
    let told: Vec<_> = page.items.values().map(|item| (&*item.id, item.state)).collect();
    assert_eq!(
        told,
        [("m0.0", ItemState::Done), ("m0.1", ItemState::Done), ("m0.2", ItemState::Done)]
    );
}

#[test]
fn sentences_f3_the_end_of_the_message_a_tool_and_a_stop_flush_what_is_left() {
    let mut log = Log::new();
    log.start_round().push_message(&["I look for it in the"]).start_tool("grep");
    let before_tool = native_frames(&log);
    let tool = before_tool.iter().position(|frame| frame.event == "tool").unwrap();
    assert_eq!(SeedClient::replay(&before_tool[..tool]).done_texts(), ["I look for it in the"]);
    let mut stopped = Log::new();
    stopped.start_round().push_message(&["half a sent"]).end_round();
    stopped.end_run(Outcome::Cancelled, Some(MessageId(0)));
    assert_eq!(SeedClient::replay(&native_frames(&stopped)).done_texts(), ["half a sent"]);
    let mut open = Log::new();
    open.start_round()
        .open_message(&["never ended. And"])
        .end_run(Outcome::Truncated, Some(MessageId(0)));
    assert_eq!(SeedClient::replay(&native_frames(&open)).done_texts(), ["never ended. ", "And"]);
}

#[test]
fn sentences_f4_an_action_is_a_card_with_its_kind_parameters_state_and_screenshot() {
    let mut log = Log::new();
    log.start_round().push_message(&["I click."]);
    let step = StepId(0);
    log.push(Event::ToolStarted {
        step,
        round: 0,
        call: "c".into(),
        name: "computer".into(),
        kind: ToolKind::Action,
        executor: millpond_engine::event::Executor::Client,
        server: None,
        parent: None,
    });
    for text in ["{\"action\":\"left_click\",\n", "\"coordinate\":[10,20]}"] {
        log.push(Event::ArgumentsAppended { step, text: text.into() });
    }
    log.push(Event::ToolReady { step });
    log.image(ImageOwner::Step(step), "QUJDRA==");
    log.push(Event::ToolEnded { step, outcome: ToolOutcome::Succeeded, detail: None });
    let sent = native_frames(&log);
    let cards = payloads(&sent, "action");
    let states: Vec<&Value> = cards.iter().map(|card| &card["state"]).collect();
    assert_eq!(states, ["running", "running", "done"]);
    assert_eq!(cards[0]["action"], "computer");
    assert_eq!(cards[1]["action"], "left_click");
    assert_eq!(cards[1]["params"], json!({ "action": "left_click", "coordinate": [10, 20] }));
    assert!(cards[1]["screenshot"].is_null(), "shown when the action completes");
    assert!(cards[2]["screenshot"]["ref"].as_str().unwrap().starts_with("sha256:"));
    assert!(sent.iter().all(|frame| !frame.data.contains('\n') && !frame.data.contains("QUJDRA")));
    let page = final_page(ViewName::Sentences, &log.records());
    let kinds: Vec<ItemKind> = page.items.values().map(|item| item.kind).collect();
    assert_eq!(kinds, [ItemKind::Text, ItemKind::Action], "text and action share no bubble");
}

#[test]
fn sentences_f4_actions_fail_are_denied_and_are_cut() {
    for (outcome, state) in [
        (ToolOutcome::Failed, ItemState::Failed),
        (ToolOutcome::Denied, ItemState::Denied),
        (ToolOutcome::Cut, ItemState::Incomplete),
    ] {
        let mut log = Log::new();
        log.start_round().start_tool_of_kind("computer", ToolKind::Action);
        log.push(Event::ToolEnded { step: StepId(0), outcome, detail: None });
        assert_eq!(payloads(&native_frames(&log), "action").last().unwrap()["state"], "failed");
        let page = final_page(ViewName::Sentences, &log.records());
        assert_eq!(page.items.values().last().unwrap().state, state);
    }
    let mut open = Log::new();
    open.start_round()
        .start_tool_of_kind("computer", ToolKind::Action)
        .end_run(Outcome::Interrupted, None);
    assert_eq!(payloads(&native_frames(&open), "action").last().unwrap()["state"], "failed");
}

#[test]
fn sentences_v_other_tools_are_small_cards_without_arguments_or_results() {
    let mut log = Log::new();
    log.start_round()
        .start_tool("grep")
        .succeed_tool(0, "found it")
        .push_message(&["Done."])
        .end_round()
        .complete_run();
    let sent = native_frames(&log);
    let cards = payloads(&sent, "tool");
    assert_eq!(cards[0], json!({ "run": "r1", "id": "s0", "name": "grep", "state": "running" }));
    assert_eq!(cards[1]["state"], "done");
    for frame in &sent {
        assert!(!frame.data.contains("secret") && !frame.data.contains("found it"), "{frame:?}");
    }
}

#[test]
fn sentences_f7_the_end_is_finish_or_error() {
    for (outcome, name) in [
        (Outcome::Completed, "finish"),
        (Outcome::Failed, "error"),
        (Outcome::Cancelled, "error"),
        (Outcome::Truncated, "error"),
        (Outcome::Stalled, "error"),
        (Outcome::Interrupted, "error"),
    ] {
        let mut log = Log::new();
        log.start_round()
            .push_message(&["So far."])
            .end_round()
            .end_run(outcome, Some(MessageId(0)));
        let ending = native_frames(&log).pop().unwrap();
        assert_eq!(
            (ending.event.as_str(), &ending.data_json()["content"]),
            (name, &json!("So far."))
        );
    }
}

#[test]
fn sentences_x16_withdrawn_sentences_and_cards_leave_the_page() {
    let mut log = Log::new();
    log.start_round()
        .push_message(&["One. Two. "])
        .start_tool("t")
        .push_message(&["Three."])
        .withdraw(&[0], &[0]);
    assert_eq!(bubble_texts(&final_page(ViewName::Sentences, &log.records())), ["Three."]);
    assert_eq!(
        payloads(&native_frames(&log), "withdrawn")[0]["ids"],
        json!(["m0.0", "m0.1", "s0"])
    );
}

#[test]
fn sentences_x2_a_rewrite_keeps_the_sentences_it_did_not_touch() {
    let mut log = Log::new();
    log.start_round().open_message(&["First. Secnd one. Thi"]);
    log.rewrite("First. Sec".len(), "ond one. Third.").end_message().end_round().complete_run();
    let page = final_page(ViewName::Sentences, &log.records());
    assert_eq!(bubble_texts(&page), ["First. ", "Second one. ", "Third."]);
    let ids: Vec<&str> = page
        .items
        .values()
        .filter(|item| item.state == ItemState::Done)
        .map(|item| &*item.id)
        .collect();
    assert_eq!(ids[0], "m0.0");
    assert_eq!(ids.len(), 3);
}

#[test]
fn sentences_x2_a_rewrite_knows_where_what_came_in_pieces_ends() {
    let pieces = ["```\na\n", "bb\n", "```\n\n", "Kept as it is. ", "The old end"];
    let mut log = Log::new();
    log.start_round().open_message(&pieces);
    let kept = pieces.concat().len() - "old end".len();
    log.rewrite(kept, "new end.").end_message().end_round().complete_run();
    let page = final_page(ViewName::Sentences, &log.records());
    assert_eq!(bubble_texts(&page).last(), Some(&"The new end."));
    let done = page.items.values().filter(|item| item.state == ItemState::Done);
    let kept: Vec<&str> =
        done.filter(|item| item.text.starts_with("Kept")).map(|item| &*item.id).collect();
    assert_eq!(kept, ["m0.1"], "it was not touched");
}

#[test]
fn sentences_x18_a_rewrite_leaves_the_pictures_of_its_message() {
    let mut log = Log::new();
    log.start_round().open_message(&[]).image(ImageOwner::Message(MessageId(0)), "iVBORw0KGgo=");
    log.append_text("Old.").rewrite(0, "New.").end_message().end_round().complete_run();
    let page = final_page(ViewName::Sentences, &log.records());
    let pictures: usize = page.items.values().map(|item| item.images.len()).sum();
    assert_eq!((bubble_texts(&page), pictures), (vec!["", "New."], 1));
}

#[test]
fn sentences_x8_the_last_sentence_of_a_text_that_broke_off_is_incomplete() {
    let mut log = Log::new();
    log.start_round().open_message(&["One. Tw"]);
    log.push(Event::MessageEnded { message: MessageId(0), incomplete: true });
    let page = final_page(ViewName::Sentences, &log.records());
    let states: Vec<ItemState> = page.items.values().map(|item| item.state).collect();
    assert_eq!(states, [ItemState::Done, ItemState::Incomplete]);
}

#[test]
fn sentences_x18_sources_and_pictures_of_a_sentence_that_is_rewritten_hang_on_what_replaces_it() {
    let source = |url: &'static str| Event::SourceCited {
        message: MessageId(0),
        citation: Citation { url: Some(url.into()), title: None, quote: None },
    };
    let mut log = Log::new();
    log.start_round().open_message(&["Stays. The lake is ", "frozn."]);
    log.push(source("https://ice.example"));
    log.image(ImageOwner::Message(MessageId(0)), "QUJDRA==");
    log.rewrite("Stays. The lake is ".len(), "frozen. Cold.");
    log.push(source("https://cold.example"));
    log.rewrite("Stays. The lake is frozen".len(), "!").end_message().end_round().complete_run();
    let page = final_page(ViewName::Sentences, &log.records());
    let shown: Vec<_> =
        page.items.values().filter(|item| item.state != ItemState::Withdrawn).collect();
    let urls = |item: &millpond_engine::view::Item<'_>| {
        item.citations
            .iter()
            .filter_map(|source| source.url.as_deref().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        shown.iter().map(|item| &*item.text).collect::<Vec<_>>().concat(),
        "Stays. The lake is frozen!"
    );
    assert_eq!((urls(shown[0]).len(), shown[0].images.len()), (0, 0));
    assert_eq!(urls(shown[1]), ["https://ice.example", "https://cold.example"]);
    assert_eq!(shown[1].images.len(), 1);
}

#[test]
fn sentences_x8_the_last_sentence_of_a_message_that_broke_off_says_so() {
    let mut log = Log::new();
    log.start_round().open_message(&["Whole. Hal"]);
    log.push(Event::MessageEnded { message: MessageId(0), incomplete: true });
    log.end_round().end_run(Outcome::Failed, Some(MessageId(0)));
    let told: Vec<_> = payloads(&native_frames(&log), "text-message")
        .iter()
        .map(|message| message["incomplete"] == true)
        .collect();
    assert_eq!(told, [false, true]);
}

#[test]
fn sentences_a_tool_that_was_refused_is_no_failure() {
    let mut log = Log::new();
    log.start_round().start_tool("rm");
    let outcome = ToolOutcome::Denied;
    log.push(Event::ToolEnded { step: StepId(0), outcome, detail: None });
    assert_eq!(payloads(&native_frames(&log), "tool").last().unwrap()["state"], "denied");
}

#[test]
fn sentences_f5_an_action_has_the_arguments_that_were_said_last() {
    let mut log = Log::new();
    log.start_round().start_tool_of_kind("click", ToolKind::Action);
    let text = "{\"x\":4}".into();
    log.push(Event::ArgumentsReplaced { step: StepId(0), text });
    log.push(Event::ToolReady { step: StepId(0) });
    log.succeed_tool(0, "done").end_round().complete_run();
    let page = final_page(ViewName::Sentences, &log.records());
    let arguments: Vec<_> =
        page.items.values().filter_map(|item| item.arguments.as_deref()).collect();
    assert_eq!(arguments, ["{\"x\":4}"]);
}
