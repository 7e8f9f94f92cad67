//! The demo agent: everything it shows, through the same loop as any model.

use engine::event::{Event, FailureReason, Image, Outcome, Owner, ToolOutcome};
use engine::run::grammar::Grammar;

use crate::house::{House, demo, ending, folder, outcomes, reply, said};

async fn ask(text: &str) -> Vec<Event<'static>> {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let house = House::new(data.path(), demo(folder.path())).await;
    let events = house.ask(text).await;
    let mut grammar = Grammar::default();
    for event in &events {
        grammar.apply(event).unwrap_or_else(|error| panic!("{text}: {error:?} at {event:?}"));
    }
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn it_tells_what_is_in_the_folder_because_it_has_looked() {
    let events = ask("list").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert!(reply(&events).starts_with("There are **2 files** here with 24 bytes in all."));
    assert_eq!(outcomes(&events), [ToolOutcome::Succeeded]);
    assert!(reply(&ask("read").await).contains("# Pond"));
    assert!(reply(&ask("search calm").await).contains("README.md:3: It is calm."));
    assert!(reply(&ask("What is this?").await).contains("/help"));
    let both = ask("together").await;
    assert_eq!(outcomes(&both), [ToolOutcome::Succeeded; 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_draws_a_picture_of_the_folder() {
    let events = ask("chart").await;
    let pictures: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::ImageReceived { owner: Owner::Step(_), image } => Some(image),
            _ => None,
        })
        .collect();
    assert!(matches!(pictures[..], [Image::Kept { media_type, .. }] if media_type == "image/png"));
    assert!(reply(&events).contains("- md: 20 bytes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn thinking_in_tags_is_no_text() {
    let events = ask("think").await;
    assert!(!said(&events).contains("These words stand"), "{}", said(&events));
    let thought = events.iter().any(
        |event| matches!(event, Event::ReasoningAppended { text, .. } if text.contains("words")),
    );
    assert!(thought);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_fails_breaks_off_and_tries_again_when_asked() {
    let failed = ask("fail").await;
    assert_eq!(ending(&failed).outcome, Outcome::Failed);
    assert_eq!(ending(&failed).reason, Some(FailureReason::Error));
    assert!(said(&failed).starts_with("This begins well"));

    let cut = ask("cut").await;
    assert_eq!(ending(&cut).outcome, Outcome::Truncated);

    let again = ask("retry").await;
    let retries = again.iter().filter(|event| matches!(event, Event::RetryScheduled { .. }));
    assert_eq!((retries.count(), ending(&again).outcome), (2, Outcome::Completed));
}

#[tokio::test(flavor = "multi_thread")]
async fn l6_a_question_to_the_person_ends_the_run_with_the_question() {
    let events = ask("ask").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert_eq!(reply(&events), "Which would you rather see: the list or the chart?");
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_else_is_explained_or_said() {
    assert!(reply(&ask("/help").await).contains("`compute 6*7`"));
    let long = ask("long").await;
    assert!(reply(&long).contains("`<think>` is text here"));
    assert!(reply(&long).contains("| 3.0 m | mud | all of it |"));
    assert!(reply(&ask("compute rm -rf").await).contains("only compute with whole numbers"));
    let missing = ask("read nothing.txt").await;
    assert_eq!(reply(&missing), "`read_file` did not work: There is no nothing.txt.");
    assert_eq!(outcomes(&missing), [ToolOutcome::Failed]);
}
