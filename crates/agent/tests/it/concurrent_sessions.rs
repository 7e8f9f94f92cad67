//! Many sessions of one gateway at once, each with tools: a slow one does not delay the others.

use millpond_agent::policy::ToolPolicy;
use millpond_engine::event::{Event, Outcome};

use crate::scripted_provider::{ScriptedReply, serve_replies};
use crate::test_gateway::{
    TestGateway, demo_config, ending, final_message_text, sample_folder, tool_outcomes,
};

const SLOW_SESSIONS: u8 = 9;

/// Nine sessions run commands that print until the tenth has ended: if the tenth waited for any of
/// them, none would ever end.
#[tokio::test(flavor = "multi_thread")]
async fn ten_sessions_with_tools_do_not_wait_for_each_other() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let command =
        r#"{"command":"until [ -e done ]; do echo waiting; sleep 0.01; done; echo over"}"#;
    let waiting =
        ScriptedReply { text: "Waiting.", call: Some(("run_command", command)), input_tokens: 1 };
    let listing =
        ScriptedReply { text: "Looking.", call: Some(("list_files", "{}")), input_tokens: 1 };
    let closing = ScriptedReply { text: "It is over.", call: None, input_tokens: 1 };
    // The first nine wait; the tenth lists files and ends, and the others end after it.
    let mut replies = vec![waiting; SLOW_SESSIONS.into()];
    replies.extend([listing, closing]);
    let (provider, _) = serve_replies(replies).await;
    let mut config = demo_config(folder.path());
    config.provider = provider;
    config.policies.0.insert("run_command".to_owned(), ToolPolicy::Allow);
    let fast_session = TestGateway::new(data.path(), config).await;
    let mut slow_sessions = Vec::new();
    for number in 1..=SLOW_SESSIONS {
        let gateway = fast_session.another_session(number);
        let run = gateway.send("wait").await;
        gateway.events_until(run, |event| matches!(event, Event::OutputAppended { .. })).await;
        slow_sessions.push((gateway, run));
    }
    let events = fast_session.send_and_wait_for_end("look").await;
    assert_eq!(
        (tool_outcomes(&events).len(), final_message_text(&events)),
        (1, "It is over.".to_owned())
    );
    std::fs::write(folder.path().join("done"), "").unwrap();
    for (gateway, run) in slow_sessions {
        let events = gateway.events_to_end(run).await;
        assert_eq!(ending(&events).outcome, Outcome::Completed, "{events:?}");
        let is_over = |event: &Event<'_>| matches!(event, Event::OutputAppended { text, .. } if text.contains("over"));
        assert!(events.iter().any(is_over));
    }
}
