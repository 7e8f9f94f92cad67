//! Messages sent during a run: queued, or joined to the run at its next round.

use millpond_engine::event::{EVENT_VERSION, Event, TextMode};
use millpond_log::id::QueuedId;
use millpond_log::queue::Delivery;
use millpond_log::store::QueuedMessage;

use crate::test_gateway::{TestGateway, demo_config, final_message_text, sample_folder};

fn prompt_texts(events: &[Event<'static>]) -> Vec<String> {
    let texts = events.iter().filter_map(|event| match event {
        Event::PromptReceived { text, .. } => Some(text.to_string()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_joins_the_run_at_its_next_round() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let gateway = TestGateway::new(data.path(), demo_config(folder.path())).await;
    let run = gateway.send("write still water").await;
    let ask = gateway.wait_for_ask(run).await;
    let joined_run = gateway.send_as_turn("and tell me more", Delivery::CurrentRun).await;
    assert_eq!(gateway.queue().len(), 1, "queued until the next round");
    gateway.answer(run, &ask, "allow").await;
    let events = gateway.events_to_end(run).await;
    assert_eq!(prompt_texts(&events), ["write still water", "and tell me more"]);
    let index_of = |predicate: fn(&Event<'_>) -> bool| events.iter().position(predicate).unwrap();
    let joined_index = index_of(|event| matches!(event, Event::PromptJoined { .. }));
    let ended_index = index_of(|event| matches!(event, Event::ToolEnded { .. }));
    let is_round = |event: &Event<'_>| matches!(event, Event::RoundStarted { .. });
    assert!(ended_index < joined_index && !events[ended_index..joined_index].iter().any(is_round));
    assert!(events[joined_index..].iter().any(is_round), "the joined message is in the next round");
    assert!(gateway.queue().is_empty());
    assert_eq!(gateway.events(joined_run).await, [], "a joined message starts no run");

    // A client that got no response sends it again: it is accepted once.
    let resent = QueuedMessage {
        id: QueuedId::new(2, [1; 10]),
        text: "and".into(),
        images: Vec::new(),
        origin: millpond_engine::event::PromptOrigin::Person,
        accepted_ms: 1,
    };
    gateway
        .scheduler
        .accept_message_once(gateway.session, resent, Delivery::CurrentRun)
        .await
        .unwrap();
    assert!(gateway.queue().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_found_no_next_round_is_the_next_run() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let gateway = TestGateway::new(data.path(), demo_config(folder.path())).await;
    let run = gateway.send("write still water").await;
    gateway.wait_for_ask(run).await;
    let queued_run = gateway.send_as_turn("list the files", Delivery::CurrentRun).await;
    gateway.scheduler.runs.request_cancel(run);
    assert_eq!(prompt_texts(&gateway.events_to_end(run).await).len(), 1);
    let events = gateway.events_to_end(queued_run).await;
    assert_eq!(prompt_texts(&events), ["list the files"]);
    assert!(final_message_text(&events).contains("README.md"), "{}", final_message_text(&events));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_joined_a_run_is_not_run_again_after_a_crash() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let gateway = TestGateway::new(data.path(), demo_config(folder.path())).await;
    let run = gateway.send("write still water").await;
    let ask = gateway.wait_for_ask(run).await;
    let joined_run = gateway.send_as_turn("and more", Delivery::CurrentRun).await;
    let queue = gateway.queue();
    gateway.answer(run, &ask, "allow").await;
    gateway.events_until(run, |event| matches!(event, Event::PromptJoined { .. })).await;
    gateway.events_to_end(run).await;
    // A process that ended between the two writes left the message in the queue as well.
    let id = queue[0].id.to_string();
    let started = Event::RunStarted {
        version: EVENT_VERSION,
        dialect: "millpond".into(),
        mode: TextMode::Incremental,
    };
    gateway.append_finished_runs(&[vec![started, Event::PromptJoined { queued: id.into() }]]).await;
    gateway.set_queue(&queue);
    let gateway = gateway.restart(demo_config(folder.path())).await;
    assert!(gateway.queue().is_empty());
    assert_eq!(gateway.events(joined_run).await, []);
}
