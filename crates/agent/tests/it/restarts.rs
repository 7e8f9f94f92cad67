//! A run with an open ask is resumed after a restart; any other run is not.

use millpond_engine::event::{
    AskKind, EVENT_VERSION, Event, Executor, Outcome, StepId, TextMode, ToolKind, ToolOutcome,
};
use millpond_engine::run::grammar::EventOrderChecker;
use millpond_log::id::RunId;
use millpond_log::runs::AnswerResult;

use crate::test_gateway::{
    TestGateway, demo_config, ending, final_message_text, sample_folder, tool_outcomes,
};

#[tokio::test(flavor = "multi_thread")]
async fn x13_an_ask_is_answered_in_the_next_process_and_the_run_goes_on() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let gateway = TestGateway::new(data.path(), demo_config(folder.path())).await;
    let run = gateway.send("write still water").await;
    let ask = gateway.wait_for_ask(run).await;
    let gateway = gateway.restart(demo_config(folder.path())).await;
    assert!(!gateway.events(run).await.iter().any(|event| matches!(event, Event::RunEnded { .. })));

    assert_eq!(gateway.answer(run, &ask, "allow").await, Some(AnswerResult::Accepted));
    let events = gateway.events_to_end(run).await;
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert_eq!(final_message_text(&events), "Done. Wrote demo-note.txt (1 line).");
    assert_eq!(tool_outcomes(&events), [ToolOutcome::Succeeded]);
    let mut grammar = EventOrderChecker::default();
    for event in &events {
        grammar.apply(event).unwrap_or_else(|error| panic!("{error:?} at {event:?}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn x13_what_changed_between_two_processes_is_not_done() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let gateway = TestGateway::new(data.path(), demo_config(folder.path())).await;
    let run = gateway.send("write still water").await;
    let ask = gateway.wait_for_ask(run).await;
    std::fs::write(folder.path().join("demo-note.txt"), "mine\n").unwrap();
    let gateway = gateway.restart(demo_config(folder.path())).await;
    while gateway.answer(run, &ask, "allow").await.is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(tool_outcomes(&gateway.events_to_end(run).await), [ToolOutcome::Denied]);
    let note = std::fs::read_to_string(folder.path().join("demo-note.txt")).unwrap();
    assert_eq!(note, "mine\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ran_when_the_process_ended_is_not_run_again() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let gateway = TestGateway::new(data.path(), demo_config(folder.path())).await;
    let call = |step, name: &'static str, arguments: &'static str| {
        let started = Event::ToolStarted {
            step: StepId(step),
            round: 1,
            call: format!("c{step}").into(),
            name: name.into(),
            kind: ToolKind::Function,
            executor: Executor::Client,
            server: None,
            parent: None,
        };
        let step = StepId(step);
        let arguments_event = Event::ArgumentsAppended { step, text: arguments.into() };
        [started, arguments_event, Event::ToolReady { step }]
    };
    let started = Event::RunStarted {
        version: EVENT_VERSION,
        dialect: "millpond".into(),
        mode: TextMode::Incremental,
    };
    let mut events = vec![
        started,
        Event::PromptReceived {
            text: "go".into(),
            images: Vec::new(),
            origin: millpond_engine::event::PromptOrigin::Person,
        },
        Event::RoundStarted { round: 1, model: None, response: None },
    ];
    events.extend(call(0, "run_command", r#"{"command":"touch ran-again"}"#));
    events.extend(call(1, "write_file", r#"{"path":"b.txt","content":"b"}"#));
    events.push(Event::AskOpened {
        ask: "ask-1".into(),
        kind: AskKind::Tool,
        text: "write".into(),
        options: Vec::new(),
        step: Some(StepId(1)),
        digest: Some("of something else".into()),
        expires_at_ms: Some(u64::MAX),
    });
    gateway.append_finished_runs(&[events]).await;
    let mut config = demo_config(folder.path());
    config.policies.0.insert("run_command".to_owned(), millpond_agent::policy::ToolPolicy::Allow);
    let gateway = gateway.restart(config).await;
    let run = RunId::from_bytes([100; 16]);
    assert_eq!(gateway.answer(run, "ask-1", "allow").await, Some(AnswerResult::Accepted));
    let events = gateway.events_to_end(run).await;
    assert!(!folder.path().join("ran-again").exists());
    assert!(!folder.path().join("b.txt").exists(), "the changed action did not run");
    assert_eq!(tool_outcomes(&events)[..2], [ToolOutcome::NoResult, ToolOutcome::Denied]);
}
