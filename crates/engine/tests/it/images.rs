//! Images and citations belong to the item of their owner: rule X18.

use millpond_engine::event::{
    Citation, Event, Image, ImageOwner, MessageId, MessagePhase, Outcome, StepId, ToolKind,
};
use millpond_engine::view::{ItemState, Page, ViewName};
use millpond_engine::wire::{FrameFormat, StreamKind};
use serde_json::json;

use crate::log::Log;
use crate::views::{apply_patch_frame, encode_records, final_page, patch_stream_kind};

/// Text, number of images and number of citations of each item that is not withdrawn.
fn shown_items(page: &Page) -> Vec<(&str, usize, usize)> {
    let items = page.items.values().filter(|item| item.state != ItemState::Withdrawn);
    items.map(|item| (&*item.text, item.images.len(), item.citations.len())).collect()
}

fn push_citation(log: &mut Log, message: u32) {
    let citation = Citation { url: Some("https://pond.test".into()), ..Citation::default() };
    log.push(Event::SourceCited { message: MessageId(message), citation });
}

#[test]
fn x18_what_a_person_shows_stands_with_what_they_wrote() {
    let mut log = Log::new();
    let kept = |digest: &'static str| Image::Kept {
        media_type: "image/png".into(),
        digest: digest.into(),
    };
    log.push(Event::PromptReceived {
        text: "Look".into(),
        images: vec![kept("aa"), kept("bb")],
        origin: millpond_engine::event::PromptOrigin::Person,
    });
    log.push(Event::PromptReceived {
        text: "".into(),
        images: vec![kept("cc")],
        origin: millpond_engine::event::PromptOrigin::Person,
    });
    log.start_round()
        .push_message(&["I see."])
        .end_round()
        .end_run(Outcome::Completed, Some(MessageId(0)));
    let records = log.records();
    for view in ViewName::ALL {
        let page = final_page(view, &records);
        let person = shown_items(&page).into_iter().take(2).collect::<Vec<_>>();
        assert_eq!(person, [("Look", 2, 0), ("", 1, 0)], "{view:?}");
        let first = page.items.values().next().unwrap();
        let names: Vec<&str> = first.images.iter().map(|image| &*image.reference).collect();
        assert_eq!(names, ["sha256:aa", "sha256:bb"], "{view:?}");
        let sent = encode_records(StreamKind::new(view), &records).0;
        let frame = |name: &str| sent.iter().any(|frame| frame.data.contains(name));
        assert_eq!(frame("sha256:cc"), view == ViewName::Transcript, "{view:?}");
    }
}

const IMAGE_STEP: ImageOwner = ImageOwner::Step(StepId(0));

#[test]
fn x18_a_picture_made_for_the_person_shows_in_every_view() {
    for text in [None, Some("Here it is.")] {
        let mut log = Log::new();
        log.start_round()
            .start_tool_of_kind("image_generation", ToolKind::ImageGeneration)
            .image(IMAGE_STEP, "QUJD");
        log.succeed_tool(0, "");
        if let Some(text) = text {
            log.push_message(&[text]);
        }
        log.end_round().end_run(Outcome::Completed, text.map(|_| MessageId(0)));
        let records = log.records();
        for view in ViewName::ALL {
            let page = final_page(view, &records);
            let items = page.items.values().flat_map(|item| item.steps.iter().chain([item]));
            let pictures: usize = items.map(|item| item.images.len()).sum();
            assert_eq!(pictures, 1, "{view:?} {text:?}");
            let sent = encode_records(StreamKind::new(view), &records).0;
            assert!(sent.iter().any(|frame| frame.data.contains("sha256:")), "{view:?} {text:?}");
            let mut read = Page::default();
            for frame in encode_records(patch_stream_kind(view), &records).0 {
                apply_patch_frame(&mut read, &frame.data);
            }
            assert_eq!(read, page, "{view:?} {text:?}");
        }
    }
}

#[test]
fn x18_a_picture_is_seen_before_any_text_comes() {
    let mut log = Log::new();
    log.start_round()
        .start_tool_of_kind("image_generation", ToolKind::ImageGeneration)
        .image(IMAGE_STEP, "QUJD");
    for view in [ViewName::Latest, ViewName::Bubbles, ViewName::Sentences] {
        let page = final_page(view, &log.records());
        assert_eq!(page.items.values().next().unwrap().images.len(), 1, "{view:?}");
    }
}

#[test]
fn latest_l3_a_picture_before_any_text_does_not_begin_the_reply() {
    let mut log = Log::new();
    log.start_round()
        .start_tool_of_kind("image_generation", ToolKind::ImageGeneration)
        .image(IMAGE_STEP, "QUJD");
    log.succeed_tool(0, "").push_message(&["Here."]).end_round().complete_run();
    let sent = encode_records(StreamKind::new(ViewName::Latest), &log.records()).0;
    let names: Vec<&str> = sent.iter().map(|frame| frame.event.as_str()).collect();
    let begins = names.iter().position(|name| *name == "final_message_start");
    assert!(begins < names.iter().position(|name| *name == "assistant"), "{names:?}");
    assert_eq!(names.iter().filter(|name| **name == "image").count(), 2, "{names:?}");
}

