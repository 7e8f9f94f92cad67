//! How far a run and a session go by themselves: what they may cost, and how much a model can take.

use agent::model::{Price, Rates, Wire};
use agent::policy::Policy;
use agent::rounds::Setup;
use engine::event::{Event, FailureReason, Outcome};
use gateway::runs::Heard;

use crate::house::{House, demo, ending, folder, reply};
use crate::scripted::{Reply, saying};

fn with(folder: &std::path::Path, provider: agent::provider::Provider) -> Setup {
    let mut setup = demo(folder);
    setup.provider = provider;
    setup.dialect = Wire::Chat.dialect();
    setup.policies.0.insert("list_files".to_owned(), Policy::Allow);
    // A dollar for each call of a thousand tokens.
    let price = Price { input: 1000.0, output: 0.0, cached: None };
    setup.rates = Rates::of(Wire::Chat, Some(price));
    setup
}

const LOOK: Reply =
    Reply { text: "Looking.", call: Some(("list_files", "{}")), input_tokens: 1000 };
const DONE: Reply = Reply { text: "That is all.", call: None, input_tokens: 1000 };

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_is_asked_about_before_it_is_passed_and_over_a_restart() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let (provider, asked) = saying(vec![LOOK, LOOK, LOOK, DONE]).await;
    let mut setup = with(folder.path(), provider);
    setup.bounds.budget_usd = Some(2.5);
    let house = House::new(data.path(), setup.clone()).await;
    let run = house.send("look around").await;
    let ask = house.asked(run).await;
    assert_eq!(asked.lock().unwrap().len(), 2, "the third call would pass it");
    let events = house.events(run).await;
    let Some(Event::AskOpened { text, .. }) = events.last() else { panic!("{events:?}") };
    assert_eq!(text, "This session has cost $2.0000, and going on may pass its budget of $2.5000.");
    let house = house.restart(setup).await;
    assert_eq!(house.answer(run, &ask, "allow").await, Some(Heard::NoOption));
    assert_eq!(house.answer(run, &ask, "go_on").await, Some(Heard::Taken));
    let events = house.whole(run).await;
    assert_eq!((ending(&events).outcome, reply(&events)), (Outcome::Completed, DONE.text.into()));

    // Four dollars of five are gone: the next message is within what was allowed, the one after not.
    house.ask("and again").await;
    let run = house.send("once more").await;
    let ask = house.asked(run).await;
    assert_eq!(house.answer(run, &ask, "stop").await, Some(Heard::Taken));
    let events = house.whole(run).await;
    let ending = ending(&events);
    assert_eq!((ending.outcome, ending.reason), (Outcome::Failed, Some(FailureReason::Limit)));
    assert_eq!(asked.lock().unwrap().len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_conversation_is_summed_up_and_the_log_tells() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let long = Reply { input_tokens: 90, ..DONE };
    let summary = Reply { text: "They looked at a pond.", call: None, input_tokens: 90 };
    let after = Reply { text: "Calm.", call: None, input_tokens: 20 };
    let (provider, asked) = saying(vec![long, summary, after]).await;
    let mut setup = with(folder.path(), provider);
    setup.bounds.context_tokens = 100;
    let house = House::new(data.path(), setup.clone()).await;
    house.ask("look around").await;
    let events = house.ask("how is it?").await;
    let compacted = events.iter().find_map(|event| match event {
        Event::HistoryCompacted { summary } => summary.as_deref(),
        _ => None,
    });
    assert_eq!(compacted, Some(summary.text));
    assert_eq!(reply(&events), "Calm.", "the summary is no message");
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[1].get("tools"), None);
    let sent = asked[2]["messages"].to_string();
    assert!(sent.contains(summary.text) && sent.contains("how is it?"), "{sent}");
    assert!(!sent.contains("look around"), "{sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_summed_up_is_told_and_not_tried_at_every_round() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let blank = Reply { text: " ", call: None, input_tokens: 90 };
    let long = Reply { input_tokens: 90, ..LOOK };
    let (provider, asked) = saying(vec![long, blank, long, long, DONE]).await;
    let mut setup = with(folder.path(), provider);
    setup.bounds.context_tokens = 100;
    let house = House::new(data.path(), setup).await;
    let events = house.ask("look around").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert_eq!(asked.lock().unwrap().len(), 5, "one of them for a summary");
    let told = events.iter().any(|event| {
        matches!(event, Event::NoticeGiven { text, .. } if text.contains("could not be summed up"))
    });
    assert!(told, "{events:?}");
}
