//! Many sessions of one gateway at once, each with tools: one that is slow is slow alone.

use agent::policy::Policy;
use engine::event::{Event, Outcome};

use crate::house::{House, demo, ending, folder, outcomes, reply};
use crate::scripted::{Reply, saying};

const SLOW: u8 = 9;

/// Nine sessions run commands that end only when the tenth has come to its end, and print meanwhile:
/// if the tenth waited for any of them, none would ever end.
#[tokio::test(flavor = "multi_thread")]
async fn ten_sessions_with_tools_do_not_wait_for_each_other() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let command =
        r#"{"command":"until [ -e done ]; do echo waiting; sleep 0.01; done; echo over"}"#;
    let wait = Reply { text: "Waiting.", call: Some(("run_command", command)), input_tokens: 1 };
    let look = Reply { text: "Looking.", call: Some(("list_files", "{}")), input_tokens: 1 };
    let end = Reply { text: "It is over.", call: None, input_tokens: 1 };
    // Who asks first is slow; the tenth looks around and ends, and so do all others when they can.
    let mut replies = vec![wait; SLOW.into()];
    replies.extend([look, end]);
    let (provider, _) = saying(replies).await;
    let mut setup = demo(folder.path());
    setup.provider = provider;
    setup.policies.0.insert("run_command".to_owned(), Policy::Allow);
    let fast = House::new(data.path(), setup).await;
    let mut slow = Vec::new();
    for number in 1..=SLOW {
        let house = fast.another(number);
        let run = house.send("wait").await;
        house.until(run, |event| matches!(event, Event::OutputAppended { .. })).await;
        slow.push((house, run));
    }
    let events = fast.ask("look").await;
    assert_eq!((outcomes(&events).len(), reply(&events)), (1, "It is over.".to_owned()));
    std::fs::write(folder.path().join("done"), "").unwrap();
    for (house, run) in slow {
        let events = house.whole(run).await;
        assert_eq!(ending(&events).outcome, Outcome::Completed, "{events:?}");
        let is_over = |event: &Event<'_>| matches!(event, Event::OutputAppended { text, .. } if text.contains("over"));
        assert!(events.iter().any(is_over));
    }
}
