//! Pictures and sources stand with what they came with: rule X18.

use engine::event::{Citation, Event, Image, MessageId, Outcome, Owner, Phase, StepId, ToolKind};
use engine::view::{Picture, State, ViewName};
use engine::wire::{Format, Kind};
use serde_json::json;

use crate::log::Log;
use crate::views::{apply, frames, patches, picture};

/// Texts of what stands on the page, and how many pictures and sources each has.
fn shown(page: &Picture) -> Vec<(&str, usize, usize)> {
    let items = page.items.values().filter(|item| item.state != State::Withdrawn);
    items.map(|item| (&*item.text, item.images.len(), item.citations.len())).collect()
}

fn cited(log: &mut Log, message: u32) {
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
    log.push(Event::PromptReceived { text: "Look".into(), images: vec![kept("aa"), kept("bb")] });
    log.push(Event::PromptReceived { text: "".into(), images: vec![kept("cc")] });
    log.round().message(&["I see."]).end_round().end(Outcome::Completed, Some(MessageId(0)));
    let records = log.records();
    for view in ViewName::ALL {
        let page = picture(view, &records);
        let person = shown(&page).into_iter().take(2).collect::<Vec<_>>();
        assert_eq!(person, [("Look", 2, 0), ("", 1, 0)], "{view:?}");
        let first = page.items.values().next().unwrap();
        let names: Vec<&str> = first.images.iter().map(|image| &*image.reference).collect();
        assert_eq!(names, ["sha256:aa", "sha256:bb"], "{view:?}");
        let sent = frames(Kind::new(view), &records).0;
        let frame = |name: &str| sent.iter().any(|frame| frame.data.contains(name));
        assert_eq!(frame("sha256:cc"), view == ViewName::Transcript, "{view:?}");
    }
}

const SKETCH: Owner = Owner::Step(StepId(0));

#[test]
fn x18_a_picture_made_for_the_person_shows_in_every_view() {
    for text in [None, Some("Here it is.")] {
        let mut log = Log::new();
        log.round().tool_of("image_generation", ToolKind::ImageGeneration).image(SKETCH, "QUJD");
        log.result(0, "");
        if let Some(text) = text {
            log.message(&[text]);
        }
        log.end_round().end(Outcome::Completed, text.map(|_| MessageId(0)));
        let records = log.records();
        for view in ViewName::ALL {
            let page = picture(view, &records);
            let items = page.items.values().flat_map(|item| item.steps.iter().chain([item]));
            let pictures: usize = items.map(|item| item.images.len()).sum();
            assert_eq!(pictures, 1, "{view:?} {text:?}");
            let sent = frames(Kind::new(view), &records).0;
            assert!(sent.iter().any(|frame| frame.data.contains("sha256:")), "{view:?} {text:?}");
            let mut read = Picture::default();
            for frame in frames(patches(view), &records).0 {
                apply(&mut read, &frame.data);
            }
            assert_eq!(read, page, "{view:?} {text:?}");
        }
    }
}

#[test]
fn x18_a_picture_is_seen_before_any_text_comes() {
    let mut log = Log::new();
    log.round().tool_of("image_generation", ToolKind::ImageGeneration).image(SKETCH, "QUJD");
    for view in [ViewName::Latest, ViewName::Bubbles, ViewName::Sentences] {
        let page = picture(view, &log.records());
        assert_eq!(page.items.values().next().unwrap().images.len(), 1, "{view:?}");
    }
}

#[test]
fn latest_l3_a_picture_before_any_text_does_not_begin_the_reply() {
    let mut log = Log::new();
    log.round().tool_of("image_generation", ToolKind::ImageGeneration).image(SKETCH, "QUJD");
    log.result(0, "").message(&["Here."]).end_round().done();
    let sent = frames(Kind::new(ViewName::Latest), &log.records()).0;
    let names: Vec<&str> = sent.iter().map(|frame| frame.event.as_str()).collect();
    let begins = names.iter().position(|name| *name == "final_message_start");
    assert!(begins < names.iter().position(|name| *name == "assistant"), "{names:?}");
    assert_eq!(names.iter().filter(|name| **name == "image").count(), 2, "{names:?}");
}

#[test]
fn x18_what_another_tool_gave_is_no_content_of_the_reply() {
    let mut log = Log::new();
    log.round().tool("read").image(SKETCH, "QUJD").result(0, "").message(&["A duck."]);
    log.end_round().done();
    for view in [ViewName::Latest, ViewName::Bubbles, ViewName::Sentences] {
        let page = picture(view, &log.records());
        assert!(page.items.values().all(|item| item.images.is_empty()), "{view:?}");
    }
}

