//! Many sessions at once, each with tools: one that is slow is slow alone.

use std::sync::Arc;
use std::time::Duration;

use agent::policy::Policy;
use engine::event::{Event, Outcome};

use crate::house::{House, demo, ending, folder};
use crate::scripted::{Reply, saying};

const SESSIONS: usize = 10;

/// Nine sessions run commands that end only when the tenth has come to its end: if one waited for
/// another, none would.
#[tokio::test(flavor = "multi_thread")]
async fn ten_sessions_with_tools_do_not_wait_for_each_other() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let wait = Reply {
        text: "Waiting.",
        call: Some((
            "run_command",
            r#"{"command":"until [ -e done ]; do sleep 0.05; done; echo over"}"#,
        )),
        input_tokens: 1,
    };
    let end = Reply { text: "It is over.", call: None, input_tokens: 1 };
    let mut houses = Vec::new();
    for n in 0..SESSIONS - 1 {
        let (provider, _) = saying(vec![wait, end]).await;
        let mut setup = demo(folder.path());
        setup.provider = provider;
        setup.policies.0.insert("run_command".to_owned(), Policy::Allow);
        houses.push(Arc::new(House::new(&data.path().join(n.to_string()), setup).await));
    }
    let mut going = Vec::new();
    for house in &houses {
        let run = house.send("wait").await;
        house.until(run, |event| matches!(event, Event::ToolReady { .. })).await;
        going.push((Arc::clone(house), run));
    }
    let fast = House::new(&data.path().join("fast"), demo(folder.path())).await;
    let events = tokio::time::timeout(Duration::from_secs(30), fast.ask("list the files")).await;
    assert_eq!(ending(&events.unwrap()).outcome, Outcome::Completed);
    std::fs::write(folder.path().join("done"), "").unwrap();
    for (house, run) in going {
        let events = house.whole(run).await;
        assert_eq!(ending(&events).outcome, Outcome::Completed, "{events:?}");
        let over = |event: &Event<'_>| matches!(event, Event::OutputAppended { text, .. } if text.contains("over"));
        assert!(events.iter().any(over));
    }
}