#[test]
fn x18_what_another_tool_gave_is_no_content_of_the_reply() {
    let mut log = Log::new();
    log.start_round()
        .start_tool("read")
        .image(IMAGE_STEP, "QUJD")
        .succeed_tool(0, "")
        .push_message(&["A duck."]);
    log.end_round().complete_run();
    for view in [ViewName::Latest, ViewName::Bubbles, ViewName::Sentences] {
        let page = final_page(view, &log.records());
        assert!(page.items.values().all(|item| item.images.is_empty()), "{view:?}");
    }
}

#[test]
fn x16_a_picture_whose_step_was_taken_back_leaves_the_page() {
    let mut log = Log::new();
    log.start_round()
        .start_tool_of_kind("image_generation", ToolKind::ImageGeneration)
        .image(IMAGE_STEP, "QUJD");
    log.succeed_tool(0, "")
        .withdraw(&[], &[0])
        .end_round()
        .start_round()
        .push_message(&["No."])
        .end_round()
        .complete_run();
    for view in [ViewName::Latest, ViewName::Bubbles, ViewName::Sentences] {
        assert_eq!(shown_items(&final_page(view, &log.records())), [("No.", 0, 0)], "{view:?}");
    }
}

#[test]
fn latest_x15_a_declared_message_keeps_its_pictures_and_sources() {
    let mut log = Log::new();
    log.start_round().open_message_in(Some(MessagePhase::Final), &["The answer."]);
    log.image(ImageOwner::Message(MessageId(0)), "QUJD");
    push_citation(&mut log, 0);
    log.end_message().push_message(&["(cleaning up)"]).end_round();
    log.end_run(Outcome::Completed, Some(MessageId(0)));
    let page = final_page(ViewName::Latest, &log.records());
    assert_eq!(shown_items(&page), [("The answer.", 1, 1)]);
}

#[test]
fn latest_x18_a_picture_for_an_older_message_does_not_blank_the_newer() {
    let mut log = Log::new();
    log.start_round().push_message(&["First."]).push_message(&["Second."]);
    log.image(ImageOwner::Message(MessageId(0)), "QUJD");
    assert_eq!(shown_items(&final_page(ViewName::Latest, &log.records())), [("Second.", 0, 0)]);
    log.end_round().end_run(Outcome::Completed, Some(MessageId(0)));
    assert_eq!(shown_items(&final_page(ViewName::Latest, &log.records())), [("First.", 1, 0)]);
}

#[test]
fn sentences_f4_a_screenshot_that_comes_after_its_action_ended_shows() {
    let mut log = Log::new();
    log.start_round()
        .start_tool_of_kind("computer", ToolKind::Action)
        .succeed_tool(0, "")
        .image(IMAGE_STEP, "QUJD");
    let records = log.records();
    let page = final_page(ViewName::Sentences, &records);
    assert_eq!(page.items.values().next().unwrap().images.len(), 1);
    let sent = encode_records(
        StreamKind { format: FrameFormat::Native, ..StreamKind::new(ViewName::Sentences) },
        &records,
    )
    .0;
    assert_eq!(sent.last().unwrap().event, "image");
}

#[test]
fn bubbles_b5_the_list_at_the_end_has_pictures_and_sources() {
    let mut log = Log::new();
    log.start_round().open_message(&["Look:"]).image(ImageOwner::Message(MessageId(0)), "QUJD");
    push_citation(&mut log, 0);
    log.end_message().end_round().complete_run();
    let ending = encode_records(StreamKind::new(ViewName::Bubbles), &log.records())
        .0
        .pop()
        .unwrap()
        .data_json();
    let message = &ending["messages"][0];
    assert_eq!(message["images"][0]["mediaType"], "image/png");
    assert_eq!(message["citations"], json!([{ "url": "https://pond.test" }]));
}

#[test]
fn latest_x16_a_picture_stays_when_another_step_is_taken_back() {
    let mut log = Log::new();
    log.start_round()
        .start_tool_of_kind("image_generation", ToolKind::ImageGeneration)
        .image(IMAGE_STEP, "QUJD");
    log.succeed_tool(0, "").start_tool("ls").withdraw(&[], &[1]);
    assert_eq!(shown_items(&final_page(ViewName::Latest, &log.records())), [("", 1, 0)]);
    log.withdraw(&[], &[0]);
    assert_eq!(shown_items(&final_page(ViewName::Latest, &log.records())), []);
}

#[test]
fn latest_l5_a_run_without_a_reply_ends_with_its_pictures_and_no_older_text() {
    let mut log = Log::new();
    log.start_round()
        .start_tool_of_kind("image_generation", ToolKind::ImageGeneration)
        .image(IMAGE_STEP, "QUJD");
    log.succeed_tool(0, "")
        .push_message(&["I drew."])
        .end_round()
        .start_round()
        .start_tool("ls")
        .end_round();
    log.end_run(Outcome::Completed, None);
    assert_eq!(shown_items(&final_page(ViewName::Latest, &log.records())), [("", 1, 0)]);
}

#[test]
fn latest_l2_a_picture_of_a_new_round_takes_the_place_of_an_older_message() {
    let mut log = Log::new();
    log.start_round().push_message(&["I draw."]);
    log.start_tool_of_kind("image_generation", ToolKind::ImageGeneration);
    let mut same_round = log.clone();
    same_round.image(IMAGE_STEP, "QUJD");
    assert_eq!(
        shown_items(&final_page(ViewName::Latest, &same_round.records())),
        [("I draw.", 1, 0)]
    );
    log.end_round().start_round().image(IMAGE_STEP, "QUJD");
    assert_eq!(shown_items(&final_page(ViewName::Latest, &log.records())), [("", 1, 0)]);
}
