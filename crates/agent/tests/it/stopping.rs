//! A cancelled run stops with all processes it has started. `limits.rs` bounds the time it takes.

use millpond_agent::policy::ToolPolicy;
use millpond_engine::event::{Event, Outcome, ToolOutcome};

use crate::test_gateway::{
    TestGateway, demo_config, ending, sample_folder, tool_outcomes, wait_for_process_end,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_command_and_its_children_end_with_the_run() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let script = "echo started; (trap '' TERM; sleep 300 & echo $! > child; wait) & wait\n";
    std::fs::write(folder.path().join("slow.sh"), script).unwrap();
    let mut config = demo_config(folder.path());
    config.policies.0.insert("run_command".to_owned(), ToolPolicy::Allow);
    config.provider =
        crate::faults::provider_with_tool_call("run_command", r#"{"command":"sh slow.sh"}"#);
    let gateway = TestGateway::new(data.path(), config).await;
    let run = gateway.send("go").await;
    gateway.events_until(run, |event| matches!(event, Event::OutputAppended { .. })).await;
    let child = loop {
        match std::fs::read_to_string(folder.path().join("child")) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => tokio::task::yield_now().await,
        }
    };
    gateway.scheduler.runs.request_cancel(run);
    let events = gateway.events_to_end(run).await;
    assert_eq!(ending(&events).outcome, Outcome::Cancelled);
    assert_eq!(tool_outcomes(&events), [ToolOutcome::NoResult]);
    wait_for_process_end(&child).await;
}
