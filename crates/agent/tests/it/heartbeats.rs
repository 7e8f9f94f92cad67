//! Rule L9 and heartbeats: scheduled prompts, silent if there is nothing to report, never two at
//! once.

use millpond_agent::heartbeat::{BeatResult, Heartbeat};
use millpond_engine::event::{Event, Reply as Replied};
use millpond_engine::filter::{ControlMeaning, ControlWord};
use millpond_log::id::OwnerId;
use millpond_log::store::{SessionQuery, Store};

use crate::scripted_provider::{ScriptedReply, serve_replies};
use crate::test_gateway::{TestGateway, demo_config, ending, sample_folder};

fn test_owner() -> OwnerId {
    OwnerId::from_bytes([1; 16])
}

#[tokio::test(flavor = "multi_thread")]
async fn l9_a_heartbeat_with_nothing_to_report_is_silent() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let quiet_reply = ScriptedReply { text: "HEARTBEAT_OK", call: None, input_tokens: 1 };
    let news_reply = ScriptedReply { text: "The pond has risen.", call: None, input_tokens: 1 };
    let (provider, requests) = serve_replies(vec![quiet_reply, news_reply]).await;
    let mut config = demo_config(folder.path());
    config.provider = provider;
    config.run_options.control_words =
        vec![ControlWord::new("HEARTBEAT_OK", ControlMeaning::NothingToReport).unwrap()];
    let mut gateway = TestGateway::new(data.path(), config).await;
    let beat = Heartbeat::new("* * * * *", "Watch", "How is it?", "HEARTBEAT_OK").unwrap();
    let BeatResult::Started(run) =
        beat.queue_prompt_unless_busy(&gateway.scheduler, test_owner()).await.unwrap()
    else {
        panic!()
    };
    gateway.session = watch_session_id(&gateway).await;
    let events = gateway.events_to_end(run).await;
    assert_eq!(ending(&events).reply, Replied::None);
    assert!(
        !events.iter().any(|event| matches!(event, Event::MessageStarted { .. })),
        "{events:?}"
    );
    let sent = requests.lock().unwrap()[0].to_string();
    assert!(sent.contains("How is it?") && sent.contains("HEARTBEAT_OK"), "{sent}");

    while gateway.scheduler.runs.active_run_of_session(gateway.session).is_some() {
        // Its last record is written a moment before the run is removed.
        tokio::task::yield_now().await;
    }
    let BeatResult::Started(run) =
        beat.queue_prompt_unless_busy(&gateway.scheduler, test_owner()).await.unwrap()
    else {
        panic!()
    };
    let events = gateway.events_to_end(run).await;
    assert_eq!(crate::test_gateway::final_message_text(&events), "The pond has risen.");
    assert_eq!(watch_session_id(&gateway).await, gateway.session, "it is one session");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_busy_misses_its_beat() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let mut gateway = TestGateway::new(data.path(), demo_config(folder.path())).await;
    let beat = Heartbeat::new("* * * * *", "Watch", "write still water", "HTTP_OK_HEAD").unwrap();
    let BeatResult::Started(run) =
        beat.queue_prompt_unless_busy(&gateway.scheduler, test_owner()).await.unwrap()
    else {
        panic!()
    };
    gateway.session = watch_session_id(&gateway).await;
    gateway.wait_for_ask(run).await;
    assert_eq!(
        beat.queue_prompt_unless_busy(&gateway.scheduler, test_owner()).await.unwrap(),
        BeatResult::SkippedBusy
    );
    assert!(gateway.queue().is_empty(), "missed heartbeats are not sent later");
    gateway.scheduler.runs.request_cancel(run);
    gateway.events_to_end(run).await;
}

/// Id of the session that the heartbeat created.
async fn watch_session_id(gateway: &TestGateway) -> millpond_log::id::SessionId {
    let find = |store: &dyn Store| {
        store.list_sessions_of_owner_by_query(
            test_owner(),
            &SessionQuery { limit: 9, ..SessionQuery::default() },
        )
    };
    let sessions = gateway.scheduler.log.call_store(find).await.unwrap();
    let found: Vec<_> = sessions.iter().filter(|session| session.title == "Watch").collect();
    assert_eq!(found.len(), 1);
    found[0].id
}