#[test]
fn x16_a_picture_whose_step_was_taken_back_leaves_the_page() {
    let mut log = Log::new();
    log.round().tool_of("image_generation", ToolKind::ImageGeneration).image(SKETCH, "QUJD");
    log.result(0, "").withdraw(&[], &[0]).end_round().round().message(&["No."]).end_round().done();
    for view in [ViewName::Latest, ViewName::Bubbles, ViewName::Sentences] {
        assert_eq!(shown(&picture(view, &log.records())), [("No.", 0, 0)], "{view:?}");
    }
}

#[test]
fn latest_x15_a_declared_message_keeps_its_pictures_and_sources() {
    let mut log = Log::new();
    log.round().open_message_in(Some(Phase::Final), &["The answer."]);
    log.image(Owner::Message(MessageId(0)), "QUJD");
    cited(&mut log, 0);
    log.end_message().message(&["(cleaning up)"]).end_round();
    log.end(Outcome::Completed, Some(MessageId(0)));
    let page = picture(ViewName::Latest, &log.records());
    assert_eq!(shown(&page), [("The answer.", 1, 1)]);
}

#[test]
fn latest_x18_a_picture_for_an_older_message_does_not_blank_the_newer() {
    let mut log = Log::new();
    log.round().message(&["First."]).message(&["Second."]);
    log.image(Owner::Message(MessageId(0)), "QUJD");
    assert_eq!(shown(&picture(ViewName::Latest, &log.records())), [("Second.", 0, 0)]);
    log.end_round().end(Outcome::Completed, Some(MessageId(0)));
    assert_eq!(shown(&picture(ViewName::Latest, &log.records())), [("First.", 1, 0)]);
}

#[test]
fn sentences_f4_a_screenshot_that_comes_after_its_action_ended_shows() {
    let mut log = Log::new();
    log.round().tool_of("computer", ToolKind::Action).result(0, "").image(SKETCH, "QUJD");
    let records = log.records();
    let page = picture(ViewName::Sentences, &records);
    assert_eq!(page.items.values().next().unwrap().images.len(), 1);
    let sent = frames(Kind { format: Format::Own, ..Kind::new(ViewName::Sentences) }, &records).0;
    assert_eq!(sent.last().unwrap().event, "image");
}

#[test]
fn bubbles_b5_the_list_at_the_end_has_pictures_and_sources() {
    let mut log = Log::new();
    log.round().open_message(&["Look:"]).image(Owner::Message(MessageId(0)), "QUJD");
    cited(&mut log, 0);
    log.end_message().end_round().done();
    let ending = frames(Kind::new(ViewName::Bubbles), &log.records()).0.pop().unwrap().json();
    let message = &ending["messages"][0];
    assert_eq!(message["images"][0]["mediaType"], "image/png");
    assert_eq!(message["citations"], json!([{ "url": "https://pond.test" }]));
}

#[test]
fn latest_x16_a_picture_stays_when_another_step_is_taken_back() {
    let mut log = Log::new();
    log.round().tool_of("image_generation", ToolKind::ImageGeneration).image(SKETCH, "QUJD");
    log.result(0, "").tool("ls").withdraw(&[], &[1]);
    assert_eq!(shown(&picture(ViewName::Latest, &log.records())), [("", 1, 0)]);
    log.withdraw(&[], &[0]);
    assert_eq!(shown(&picture(ViewName::Latest, &log.records())), []);
}

#[test]
fn latest_l5_a_run_without_a_reply_ends_with_its_pictures_and_no_older_text() {
    let mut log = Log::new();
    log.round().tool_of("image_generation", ToolKind::ImageGeneration).image(SKETCH, "QUJD");
    log.result(0, "").message(&["I drew."]).end_round().round().tool("ls").end_round();
    log.end(Outcome::Completed, None);
    assert_eq!(shown(&picture(ViewName::Latest, &log.records())), [("", 1, 0)]);
}

#[test]
fn latest_l2_a_picture_of_a_new_round_takes_the_place_of_an_older_message() {
    let mut log = Log::new();
    log.round().message(&["I draw."]);
    log.tool_of("image_generation", ToolKind::ImageGeneration);
    let mut same_round = log.clone();
    same_round.image(SKETCH, "QUJD");
    assert_eq!(shown(&picture(ViewName::Latest, &same_round.records())), [("I draw.", 1, 0)]);
    log.end_round().round().image(SKETCH, "QUJD");
    assert_eq!(shown(&picture(ViewName::Latest, &log.records())), [("", 1, 0)]);
}
