//! Rule L9 and heartbeats: prompts by the clock, silent if there is nothing to report, never two at
//! once.

use agent::heartbeat::{Beat, Heartbeat};
use engine::event::{Event, Reply as Replied};
use engine::ingest::filter::{ControlWord, Meaning};
use gateway::id::OwnerId;
use gateway::store::{Query, Store};

use crate::house::{House, demo, ending, folder};
use crate::scripted::{Reply, saying};

fn owner() -> OwnerId {
    OwnerId::from_bytes([1; 16])
}

#[tokio::test(flavor = "multi_thread")]
async fn l9_a_heartbeat_with_nothing_to_report_is_silent() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let quiet = Reply { text: "HEARTBEAT_OK", call: None, input_tokens: 1 };
    let news = Reply { text: "The pond has risen.", call: None, input_tokens: 1 };
    let (provider, asked) = saying(vec![quiet, news]).await;
    let mut setup = demo(folder.path());
    setup.provider = provider;
    setup.control_words = vec![ControlWord::new("HEARTBEAT_OK", Meaning::NothingToReport).unwrap()];
    let mut house = House::new(data.path(), setup).await;
    let beat = Heartbeat::new("* * * * *", "Watch", "How is it?", "HEARTBEAT_OK").unwrap();
    let Beat::Begun(run) = beat.beat(&house.gateway, owner()).await.unwrap() else { panic!() };
    house.session = watch(&house).await;
    let events = house.whole(run).await;
    assert_eq!(ending(&events).reply, Replied::None);
    assert!(
        !events.iter().any(|event| matches!(event, Event::MessageStarted { .. })),
        "{events:?}"
    );
    let sent = asked.lock().unwrap()[0].to_string();
    assert!(sent.contains("How is it?") && sent.contains("HEARTBEAT_OK"), "{sent}");

    while house.gateway.runs.of(house.session).is_some() {
        // Its last record is written a moment before it has gone.
        tokio::task::yield_now().await;
    }
    let Beat::Begun(run) = beat.beat(&house.gateway, owner()).await.unwrap() else { panic!() };
    let events = house.whole(run).await;
    assert_eq!(crate::house::reply(&events), "The pond has risen.");
    assert_eq!(watch(&house).await, house.session, "it is one session");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_busy_misses_its_beat() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let mut house = House::new(data.path(), demo(folder.path())).await;
    let beat = Heartbeat::new("* * * * *", "Watch", "write still water", "OK").unwrap();
    let Beat::Begun(run) = beat.beat(&house.gateway, owner()).await.unwrap() else { panic!() };
    house.session = watch(&house).await;
    house.asked(run).await;
    assert_eq!(beat.beat(&house.gateway, owner()).await.unwrap(), Beat::Missed);
    assert!(house.queue().is_empty(), "what is missed is not made up for");
    house.gateway.runs.cancel(run);
    house.whole(run).await;
}

/// The session that the heartbeat made.
async fn watch(house: &House) -> gateway::id::SessionId {
    let find = |store: &dyn Store| store.sessions(owner(), &Query { limit: 9, ..Query::default() });
    let sessions = house.gateway.log.blocking(find).await.unwrap();
    let found: Vec<_> = sessions.iter().filter(|session| session.title == "Watch").collect();
    assert_eq!(found.len(), 1);
    found[0].id
}
