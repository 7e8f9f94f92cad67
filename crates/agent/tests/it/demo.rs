//! The built-in demo: every command, through the same loop as any model.

use millpond_engine::event::{Event, FailureReason, Image, ImageOwner, Outcome, ToolOutcome};
use millpond_engine::run::grammar::EventOrderChecker;

use crate::test_gateway::{
    TestGateway, all_message_text, demo_config, ending, final_message_text, sample_folder,
    tool_outcomes,
};

async fn run_demo(text: &str) -> Vec<Event<'static>> {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let gateway = TestGateway::new(data.path(), demo_config(folder.path())).await;
    let events = gateway.send_and_wait_for_end(text).await;
    let mut grammar = EventOrderChecker::default();
    for event in &events {
        grammar.apply(event).unwrap_or_else(|error| panic!("{text}: {error:?} at {event:?}"));
    }
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn it_tells_what_is_in_the_folder_because_it_has_looked() {
    let events = run_demo("list").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert!(
        final_message_text(&events)
            .starts_with("There are **2 files** here with 24 bytes in total.")
    );
    assert_eq!(tool_outcomes(&events), [ToolOutcome::Succeeded]);
    assert!(final_message_text(&run_demo("read").await).contains("# Pond"));
    assert!(
        final_message_text(&run_demo("search calm").await).contains("README.md:3: It is calm.")
    );
    assert!(final_message_text(&run_demo("What is this?").await).contains("`help`"));
    let together_events = run_demo("together").await;
    assert_eq!(tool_outcomes(&together_events), [ToolOutcome::Succeeded; 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_draws_a_picture_of_the_folder() {
    let events = run_demo("chart").await;
    let images: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::ImageReceived { owner: ImageOwner::Step(_), image } => Some(image),
            _ => None,
        })
        .collect();
    assert!(matches!(images[..], [Image::Kept { media_type, .. }] if media_type == "image/png"));
    assert!(final_message_text(&events).contains("- md: 20 bytes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn thinking_in_tags_is_no_text() {
    let events = run_demo("think").await;
    assert!(
        !all_message_text(&events).contains("These words are in"),
        "{}",
        all_message_text(&events)
    );
    let has_reasoning = events.iter().any(
        |event| matches!(event, Event::ReasoningAppended { text, .. } if text.contains("words")),
    );
    assert!(has_reasoning);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_fails_breaks_off_and_tries_again_when_asked() {
    let failed = run_demo("fail").await;
    assert_eq!(ending(&failed).outcome, Outcome::Failed);
    assert_eq!(ending(&failed).reason, Some(FailureReason::Error));
    assert!(all_message_text(&failed).starts_with("This begins well"));

    let cut_events = run_demo("cut").await;
    assert_eq!(ending(&cut_events).outcome, Outcome::Truncated);

    let retry_events = run_demo("retry").await;
    let retries = retry_events.iter().filter(|event| matches!(event, Event::RetryScheduled { .. }));
    assert_eq!((retries.count(), ending(&retry_events).outcome), (2, Outcome::Completed));
}

#[tokio::test(flavor = "multi_thread")]
async fn l6_a_question_to_the_person_ends_the_run_with_the_question() {
    let events = run_demo("ask").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert_eq!(final_message_text(&events), "Which would you rather see: the list or the chart?");
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_else_is_explained_or_said() {
    assert!(final_message_text(&run_demo("/help").await).contains("`compute 6*7`"));
    let long_events = run_demo("long").await;
    assert!(final_message_text(&long_events).contains("`<think>` is text here"));
    assert!(final_message_text(&long_events).contains("| 3.0 m | mud | all of it |"));
    assert!(
        final_message_text(&run_demo("compute rm -rf").await)
            .contains("only compute with whole numbers")
    );
    let missing = run_demo("read nothing.txt").await;
    assert_eq!(final_message_text(&missing), "`read_file` failed: nothing.txt does not exist.");
    assert_eq!(tool_outcomes(&missing), [ToolOutcome::Failed]);
}
