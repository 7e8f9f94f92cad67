//! A run that waits for a person outlives the process; every other one does not.

use engine::event::{
    AskKind, EVENT_VERSION, Event, Executor, Outcome, StepId, TextMode, ToolKind, ToolOutcome,
};
use engine::run::grammar::Grammar;
use gateway::id::RunId;
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

    assert_eq!(house.answer(run, &ask, "allow").await, Some(Heard::Taken));
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

#[tokio::test(flavor = "multi_thread")]
async fn what_ran_when_the_process_ended_is_not_run_again() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let house = House::new(data.path(), demo(folder.path())).await;
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
        let said = Event::ArgumentsAppended { step, text: arguments.into() };
        [started, said, Event::ToolReady { step }]
    };
    let started = Event::RunStarted {
        version: EVENT_VERSION,
        dialect: "millpond".into(),
        mode: TextMode::Incremental,
    };
    let mut events = vec![
        started,
        Event::PromptReceived { text: "go".into(), images: Vec::new() },
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
    house.seed(&[events]).await;
    let mut setup = demo(folder.path());
    setup.policies.0.insert("run_command".to_owned(), agent::policy::Policy::Allow);
    let house = house.restart(setup).await;
    let run = RunId::from_bytes([100; 16]);
    assert_eq!(house.answer(run, "ask-1", "allow").await, Some(Heard::Taken));
    let events = house.whole(run).await;
    assert!(!folder.path().join("ran-again").exists());
    assert!(!folder.path().join("b.txt").exists(), "it is not what was approved");
    assert_eq!(outcomes(&events)[..2], [ToolOutcome::NoResult, ToolOutcome::Denied]);
}
