//! A run that waits for a person outlives the process; every other one does not.

use engine::event::{Event, Outcome, ToolOutcome};
use engine::run::grammar::Grammar;
use gateway::runs::Heard;

use crate::house::{House, demo, ending, folder, outcomes, reply};

#[tokio::test(flavor = "multi_thread")]
async fn x13_an_ask_is_answered_in_the_next_process_and_the_run_goes_on() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let house = House::new(data.path(), demo(folder.path())).await;
    let run = house.send("write still water").await;
    let ask = house.asked(run).await;
    let house = house.restart(demo(folder.path())).await;
    assert!(!house.events(run).await.iter().any(|event| matches!(event, Event::RunEnded { .. })));

    let heard = loop {
        // It takes answers once somebody works on it again.
        match house.answer(run, &ask, "allow").await {
            None => tokio::task::yield_now().await,
            Some(heard) => break heard,
        }
    };
    assert_eq!(heard, Heard::Taken);
    let events = house.whole(run).await;
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert_eq!(reply(&events), "Done. demo-note.txt has 1 line now.");
    assert_eq!(outcomes(&events), [ToolOutcome::Succeeded]);
    let mut grammar = Grammar::default();
    for event in &events {
        grammar.apply(event).unwrap_or_else(|error| panic!("{error:?} at {event:?}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn x13_what_changed_between_two_processes_is_not_done() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let house = House::new(data.path(), demo(folder.path())).await;
    let run = house.send("write still water").await;
    let ask = house.asked(run).await;
    std::fs::write(folder.path().join("demo-note.txt"), "mine\n").unwrap();
    let house = house.restart(demo(folder.path())).await;
    while house.answer(run, &ask, "allow").await.is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(outcomes(&house.whole(run).await), [ToolOutcome::Denied]);
    let note = std::fs::read_to_string(folder.path().join("demo-note.txt")).unwrap();
    assert_eq!(note, "mine\n");
}
