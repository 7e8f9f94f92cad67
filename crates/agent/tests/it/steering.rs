//! A message that is sent while a run is going waits, or joins it at the next round.

use engine::event::{EVENT_VERSION, Event, TextMode};
use gateway::id::QueuedId;
use gateway::messages::{Turn, accept};
use gateway::store::Queued;

use crate::house::{House, demo, folder, reply};

fn prompts(events: &[Event<'static>]) -> Vec<String> {
    let texts = events.iter().filter_map(|event| match event {
        Event::PromptReceived { text, .. } => Some(text.to_string()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_joins_the_run_at_its_next_round() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let house = House::new(data.path(), demo(folder.path())).await;
    let run = house.send("write still water").await;
    let ask = house.asked(run).await;
    let joined = house.send_to("and tell me more", Turn::Join).await;
    assert_eq!(house.queue().len(), 1, "it waits until the next round");
    house.answer(run, &ask, "allow").await;
    let events = house.whole(run).await;
    assert_eq!(prompts(&events), ["write still water", "and tell me more"]);
    let at = |wanted: fn(&Event<'_>) -> bool| events.iter().position(wanted).unwrap();
    let told = at(|event| matches!(event, Event::PromptJoined { .. }));
    let ended = at(|event| matches!(event, Event::ToolEnded { .. }));
    let is_round = |event: &Event<'_>| matches!(event, Event::RoundStarted { .. });
    assert!(ended < told && !events[ended..told].iter().any(is_round));
    assert!(events[told..].iter().any(is_round), "what was joined is in the next round");
    assert!(house.queue().is_empty());
    assert_eq!(house.events(joined).await, [], "it is no run of its own");

    // Sent again, as a client does that heard no answer, it is not taken twice.
    let again = Queued {
        id: QueuedId::new(2, [1; 10]),
        text: "and".into(),
        images: Vec::new(),
        accepted_ms: 1,
    };
    accept(&house.gateway, house.session, again, Turn::Join).await.unwrap();
    assert!(house.queue().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_found_no_next_round_is_the_next_run() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let house = House::new(data.path(), demo(folder.path())).await;
    let run = house.send("write still water").await;
    house.asked(run).await;
    let waiting = house.send_to("list the files", Turn::Join).await;
    house.gateway.runs.cancel(run);
    assert_eq!(prompts(&house.whole(run).await).len(), 1);
    let events = house.whole(waiting).await;
    assert_eq!(prompts(&events), ["list the files"]);
    assert!(reply(&events).contains("README.md"), "{}", reply(&events));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_joined_a_run_is_not_run_again_after_a_crash() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let house = House::new(data.path(), demo(folder.path())).await;
    let run = house.send("write still water").await;
    let ask = house.asked(run).await;
    let joined = house.send_to("and more", Turn::Join).await;
    let left = house.queue();
    house.answer(run, &ask, "allow").await;
    house.until(run, |event| matches!(event, Event::PromptJoined { .. })).await;
    house.whole(run).await;
    // A process that ended between the two writes left the message in the queue as well.
    let id = left[0].id.to_string();
    let started = Event::RunStarted {
        version: EVENT_VERSION,
        dialect: "millpond".into(),
        mode: TextMode::Incremental,
    };
    house.seed(&[vec![started, Event::PromptJoined { queued: id.into() }]]).await;
    house.set_queue(&left);
    let house = house.restart(demo(folder.path())).await;
    assert!(house.queue().is_empty());
    assert_eq!(house.events(joined).await, []);
}
